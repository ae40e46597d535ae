#include "provider/stream.h"

#include "base/json.h"

/* Anthropic Messages, https://docs.anthropic.com/en/api/messages and .../messages-streaming. */

enum { BLOCK_LEVELS = 4 };

static const char cache_mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

static const struct {
	const char *level;
	int64_t budget_tokens;
} thinking_levels[] = {{"low", 2048}, {"medium", 8192}, {"high", 16384}};

static int64_t thinking_budget(const char *level)
{
	for (size_t i = 0; i < ARRAY_LEN(thinking_levels); i++)
		if (!strcmp(thinking_levels[i].level, level))
			return thinking_levels[i].budget_tokens;
	return 0;
}

static void write_user(struct buf *out, const struct wire_turn *wire_turn, bool mark)
{
	buf_adds(out, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":");
	stream_quote(out, wire_turn->text);
	buf_addf(out, "%s}]}", mark ? cache_mark : "");
}

static void write_results(struct buf *out, const struct wire_turn *wire_turn, bool mark)
{
	buf_adds(out, "{\"role\":\"user\",\"content\":[");
	for (size_t i = 0; i < wire_turn->result_count; i++) {
		const struct wire_result *r = &wire_turn->results[i];
		buf_addf(out, "%s{\"type\":\"tool_result\",\"tool_use_id\":", i ? "," : "");
		stream_quote(out, r->id);
		buf_adds(out, ",\"content\":");
		stream_quote(out, r->text);
		buf_addf(out, "%s%s}", r->failed ? ",\"is_error\":true" : "",
			mark && i + 1 == wire_turn->result_count ? cache_mark : "");
	}
	buf_adds(out, "]}");
}

/* Reports whether a message is marked for caching. The two newest user messages are: the end that
 * was cached last time, and the end to cache now. With the system text and the last tool these are
 * the four marks that the API allows. */
static bool is_marked(const struct wire_request *request, size_t at)
{
	size_t newer = 0;
	for (size_t i = at + 1; i < request->talk->count; i++)
		newer += request->talk->turns[i].role != WIRE_ASSISTANT;
	return newer < 2 && !request->quirks.no_cache;
}

static bool is_thought_type(const json_t *block)
{
	const char *type = json_string_value(json_object_get(block, "type"));
	return type && (!strcmp(type, "thinking") || !strcmp(type, "redacted_thinking"));
}

/* Returns the content without its thoughts. Newer models bind thoughts to everything before them,
 * so they are dropped if that has changed. NULL: there is nothing else. Heap. */
static char *thoughtless(const char *raw)
{
	json_auto_t *content = json_read_nested(raw, strlen(raw),
		(struct json_cap){SIZE_MAX, JSON_DEPTH_MAX + BLOCK_LEVELS, SIZE_MAX}, NULL);
	if (!content)
		return strdup(raw);
	for (size_t i = json_array_size(content); i > 0; i--)
		if (is_thought_type(json_array_get(content, i - 1)))
			json_array_remove(content, i - 1);
	return json_array_size(content) ? json_text(content) : NULL;
}

/* Writes an assistant message. Returns false if it has no content: the API refuses empty ones. */
static bool write_said(struct buf *out, const struct wire_turn *wire_turn, bool with_thoughts)
{
	AUTO_FREE char *without = with_thoughts ? NULL : thoughtless(wire_turn->raw);
	const char *content = with_thoughts ? wire_turn->raw : without;
	if (!content)
		return false;
	buf_adds(out, "{\"role\":\"assistant\",\"content\":");
	buf_adds(out, content);
	buf_addc(out, '}');
	return true;
}

static void write_messages(struct buf *out, const struct wire_request *request)
{
	const struct wire_talk *talk = request->talk;
	buf_adds(out, "\"messages\":[");
	for (size_t i = 0; i < talk->count; i++) {
		const struct wire_turn *t = &talk->turns[i];
		bool first = out->len && out->data[out->len - 1] == '[';
		size_t before = out->len;
		buf_adds(out, first ? "" : ",");
		if (t->role == WIRE_ASSISTANT) {
			if (!write_said(out, t, !t->stale || !request->quirks.bound_thinking))
				out->len = before;
		} else if (t->role == WIRE_USER) {
			write_user(out, t, is_marked(request, i));
		} else {
			write_results(out, t, is_marked(request, i));
		}
	}
	buf_adds(out, "]");
}

static void write_tools(struct buf *out, const json_t *tools, bool mark)
{
	buf_adds(out, ",\"tools\":[");
	for (size_t i = 0; i < json_array_size(tools); i++) {
		buf_adds(out, i ? ",{" : "{");
		stream_tool(out, json_array_get(tools, i), "input_schema");
		buf_addf(out, "%s}", mark && i + 1 == json_array_size(tools) ? cache_mark : "");
	}
	buf_adds(out, "]");
}

static void write_thinking(struct buf *out, const struct wire_request *request)
{
	if (!request->thinking || request->quirks.no_thinking)
		return;
	int64_t budget = thinking_budget(request->thinking);
	if (!budget) {
		buf_adds(out, ",\"thinking\":{\"type\":\"disabled\"}");
	} else if (!request->quirks.manual_thinking) {
		buf_adds(out,
			",\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":");
		stream_quote(out, request->thinking);
		buf_adds(out, "}");
	} else {
		/* The budget must stay below max_tokens and be at least 1024. */
		int64_t half = request->max_tokens / 2;
		budget = budget < half ? budget : half;
		if (budget >= 1024)
			buf_addf(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":%lld}",
				(long long)budget);
	}
}

static int encode(const struct wire_request *request, struct buf *out)
{
	buf_adds(out, "{\"model\":");
	stream_quote(out, request->model);
	buf_addf(out, ",\"max_tokens\":%lld,\"stream\":true", (long long)request->max_tokens);
	if (request->system && *request->system) {
		buf_adds(out, ",\"system\":[{\"type\":\"text\",\"text\":");
		stream_quote(out, request->system);
		buf_addf(out, "%s}]", request->quirks.no_cache ? "" : cache_mark);
	}
	if (json_array_size(request->tools))
		write_tools(out, request->tools, !request->quirks.no_cache);
	write_thinking(out, request);
	stream_temperature(out, request);
	buf_addc(out, ',');
	write_messages(out, request);
	return buf_adds(out, "}");
}

static void read_stop(struct wire_stream *stream, const json_t *holder)
{
	const char *reason = json_string_value(json_object_get(holder, "stop_reason"));
	const json_t *details = json_object_get(holder, "stop_details");
	const char *category = json_string_value(json_object_get(details, "category"));
	const char *why = json_string_value(json_object_get(details, "explanation"));
	if (reason)
		stream->stop = stream_stop(reason);
	if (category || why)
		snprintf(stream->stop_detail, sizeof(stream->stop_detail), "%s%s%s",
			category ? category : "", category && why ? ": " : "", why ? why : "");
}

/* Reads the input count, which `input_tokens` gives without cached tokens. */
static void read_input(struct wire_stream *stream, const json_t *usage)
{
	struct usage *u = &stream->usage;
	int64_t fresh = 0, hit = 0, stored = 0, old = u->input - u->cache_read - u->cache_write;
	bool told = stream_told(usage, "input_tokens", &fresh, &stream->input_known);
	bool hits = !usage_count(json_object_get(usage, "cache_read_input_tokens"), &hit);
	bool stores = !usage_count(json_object_get(usage, "cache_creation_input_tokens"), &stored);
	if (fresh + hit + stored == 0)
		return;
	u->cache_read = hits ? hit : u->cache_read;
	u->cache_write = stores ? stored : u->cache_write;
	int64_t input = (told ? fresh : old) + u->cache_read + u->cache_write;
	u->input = input > u->input ? input : u->input;
}

/* Reads cumulative counts. The newest tell how the input is divided, and none may lower it. The
 * counts at a stream's beginning were booked when they came, and have no output yet. */
static void read_usage(struct wire_stream *stream, const json_t *usage, bool last)
{
	struct usage *u = &stream->usage;
	int64_t output = 0;
	bool begun = false;
	read_input(stream, usage);
	stream_told(usage, "output_tokens", &output, last ? &stream->output_known : &begun);
	u->output = output > u->output ? output : u->output;
	stream_metered(stream);
}

static enum block_kind kind_of(const json_t *skeleton)
{
	const char *type = json_string_value(json_object_get(skeleton, "type"));
	if (type && !strcmp(type, "text"))
		return BLOCK_TEXT;
	if (type && !strcmp(type, "thinking"))
		return BLOCK_THINKING;
	return type && !strcmp(type, "tool_use") ? BLOCK_CALL : BLOCK_OTHER;
}

static int start_block(struct wire_stream *stream, size_t at, json_t *skeleton, struct fault *fault)
{
	struct block *b = stream_block(stream, at, fault);
	if (!b)
		return -1;
	if (!json_is_object(skeleton) || b->skeleton)
		return fault_set(fault, FAULT_RETRY, "the provider sent a malformed content block");
	b->skeleton = json_incref(skeleton);
	b->kind = kind_of(skeleton);
	if (b->kind == BLOCK_CALL &&
		(stream_name(&b->id, skeleton, "id") || stream_name(&b->name, skeleton, "name")))
		return fault_set(fault, FAULT_FATAL, "out of memory");
	if (b->kind == BLOCK_CALL && (!b->id || !b->name))
		return fault_set(
			fault, FAULT_RETRY, "the provider sent a tool call without id or name");
	if (b->kind == BLOCK_TEXT)
		return stream_add_text(stream, &b->text, json_object_get(skeleton, "text"), fault);
	if (b->kind == BLOCK_THINKING)
		return stream_add_text(
			       stream, &b->text, json_object_get(skeleton, "thinking"), fault) ||
		       stream_add_text(stream, &b->signature,
			       json_object_get(skeleton, "signature"), fault);
	return 0;
}

/* Settles the input: a whole block has it in its skeleton; a streamed one starts as {} and grows by
 * deltas. */
static void settle_input(struct wire_stream *stream, struct block *block)
{
	const json_t *input = json_object_get(block->skeleton, "input");
	if (block->kind != BLOCK_CALL || block->text.len || !json_object_size(input))
		return;
	json_write(&block->text, input);
	stream->written_bytes += block->text.len;
}

static int apply_delta(
	struct wire_stream *stream, struct block *block, const json_t *delta, struct fault *fault)
{
	const char *type = json_string_value(json_object_get(delta, "type"));
	if (!type)
		return 0;
	if (!strcmp(type, "text_delta"))
		return stream_add_text(stream, &block->text, json_object_get(delta, "text"), fault);
	if (!strcmp(type, "input_json_delta"))
		return stream_add_text(
			stream, &block->text, json_object_get(delta, "partial_json"), fault);
	if (!strcmp(type, "thinking_delta"))
		return stream_add_text(
			stream, &block->text, json_object_get(delta, "thinking"), fault);
	if (!strcmp(type, "signature_delta"))
		return stream_add_text(
			stream, &block->signature, json_object_get(delta, "signature"), fault);
	if (!strcmp(type, "citations_delta")) {
		json_t *list = json_object_get(block->skeleton, "citations");
		if (!json_is_array(list)) {
			json_object_set_new(block->skeleton, "citations", json_array());
			list = json_object_get(block->skeleton, "citations");
		}
		json_array_append(list, json_object_get(delta, "citation"));
	}
	return 0;
}

static int on_delta(struct wire_stream *stream, size_t at, const json_t *event, struct fault *fault)
{
	if (at >= stream->block_count || !stream->blocks[at].skeleton)
		return fault_set(fault, FAULT_RETRY,
			"the provider sent a piece of a content block it never began");
	return apply_delta(stream, &stream->blocks[at], json_object_get(event, "delta"), fault);
}

/* Reports whether the event's JSON values are kept in memory, where a byte of text may take
 * eighty. */
static bool is_kept(const char *type, const json_t *event)
{
	const char *delta =
		json_string_value(json_object_get(json_object_get(event, "delta"), "type"));
	return !strcmp(type, "content_block_start") || (delta && !strcmp(delta, "citations_delta"));
}

static int on_block(
	struct wire_stream *stream, const char *type, const json_t *event, struct fault *fault)
{
	json_int_t index = json_get_int(event, "index");
	size_t at = index >= 0 ? (size_t)index : SIZE_MAX;
	if (!strcmp(type, "content_block_start"))
		return start_block(stream, at, json_object_get(event, "content_block"), fault);
	return strcmp(type, "content_block_delta") ? 0 : on_delta(stream, at, event, fault);
}

static int event(struct wire_stream *stream, const char *data, size_t len, struct fault *fault)
{
	json_auto_t *doc = stream_parse(data, len, fault);
	if (!doc)
		return -1;
	const char *type = json_string_value(json_object_get(doc, "type"));
	if (!type)
		return 0;
	if (is_kept(type, doc) && stream_count(stream, len, fault))
		return -1;
	if (!strncmp(type, "content_block_", 14))
		return on_block(stream, type, doc, fault);
	if (!strcmp(type, "message_start"))
		read_usage(
			stream, json_object_get(json_object_get(doc, "message"), "usage"), false);
	if (!strcmp(type, "message_delta")) {
		read_stop(stream, json_object_get(doc, "delta"));
		read_usage(stream, json_object_get(doc, "usage"), true);
	}
	if (!strcmp(type, "error"))
		return fault_reply(fault, 0, data, len, -1);
	if (!strcmp(type, "message_stop"))
		stream->complete = stream->ended = true;
	return 0;
}

static int message(struct wire_stream *stream, const json_t *body, struct fault *fault)
{
	const json_t *content = json_object_get(body, "content");
	if (!json_is_array(content))
		return fault_set(
			fault, FAULT_RETRY, "the provider sent a malformed reply: no content");
	for (size_t i = 0; i < json_array_size(content); i++)
		if (start_block(stream, i, json_array_get(content, i), fault))
			return -1;
	read_stop(stream, body);
	read_usage(stream, json_object_get(body, "usage"), true);
	stream->complete = true;
	return 0;
}

/* Writes the member that deltas have grown, by kind. Everything else is written as it was
 * announced. */
static bool write_grown(struct buf *out, const struct block *block, const char *key)
{
	if ((block->kind == BLOCK_TEXT && !strcmp(key, "text")) ||
		(block->kind == BLOCK_THINKING && !strcmp(key, "thinking"))) {
		stream_quote_buf(out, &block->text);
	} else if (block->kind == BLOCK_THINKING && !strcmp(key, "signature")) {
		stream_quote_buf(out, &block->signature);
	} else if (block->kind == BLOCK_CALL && !strcmp(key, "id")) {
		stream_quote(out, block->id);
	} else if (block->kind == BLOCK_CALL && !strcmp(key, "name")) {
		stream_quote(out, block->name);
	} else if (block->kind == BLOCK_CALL && !strcmp(key, "input")) {
		AUTO_FREE char *made = NULL;
		buf_adds(out, stream_arguments(block, &made));
	} else {
		return false;
	}
	return true;
}

static void write_block(struct buf *out, struct block *block)
{
	const char *must = block->kind == BLOCK_THINKING ? "signature"
			   : block->kind == BLOCK_CALL   ? "input"
							 : NULL;
	if (must && !json_object_get(block->skeleton, must))
		json_object_set_new(block->skeleton, must, json_null());
	const char *key;
	json_t *value;
	bool first = true;
	json_object_foreach (block->skeleton, key, value) {
		buf_addc(out, first ? '{' : ',');
		first = false;
		stream_quote(out, key);
		buf_addc(out, ':');
		if (!write_grown(out, block, key))
			json_write(out, value);
	}
	buf_adds(out, first ? "{}" : "}");
}

static bool is_said(const struct block *block)
{
	return block->skeleton && (block->kind != BLOCK_TEXT || !stream_is_blank(&block->text));
}

/* Returns the number of blocks up to the last that is not a thought: no message may end with
 * one. */
static size_t said_count(const struct wire_stream *stream)
{
	size_t count = stream->block_count;
	while (count && (!is_said(&stream->blocks[count - 1]) ||
				is_thought_type(stream->blocks[count - 1].skeleton)))
		count--;
	return count;
}

static int finish(struct wire_stream *stream, struct buf *raw)
{
	bool first = true;
	size_t count = said_count(stream);
	for (size_t i = 0; i < stream->block_count; i++)
		settle_input(stream, &stream->blocks[i]);
	if (stream_settle_calls(stream))
		return -1;
	if (!count)
		return buf_adds(raw, "");
	buf_addc(raw, '[');
	for (size_t i = 0; i < count; i++) {
		struct block *b = &stream->blocks[i];
		if (!is_said(b))
			continue;
		if (!first)
			buf_addc(raw, ',');
		first = false;
		write_block(raw, b);
	}
	return buf_addc(raw, ']');
}

static int made_up(const struct wire_call *call, struct buf *raw)
{
	buf_adds(raw, "[{\"type\":\"tool_use\",\"id\":");
	stream_quote(raw, call->id);
	buf_adds(raw, ",\"name\":");
	stream_quote(raw, call->name);
	return buf_addf(raw, ",\"input\":%s}]", call->arguments);
}

static bool adapt(struct wire_quirks *quirks, const char *message)
{
	if (stream_names(message, "cache_control"))
		return stream_learn(&quirks->no_cache);
	if (strcasestr(message, "bound to a different conversation"))
		return stream_learn(&quirks->bound_thinking);
	if (strcasestr(message, "thinking.type.disabled"))
		return stream_learn(&quirks->no_thinking);
	if (strcasestr(message, "temperature"))
		return stream_learn(&quirks->no_temperature);
	if (strcasestr(message, "adaptive") || strcasestr(message, "output_config") ||
		strcasestr(message, "thinking"))
		return stream_learn(&quirks->manual_thinking) || stream_learn(&quirks->no_thinking);
	return false;
}

const struct wire_format anthropic_format = {
	.name = "anthropic",
	.path = "/v1/messages",
	.encode = encode,
	.event = event,
	.message = message,
	.finish = finish,
	.made_up = made_up,
	.adapt = adapt,
};
