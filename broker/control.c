#include "broker/control.h"

#include "base/json.h"
#include <fcntl.h>

enum { BEHIND_BYTES = 256 * 1024, PENDING_MAX_BYTES = 4 * 1024 * 1024 };

const char *refusal_text(enum refusal refused)
{
	static const char *const texts[] = {
#define X(name, text) [REFUSED_##name] = text,
		REFUSALS(X)
#undef X
	};
	return texts[refused];
}

int control_open(struct control *c, int fd, struct err *e)
{
	*c = (struct control){.watch.fd = fd};
	buf_init(&c->pending, PENDING_MAX_BYTES);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(e, "--control %d", fd);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return err_set(e, "--control %d is not open for writing", fd);
	return 0;
}

static void put_line(struct control *c, const json_t *line)
{
	c->lost |= !line || json_write(&c->pending, line) < 0 || buf_addc(&c->pending, '\n') < 0;
	control_flush(c);
}

void control_say(struct control *c, const struct fact *fact)
{
	if (c->watch.fd < 0)
		return;
	json_auto_t *line = json_pack("{s:i, s:s, s:s*, s:I, s:I, s:I, s:s, s:s*}", "channel",
		(int)fact->channel, "endpoint", fact->endpoint, "addr",
		fact->address[0] ? fact->address : NULL, "up", (json_int_t)fact->up_bytes, "down",
		(json_int_t)fact->down_bytes, "ms", (json_int_t)fact->wall_ms, "close",
		fact->closed, "refused", refusal_text(fact->refused));
	if (line && !fact->address[0])
		json_object_set_new(line, "addr", json_null());
	put_line(c, line);
}

void control_notice(struct control *c, const char *text)
{
	if (c->watch.fd < 0)
		return;
	json_auto_t *line = json_pack("{s:s}", "notice", text);
	put_line(c, line);
}

void control_flush(struct control *c)
{
	while (!c->lost && c->pending.len > 0) {
		ssize_t put = write(c->watch.fd, c->pending.data, c->pending.len);
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0 && errno != EINTR)
			c->lost = true;
		if (put > 0)
			buf_drop(&c->pending, (size_t)put);
	}
}

bool control_is_behind(const struct control *c)
{
	return c->pending.len > BEHIND_BYTES;
}
