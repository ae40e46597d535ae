#include "broker/dial.h"

#include "base/clock.h"
#include "broker/parse/refusal.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* A model may be silent for minutes: dead peers are found by keepalive, not by short idle limits.
 */
static const int socket_options[][3] = {
	{SOL_SOCKET, SO_KEEPALIVE, 1},
	{IPPROTO_TCP, TCP_KEEPIDLE, 30},
	{IPPROTO_TCP, TCP_KEEPINTVL, 10},
	{IPPROTO_TCP, TCP_KEEPCNT, 3},
};

static int open_socket(void *owner, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct dial *a = owner;
	bool allowed = a->dialer->proxy || address_allowed(&to->addr, a->endpoint->reach);
	a->dropped += !allowed;
	if (!allowed || purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	a->tried++;
	int fd = socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
	for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(socket_options); i++) {
		const int *o = socket_options[i];
		setsockopt(fd, o[0], o[1], &o[2], sizeof(o[2]));
	}
	return fd;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *unused)
{
	struct dialer *d = owner;
	struct epoll_event event = {.data.fd = fd,
		.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
			  (what & CURL_POLL_OUT ? EPOLLOUT : 0u)};
	(void)easy;
	(void)unused;
	if (what == CURL_POLL_REMOVE)
		epoll_ctl(d->watch.fd, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(d->watch.fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return epoll_ctl(d->watch.fd, EPOLL_CTL_MOD, fd, &event);
	return 0;
}

static int set_timer(CURLM *multi, long after_ms, void *owner)
{
	struct dialer *d = owner;
	(void)multi;
	d->wake_at_ms = after_ms < 0 ? INT64_MAX : clock_monotonic_ms() + after_ms;
	return 0;
}

static void release(struct dialer *d, struct dial *a, bool reusable)
{
	curl_multi_remove_handle(d->multi, a->easy);
	if (reusable && d->idle_count < DIALERS_IDLE_MAX)
		d->idle[d->idle_count++] = a->easy;
	else
		curl_easy_cleanup(a->easy);
	a->easy = NULL;
}

static int take_socket(struct dial *a)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	char *address = NULL;
	curl_easy_getinfo(a->easy, CURLINFO_ACTIVESOCKET, &fd);
	curl_easy_getinfo(a->easy, CURLINFO_PRIMARY_IP, &address);
	snprintf(a->address, sizeof(a->address), "%s", address ? address : "");
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void collect(struct dialer *d)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(d->multi, &left))) {
		struct dial *a = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&a);
		bool connected = message->data.result == CURLE_OK;
		int fd = connected ? take_socket(a) : -1;
		release(d, a, connected);
		d->done(a, fd, a->dropped > 0 && a->tried == 0 ? REFUSED_ADDRESS : REFUSED_DIAL);
	}
}

static void wake(struct watch *w, uint32_t events)
{
	struct dialer *d = (struct dialer *)w;
	struct epoll_event ready[EVENTS_MAX];
	int count = epoll_wait(w->fd, ready, EVENTS_MAX, 0), running;
	(void)events;
	for (int i = 0; i < count; i++) {
		int mask = (ready[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
			   (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			   (ready[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
		curl_multi_socket_action(d->multi, ready[i].data.fd, mask, &running);
	}
	collect(d);
}

void dialer_tick(struct dialer *d, int64_t now_ms)
{
	int running;
	if (now_ms < d->wake_at_ms)
		return;
	d->wake_at_ms = INT64_MAX;
	curl_multi_socket_action(d->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(d);
}

int dialer_open(struct dialer *d, struct err *e)
{
	d->wake_at_ms = INT64_MAX;
	d->watch = (struct watch){.fd = epoll_create1(EPOLL_CLOEXEC), .wake = wake};
	if (d->watch.fd < 0)
		return err_errno(e, "cannot create an epoll instance");
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK || !(d->multi = curl_multi_init()))
		return err_set(e, "libcurl cannot be initialised");
	if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS))
		return err_set(e, "this libcurl resolves names without a thread and would stall");
	curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(d->multi, CURLMOPT_SOCKETDATA, d);
	curl_multi_setopt(d->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(d->multi, CURLMOPT_TIMERDATA, d);
	return 0;
}

/* QUICK_EXIT: without it libcurl waits, on this thread, for a resolver that is stuck. */
static bool configure(CURL *easy, const char *proxy)
{
	CURLcode bad = curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 1024L);
	bad |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)DIAL_TIMEOUT_MS);
	bad |= curl_easy_setopt(easy, CURLOPT_PROXY, proxy ? proxy : "");
	bad |= curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	bad |= curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, proxy ? 1L : 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	return bad == CURLE_OK;
}

static bool aim(struct dial *a)
{
	char url[ENDPOINT_TEXT_BYTES + 8];
	snprintf(url, sizeof(url), "http://%s", a->endpoint->text);
	return curl_easy_setopt(a->easy, CURLOPT_URL, url) == CURLE_OK &&
	       curl_easy_setopt(a->easy, CURLOPT_PRIVATE, a) == CURLE_OK &&
	       curl_easy_setopt(a->easy, CURLOPT_OPENSOCKETDATA, a) == CURLE_OK;
}

bool dialer_start(struct dialer *d, struct dial *a, const struct endpoint *endpoint)
{
	bool fresh = d->idle_count == 0;
	*a = (struct dial){.easy = fresh ? curl_easy_init() : d->idle[--d->idle_count],
		.dialer = d,
		.endpoint = endpoint};
	if (!a->easy)
		return false;
	if ((!fresh || configure(a->easy, d->proxy)) && aim(a) &&
		curl_multi_add_handle(d->multi, a->easy) == CURLM_OK)
		return true;
	release(d, a, false);
	return false;
}

void dialer_cancel(struct dialer *d, struct dial *a)
{
	if (a->easy)
		release(d, a, false);
}
