#include "agent/transcript.h"

#include "agent/ask.h"
#include "agent/emit.h"
#include "base/json.h"
#include "base/utf8.h"
#include <string.h>

/* A secret that a cut goes through is found by neither half: both are redacted with a margin, which
 * is longer than any secret, and what is left of the margin then goes. */
enum { END_BYTES = 512 * 1024, MARGIN_BYTES = 64 * 1024, REDACTED_CAP_BYTES = 16 * 1024 * 1024 };

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static int add_head(const struct redact *r, const char *text, struct buf *out)
{
	AUTO_BUF head;
	buf_init(&head, REDACTED_CAP_BYTES);
	if (redact_text(r, text, utf8_prefix(text, END_BYTES + MARGIN_BYTES), &head, NULL))
		return -1;
	size_t len = head.len > MARGIN_BYTES ? head.len - MARGIN_BYTES : 0;
	return buf_add(out, head.data, utf8_prefix(head.data, len));
}

static int add_tail(const struct redact *r, const char *text, size_t len, struct buf *out)
{
	AUTO_BUF tail;
	buf_init(&tail, REDACTED_CAP_BYTES);
	const char *from = text + len - END_BYTES - MARGIN_BYTES;
	while (continues(*from))
		from++;
	if (redact_text(r, from, strlen(from), &tail, NULL))
		return -1;
	size_t at = tail.len < MARGIN_BYTES ? tail.len : MARGIN_BYTES;
	while (at < tail.len && continues(tail.data[at]))
		at++;
	return buf_add(out, tail.data + at, tail.len - at);
}

static json_t *kept_text(const struct redact *r, const char *text)
{
	size_t len = strlen(text);
	AUTO_BUF out;
	buf_init(&out, REDACTED_CAP_BYTES);
	int failed = buf_adds(&out, "");
	if (len <= 2 * END_BYTES + 2 * MARGIN_BYTES)
		failed = failed || redact_text(r, text, len, &out, NULL);
	else
		failed = failed || add_head(r, text, &out) ||
			 buf_addf(&out, "\n[%zu bytes are not kept here]\n",
				 len - 2 * (size_t)END_BYTES) ||
			 add_tail(r, text, len, &out);
	return failed ? NULL : json_stringn(out.data, out.len);
}

static json_t *kept_calls(const struct redact *r, const struct wire_turn *t)
{
	json_t *list = json_array();
	for (size_t i = 0; i < t->call_count; i++) {
		const char *arguments = t->calls[i].arguments;
		json_auto_t *parsed =
			strlen(arguments) <= END_BYTES
				? json_read(arguments, strlen(arguments), END_BYTES, NULL)
				: NULL;
		json_array_append_new(
			list, json_pack("{s:s, s:o}", "name", t->calls[i].name, "arguments",
				      parsed ? ask_redacted(r, parsed) : kept_text(r, arguments)));
	}
	return list;
}

static json_t *kept_results(const struct redact *r, const struct wire_turn *t)
{
	json_t *list = json_array();
	for (size_t i = 0; i < t->result_count; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:b}", "name", t->results[i].name, "text",
				kept_text(r, t->results[i].text), "failed", t->results[i].failed));
	return list;
}

void transcript_keep(const struct redact *r, const struct wire_turn *t)
{
	static const char *const roles[] = {"user", "assistant", "tool"};
	json_t *m = json_pack("{s:s}", "role", roles[t->role]);
	if (t->role == WIRE_RESULTS)
		json_object_set_new(m, "tool_results", kept_results(r, t));
	else
		json_object_set_new(m, "text", t->text ? kept_text(r, t->text) : json_string(""));
	if (t->role == WIRE_ASSISTANT)
		json_object_set_new(m, "tool_calls", kept_calls(r, t));
	emit("message", m);
}
