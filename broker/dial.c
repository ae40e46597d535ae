#include "broker/dial.h"

#include "base/clock.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>

enum { IDLE_MAX = 16, RESOLVER_STACK_BYTES = 512 * 1024 };

struct dial {
	CURL *easy;
	struct dialer *dialer;
	const struct endpoint *endpoint;
	void *owner;
	unsigned tried, dropped;
	struct dial *next;
};

static void set_option(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

/* A model may be silent for minutes: dead peers are found by keepalive, not by short idle limits.
 */
static int open_socket(void *owner, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct dial *a = owner;
	if (purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	if (!a->dialer->proxy && !address_allowed(&to->addr, a->endpoint->reach)) {
		a->dropped++;
		return CURL_SOCKET_BAD;
	}
	a->tried++;
	int fd = socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
	if (fd < 0)
		return CURL_SOCKET_BAD;
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
	return fd;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *unused)
{
	struct dialer *d = owner;
	struct epoll_event event = {.data.fd = fd};
	(void)easy;
	(void)unused;
	if (what & CURL_POLL_IN)
		event.events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		event.events |= EPOLLOUT;
	if (what == CURL_POLL_REMOVE)
		epoll_ctl(d->watch.fd, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(d->watch.fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return epoll_ctl(d->watch.fd, EPOLL_CTL_MOD, fd, &event) < 0 ? -1 : 0;
	return 0;
}

static int set_timer(CURLM *multi, long after_ms, void *owner)
{
	struct dialer *d = owner;
	(void)multi;
	d->wake_at_ms = after_ms < 0 ? -1 : clock_monotonic_ms() + after_ms;
	return 0;
}

static void release(struct dialer *d, struct dial *a, bool reusable)
{
	curl_multi_remove_handle(d->multi, a->easy);
	if (reusable && d->idle_count < IDLE_MAX) {
		a->next = d->idle;
		d->idle = a;
		d->idle_count++;
		return;
	}
	curl_easy_cleanup(a->easy);
	free(a);
}

static struct dialed outcome_of(const struct dial *a, CURLcode code)
{
	struct dialed out = {.fd = -1, .refused = REFUSED_DIAL};
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof(peer);
	curl_socket_t fd = CURL_SOCKET_BAD;
	if (code != CURLE_OK) {
		out.refused = a->dropped > 0 && a->tried == 0 ? REFUSED_ADDRESS : REFUSED_DIAL;
		return out;
	}
	if (curl_easy_getinfo(a->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK)
		out.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (out.fd >= 0)
		out.refused = REFUSED_NOT;
	if (out.fd >= 0 && getpeername(out.fd, (struct sockaddr *)&peer, &size) == 0)
		address_text((struct sockaddr *)&peer, out.address);
	return out;
}

static void collect(struct dialer *d)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(d->multi, &left))) {
		struct dial *a = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&a);
		CURLcode code = message->data.result;
		struct dialed outcome = outcome_of(a, code);
		void *owner = a->owner;
		release(d, a, code == CURLE_OK);
		d->done(owner, &outcome);
	}
}

static void wake(struct watch *w, uint32_t events)
{
	struct dialer *d = (struct dialer *)w;
	struct epoll_event ready[64];
	int count = epoll_wait(w->fd, ready, ARRAY_LEN(ready), 0), running;
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
	if (d->wake_at_ms < 0 || now_ms < d->wake_at_ms)
		return;
	d->wake_at_ms = -1;
	curl_multi_socket_action(d->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(d);
}

int dialer_open(struct dialer *d, const char *proxy, dial_done *done, struct err *e)
{
	pthread_attr_t attributes;
	*d = (struct dialer){.watch.wake = wake, .proxy = proxy, .done = done, .wake_at_ms = -1};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, RESOLVER_STACK_BYTES);
	pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
	d->watch.fd = epoll_create1(EPOLL_CLOEXEC);
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
static int configure(struct dial *a)
{
	CURLcode bad = CURLE_OK;
	bad |= curl_easy_setopt(a->easy, CURLOPT_PRIVATE, a);
	bad |= curl_easy_setopt(a->easy, CURLOPT_PROTOCOLS_STR, "http");
	bad |= curl_easy_setopt(a->easy, CURLOPT_CONNECT_ONLY, 1L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_FRESH_CONNECT, 1L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_QUICK_EXIT, 1L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_TCP_NODELAY, 1L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_BUFFERSIZE, 1024L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)DIAL_TIMEOUT_MS);
	bad |= curl_easy_setopt(a->easy, CURLOPT_PROXY, a->dialer->proxy ? a->dialer->proxy : "");
	bad |= curl_easy_setopt(a->easy, CURLOPT_NOPROXY, "");
	bad |= curl_easy_setopt(a->easy, CURLOPT_HTTPPROXYTUNNEL, a->dialer->proxy ? 1L : 0L);
	bad |= curl_easy_setopt(a->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	bad |= curl_easy_setopt(a->easy, CURLOPT_OPENSOCKETDATA, a);
	return bad == CURLE_OK ? 0 : -1;
}

static struct dial *dial_new(struct dialer *d)
{
	struct dial *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->dialer = d;
	a->easy = curl_easy_init();
	if (a->easy && configure(a) == 0)
		return a;
	curl_easy_cleanup(a->easy);
	free(a);
	return NULL;
}

struct dial *dialer_start(struct dialer *d, const struct endpoint *endpoint, void *owner)
{
	char url[ENDPOINT_TEXT_BYTES + 8];
	struct dial *a = d->idle;
	if (a) {
		d->idle = a->next;
		d->idle_count--;
	} else if (!(a = dial_new(d))) {
		return NULL;
	}
	a->endpoint = endpoint;
	a->owner = owner;
	a->tried = a->dropped = 0;
	snprintf(url, sizeof(url), "http://%s", endpoint->text);
	if (curl_easy_setopt(a->easy, CURLOPT_URL, url) == CURLE_OK &&
		curl_multi_add_handle(d->multi, a->easy) == CURLM_OK)
		return a;
	release(d, a, false);
	return NULL;
}

void dialer_cancel(struct dialer *d, struct dial *attempt)
{
	release(d, attempt, false);
}
