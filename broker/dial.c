#include "broker/dial.h"

#include "broker/parse/pin.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>

bool dialer_prepare(struct dialer *dialer)
{
	if (dialer->socket >= 0)
		return false;
	dialer->socket = socket(dialer->family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	setsockopt(dialer->socket, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
	setsockopt(dialer->socket, IPPROTO_TCP, TCP_KEEPIDLE, &(int){30}, sizeof(int));
	setsockopt(dialer->socket, IPPROTO_TCP, TCP_KEEPINTVL, &(int){5}, sizeof(int));
	return dialer->socket >= 0;
}

/* Opens a socket without quick acknowledgement: the one that ends the handshake goes along with the
 * first bytes, which wakes the server only once. This suits clients that speak first, as held ones
 * do. */
static int open_socket(void *owner, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct dial *a = owner;
	struct dialer *d = a->dialer;
	bool allowed = d->proxy || address_allowed(&to->addr, a->endpoint->reach);
	a->tried |= allowed;
	a->dropped |= !allowed;
	if (!allowed || purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	if (d->family != to->family)
		own_close(&d->socket);
	d->family = to->family;
	dialer_prepare(d);
	setsockopt(d->socket, IPPROTO_TCP, TCP_QUICKACK, &(int){a->endpoint->sniffed}, sizeof(int));
	return TAKE_FD(d->socket);
}

/* Ends the transfer after the head of a refusal: libcurl would read a body that the proxy never
 * ends without returning to us, beyond every time-out. */
static size_t on_header(const char *line, size_t one, size_t len, void *easy)
{
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
	return *line < ' ' && status >= 300 ? 0 : one * len;
}

void dialer_cancel(struct dialer *dialer, void *easy)
{
	curl_multi_remove_handle(dialer->multi, easy);
	curl_easy_cleanup(dialer->spare);
	dialer->spare = easy;
	dialer->under_way--;
}

static const char *cause_of(CURL *easy, CURLcode result)
{
	long number = 0;
	curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
	if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY)
		return "name";
	if (result == CURLE_OPERATION_TIMEDOUT || number == ETIMEDOUT)
		return "timeout";
	return number == ECONNREFUSED ? "refused" : "unreachable";
}

/* Runs the dials. A waiting connection is answered first; then libcurl is asked to let go of the
 * socket. */
void dialer_turn(struct dialer *dialer, int fd, int timeout_ms)
{
	struct curl_waitfd also = {.fd = fd, .events = CURL_WAIT_POLLIN};
	CURLMsg *message;
	curl_multi_perform(dialer->multi, &(int){0});
	while ((message = curl_multi_info_read(dialer->multi, &(int){0}))) {
		struct dial *a = NULL;
		char *address = NULL;
		int own = -1;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&a);
		CURL *easy = TAKE_PTR(a->easy);
		if (message->data.result == CURLE_OK) {
			curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &own);
			/* Libcurl closes the other one with its handle. */
			own = fcntl(own, F_DUPFD_CLOEXEC, 0);
			curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);
		} else {
			curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &a->proxy_status);
			if (!a->proxy_status)
				curl_easy_getinfo(easy, CURLINFO_PROXY_ERROR, &a->proxy_status);
			a->cause = cause_of(easy, message->data.result);
		}
		snprintf(a->address, sizeof(a->address), "%s", address ? address : "");
		dialer->done(a, own, a->dropped && !a->tried ? REFUSED_ADDRESS : REFUSED_DIAL);
		dialer_cancel(dialer, easy);
	}
	if (dialer->under_way > 0)
		curl_multi_poll(dialer->multi, &also, 1, timeout_ms, NULL);
}

int dialer_open(struct dialer *dialer, struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK ||
		!(dialer->multi = curl_multi_init()))
		return err_set(e, "libcurl cannot be initialised");
	if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS))
		return err_set(e, "this libcurl resolves names without a thread and would stall");
	return 0;
}

/* Configures a dial. QUICK_EXIT: without it libcurl waits, on this thread, for a resolver that
 * hangs. A model may be silent for minutes, so dead peers are found by keepalive, not by short idle
 * limits. */
static bool configure(CURL *easy, struct dial *dial, const char *proxy)
{
	CURLcode bad = curl_easy_setopt(easy, CURLOPT_URL, dial->endpoint->at.text);
	bad |= curl_easy_setopt(easy, CURLOPT_DEFAULT_PROTOCOL, "http");
	bad |= curl_easy_setopt(easy, CURLOPT_PRIVATE, dial);
	bad |= curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)DIAL_TIMEOUT_MS);
	bad |= curl_easy_setopt(easy, CURLOPT_PROXY, proxy ? proxy : "");
	bad |= curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	bad |= curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, proxy ? 1L : 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, easy);
	bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, dial);
	return bad == CURLE_OK;
}

bool dialer_start(struct dialer *dialer, struct dial *dial, const struct endpoint *endpoint)
{
	*dial = (struct dial){.dialer = dialer, .endpoint = endpoint};
	dial->easy = dialer->spare ? TAKE_PTR(dialer->spare) : curl_easy_init();
	dialer->under_way++;
	if (dial->easy && configure(dial->easy, dial, dialer->proxy) &&
		curl_multi_add_handle(dialer->multi, dial->easy) == CURLM_OK)
		return true;
	dialer_cancel(dialer, TAKE_PTR(dial->easy));
	return false;
}
