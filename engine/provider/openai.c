#include "provider/thoughts.h"

#include "base/json.h"
#include "base/num.h"
#include <math.h>

/* OpenAI Chat Completions as OpenAI, OpenRouter, Ollama, vLLM, LM Studio and llama.cpp serve it,
 * https://platform.openai.com/docs/api-reference/chat. */

static void write_plain(struct buf *out, const char *role, const char *text)
{
	buf_addf(out, "{\"role\":\"%s\",\"content\":", role);
	stream_quote(out, text);
	buf_adds(out, "}");
}

/* Writes the user's prompt, which begins a conversation; `system` is put before it if the provider
 * takes no system role. */
static void write_user(struct buf *out, const char *text, const char *system)
{
	AUTO_FREE char *both = NULL;
	if (system && asprintf(&both, "%s\n\n%s", system, text) < 0)
		out->failed = true;
	write_plain(out, "user", both ? both : text);
}

static void write_results(struct buf *out, const struct wire_turn *wire_turn)
{
	for (size_t i = 0; i < wire_turn->result_count; i++) {
		buf_addf(out, "%s{\"role\":\"tool\",\"tool_call_id\":", i ? "," : "");
		stream_quote(out, wire_turn->results[i].id);
		buf_adds(out, ",\"content\":");
		stream_quote(out, wire_turn->results[i].text);
		buf_adds(out, "}");
	}
}

static void write_said(struct buf *out, const char *raw, const struct wire_quirks *quirks)
{
	AUTO_FREE char *adapted = thoughts_adapt(raw, quirks);
	buf_adds(out, adapted ? adapted : raw);
}

static void write_messages(struct buf *out, const struct wire_request *request)
{
	const char *folded = request->system && *request->system && request->quirks.no_system
				     ? request->system
				     : NULL;
	buf_adds(out, "\"messages\":[");
	if (request->system && *request->system && !folded)
		write_plain(out, "system", request->system);
	for (size_t i = 0; i < request->talk->count; i++) {
		const struct wire_turn *t = &request->talk->turns[i];
		if (out->len && out->data[out->len - 1] != '[')
			buf_addc(out, ',');
		if (t->role == WIRE_USER)
			write_user(out, t->text, i ? NULL : folded);
		else if (t->role == WIRE_ASSISTANT)
			write_said(out, t->raw, &request->quirks);
		else
			write_results(out, t);
	}
	buf_adds(out, "]");
}

static void write_tools(struct buf *out, const json_t *tools, const struct wire_quirks *quirks)
{
	buf_adds(out, ",\"tools\":[");
	for (size_t i = 0; i < json_array_size(tools); i++) {
		buf_addf(out, "%s{\"type\":\"function\",\"function\":{", i ? "," : "");
		stream_tool(out, json_array_get(tools, i), "parameters");
		buf_adds(out, quirks->strict ? ",\"strict\":false}}" : "}}");
	}
	buf_adds(out, quirks->tool_choice ? "],\"tool_choice\":\"auto\"" : "]");
}

static int encode(const struct wire_request *request, struct buf *out)
{
	buf_adds(out, "{\"model\":");
	stream_quote(out, request->model);
	buf_addf(out, ",\"%s\":%lld,\"stream\":%s",
		request->quirks.completion_tokens ? "max_completion_tokens" : "max_tokens",
		(long long)request->max_tokens, request->quirks.no_stream ? "false" : "true");
	if (!request->quirks.no_stream && !request->quirks.no_stream_options)
		buf_adds(out, ",\"stream_options\":{\"include_usage\":true}");
	if (json_array_size(request->tools))
		write_tools(out, request->tools, &request->quirks);
	if (request->quirks.thinking_off) {
		buf_adds(out, ",\"reasoning_effort\":\"none\"");
	} else if (request->thinking && !request->quirks.no_thinking) {
		buf_adds(out, ",\"reasoning_effort\":");
		stream_quote(out, strcmp(request->thinking, "off") ? request->thinking : "none");
	}
	stream_temperature(out, request);
	buf_addc(out, ',');
	write_messages(out, request);
	return buf_adds(out, "}");
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Reports whether `beside` equals the tokens read from the cache, those written to it, or both. */
static bool is_cached(const struct usage *usage, int64_t beside)
{
	return beside > 0 && (beside == usage->cache_read || beside == usage->cache_write ||
				     beside == usage->cache_read + usage->cache_write);
}

/* Adds the tokens that the total has beyond prompt and completion. xAI and Gemini count thinking
 * there, and charge it as output; others the cached part of the prompt, which only there can exceed
 * the prompt. */
static void add_beside(struct usage *u, const json_t *usage)
{
	const json_t *details = json_object_get(usage, "completion_tokens_details");
	int64_t total = 0, thought = 0;
	usage_count(json_object_get(usage, "total_tokens"), &total);
	usage_count(json_object_get(details, "reasoning_tokens"), &thought);
	int64_t beside = total - u->input - u->output;
	if (beside > 0 && (thought ? thought == beside : !is_cached(u, beside)))
		u->output += beside;
	else if (is_cached(u, beside))
		u->input += beside;
	else if (u->cache_read + u->cache_write > u->input)
		u->input += u->cache_read + u->cache_write;
}

/* Reads an amount in USD, which some gateways write in quotes. -1: there is none; NAN: it is
 * invalid. */
static double usd_of(const json_t *value)
{
	double usd = json_number_value(value);
	bool text = json_is_string(value);
	if (text && num_float(json_string_value(value), json_string_length(value), &usd))
		return -1;
	if (!text && !json_is_number(value))
		return -1;
	return usd >= 0 && usd < 1e6 ? usd : NAN;
}

/* Reads a stated charge. An impossible one makes the whole usage unknown. OpenRouter states it in
 * USD; with a user's own vendor key it is a fee or nothing, and the vendor charges the rest:
 * https://openrouter.ai/docs/use-cases/usage-accounting. Perplexity states it in parts. */
static int64_t stated_microusd(struct wire_stream *stream, const json_t *usage)
{
	const json_t *cost = json_object_get(usage, "cost");
	if (json_is_object(cost))
		cost = json_object_get(cost, "total_cost");
	double usd = usd_of(cost), rest = 0;
	if (json_is_true(json_object_get(usage, "is_byok")))
		rest = usd_of(json_object_get(
			json_object_get(usage, "cost_details"), "upstream_inference_cost"));
	stream->cost_odd = stream->cost_odd || isnan(usd) || isnan(rest);
	return usd < 0 || rest < 0 || isnan(usd + rest) ? -1 : (int64_t)((usd + rest) * 1e6 + 0.5);
}

/* Reads how many prompt tokens a cache held or took, by any vendor's name for it. */
static void read_cached(struct usage *u, const json_t *usage)
{
	static const struct {
		const char *name;
		bool detail, write;
	} counts[] = {
		{"prompt_cache_hit_tokens", false, false}, /* DeepSeek */
		{"cached_tokens", false, false},           /* Kimi */
		/* Gateways to Claude; also the next ones. */
		{"cache_read_input_tokens", false, false},
		{"cached_tokens", true, false},
		{"cache_creation_input_tokens", false, true},
		{"cache_creation_input_tokens", true, true}, /* Qwen */
		{"cache_creation_tokens", true, true},
		{"cache_write_tokens", true, true},
	};
	const json_t *details = json_object_get(usage, "prompt_tokens_details");
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		int64_t count = 0, *sum = counts[i].write ? &u->cache_write : &u->cache_read;
		usage_count(json_object_get(counts[i].detail ? details : usage, counts[i].name),
			&count);
		*sum = larger(*sum, count);
	}
}

/* Reads the usage. `prompt_tokens` is the total, including cached ones. Counts are cumulative, and
 * some gateways end with zeros. */
static void read_usage(struct wire_stream *stream, const json_t *usage)
{
	struct usage one = USAGE_NONE, *u = &stream->usage;
	bool in = stream_told(usage, "prompt_tokens", &one.input, &stream->input_known);
	bool out = stream_told(usage, "completion_tokens", &one.output, &stream->output_known);
	read_cached(&one, usage);
	if (in && out)
		add_beside(&one, usage);
	one.cost_microusd = stated_microusd(stream, usage);
	u->input = larger(u->input, one.input);
	u->output = larger(u->output, one.output);
	u->cache_read = larger(u->cache_read, one.cache_read);
	u->cache_write = larger(u->cache_write, one.cache_write);
	u->cost_microusd = larger(u->cost_microusd, one.cost_microusd);
	stream_metered(stream);
}

/* Returns the block of the text, block 0; calls follow in the order in which they began. */
static struct block *text_block(struct wire_stream *stream, struct fault *fault)
{
	struct block *b = stream_block(stream, 0, fault);
	if (b && !b->skeleton)
		b->skeleton = json_object();
	return b && b->skeleton ? b : NULL;
}

/* Reports whether the arguments are closed. Scanning goes on where it stopped, since every piece
 * may ask. */
static bool is_whole(struct block *block)
{
	const struct buf *text = &block->text;
	for (; block->scanned < text->len; block->scanned++) {
		char c = text->data[block->scanned];
		if (block->in_string && c == '\\')
			block->scanned++;
		else if (c == '"')
			block->in_string = !block->in_string;
		else if (!block->in_string)
			block->depth += (c == '{') - (c == '}');
	}
	return text->len && text->data[text->len - 1] == '}' && !block->in_string && !block->depth;
}

/* Reports whether a piece begins another call than the one with its index. Calls are told apart by
 * `index`. Ollama sends 0 for all but gives each its own id; Gemini does so without ids, so that a
 * name after complete arguments begins the next call. Others make up an id for each piece of an
 * open call. */
static bool is_next(struct block *block, const json_t *piece)
{
	const char *id = json_get_text(piece, "id");
	bool named = *json_get_text(json_object_get(piece, "function"), "name");
	if (*id && block->id)
		return strcmp(id, block->id) && (named || is_whole(block));
	return named && block->name && is_whole(block);
}

static bool is_open(struct block *block)
{
	return block->kind == BLOCK_CALL && block->name && !is_whole(block);
}

/* Returns the newest call with that index, and in `open` the newest open call with any index. */
static struct block *newest_call(struct wire_stream *stream, int64_t index, struct block **open)
{
	*open = NULL;
	for (size_t i = stream->block_count; i > 1; i--) {
		struct block *b = &stream->blocks[i - 1];
		if (!*open && is_open(b))
			*open = b;
		if (b->kind == BLOCK_CALL && b->wire_index == index)
			return b;
	}
	return NULL;
}

/* Returns the call with the same id under any index; NULL: there is none. */
static struct block *same_call(const struct wire_stream *stream, const json_t *piece)
{
	const char *id = json_get_text(piece, "id");
	const char *name = json_get_text(json_object_get(piece, "function"), "name");
	for (size_t i = stream->block_count; *id && i > 1; i--) {
		struct block *b = &stream->blocks[i - 1];
		bool same = b->kind == BLOCK_CALL && b->id && !strcmp(b->id, id);
		if (same && b->name && (!*name || !strcmp(b->name, name)))
			return b;
	}
	return NULL;
}

/* Reports whether a piece repeats all that a call has: some servers send the whole call after its
 * pieces, or again under another index. */
static bool repeats(struct block *block, const json_t *piece)
{
	const json_t *arguments = json_object_get(json_object_get(piece, "function"), "arguments");
	return block->name && json_string_length(arguments) && is_whole(block) &&
	       !strcmp(json_string_value(arguments), block->text.data);
}

/* Returns the call that a piece belongs to; NULL without a fault: it begins one. Arguments under
 * another index, without id or name, belong to the open call, if there is one. */
static struct block *find_call(
	struct wire_stream *stream, const json_t *piece, int64_t index, struct fault *fault)
{
	struct block *open, *own = newest_call(stream, index, &open);
	const json_t *function = json_object_get(piece, "function");
	const json_t *arguments = json_object_get(function, "arguments");
	bool begins = *json_get_text(piece, "id") || *json_get_text(function, "name");
	bool says = json_string_length(arguments) || json_object_size(arguments);
	struct block *same = same_call(stream, piece);
	if (same && same != own && (!is_whole(same) || !says || repeats(same, piece)))
		return same;
	if (own)
		return is_next(own, piece) ? NULL : own;
	if (begins || !says)
		return NULL;
	if (!open)
		fault_set(fault, FAULT_RETRY,
			"the provider sent arguments that belong to no tool call (index %lld)",
			(long long)index);
	return open;
}

static int add_call(struct wire_stream *stream, const json_t *piece, struct fault *fault)
{
	if (!text_block(stream, fault))
		return -1;
	const json_t *given = json_object_get(piece, "index");
	int64_t index = json_is_integer(given) ? json_integer_value(given) : 0;
	struct block *b = find_call(stream, piece, index, fault);
	if (fault->kind != FAULT_NONE)
		return -1;
	if (b && repeats(b, piece))
		return 0;
	if (!b) {
		b = stream_block(stream, stream->block_count, fault);
		if (!b || !(b->skeleton = json_object()))
			return -1;
		b->kind = BLOCK_CALL;
		b->wire_index = index;
	}
	const json_t *function = json_object_get(piece, "function");
	const json_t *arguments = json_object_get(function, "arguments");
	if (stream_name(&b->id, piece, "id") || stream_name(&b->name, function, "name"))
		return fault_set(fault, FAULT_FATAL, "out of memory");
	if (thoughts_sign(stream, b, piece, fault))
		return -1;
	if (!json_is_object(arguments))
		return stream_add_text(stream, &b->text, arguments, fault);
	AUTO_FREE char *text = json_text(arguments);
	return stream_append(stream, &b->text, text, text ? strlen(text) : 0, fault);
}

/* Adds content. Mistral sends parts if there are thoughts in the text. */
static int add_content(struct wire_stream *stream, const json_t *content, struct fault *fault)
{
	const json_t *part;
	size_t i;
	if (!json_is_string(content) && !json_is_array(content))
		return 0;
	struct block *b = text_block(stream, fault);
	if (!b || stream_add_text(stream, &b->text, content, fault))
		return -1;
	json_array_foreach (content, i, part)
		if (!strcmp(json_get_text(part, "type"), "text") &&
			stream_add_text(stream, &b->text, json_object_get(part, "text"), fault))
			return -1;
	return 0;
}

static int add_thoughts(struct wire_stream *stream, const json_t *delta, struct fault *fault)
{
	struct block *b = thoughts_in(delta) ? text_block(stream, fault) : NULL;
	if (b)
		return thoughts_add(stream, b, delta, fault);
	return fault->kind == FAULT_NONE ? 0 : -1;
}

static int add_delta(struct wire_stream *stream, const json_t *delta, struct fault *fault)
{
	const json_t *refusal = json_object_get(delta, "refusal");
	const json_t *calls = json_object_get(delta, "tool_calls");
	if (add_content(stream, json_object_get(delta, "content"), fault) ||
		add_thoughts(stream, delta, fault))
		return -1;
	if (json_string_length(refusal)) { /* some gateways add an empty one */
		stream->stop = WIRE_STOP_REFUSAL;
		size_t at = strlen(stream->stop_detail);
		snprintf(stream->stop_detail + at, sizeof(stream->stop_detail) - at, "%s",
			json_string_value(refusal));
	}
	for (size_t i = 0; i < json_array_size(calls); i++)
		if (add_call(stream, json_array_get(calls, i), fault))
			return -1;
	return 0;
}

/* Reports whether the reason means that the server broke down and the text is no answer. Gateways
 * use these, DeepSeek, Z.ai, and Google if the model wrote a malformed call. */
static bool is_breakdown(const char *reason)
{
	static const char *const reasons[] = {"error", "insufficient_system_resource",
		"network_error", "function_call_filter", "malformed_function_call"};
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (stream_reason(reason, reasons[i]))
			return true;
	return false;
}

/* Reads the stop reason. Calls are recognised by their presence. */
static int read_stop(struct wire_stream *stream, const json_t *choice, struct fault *fault)
{
	const char *reason = json_string_value(json_object_get(choice, "finish_reason"));
	if (!reason)
		return 0;
	if (is_breakdown(reason))
		return fault_set(fault, FAULT_RETRY,
			"the provider ended its answer with an error: %s", reason);
	stream->complete = true;
	enum wire_stop stop = stream_stop(reason);
	if (stop != WIRE_STOP_END && stop != WIRE_STOP_TOOLS)
		stream->stop = stop;
	if (stop == WIRE_STOP_REFUSAL && !stream->stop_detail[0])
		snprintf(stream->stop_detail, sizeof(stream->stop_detail), "%s", reason);
	return 0;
}

/* Reports whether the event is an error. Older vLLM sends it without a wrapper. */
static bool has_error(const json_t *doc)
{
	const json_t *error = json_object_get(doc, "error");
	return (error && !json_is_null(error)) || !strcmp(json_get_text(doc, "object"), "error");
}

static int event(struct wire_stream *stream, const char *data, size_t len, struct fault *fault)
{
	if (!strcmp(data, "[DONE]")) {
		stream->complete = stream->ended = true;
		return 0;
	}
	json_auto_t *doc = stream_parse(data, len, fault);
	if (!doc)
		return -1;
	if (has_error(doc))
		return fault_reply(fault, 0, data, len, -1);
	const json_t *choice = json_array_get(json_object_get(doc, "choices"), 0);
	read_usage(stream, json_object_get(choice, "usage"));
	read_usage(stream, json_object_get(doc, "usage"));
	if (add_delta(stream, json_object_get(choice, "delta"), fault))
		return -1;
	return read_stop(stream, choice, fault);
}

static int message(struct wire_stream *stream, const json_t *body, struct fault *fault)
{
	const json_t *choice = json_array_get(json_object_get(body, "choices"), 0);
	if (!json_is_object(choice))
		return fault_set(
			fault, FAULT_RETRY, "the provider sent a malformed reply: no choices");
	const json_t *said = json_object_get(choice, "message");
	json_auto_t *calls = json_deep_copy(json_object_get(said, "tool_calls"));
	for (size_t i = 0; i < json_array_size(calls); i++)
		json_object_set_new(json_array_get(calls, i), "index", json_integer((json_int_t)i));
	json_auto_t *delta = json_copy((json_t *)(uintptr_t)said);
	if (calls)
		json_object_set(delta, "tool_calls", calls);
	read_usage(stream, json_object_get(body, "usage"));
	if (add_delta(stream, delta, fault) || read_stop(stream, choice, fault))
		return -1;
	stream->complete = true;
	return 0;
}

/* Drops a call whose name never came, with its arguments: it cannot be answered. */
static void drop_nameless(struct wire_stream *stream)
{
	for (size_t i = 1; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_CALL || !b->skeleton || b->name)
			continue;
		json_decref(b->skeleton);
		b->skeleton = NULL;
	}
}

/* Writes a call without its closing brackets, since further members may follow. */
static void write_call(struct buf *out, const struct wire_call *call)
{
	buf_adds(out, "{\"id\":");
	stream_quote(out, call->id);
	buf_adds(out, ",\"type\":\"function\",\"function\":{\"name\":");
	stream_quote(out, call->name);
	buf_adds(out, ",\"arguments\":");
	stream_quote(out, call->arguments);
	buf_adds(out, "}");
}

static int made_up(const struct wire_call *call, struct buf *raw)
{
	buf_adds(raw, "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[");
	write_call(raw, call);
	return buf_adds(raw, "}]}");
}

static int finish(struct wire_stream *stream, struct buf *raw)
{
	drop_nameless(stream);
	if (stream_settle_calls(stream))
		return -1;
	const struct buf nothing = BUF_INIT(0);
	const struct buf *text = stream->block_count ? &stream->blocks[0].text : &nothing;
	buf_adds(raw, "{\"role\":\"assistant\",\"content\":");
	stream_quote_buf(raw, text);
	size_t calls = 0, plain = raw->len;
	thoughts_write(stream, raw);
	bool said = raw->len > plain || !stream_is_blank(text);
	for (size_t i = 1; i < stream->block_count; i++) {
		const struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_CALL || !b->skeleton)
			continue;
		AUTO_FREE char *made = NULL;
		const char *arguments = stream_arguments(b, &made);
		buf_adds(raw, calls++ ? "," : ",\"tool_calls\":[");
		write_call(raw, &(struct wire_call){b->id, b->name, (char *)(uintptr_t)arguments});
		thoughts_write_sign(b, raw);
		buf_addc(raw, '}');
	}
	if (calls && stream->stop == WIRE_STOP_END)
		stream->stop = WIRE_STOP_TOOLS;
	if (!calls && !said)
		buf_clear(raw);
	return buf_adds(raw, calls ? "]}" : said ? "}" : "");
}

/* Learns to send the thoughts of every turn: DeepSeek and Kimi demand the member even where they
 * sent none. */
static bool adapt_thoughts(struct wire_quirks *quirks, const char *message)
{
	bool missing = strcasestr(message, "passed back") || strcasestr(message, "missing");
	return missing && !quirks->no_thoughts ? stream_learn(&quirks->every_thought)
					       : stream_learn(&quirks->no_thoughts);
}

/* Reports whether a refusal is about the system role: Gemma's templates and o1 have none, and
 * Google has no instruction for some models. */
static bool names_system(const char *message)
{
	static const char *const beside[] = {
		"role", "message", "prompt", "instruction", "with this"};
	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		if (strcasestr(message, beside[i]))
			return stream_names(message, "system") ||
			       stream_names(message, "developer");
	return false;
}

/* Learns from a refusal that names a member of our request. Some models take tools, or any request,
 * only without streaming. */
static bool adapt_member(struct wire_quirks *quirks, const char *message)
{
	if (stream_names(message, "stream_options"))
		return stream_learn(&quirks->no_stream_options);
	if (stream_names(message, "tool_choice"))
		return stream_learn(&quirks->tool_choice);
	if (stream_names(message, "strict"))
		return stream_learn(&quirks->strict);
	if (stream_names(message, "stream") || stream_names(message, "streaming"))
		return stream_learn(&quirks->no_stream);
	return names_system(message) && stream_learn(&quirks->no_system);
}

static bool adapt(struct wire_quirks *quirks, const char *message)
{
	bool thoughts = strcasestr(message, "reasoning_content") ||
			strcasestr(message, "reasoning_details") ||
			(strcasestr(message, "messages") && strcasestr(message, "reasoning"));
	if (strstr(message, "max_completion_tokens"))
		return stream_learn(&quirks->completion_tokens);
	if (thoughts && adapt_thoughts(quirks, message))
		return true;
	/* Newer OpenAI models think by default, and do so with tools only in another API. */
	if (strcasestr(message, "tools with reasoning_effort"))
		return stream_learn(&quirks->thinking_off);
	if (strcasestr(message, "temperature"))
		return stream_learn(&quirks->no_temperature);
	if (strcasestr(message, "reasoning") || strcasestr(message, "thinking"))
		return stream_learn(&quirks->no_thinking);
	return adapt_member(quirks, message);
}

const struct wire_format openai_format = {
	.name = "openai",
	.path = "/v1/chat/completions",
	.encode = encode,
	.event = event,
	.message = message,
	.finish = finish,
	.made_up = made_up,
	.adapt = adapt,
};
