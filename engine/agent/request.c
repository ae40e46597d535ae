#include "agent/request.h"

#include "provider/client.h"

#include "base/json.h"
#include <string.h>

enum { LINE_CAP_BYTES = 16 * 1024 * 1024, ENVELOPE_LEVELS = 16 };

enum { BLOCK_BYTES = 64 * 1024 };

/* Reads one line, `step` bytes at a time. The first line is read byte by byte: the second, behind
 * it, must not be in this process's memory yet. */
static int read_line(int fd, size_t step, struct buf *line, struct err *e)
{
	static char block[BLOCK_BYTES];
	for (const char *end = NULL; !end;) {
		ssize_t n = read(fd, block, step);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, "cannot read the request");
		if (n == 0)
			return err_set(e, "the request ends before its line does");
		end = memchr(block, '\n', (size_t)n);
		buf_add(line, block, end ? (size_t)(end - block) : (size_t)n);
		explicit_bzero(block, (size_t)n);
		if (line->failed)
			return err_set(e, "the request is longer than %d bytes", LINE_CAP_BYTES);
	}
	return 0;
}

static json_t *read_object(int fd, size_t step, struct err *e)
{
	AUTO_BUF line = BUF_INIT(LINE_CAP_BYTES);
	if (read_line(fd, step, &line, e))
		return NULL;
	json_t *doc = json_read_nested(line.data, line.len,
		(struct json_cap){LINE_CAP_BYTES, JSON_DEPTH_MAX + ENVELOPE_LEVELS, SIZE_MAX}, e);
	/* The line may hold the key. */
	explicit_bzero(line.data, line.size);
	return doc;
}

int order_read(int fd, struct agent_order *out, struct err *e)
{
	json_auto_t *doc = read_object(fd, 1, e);
	return doc ? agent_order_decode(doc, out, e) : -1;
}

/* Wipes all texts of a decoded line, where they lie: the keys and secrets are among them. */
static void wipe(json_t *value)
{
	const char *name;
	size_t i;
	json_t *child;
	if (json_is_string(value))
		explicit_bzero(
			(char *)(uintptr_t)json_string_value(value), json_string_length(value));
	json_object_foreach (value, name, child)
		wipe(child);
	json_array_foreach (value, i, child)
		wipe(child);
}

static int check_headers(const struct agent_provider *provider, struct err *e)
{
	return provider->headers.count <= CLIENT_HEADERS_MAX
		       ? 0
		       : err_set(e, "the request has more than %d headers", CLIENT_HEADERS_MAX);
}

int task_read(int fd, struct agent_task *out, const struct record **result, struct err *e)
{
	json_auto_t *doc = read_object(fd, BLOCK_BYTES, e);
	if (!doc || agent_task_decode(doc, out, e)) {
		wipe(doc);
		return -1;
	}
	*result = out->result ? record_from_json(out->result, &out->arena, e) : NULL;
	if ((!out->result || *result) && !check_headers(&out->provider, e) &&
		(!out->reviewer || !check_headers(&out->reviewer->provider, e)))
		return 0;
	task_done(out);
	return -1;
}

void task_done(struct agent_task *task)
{
	wipe(task->held);
	agent_task_done(task);
}
