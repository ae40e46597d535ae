#include "provider/http.h"

#include "provider/authorities.h"
#include "provider/channel.h"

#include "base/clock.h"
#include <curl/curl.h>
#include <limits.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define CHANNEL_PATH "/agent6-broker-channel"

enum { ROUNDING_MS = 20, BROKER_END_MS = 50, LINGER_MS = 1000, HEAD_CAP_BYTES = 256 * 1024 };
enum { HEADER_BYTES = 256 };

static const struct http_head no_head = {.should_retry = -1, .retry_after_ms = -1};

struct http {
	CURL *curl;
	char *base;
	const char *query;
	size_t skip; /* bytes of each path that the base contains already */
	int channel_fd;
	int64_t connect_timeout_ms, idle_timeout_ms;
	bool proxied;
	bool by_name; /* authorities are looked up in a directory; the file was not read yet */
	/* The call in progress. */
	const struct http_post *post;
	struct http_head *head;
	struct fault *fault;
	int64_t active_ms, raw_bytes, head_bytes;
	int64_t ended_ms;             /* when the reply was complete; 0: it is not */
	curl_off_t sent;              /* bytes of the request, as far as known */
	char broken[CURL_ERROR_SIZE]; /* libcurl's own message, if any */
};

int http_global(struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return err_set(e, "libcurl cannot be initialised");
	return 0;
}

static curl_socket_t open_socket(
	void *context, curlsocktype purpose, struct curl_sockaddr *sockaddr)
{
	(void)purpose, (void)sockaddr;
	struct http *h = context;
	struct err e = ERR_NONE;
	int fd = channel_connect(h->channel_fd, h->connect_timeout_ms, &e);
	if (fd < 0)
		fault_set(h->fault, FAULT_RETRY, "%s", e.text);
	return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int is_connected(void *context, curl_socket_t fd, curlsocktype purpose)
{
	(void)context, (void)fd, (void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* Overrides connect. libcurl before 8.0 connects a socket even if it was told that it is connected.
 * This program has no address to dial, so a connected AF_UNIX descriptor is reported as done, and
 * the kernel refuses anything else. In the program's link order this function precedes the C
 * library's. */
int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	struct sockaddr_storage peer;
	socklen_t peer_len = sizeof(peer);
	if (address->sa_family == AF_UNIX && !getpeername(fd, (struct sockaddr *)&peer, &peer_len))
		return 0;
	return (int)syscall(SYS_connect, fd, address, len);
}

/* Overrides getpeername. Before 8.10 libcurl takes a connection whose peer has no name for one that
 * is still being resolved, and uses it only once. Half of a socket pair has no name, so it gets one
 * here. */
int getpeername(int fd, struct sockaddr *address, socklen_t *len)
{
	static const struct sockaddr_un named = {AF_UNIX, CHANNEL_PATH};
	socklen_t room = *len;
	if (syscall(SYS_getpeername, fd, address, len))
		return -1;
	if (room >= sizeof(named) && *len == sizeof(sa_family_t) && address->sa_family == AF_UNIX) {
		memcpy(address, &named, sizeof(named));
		*len = sizeof(named);
	}
	return 0;
}

/* Reports whether an encoding compresses. Some servers send a charset here. */
static bool compresses(const char *encodings)
{
	static const char *const names[] = {"gzip", "deflate", "br", "zstd", "compress"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasestr(encodings, names[i]))
			return true;
	return false;
}

/* Reads a header; only the beginning of a long line counts. */
static void read_header(struct http_head *head, const char *line, size_t len)
{
	char name[HEADER_BYTES];
	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	name[strcspn(name, "\r\n")] = '\0';
	if (!strncasecmp(name, "HTTP/", 5))
		*head = no_head;
	char *value = strchr(name, ':');
	if (!value)
		return;
	*value++ = '\0';
	value += strspn(value, " \t");
	if (!strcasecmp(name, "content-type"))
		head->is_stream = !strncasecmp(value, "text/event-stream", 17);
	else if (!strcasecmp(name, "content-encoding"))
		head->is_encoded = compresses(value);
	else if (!strcasecmp(name, "x-should-retry"))
		head->should_retry = !strcasecmp(value, "true")    ? 1
				     : !strcasecmp(value, "false") ? 0
								   : -1;
	else if ((!strcasecmp(name, "retry-after-ms") ||
			 !strcasecmp(name, "x-ms-retry-after-ms")) &&
		 fault_retry_after(value, true, 0) >= 0)
		head->retry_after_ms = fault_retry_after(value, true, 0);
	else if (!strcasecmp(name, "retry-after") && head->retry_after_ms < 0)
		head->retry_after_ms =
			fault_retry_after(value, false, clock_realtime_us() / 1000000);
	else if (!strcasecmp(name, "request-id") || !strcasecmp(name, "x-request-id"))
		snprintf(head->request_id, sizeof(head->request_id), "%s", value);
}

static size_t on_header(char *line, size_t one, size_t len, void *context)
{
	(void)one;
	struct http *h = context;
	h->active_ms = clock_monotonic_ms();
	h->head_bytes += (int64_t)len;
	/* libcurl keeps all headers, and does not count those after the last chunk. */
	if (h->head_bytes > HEAD_CAP_BYTES) {
		fault_set(h->fault, FAULT_FATAL,
			"the provider's reply has more than %d KiB of headers",
			HEAD_CAP_BYTES / 1024);
		return 0;
	}
	if (!h->raw_bytes) /* trailers after a body change nothing */
		read_header(h->head, line, len);
	return len;
}

static size_t on_bytes(char *bytes, size_t one, size_t len, void *context)
{
	(void)one;
	struct http *h = context;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &h->head->status);
	h->raw_bytes += (int64_t)len;
	if (h->raw_bytes > HTTP_RAW_CAP_BYTES) {
		fault_set(h->fault, FAULT_FATAL, "the provider's reply is longer than %d MiB",
			HTTP_RAW_CAP_BYTES / (1024 * 1024));
		return 0;
	}
	h->active_ms = clock_monotonic_ms();
	int rc = h->post->on_body(h->post->context, h->head, bytes, len, h->fault);
	if (rc < 0)
		return 0;
	if (rc && !h->ended_ms)
		h->ended_ms = h->active_ms;
	return len;
}

/* Called at least once a second, also while nothing arrives. Every byte counts as activity, of the
 * reply or of the request, even a comment. A server that leaves the connection open after a whole
 * reply gets a moment, so that the connection can be used again. */
static int on_progress(
	void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
	(void)total, (void)now, (void)up_total;
	struct http *h = context;
	int64_t now_ms = clock_monotonic_ms();
	if (up != h->sent)
		h->active_ms = now_ms;
	h->sent = up;
	if (h->ended_ms && now_ms - h->ended_ms > LINGER_MS)
		return -1;
	if (now_ms >= h->post->deadline_ms)
		return fault_set(h->fault, FAULT_TIMEOUT, "the call ran into its time-out");
	if (now_ms - h->active_ms > h->idle_timeout_ms)
		return fault_set(h->fault, FAULT_RETRY,
			"the provider sent nothing for %lld s; for a model that thinks unseen for "
			"longer set its idle_timeout_secs",
			(long long)(h->idle_timeout_ms / 1000));
	return 0;
}

static const char version[] = "/v1";
enum { VERSION_LEN = sizeof(version) - 1 };

/* Reports whether a segment is a version: "/v4", "/v1beta". */
static bool is_version(const char *segment, size_t len)
{
	static const char digits[] = "0123456789";
	if (len < VERSION_LEN || segment[1] != 'v')
		return false;
	size_t at = 2 + strspn(segment + 2, digits);
	if (at > 2 && !strncmp(segment + at, "beta", 4))
		at += 4 + strspn(segment + at + 4, digits);
	return at > 2 && at == len;
}

static bool holds_version(const char *base)
{
	const char *host = strstr(base, "://");
	for (const char *at = strchr(host ? host + 3 : base, '/'); at;) {
		const char *next = strchr(at + 1, '/');
		if (is_version(at, next ? (size_t)(next - at) : strlen(at)))
			return true;
		at = next;
	}
	return false;
}

static int set_base(struct http *http, const struct http_options *options)
{
	const char *url = options->base_url;
	size_t len = strlen(url);
	while (len && url[len - 1] == '/')
		len--;
	bool usual = len >= VERSION_LEN && !memcmp(url + len - VERSION_LEN, version, VERSION_LEN);
	http->base = strndup(url, usual ? len - VERSION_LEN : len);
	http->skip = http->base && options->any_version && !usual && holds_version(http->base)
			     ? VERSION_LEN
			     : 0;
	return http->base ? 0 : -1;
}

static CURLcode set_options(struct http *http, const struct http_options *options)
{
	CURL *c = http->curl;
	const char *protocol = strncasecmp(options->base_url, "https:", 6) ? "http" : "https";
	CURLcode rc = CURLE_OK;
#define SET(option, value) rc = rc ? rc : curl_easy_setopt(c, option, value)
	SET(CURLOPT_PROTOCOLS_STR, protocol);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	if (options->ca_file) {
		SET(CURLOPT_CAINFO, options->ca_file);
		SET(CURLOPT_CAPATH, NULL);
	} else if (authorities_directory()) {
		SET(CURLOPT_CAINFO, NULL);
		http->by_name = true;
	}
	/* The path is never opened. With it, curl resolves no name and asks for an AF_UNIX socket,
	 * which open_socket takes from the channel. */
	SET(CURLOPT_UNIX_SOCKET_PATH, CHANNEL_PATH);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, http);
	SET(CURLOPT_SOCKOPTFUNCTION, is_connected);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, http);
	SET(CURLOPT_WRITEFUNCTION, on_bytes);
	SET(CURLOPT_WRITEDATA, http);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, on_progress);
	SET(CURLOPT_XFERINFODATA, http);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
	SET(CURLOPT_ERRORBUFFER, http->broken);
	SET(CURLOPT_USERAGENT, "agent6/" AGENT6_VERSION);
#undef SET
	return rc;
}

struct http *http_open(const struct http_options *options, struct err *e)
{
	struct http *h = calloc(1, sizeof(*h));
	if (h && !set_base(h, options)) {
		h->curl = curl_easy_init();
		h->channel_fd = options->channel_fd;
		h->proxied = options->proxied;
		h->query = options->query && *options->query ? options->query : NULL;
		h->connect_timeout_ms = options->connect_timeout_ms;
		h->idle_timeout_ms = options->idle_timeout_ms;
	}
	if (!h || !h->curl) {
		err_set(e, "out of memory");
		http_close(h);
		return NULL;
	}
	CURLcode rc = set_options(h, options);
	if (rc) {
		err_set(e, "libcurl refuses an option: %s", curl_easy_strerror(rc));
		http_close(h);
		return NULL;
	}
	return h;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	if (http->curl)
		curl_easy_cleanup(http->curl);
	free(http->base);
	free(http);
}

/* Reports whether the broker has ended: then the relayed connection and the channel are closed, in
 * any order. */
bool http_broker_gone(const struct http *http)
{
	return channel_gone(http->channel_fd, BROKER_END_MS);
}

static bool is_clean(const char *header)
{
	for (; *header; header++)
		if (*header != '\t' && (*header < 0x20 || *header > 0x7e))
			return false;
	return true;
}

static struct curl_slist *make_headers(const char *const *headers, struct fault *fault)
{
	/* An empty Expect keeps curl from waiting for a 100, which no provider sends. */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");
	for (; *headers; headers++) {
		if (!is_clean(*headers)) {
			fault_set(fault, FAULT_FATAL,
				"a header for the provider holds a byte outside printable ASCII; "
				"look at the key for a stray line break");
			curl_slist_free_all(list);
			return NULL;
		}
		list = curl_slist_append(list, *headers);
	}
	return list;
}

/* Reports whether the certificate's issuer is unknown, by X.509's own numbers. */
static bool is_strange(const struct http *http)
{
	enum { SELF_SIGNED = 18, LAST = 21 };
	long verdict = 0;
	curl_easy_getinfo(http->curl, CURLINFO_SSL_VERIFYRESULT, &verdict);
	return verdict >= SELF_SIGNED && verdict <= LAST;
}

/* Reports whether a handshake failed over the protocol: "unsupported protocol", "alert protocol
 * version", or "wrong version number" for a server without TLS. */
static bool speaks_other(const char *why)
{
	return strstr(why, "protocol") || strstr(why, "version number");
}

static int failed(const struct http *http, CURLcode rc, struct fault *fault)
{
	if (fault->kind != FAULT_NONE)
		return -1;
	char why[CURL_ERROR_SIZE];
	const char *words = http->broken[0] ? http->broken : curl_easy_strerror(rc);
	fault_show(why, sizeof(why), words, strlen(words));
	if (rc == CURLE_SSL_CONNECT_ERROR && speaks_other(why))
		return fault_set(fault, FAULT_FATAL,
			"the server at the provider's base_url speaks no TLS 1.2 or 1.3 (%s); "
			"is it https, and up to date?",
			why);
	enum { TOO_LARGE = 100 }; /* since 8.6 */
	switch ((int)rc) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return fault_set(fault, FAULT_FATAL,
			"the provider's certificate is not accepted: %s%s", why,
			is_strange(http) ? "; its ca_file says whom else to trust" : "");
	case CURLE_URL_MALFORMAT:
		return fault_set(
			fault, FAULT_FATAL, "the provider's base_url cannot be used: %s", why);
	case CURLE_UNSUPPORTED_PROTOCOL:
		return fault_set(fault, FAULT_FATAL,
			"the server at the provider's base_url does not speak HTTP");
	case TOO_LARGE:
	/* Libcurl before 8.6 reports this for a header that is too large. */
	case CURLE_OUT_OF_MEMORY:
		if (!http->raw_bytes)
			return fault_set(fault, FAULT_FATAL,
				"a header of the provider's reply is too long, or memory is full");
		break;
	case CURLE_GOT_NOTHING: /* the broker closes a connection that it cannot make, */
	case CURLE_SEND_ERROR:  /* sometimes before the request is written */
	case CURLE_COULDNT_CONNECT:
		return fault_set(fault, FAULT_RETRY,
			"no answer from the provider (%s); look whether base_url is right and %s",
			why,
			http->proxied
				? "sandbox.upstream_proxy runs, takes its credentials and lets "
				  "this through"
				: "something answers there");
	case CURLE_SSL_CONNECT_ERROR:
		return fault_set(fault, FAULT_RETRY,
			"the TLS handshake with the provider broke (%s); look whether base_url is "
			"right and speaks TLS",
			why);
	case CURLE_OPERATION_TIMEDOUT: /* curl rounds the time */
		if (clock_monotonic_ms() >= http->post->deadline_ms - ROUNDING_MS)
			return fault_set(fault, FAULT_TIMEOUT, "the call ran into its time-out");
	}
	return fault_set(fault, FAULT_RETRY, "the connection to the provider broke: %s", why);
}

/* Wipes curl's own copy of the headers, which has the key. */
static void wipe_headers(struct curl_slist *list)
{
	for (struct curl_slist *at = list; at; at = at->next)
		explicit_bzero(at->data, strlen(at->data));
	curl_slist_free_all(list);
}

/* Reports whether the server closed a kept connection as it was used again. It has not received the
 * whole request, so a second one does no harm. libcurl retries by itself only if it had sent
 * everything. */
static bool closed_just_then(const struct http *http, CURLcode rc)
{
	long dialled = 1;
	curl_easy_getinfo(http->curl, CURLINFO_NUM_CONNECTS, &dialled);
	return rc == CURLE_SEND_ERROR && !dialled && !http->head_bytes &&
	       http->fault->kind == FAULT_NONE;
}

/* Performs the call. An authority may be in the system's one file only, so a refused certificate is
 * tried again with that. Nothing was sent to the refused server. */
static CURLcode perform(struct http *http)
{
	CURLcode rc = curl_easy_perform(http->curl);
	if (closed_just_then(http, rc))
		rc = curl_easy_perform(http->curl);
	if (rc != CURLE_PEER_FAILED_VERIFICATION || !http->by_name || !authorities_file())
		return rc;
	http->by_name = false;
	curl_easy_setopt(http->curl, CURLOPT_CAINFO, authorities_file());
	return curl_easy_perform(http->curl);
}

/* Reports whether a time-out came after the server had received the whole request. */
static bool unanswered(const struct http *http, CURLcode rc)
{
	curl_off_t sent = 0;
	curl_easy_getinfo(http->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
	return (rc == CURLE_ABORTED_BY_CALLBACK || rc == CURLE_OPERATION_TIMEDOUT) &&
	       !http->head->status && sent >= (curl_off_t)http->post->body_len;
}

int http_post(struct http *http, const struct http_post *post, struct http_head *head,
	struct fault *fault)
{
	AUTO_FREE char *url = NULL;
	if (asprintf(&url, "%s%s%s%s", http->base, post->path + http->skip, http->query ? "?" : "",
		    http->query ? http->query : "") < 0)
		return fault_set(fault, FAULT_FATAL, "out of memory");
	struct curl_slist *headers = make_headers(post->headers, fault);
	if (!headers)
		return fault_set(fault, FAULT_FATAL, "out of memory");
	*head = no_head;
	http->post = post;
	http->head = head;
	http->fault = fault;
	http->active_ms = clock_monotonic_ms();
	http->raw_bytes = http->head_bytes = http->ended_ms = 0;
	http->sent = 0;
	int64_t left_ms = post->deadline_ms - http->active_ms;
	curl_easy_setopt(http->curl, CURLOPT_URL, url);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, post->body);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body_len);
	curl_easy_setopt(http->curl, CURLOPT_TIMEOUT_MS,
		left_ms < 1         ? 1L
		: left_ms > INT_MAX ? (long)INT_MAX
				    : (long)left_ms);
	CURLcode rc = perform(http);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	wipe_headers(headers);
	int result = rc && !http->ended_ms ? failed(http, rc, fault) : 0;
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &head->status);
	head->is_unanswered = unanswered(http, rc);
	http->post = NULL;
	return result;
}
