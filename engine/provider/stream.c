#include "provider/stream.h"

#include "base/json.h"
#include "base/utf8.h"
#include <strings.h>

enum { BLOCKS_GROW = 16, ESCAPE_BYTES = 6, NAME_BYTES_MAX = 64, ID_BYTES_MAX = 200 };

static int grow(struct wire_stream *stream, size_t count)
{
	struct block *grown = reallocarray(stream->blocks, count + BLOCKS_GROW - 1, sizeof(*grown));
	if (!grown)
		return -1;
	stream->blocks = grown;
	for (; stream->block_count < count; stream->block_count++) {
		struct block *b = &grown[stream->block_count];
		*b = (struct block){.wire_index = -1};
		buf_init(&b->text, WIRE_CONTENT_CAP_BYTES);
		buf_init(&b->signature, WIRE_CONTENT_CAP_BYTES);
	}
	return 0;
}

struct block *stream_block(struct wire_stream *stream, size_t at, struct fault *fault)
{
	int failed = 0;
	if (at >= WIRE_BLOCKS_MAX)
		failed = fault_set(fault, FAULT_FATAL, "the reply has more than %d content blocks",
			WIRE_BLOCKS_MAX);
	else if (at >= stream->block_count && grow(stream, at + 1))
		failed = fault_set(fault, FAULT_FATAL, "out of memory");
	return failed ? NULL : &stream->blocks[at];
}

int stream_count(struct wire_stream *stream, size_t len, struct fault *fault)
{
	stream->content_bytes += len;
	if (stream->content_bytes > WIRE_CONTENT_CAP_BYTES)
		return fault_set(fault, FAULT_FATAL, "the reply holds more than %d MiB of content",
			WIRE_CONTENT_CAP_BYTES / (1024 * 1024));
	return 0;
}

int stream_append(struct wire_stream *stream, struct buf *to, const char *text, size_t len,
	struct fault *fault)
{
	if (!text)
		return 0;
	if (stream_count(stream, len, fault))
		return -1;
	stream->written_bytes += len;
	return buf_add(to, text, len) ? fault_set(fault, FAULT_FATAL, "out of memory") : 0;
}

int stream_add_text(
	struct wire_stream *stream, struct buf *to, const json_t *text, struct fault *fault)
{
	return stream_append(stream, to, json_string_value(text), json_string_length(text), fault);
}

static bool is_hex4(const char *at)
{
	return strspn(at, "0123456789abcdefABCDEF") >= 4;
}

static unsigned code_at(const char *escape)
{
	char digits[5] = {escape[2], escape[3], escape[4], escape[5], '\0'};
	return (unsigned)strtoul(digits, NULL, 16);
}

static bool is_escape(const char *text, size_t left)
{
	return left >= ESCAPE_BYTES && text[0] == '\\' && text[1] == 'u' && is_hex4(text + 2);
}

/* Reports whether the escape at `text` must become U+FFFD, and its length: a NUL, or half of a
 * surrogate pair, which servers that count in UTF-16 may cut apart. */
static bool is_unwanted(const char *text, size_t left, size_t *skip)
{
	unsigned code = code_at(text);
	*skip = ESCAPE_BYTES;
	if (code >= 0xd800 && code <= 0xdbff &&
		is_escape(text + ESCAPE_BYTES, left - ESCAPE_BYTES)) {
		unsigned low = code_at(text + ESCAPE_BYTES);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*skip = 2 * ESCAPE_BYTES;
			return false;
		}
	}
	return code == 0 || (code >= 0xd800 && code <= 0xdfff);
}

static void clean(char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t skip = text[i] == '\\' ? 2 : 1;
		if (is_escape(text + i, len - i) && is_unwanted(text + i, len - i, &skip))
			memcpy(text + i, "\\ufffd", ESCAPE_BYTES);
		i += skip;
	}
}

json_t *stream_parse(const char *data, size_t len, struct fault *fault)
{
	AUTO_FREE char *copy = malloc(len + 1);
	if (!copy) {
		fault_set(fault, FAULT_FATAL, "out of memory");
		return NULL;
	}
	memcpy(copy, data, len);
	copy[len] = '\0';
	clean(copy, len);
	struct err e = ERR_NONE;
	json_t *doc = json_read(copy, len, WIRE_CONTENT_CAP_BYTES, &e);
	if (!doc)
		fault_malformed(fault, e.text, data, len);
	return doc;
}

int stream_name(char **to, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	if (*to || !text || !*text)
		return 0;
	*to = strdup(text);
	return *to ? 0 : -1;
}

/* Appends all of a text or nothing: half a request is worse than none. */
static int quote(struct buf *out, const char *text, size_t len)
{
	if (utf8_prefix(text, len) == len)
		return json_write_string(out, text, len);
	out->failed = true;
	return -1;
}

int stream_quote(struct buf *out, const char *text)
{
	return quote(out, text, strlen(text));
}

int stream_quote_buf(struct buf *out, const struct buf *text)
{
	return quote(out, text->data, text->len);
}

void stream_temperature(struct buf *out, const struct wire_request *request)
{
	if (!request->temperature || request->quirks.no_temperature)
		return;
	json_auto_t *value = json_real(*request->temperature);
	buf_adds(out, ",\"temperature\":");
	json_write(out, value);
}

/* Replaces a name that the APIs would not take back. It names no tool and may be a secret, which
 * nobody would recognise in parts or in another spelling, so nothing of it is kept. */
static void clean_name(char *name)
{
	static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-";
	size_t len = strlen(name);
	if (len <= NAME_BYTES_MAX && strspn(name, usual) == len)
		return;
	len = len < NAME_BYTES_MAX ? len : NAME_BYTES_MAX;
	memset(name, '_', len);
	name[len] = '\0';
}

static bool is_usable(const struct wire_stream *stream, size_t at)
{
	const char *id = stream->blocks[at].id;
	if (!id || strlen(id) > ID_BYTES_MAX)
		return false;
	for (const char *p = id; *p; p++)
		if (*p < '!' || *p > '~')
			return false;
	for (size_t i = 0; i < at; i++)
		if (stream->blocks[i].id && !strcmp(stream->blocks[i].id, id))
			return false;
	return true;
}

/* Makes an id of nine letters and digits, the only form that Mistral takes. */
static char *make_id(size_t serial, size_t at)
{
	char *id;
	return asprintf(&id, "c%05zu%03zu", serial % 100000, at % 1000) < 0 ? NULL : id;
}

int stream_settle_calls(struct wire_stream *stream)
{
	for (size_t i = 0; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_CALL || !b->skeleton)
			continue;
		clean_name(b->name);
		if (is_usable(stream, i))
			continue;
		free(b->id);
		b->id = make_id(stream->serial, i);
		if (!b->id)
			return -1;
	}
	return 0;
}

void stream_tool(struct buf *out, const json_t *tool, const char *schema_key)
{
	buf_adds(out, "\"name\":");
	json_write(out, json_object_get(tool, "name"));
	buf_adds(out, ",\"description\":");
	json_write(out, json_object_get(tool, "description"));
	buf_addf(out, ",\"%s\":", schema_key);
	json_write(out, json_object_get(tool, "input_schema"));
}

bool stream_told(const json_t *usage, const char *key, int64_t *out, bool *known)
{
	const json_t *value = json_object_get(usage, key);
	if (!value || json_is_null(value))
		return false;
	*known = !usage_count(value, out);
	return *known;
}

/* Refuses zero counts: there is no answer to an empty prompt, and none without output. */
void stream_metered(struct wire_stream *stream)
{
	struct usage *u = &stream->usage;
	bool counted = u->input && (u->output || !stream->written_bytes);
	u->known = stream->input_known && stream->output_known && counted && !stream->cost_odd;
}

bool stream_is_blank(const struct buf *text)
{
	return !text->len || strspn(text->data, " \t\r\n") == text->len;
}

bool stream_reason(const char *reason, const char *name)
{
	size_t len = strcspn(reason, ":");
	return len == strlen(name) && !strncasecmp(reason, name, len);
}

enum wire_stop stream_stop(const char *reason)
{
	static const struct {
		const char *reason;
		enum wire_stop stop;
	} stops[] = {{"tool_use", WIRE_STOP_TOOLS}, {"tool_calls", WIRE_STOP_TOOLS},
		{"max_tokens", WIRE_STOP_LENGTH}, {"length", WIRE_STOP_LENGTH},
		{"model_context_window_exceeded", WIRE_STOP_CONTEXT},
		{"model_length", WIRE_STOP_CONTEXT}, {"pause_turn", WIRE_STOP_PAUSE},
		{"refusal", WIRE_STOP_REFUSAL}, {"content_filter", WIRE_STOP_REFUSAL},
		{"sensitive", WIRE_STOP_REFUSAL}, {"safety", WIRE_STOP_REFUSAL},
		{"recitation", WIRE_STOP_REFUSAL}, {"blocklist", WIRE_STOP_REFUSAL},
		{"prohibited_content", WIRE_STOP_REFUSAL}, {"spii", WIRE_STOP_REFUSAL}};
	for (size_t i = 0; i < ARRAY_LEN(stops); i++)
		if (stream_reason(reason, stops[i].reason))
			return stops[i].stop;
	return WIRE_STOP_END;
}

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

bool stream_names(const char *message, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = message; (at = strcasestr(at, name)); at += len)
		if ((at == message || !is_word(at[-1])) && !is_word(at[len]))
			return true;
	return false;
}

bool stream_learn(bool *quirk)
{
	bool fresh = !*quirk;
	*quirk = true;
	return fresh;
}
