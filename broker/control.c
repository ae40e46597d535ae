#include "broker/control.h"

#include <fcntl.h>

enum { PENDING_MAX_BYTES = 16 * 1024 * 1024 };

/* Writes what can be written now. */
static void flush(struct watch *w)
{
	struct control *c = w->owner;
	c->lost |= (w->ready & EPOLLERR) != 0;
	while (!c->lost && c->pending.len > 0) {
		ssize_t put = write(w->fd, c->pending.data, c->pending.len);
		if (put < 0 && errno == EAGAIN)
			return;
		c->lost = put < 0 && errno != EINTR;
		buf_drop(&c->pending, put > 0 ? (size_t)put : 0);
	}
}

int control_open(struct control *c, struct loop *l, int fd, struct err *e)
{
	*c = (struct control){.watch = {.fd = fd, .wake = flush, .owner = c}};
	buf_init(&c->pending, PENDING_MAX_BYTES);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(e, "--control %d", fd);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return err_set(e, "--control %d is not open for writing", fd);
	/* A regular file is always writable, and epoll refuses it. */
	if (loop_want(l, &c->watch, EPOLLOUT | EPOLLET) < 0 && errno != EPERM)
		return err_errno(e, "cannot watch --control %d", fd);
	return 0;
}

void control_say(struct control *c, json_t *line)
{
	if (c->watch.fd >= 0) {
		c->lost |= !line || json_write(&c->pending, line) < 0 ||
			   buf_addc(&c->pending, '\n') < 0;
		flush(&c->watch);
	}
	json_decref(line);
}
