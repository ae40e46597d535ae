/* Tests refused requests: what a refusal teaches, and the request that follows. */
#include "base/json.h"
#include "tests/kit/wire.h"

#define TOOLS                                                                                      \
	"[{\"name\":\"ls\",\"description\":\"List.\",\"input_schema\":{\"type\":\"object\"}},"     \
	"{\"name\":\"cat\",\"description\":\"Read.\",\"input_schema\":{\"type\":\"object\"}}]"

/* The members that a server may want otherwise. */
static void members(void)
{
	struct wire_talk talk = {0};
	json_auto_t *tools = json_loads(TOOLS, 0, NULL);
	say(&talk, "go");
	say(&talk, "on");
	struct wire_request r = {.model = "m",
		.system = "be",
		.talk = &talk,
		.tools = tools,
		.max_tokens = 1,
		.quirks = {.no_stream_options = true,
			.no_system = true,
			.tool_choice = true,
			.strict = true}};
	AUTO_FREE char *told = encode(&openai_format, &r);
	is_str(told,
		"{\"model\":\"m\",\"max_tokens\":1,\"stream\":true,\"tools\":["
		"{\"type\":\"function\",\"function\":{\"name\":\"ls\",\"description\":\"List.\","
		"\"parameters\":{\"type\":\"object\"},\"strict\":false}},"
		"{\"type\":\"function\",\"function\":{\"name\":\"cat\",\"description\":\"Read.\","
		"\"parameters\":{\"type\":\"object\"},\"strict\":false}}],\"tool_choice\":\"auto\","
		"\"messages\":[{\"role\":\"user\",\"content\":\"be\\n\\ngo\"},"
		"{\"role\":\"user\",\"content\":\"on\"}]}",
		"a request as such servers take it");
	r.quirks = (struct wire_quirks){.no_stream = true};
	AUTO_FREE char *whole = encode(&openai_format, &r);
	has_str(whole, "\"stream\":false,\"tools\"", "one for an answer that comes whole");
	r.quirks = (struct wire_quirks){.no_cache = true};
	AUTO_FREE char *plain = encode(&anthropic_format, &r);
	ok(!strstr(plain, "cache_control"), "and one of which nothing is to be cached");
	wire_talk_done(&talk);
}

/* Checks that each refusal teaches its quirk once. */
static void learning(void)
{
	static const struct {
		size_t format;
		const char *message;
		size_t quirk[2]; /* learned from it by turns; 0: nothing more */
	} rows[] = {
#define Q(name) offsetof(struct wire_quirks, name) + 1
		{0, "`temperature` is deprecated for this model.", {Q(no_temperature)}},
		{0, "adaptive thinking is not supported", {Q(manual_thinking), Q(no_thinking)}},
		{0, "output_config: Extra inputs are not permitted",
			{Q(manual_thinking), Q(no_thinking)}},
		{0, "thinking.type.disabled is not supported", {Q(no_thinking)}},
		{0, "this block is bound to a different conversation", {Q(bound_thinking)}},
		{0, "messages: roles must alternate", {0}},
		{1, "Use 'max_completion_tokens' instead.", {Q(completion_tokens)}},
		{1, "Unsupported value: 'temperature'", {Q(no_temperature)}},
		{1, "function tools with reasoning_effort are not supported", {Q(thinking_off)}},
		{1, "unknown field: reasoning_effort", {Q(no_thinking)}},
		{1, "Thinking is not supported", {Q(no_thinking)}},
		{1, "reasoning_content must be passed back", {Q(every_thought), Q(no_thinking)}},
		{1, "reasoning_details: unexpected", {Q(no_thoughts), Q(no_thinking)}},
		{1, "messages[2].reasoning: unexpected", {Q(no_thoughts), Q(no_thinking)}},
		{1, "no such model", {0}},
		{1, "Unknown name \"stream_options\": Cannot find field.", {Q(no_stream_options)}},
		{1, "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
			{Q(no_stream_options)}},
		{1, "System role not supported", {Q(no_system)}},
		{1, "'messages[0].role' does not support 'system' with this model.",
			{Q(no_system)}},
		{1, "Developer instruction is not enabled for models/gemma", {Q(no_system)}},
		{1, "invalid message role: system (2013)", {Q(no_system)}},
		{1, "the ecosystem has no such role", {0}},
		{1, "tool_choice: Field required", {Q(tool_choice)}},
		{1, "No endpoints found that support the provided 'tool_choice' value.",
			{Q(tool_choice)}},
		{1, "body.tools.0.function.strict: Field required", {Q(strict)}},
		{1, "Tools with mixed values for 'strict' are not allowed.", {Q(strict)}},
		{1, "this key is restricted to another region", {0}},
		{1, "This model doesn't support tool use in streaming mode.", {Q(no_stream)}},
		{1, "Your organization must be verified to stream this model.", {Q(no_stream)}},
		{0, "system.0.cache_control: Extra inputs are not permitted", {Q(no_cache)}},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wire_quirks q = {0}, want = {0};
		const struct wire_format *format = formats[rows[i].format];
		for (size_t k = 0; k < 2 && rows[i].quirk[k]; k++) {
			((bool *)&want)[rows[i].quirk[k] - 1] = true;
			ok(format->adapt(&q, rows[i].message), "%s: %s", format->name,
				rows[i].message);
			is_mem(&q, sizeof(q), &want, sizeof(want), "it teaches that and no more");
		}
		ok(rows[i].message[0] == 'r' || !format->adapt(&q, rows[i].message),
			"and nothing a second time");
	}
}

int main(void)
{
	members();
	learning();
	return tap_done();
}
