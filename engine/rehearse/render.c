#include "rehearse/render.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include <string.h>

enum { BODY_BYTES_MAX = 64 * 1024 * 1024, PIECE_BYTES = 24 };

struct reply_usage {
	json_int_t input, output, cached;
};

/* Returns the reply's usage, else a guess from the sizes, so that metering always has numbers. */
static struct reply_usage usage_of(const struct rendering *rendering)
{
	const json_t *given = json_object_get(rendering->reply, "usage");
	AUTO_FREE char *reply = json_text(rendering->reply);
	struct reply_usage u = {(json_int_t)(rendering->request_bytes / 4) + 1,
		(json_int_t)(reply ? strlen(reply) / 4 : 0) + 1, 0};
	const json_t *input = json_object_get(given, "input_tokens");
	const json_t *output = json_object_get(given, "output_tokens");
	u.input = input ? json_integer_value(input) : u.input;
	u.output = output ? json_integer_value(output) : u.output;
	u.cached = json_get_int(given, "cached_tokens");
	return u;
}

/* Calls `each` with pieces of `text`, cut between characters. */
static void pieces(const char *text, void (*each)(void *ctx, const char *piece), void *ctx)
{
	size_t len = strlen(text);
	for (size_t at = 0; at < len;) {
		char piece[PIECE_BYTES + 4];
		size_t used = 0;
		while (at < len && used < PIECE_BYTES) {
			size_t step = utf8_step(text + at, len - at, NULL);
			memcpy(piece + used, text + at, step ? step : 1);
			used += step ? step : 1;
			at += step ? step : 1;
		}
		piece[used] = '\0';
		each(ctx, piece);
	}
}

/* --- Anthropic -------------------------------------------------------------------------------- */

static void event(struct buf *buf, const char *name, json_t *data)
{
	json_object_set_new(data, "type", json_string(name));
	buf_addf(buf, "event: %s\ndata: ", name);
	json_write(buf, data);
	buf_adds(buf, "\n\n");
	json_decref(data);
}

static const char *anthropic_stop(const json_t *reply)
{
	const char *stop = neutral_string(reply, "stop");
	if (stop)
		return stop;
	return json_array_size(json_object_get(reply, "tool_calls")) ? "tool_use" : "end_turn";
}

/* Returns the content blocks, whole. */
static json_t *anthropic_content(const struct rendering *rendering)
{
	json_t *content = json_array();
	const char *thinking = neutral_string(rendering->reply, "thinking"),
		   *text = neutral_string(rendering->reply, "text");
	size_t i;
	json_t *call;
	if (thinking) {
		char signature[SHA256_HEX + 1];
		sha256_hex(thinking, strlen(thinking), signature);
		json_array_append_new(
			content, json_pack("{s:s, s:s, s:s}", "type", "thinking", "thinking",
					 thinking, "signature", signature));
	}
	if (text && *text)
		json_array_append_new(
			content, json_pack("{s:s, s:s}", "type", "text", "text", text));
	json_array_foreach (json_object_get(rendering->reply, "tool_calls"), i, call) {
		char id[48];
		snprintf(id, sizeof(id), "toolu_rehearsed_%zu_%zu", rendering->number, i);
		json_array_append_new(
			content, json_pack("{s:s, s:s, s:s, s:O}", "type", "tool_use", "id", id,
					 "name", neutral_string(call, "name"), "input",
					 json_object_get(call, "arguments")));
	}
	return content;
}

static json_t *anthropic_usage(struct reply_usage u, json_int_t output)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "input_tokens", u.input - u.cached,
		"cache_creation_input_tokens", (json_int_t)0, "cache_read_input_tokens", u.cached,
		"output_tokens", output);
}

static json_t *anthropic_message(
	const struct rendering *rendering, json_t *content, const char *stop, json_t *usage)
{
	return json_pack("{s:o, s:s, s:s, s:s, s:o, s:s?, s:n, s:o}", "id",
		json_sprintf("msg_rehearsed_%zu", rendering->number), "type", "message", "role",
		"assistant", "model", neutral_string(rendering->request, "model"), "content",
		content, "stop_reason", stop, "stop_sequence", "usage", usage);
}

/* One block being streamed: which delta carries its text. */
struct streamed_block {
	struct buf *b;
	json_int_t index;
	const char *delta, *key;
};

static void block_delta(void *ctx, const char *piece)
{
	struct streamed_block *k = ctx;
	event(k->b, "content_block_delta",
		json_pack("{s:I, s:{s:s, s:s}}", "index", k->index, "delta", "type", k->delta,
			k->key, piece));
}

static void stream_block(struct buf *buf, json_int_t index, json_t *block)
{
	const char *type = neutral_string(block, "type");
	bool tool = !strcmp(type, "tool_use"), thinking = !strcmp(type, "thinking");
	struct streamed_block k = {buf, index,
		tool       ? "input_json_delta"
		: thinking ? "thinking_delta"
			   : "text_delta",
		tool       ? "partial_json"
		: thinking ? "thinking"
			   : "text"};
	json_auto_t *start = json_copy(block);
	AUTO_FREE char *input = tool ? json_text(json_object_get(block, "input")) : NULL;
	json_object_set_new(start, tool ? "input" : k.key, tool ? json_object() : json_string(""));
	if (thinking)
		json_object_set_new(start, "signature", json_string(""));
	event(buf, "content_block_start",
		json_pack("{s:I, s:O}", "index", index, "content_block", start));
	pieces(tool ? input : neutral_string(block, k.key), block_delta, &k);
	if (thinking)
		event(buf, "content_block_delta",
			json_pack("{s:I, s:{s:s, s:s}}", "index", index, "delta", "type",
				"signature_delta", "signature",
				neutral_string(block, "signature")));
	event(buf, "content_block_stop", json_pack("{s:I}", "index", index));
}

static void anthropic_stream(const struct rendering *rendering, struct buf *buf)
{
	struct reply_usage u = usage_of(rendering);
	json_auto_t *content = anthropic_content(rendering);
	const char *error = neutral_string(rendering->reply, "error");
	size_t i;
	json_t *block;
	event(buf, "message_start",
		json_pack("{s:o}", "message",
			anthropic_message(rendering, json_array(), NULL, anthropic_usage(u, 1))));
	event(buf, "ping", json_object());
	json_array_foreach (content, i, block)
		stream_block(buf, (json_int_t)i, block);
	if (error) {
		event(buf, "error",
			json_pack("{s:{s:s, s:s}}", "error", "type", "overloaded_error", "message",
				error));
		return;
	}
	event(buf, "message_delta",
		json_pack("{s:{s:s, s:n}, s:{s:I}}", "delta", "stop_reason",
			anthropic_stop(rendering->reply), "stop_sequence", "usage", "output_tokens",
			u.output));
	event(buf, "message_stop", json_object());
}

/* --- OpenAI ----------------------------------------------------------------------------------- */

/* Translates the reason why a reply stopped: cassettes use Anthropic's words. */
static const char *openai_stop(const json_t *reply)
{
	const char *stop = neutral_string(reply, "stop");
	if (stop && !strcmp(stop, "max_tokens"))
		return "length";
	if (stop && !strcmp(stop, "refusal"))
		return "content_filter";
	return json_array_size(json_object_get(reply, "tool_calls")) ? "tool_calls" : "stop";
}

static json_t *openai_usage(struct reply_usage u)
{
	return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", u.input, "completion_tokens",
		u.output, "total_tokens", u.input + u.output, "prompt_tokens_details",
		"cached_tokens", u.cached);
}

static json_t *openai_call(
	const struct rendering *rendering, size_t at, const json_t *call, const char *arguments)
{
	return json_pack("{s:o, s:s, s:{s:s, s:s}}", "id",
		json_sprintf("call_rehearsed_%zu_%zu", rendering->number, at), "type", "function",
		"function", "name", neutral_string(call, "name"), "arguments", arguments);
}

static json_t *openai_envelope(
	const struct rendering *rendering, const char *object, json_t *choices)
{
	return json_pack("{s:o, s:s, s:I, s:s, s:o}", "id",
		json_sprintf("chatcmpl-rehearsed-%zu", rendering->number), "object", object,
		"created", (json_int_t)1, "model", neutral_string(rendering->request, "model"),
		"choices", choices);
}

static void openai_whole(const struct rendering *rendering, struct buf *buf)
{
	const char *text = neutral_string(rendering->reply, "text");
	json_auto_t *message = json_pack("{s:s, s:s?}", "role", "assistant", "content", text);
	json_t *calls = json_array();
	size_t i;
	json_t *call;
	json_array_foreach (json_object_get(rendering->reply, "tool_calls"), i, call) {
		AUTO_FREE char *arguments = json_text(json_object_get(call, "arguments"));
		json_array_append_new(calls, openai_call(rendering, i, call, arguments));
	}
	if (json_array_size(calls))
		json_object_set(message, "tool_calls", calls);
	json_decref(calls);
	json_auto_t *whole = openai_envelope(rendering, "chat.completion",
		json_pack("[{s:i, s:O, s:s}]", "index", 0, "message", message, "finish_reason",
			openai_stop(rendering->reply)));
	json_object_set_new(whole, "usage", openai_usage(usage_of(rendering)));
	json_write(buf, whole);
}

struct stream {
	const struct rendering *r;
	struct buf *b;
	json_int_t call;
};

static void data_line(struct buf *buf, json_t *data)
{
	buf_adds(buf, "data: ");
	json_write(buf, data);
	buf_adds(buf, "\n\n");
	json_decref(data);
}

static void chunk(const struct stream *stream, json_t *delta, const char *finish)
{
	data_line(stream->b, openai_envelope(stream->r, "chat.completion.chunk",
				     json_pack("[{s:i, s:o, s:s?}]", "index", 0, "delta", delta,
					     "finish_reason", finish)));
}

static void text_piece(void *ctx, const char *piece)
{
	chunk(ctx, json_pack("{s:s}", "content", piece), NULL);
}

static void arguments_piece(void *ctx, const char *piece)
{
	const struct stream *s = ctx;
	chunk(s,
		json_pack("{s:[{s:I, s:{s:s}}]}", "tool_calls", "index", s->call, "function",
			"arguments", piece),
		NULL);
}

static void stream_call(struct stream *stream, size_t at, const json_t *call)
{
	AUTO_FREE char *arguments = json_text(json_object_get(call, "arguments"));
	json_t *start = openai_call(stream->r, at, call, "");
	stream->call = (json_int_t)at;
	json_object_set_new(start, "index", json_integer(stream->call));
	chunk(stream, json_pack("{s:[o]}", "tool_calls", start), NULL);
	pieces(arguments, arguments_piece, stream);
}

static void openai_stream(const struct rendering *rendering, struct buf *buf)
{
	struct stream s = {rendering, buf, 0};
	const char *text = neutral_string(rendering->reply, "text");
	const char *error = neutral_string(rendering->reply, "error");
	size_t i;
	json_t *call;
	chunk(&s, json_pack("{s:s, s:s}", "role", "assistant", "content", ""), NULL);
	buf_adds(buf, ": a comment keeps the connection open\n\n");
	if (text)
		pieces(text, text_piece, &s);
	json_array_foreach (json_object_get(rendering->reply, "tool_calls"), i, call)
		stream_call(&s, i, call);
	if (error) {
		data_line(buf, json_pack("{s:{s:i, s:s}}", "error", "code", 502, "message", error));
		return;
	}
	chunk(&s, json_object(), openai_stop(rendering->reply));
	const json_t *options = json_object_get(rendering->request, "stream_options");
	if (json_is_true(json_object_get(options, "include_usage"))) {
		json_t *last = openai_envelope(rendering, "chat.completion.chunk", json_array());
		json_object_set_new(last, "usage", openai_usage(usage_of(rendering)));
		data_line(buf, last);
	}
	buf_adds(buf, "data: [DONE]\n\n");
}

/* --- both ------------------------------------------------------------------------------------- */

static const char *error_type(int status)
{
	static const struct {
		int status;
		const char *type;
	} types[] = {{401, "authentication_error"}, {403, "permission_error"},
		{404, "not_found_error"}, {413, "request_too_large"}, {429, "rate_limit_error"},
		{500, "api_error"}, {504, "timeout_error"}, {529, "overloaded_error"}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].status == status)
			return types[i].type;
	return status >= 500 ? "api_error" : "invalid_request_error";
}

void render_error(enum wire wire, int status, const char *message, struct rendered *out)
{
	/* A cut message may end inside a character. */
	size_t len = utf8_prefix(message, strlen(message));
	json_auto_t *error =
		json_pack("{s:s, s:s%}", "type", error_type(status), "message", message, len);
	json_auto_t *body = NULL;
	if (wire == WIRE_ANTHROPIC)
		body = json_pack("{s:s, s:O, s:s}", "type", "error", "error", error, "request_id",
			"req_rehearsed");
	else
		body = json_pack("{s:O}", "error", error);
	*out = (struct rendered){.status = status, .retry_after_secs = -1};
	buf_init(&out->body, BODY_BYTES_MAX);
	json_write(&out->body, body);
}

void render_reply(const struct rendering *rendering, struct rendered *out)
{
	const char *error = neutral_string(rendering->reply, "error");
	const json_t *retry = json_object_get(rendering->reply, "retry_after_secs");
	int status = (int)json_get_int(rendering->reply, "status");
	if (status >= 300) {
		render_error(rendering->wire, status, error ? error : "rehearsed error", out);
	} else {
		*out = (struct rendered){.status = 200, .retry_after_secs = -1};
		out->stream = json_is_true(json_object_get(rendering->request, "stream"));
		buf_init(&out->body, BODY_BYTES_MAX);
		if (out->stream && rendering->wire == WIRE_ANTHROPIC) {
			anthropic_stream(rendering, &out->body);
		} else if (out->stream) {
			openai_stream(rendering, &out->body);
		} else if (rendering->wire == WIRE_ANTHROPIC) {
			struct reply_usage u = usage_of(rendering);
			json_auto_t *message = anthropic_message(rendering,
				anthropic_content(rendering), anthropic_stop(rendering->reply),
				anthropic_usage(u, u.output));
			json_write(&out->body, message);
		} else {
			openai_whole(rendering, &out->body);
		}
	}
	out->delay_ms = (long)json_get_int(rendering->reply, "delay_ms");
	out->retry_after_secs = retry ? (long)json_integer_value(retry) : -1;
}
