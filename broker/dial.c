#include "broker/dial.h"

#include "broker/parse/pin.h"
#include <curl/curl.h>
#include <stdio.h>

static int open_socket(void *owner, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct dial *a = owner;
	bool allowed = a->dialer->proxy || address_allowed(&to->addr, a->endpoint->reach);
	a->tried |= allowed;
	a->dropped |= !allowed;
	if (!allowed || purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static int close_socket(void *owner, curl_socket_t fd)
{
	const struct dial *a = owner;
	return fd == a->fd ? 0 : close(fd);
}

/* Of a refusal only the head is read: a body that the proxy never ends would be read without coming
 * back to us, past every time-out. */
static size_t on_header(const char *line, size_t one, size_t len, void *easy)
{
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
	return *line < ' ' && status >= 300 ? 0 : one * len;
}

void dialer_cancel(struct dialer *d, struct dial *a)
{
	curl_multi_remove_handle(d->multi, a->easy);
	curl_easy_cleanup(d->spare);
	d->spare = TAKE_PTR(a->easy);
	d->under_way--;
}

void dialer_wait(struct dialer *d, int fd, int timeout_ms)
{
	struct curl_waitfd also = {.fd = fd, .events = CURL_WAIT_POLLIN};
	curl_multi_poll(d->multi, &also, 1, timeout_ms, NULL);
}

void dialer_turn(struct dialer *d)
{
	CURLMsg *message;
	if (d->under_way > 0)
		curl_multi_perform(d->multi, &(int){0});
	while (d->under_way > 0 && (message = curl_multi_info_read(d->multi, &(int){0}))) {
		struct dial *a = NULL;
		char *address = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&a);
		if (message->data.result == CURLE_OK) {
			curl_easy_getinfo(a->easy, CURLINFO_ACTIVESOCKET, &a->fd);
			curl_easy_getinfo(a->easy, CURLINFO_PRIMARY_IP, &address);
		} else {
			curl_easy_getinfo(a->easy, CURLINFO_HTTP_CONNECTCODE, &a->proxy_status);
			if (!a->proxy_status)
				curl_easy_getinfo(a->easy, CURLINFO_PROXY_ERROR, &a->proxy_status);
		}
		snprintf(a->address, sizeof(a->address), "%s", address ? address : "");
		dialer_cancel(d, a);
		d->done(a, a->fd, a->dropped && !a->tried ? REFUSED_ADDRESS : REFUSED_DIAL);
	}
}

int dialer_open(struct dialer *d, struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK || !(d->multi = curl_multi_init()))
		return err_set(e, "libcurl cannot be initialised");
	if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS))
		return err_set(e, "this libcurl resolves names without a thread and would stall");
	return 0;
}

/* QUICK_EXIT: without it libcurl waits, on this thread, for a resolver that is stuck. A model may
 * be silent for minutes: dead peers are found by keepalive, not by short idle limits. */
static bool configure(CURL *easy, struct dial *a, const char *proxy)
{
	char url[HOST_PORT_BYTES + 8];
	snprintf(url, sizeof(url), "http://%s", a->endpoint->at.text);
	CURLcode bad = curl_easy_setopt(easy, CURLOPT_URL, url);
	bad |= curl_easy_setopt(easy, CURLOPT_PRIVATE, a);
	bad |= curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)DIAL_TIMEOUT_MS);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
	bad |= curl_easy_setopt(easy, CURLOPT_PROXY, proxy ? proxy : "");
	bad |= curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	bad |= curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, proxy ? 1L : 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, easy);
	bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, a);
	bad |= curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
	bad |= curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, a);
	return bad == CURLE_OK;
}

bool dialer_start(struct dialer *d, struct dial *a, const struct endpoint *endpoint)
{
	*a = (struct dial){.dialer = d, .endpoint = endpoint, .fd = -1};
	a->easy = d->spare ? TAKE_PTR(d->spare) : curl_easy_init();
	d->under_way++;
	if (a->easy && configure(a->easy, a, d->proxy) &&
		curl_multi_add_handle(d->multi, a->easy) == CURLM_OK)
		return true;
	dialer_cancel(d, a);
	return false;
}
