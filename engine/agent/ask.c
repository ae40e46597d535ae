#include "agent/ask.h"

#include "agent/emit.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"

enum { ANSWER_CAP_BYTES = 64 * 1024 };

/* One byte at a time: answers are short and rare, and nothing of a later one may be taken. */
static int read_line(struct buf *line, int64_t deadline_ms)
{
	for (char c = '\0'; c != '\n';) {
		struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
		if (io_poll(&ready, 1, deadline_ms) <= 0 || read(STDIN_FILENO, &c, 1) != 1 ||
			buf_addc(line, c))
			return -1;
	}
	return 0;
}

json_t *ask(const char *name, json_t *members, int64_t deadline_ms)
{
	static json_int_t last;
	json_int_t id = ++last;
	json_object_set_new(members, "id", json_integer(id));
	/* What was not asked is not answered. */
	if (emit(name, members))
		return NULL;
	for (;;) {
		AUTO_BUF line;
		buf_init(&line, ANSWER_CAP_BYTES);
		if (read_line(&line, deadline_ms))
			return NULL;
		json_t *answer = json_read(line.data, line.len, ANSWER_CAP_BYTES, NULL);
		if (int_of(answer, "id") == id)
			return answer;
		json_decref(answer); /* to a question that was given up */
	}
}

static json_t *redacted_text(
	redact_fn *how, const struct redact *r, const json_t *text, struct redact_tally *tally)
{
	size_t len = json_string_length(text);
	AUTO_BUF plain;
	buf_init(&plain, 16 * len + 1024);
	buf_adds(&plain, "");
	how(r, json_string_value(text), len, &plain, tally);
	return plain.failed ? NULL : json_stringn(plain.data, plain.len);
}

static json_t *redacted(
	redact_fn *how, const struct redact *r, const json_t *value, struct redact_tally *tally)
{
	if (json_is_string(value))
		return redacted_text(how, r, value, tally);
	json_t *copy = json_copy((json_t *)(uintptr_t)value), *member;
	const char *key;
	size_t i;
	int failed = copy ? 0 : -1;
	json_array_foreach (value, i, member)
		failed |= json_array_set_new(copy, i, redacted(how, r, member, tally));
	json_object_foreach ((json_t *)(uintptr_t)value, key, member)
		failed |= json_object_set_new(copy, key, redacted(how, r, member, tally));
	if (!failed)
		return copy;
	json_decref(copy);
	return NULL;
}

json_t *ask_redacted(const struct redact *r, const json_t *value)
{
	return redacted(redact_text, r, value, NULL);
}

json_t *ask_record(const struct redact *r, const json_t *value, struct redact_tally *tally)
{
	return redacted(redact_known, r, value, tally);
}
