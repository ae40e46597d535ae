#include "rehearse/listen.h"

#include "base/clock.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

enum { CONNECTIONS_MAX = 64, OUT_BYTES_MAX = 80 * 1024 * 1024 };

struct connection {
	int fd; /* -1: free */
	struct buf in, out;
	int64_t due_ms; /* when `out` may be sent */
	bool close;     /* once it is sent */
};

struct listening {
	struct connection all[CONNECTIONS_MAX];
	struct player *player;
};

int listen_loopback(int *port, struct err *e)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, CONNECTIONS_MAX) ||
		getsockname(fd, (struct sockaddr *)&at, &len))
		return err_errno(e, "cannot listen on the loopback interface");
	*port = ntohs(at.sin_port);
	return TAKE_FD(fd);
}

static void connection_done(struct connection *connection)
{
	own_close(&connection->fd);
	buf_done(&connection->in);
	buf_done(&connection->out);
}

static void accept_one(struct listening *listening, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1;
	for (size_t i = 0; fd >= 0 && i < CONNECTIONS_MAX; i++) {
		struct connection *c = &listening->all[i];
		if (c->fd >= 0)
			continue;
		*c = (struct connection){.fd = fd};
		buf_init(&c->in, HTTP_HEAD_MAX + HTTP_BODY_MAX);
		buf_init(&c->out, OUT_BYTES_MAX);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		return;
	}
	own_close(&fd);
}

static void reply_to(struct listening *listening, struct connection *connection,
	const struct http_request *request, int status)
{
	struct rendered r;
	if (request)
		player_serve(listening->player, request, &r);
	else
		render_error(
			WIRE_OPENAI, status, "this is not a request that is understood here", &r);
	connection->close = !request || request->close;
	connection->due_ms = r.delay_ms ? clock_monotonic_ms() + r.delay_ms : 0;
	struct http_reply reply = {r.status, r.stream, r.retry_after_secs,
		listening->player->requests, connection->close};
	http_message_write(&connection->out, &reply, &r.body);
	buf_done(&r.body);
}

/* Parses one request; the next is read after the reply to this one has been sent. */
static void parse(struct listening *listening, struct connection *connection)
{
	struct http_request q;
	int status = 400;
	bool expects;
	if (connection->out.len || !connection->in.len)
		return;
	long used =
		http_message_parse(connection->in.data, connection->in.len, &q, &status, &expects);
	if (used < 0)
		reply_to(listening, connection, NULL, status);
	else if (!used && expects)
		buf_adds(&connection->out, "HTTP/1.1 100 Continue\r\n\r\n");
	else if (used) {
		reply_to(listening, connection, &q, 0);
		buf_drop(&connection->in, (size_t)used);
	}
}

static void receive(struct listening *listening, struct connection *connection)
{
	char chunk[65536];
	ssize_t n = read(connection->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0 || buf_add(&connection->in, chunk, (size_t)n)) {
		connection_done(connection);
		return;
	}
	parse(listening, connection);
}

static void send_some(struct listening *listening, struct connection *connection)
{
	ssize_t n = send(connection->fd, connection->out.data, connection->out.len, MSG_NOSIGNAL);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		connection_done(connection);
		return;
	}
	buf_drop(&connection->out, (size_t)n);
	if (connection->out.len)
		return;
	if (connection->close)
		connection_done(connection);
	else
		parse(listening, connection);
}

/* Returns the events to watch a connection for. A delayed reply shortens the time-out instead. */
static short wanted(const struct connection *connection, int64_t now, int *timeout_ms)
{
	if (!connection->out.len)
		return POLLIN;
	if (connection->due_ms <= now)
		return POLLOUT;
	if (*timeout_ms < 0 || connection->due_ms - now < *timeout_ms)
		*timeout_ms = (int)(connection->due_ms - now);
	return 0;
}

static void serve_ready(struct listening *listening, const struct pollfd *watched)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &listening->all[i];
		if (c->fd < 0 || !watched[i].revents)
			continue;
		if (c->out.len && !(watched[i].revents & POLLOUT))
			connection_done(c);
		else if (c->out.len)
			send_some(listening, c);
		else
			receive(listening, c);
	}
}

/* Reports whether standard input has ended: the parent is done, or has gone. */
static bool ended(int fd)
{
	char ignored[64];
	ssize_t n = read(fd, ignored, sizeof(ignored));
	return !n || (n < 0 && errno != EINTR && errno != EAGAIN);
}

static int turn(struct listening *listening, int listener, int end_fd, struct err *e)
{
	struct pollfd watched[2 + CONNECTIONS_MAX] = {{listener, POLLIN, 0}, {end_fd, POLLIN, 0}};
	int64_t now = clock_monotonic_ms();
	int timeout_ms = -1;
	nfds_t count = 2; /* poll counts unused entries against RLIMIT_NOFILE, too */
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		short events =
			listening->all[i].fd < 0 ? 0 : wanted(&listening->all[i], now, &timeout_ms);
		watched[2 + i] = (struct pollfd){listening->all[i].fd, events, 0};
		count = listening->all[i].fd < 0 ? count : 3 + i;
	}
	if (poll(watched, count, timeout_ms) < 0)
		return errno == EINTR ? 1 : err_errno(e, "cannot poll");
	serve_ready(listening, watched + 2);
	if (watched[0].revents)
		accept_one(listening, listener);
	return !(watched[1].revents && ended(end_fd));
}

int listen_run(int listener, int end_fd, struct player *player, struct err *e)
{
	struct listening l = {.player = player};
	int more;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		l.all[i].fd = -1;
	do
		more = turn(&l, listener, end_fd, e);
	while (more > 0);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (l.all[i].fd >= 0)
			connection_done(&l.all[i]);
	return more;
}
