/* Requests in both wire formats: the whole of one, what each setting and each refusal changes in
 * it, and what a model thought, which goes back as it came over all turns that follow. */
#include "base/json.h"
#include "tests/kit/wire.h"

/* --- a conversation --------------------------------------------------------------------------- */

static struct wire_turn *answer(struct wire_talk *wire_talk, const char *raw)
{
	struct wire_turn *turn = wire_talk_add(wire_talk, WIRE_ASSISTANT);
	turn->text = strdup("");
	turn->raw = strdup(raw);
	return turn;
}

/* A good result for call "a", and a failed one for "b" unless `one`. */
static void results(struct wire_talk *wire_talk, bool one)
{
	struct wire_turn *turn = wire_talk_add(wire_talk, WIRE_RESULTS);
	turn->result_count = one ? 1 : 2;
	turn->results = calloc(2, sizeof(*turn->results));
	turn->results[0] =
		(struct wire_result){strdup("a"), strdup("ls"), strdup("x\ny"), false, false};
	if (!one)
		turn->results[1] = (struct wire_result){
			strdup("b"), strdup("cat"), strdup("\"no\""), true, false};
}

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define TOOLS                                                                                      \
	"[{\"name\":\"ls\",\"description\":\"List.\",\"input_schema\":{\"type\":\"object\"}},"     \
	"{\"name\":\"cat\",\"description\":\"Read.\",\"input_schema\":{\"type\":\"object\"}}]"

static const char whole_anthropic[] =
	"{\"model\":\"m\",\"max_tokens\":100,\"stream\":true,"
	"\"system\":[{\"type\":\"text\",\"text\":\"be \\\"good\\\"\"" MARK "}],"
	"\"tools\":[{\"name\":\"ls\",\"description\":\"List.\",\"input_schema\":{\"type\":"
	"\"object\"}},"
	"{\"name\":\"cat\",\"description\":\"Read.\",\"input_schema\":{\"type\":\"object\"}" MARK
	"}],"
	"\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]},"
	"{\"role\":\"assistant\",\"content\":[1.0]},"
	"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
	"\"content\":\"x\\ny\"},{\"type\":\"tool_result\",\"tool_use_id\":\"b\","
	"\"content\":\"\\\"no\\\"\",\"is_error\":true" MARK "}]},"
	"{\"role\":\"assistant\",\"content\":[2]},"
	"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
	"\"content\":\"x\\ny\"" MARK "}]}]}";

static const char whole_openai[] =
	"{\"model\":\"m\",\"max_tokens\":100,\"stream\":true,"
	"\"stream_options\":{\"include_usage\":true},\"tools\":["
	"{\"type\":\"function\",\"function\":{\"name\":\"ls\",\"description\":\"List.\","
	"\"parameters\":{\"type\":\"object\"}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"cat\",\"description\":\"Read.\","
	"\"parameters\":{\"type\":\"object\"}}}],"
	"\"messages\":[{\"role\":\"system\",\"content\":\"be \\\"good\\\"\"},"
	"{\"role\":\"user\",\"content\":\"go\"},[1.0],"
	"{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\\ny\"},"
	"{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"\\\"no\\\"\"},[2],"
	"{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\\ny\"}]}";

static void whole(void)
{
	static const char *const want[] = {whole_anthropic, whole_openai};
	struct wire_talk talk = {0};
	json_auto_t *tools = json_loads(TOOLS, 0, NULL);
	say(&talk, "go");
	answer(&talk, "[1.0]");
	results(&talk, false);
	answer(&talk, "[2]");
	results(&talk, true);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		AUTO_FREE char *body = encode(formats[i], &(struct wire_request){.model = "m",
								  .system = "be \"good\"",
								  .talk = &talk,
								  .tools = tools,
								  .max_tokens = 100});
		is_str(body, want[i], "%s: a whole request", formats[i]->name);
	}
	wire_talk_done(&talk);
	ok(!talk.turns && !talk.count, "a conversation that is done is empty");
}

/* --- settings --------------------------------------------------------------------------------- */

#define ADAPTIVE(level)                                                                            \
	",\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"" level "\"},"
#define BUDGET(tokens) ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":" tokens "},"

/* Checks the part between the head of a request and its messages. */
static void setting(const struct wire_format *format, int64_t max_tokens, const char *thinking,
	struct wire_quirks quirks, const char *want)
{
	struct wire_talk talk = {0};
	AUTO_FREE char *body = encode(format, &(struct wire_request){.model = "m",
						      .talk = &talk,
						      .max_tokens = max_tokens,
						      .thinking = thinking,
						      .quirks = quirks});
	static const char end[] = "\"messages\":[]}";
	const char *head =
		strstr(body, format == &openai_format ? "_usage\":true}" : "stream\":true");
	const char *from = head ? strchr(head, ',') : NULL;
	if (ok(from && strlen(from) > strlen(end), "%s", body)) {
		body[strlen(body) - strlen(end)] = '\0';
		is_str(from, want, "%s: thinking %s, %lld tokens", format->name,
			thinking ? thinking : "unsaid", (long long)max_tokens);
	}
}

static void settings(void)
{
	const struct wire_quirks none = {0}, manual = {.manual_thinking = true},
				 silent = {.no_thinking = true}, off = {.thinking_off = true};
	setting(&anthropic_format, 9, NULL, none, ",");
	setting(&anthropic_format, 9, "off", none, ",\"thinking\":{\"type\":\"disabled\"},");
	setting(&anthropic_format, 9, "low", none, ADAPTIVE("low"));
	setting(&anthropic_format, 9, "medium", none, ADAPTIVE("medium"));
	setting(&anthropic_format, 9, "high", none, ADAPTIVE("high"));
	setting(&anthropic_format, 9, "high", silent, ",");
	setting(&anthropic_format, 64000, "low", manual, BUDGET("2048"));
	setting(&anthropic_format, 64000, "medium", manual, BUDGET("8192"));
	setting(&anthropic_format, 64000, "high", manual, BUDGET("16384"));
	/* Below max_tokens, of which half remains for the answer, and never under 1024. */
	setting(&anthropic_format, 20000, "high", manual, BUDGET("10000"));
	setting(&anthropic_format, 2048, "low", manual, BUDGET("1024"));
	setting(&anthropic_format, 2047, "low", manual, ",");
	setting(&openai_format, 9, NULL, none, ",");
	setting(&openai_format, 9, "off", none, ",\"reasoning_effort\":\"none\",");
	setting(&openai_format, 9, "low", none, ",\"reasoning_effort\":\"low\",");
	setting(&openai_format, 9, "high", silent, ",");
	setting(&openai_format, 9, "high", off, ",\"reasoning_effort\":\"none\",");
	setting(&openai_format, 9, NULL, off, ",\"reasoning_effort\":\"none\",");
}

static void temperature(void)
{
	const double warm = 0.5;
	struct wire_talk talk = {0};
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct wire_request r = {.model = "m",
			.system = "",
			.talk = &talk,
			.temperature = &warm,
			.max_tokens = 7};
		AUTO_FREE char *body = encode(formats[i], &r);
		has_str(body, ",\"temperature\":0.5,", "%s: a temperature", formats[i]->name);
		has_str(body, "\"max_tokens\":7", "and the limit");
		ok(!strstr(body, "system"), "and no empty system text");
		ok(!strstr(body, "tools"), "nor an empty list of tools");
		r.quirks = (struct wire_quirks){.no_temperature = true, .completion_tokens = true};
		AUTO_FREE char *without = encode(formats[i], &r);
		ok(!strstr(without, "temperature"), "%s: none, where it is refused",
			formats[i]->name);
		has_str(without, i ? "\"max_completion_tokens\":7" : "\"max_tokens\":7",
			"by its other name, where there is one");
	}
}

/* --- thoughts --------------------------------------------------------------------------------- */

#define ODD "\\u00dcn\xc3\xaf \\\"q\\\"\\\\ \xf0\x9f\x98\x80\\n </think>"
#define SIG "EqQB+/==\\\\sig"

struct said {
	const struct wire_format *format;
	/* `%s`, `%s`: a text in two pieces; then the same of its signature. */
	const char *stream;
	const char *raw, *thoughtless;
};

#define EVENT(json)    "data: " json "\n\n"
#define A_START(block) EVENT("{\"type\":\"content_block_start\",\"index\":" block "}")
#define A_DELTA(delta) EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{" delta "}}")
#define A_CALL                                                                                     \
	A_START("9,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"ls\","         \
		"\"input\":{}}")                                                                   \
	EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"              \
	      "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}")                               \
	EVENT("{\"type\":\"message_stop\"}")
#define A_CALLED       "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"ls\",\"input\":{}}]"
#define O_DELTA(delta) EVENT("{\"choices\":[{\"delta\":{" delta "}}]}")
#define O_CALL                                                                                     \
	O_DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"ls\","         \
		"\"arguments\":\"{}\"}}]")                                                         \
	EVENT("{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}") EVENT("[DONE]")
#define O_SAID "{\"role\":\"assistant\",\"content\":\"\""
#define O_CALLED                                                                                   \
	",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"ls\","      \
	"\"arguments\":\"{}\"}}]}"
/* A turn that was read to take its thoughts out of it has its members in order. */
#define A_ALONE "[{\"id\":\"a\",\"input\":{},\"name\":\"ls\",\"type\":\"tool_use\"}]"
#define O_ALONE(extra)                                                                             \
	"{\"content\":\"\"," extra "\"role\":\"assistant\",\"tool_calls\":[{\"function\":{"        \
	"\"arguments\":\"{}\",\"name\":\"ls\"},\"id\":\"a\",\"type\":\"function\"}]}"
#define ODD_BACK "\xc3\x9cn\xc3\xaf \\\"q\\\"\\\\ \xf0\x9f\x98\x80\\n </think>"

static const struct said said[] = {
	{&anthropic_format,
		A_START("0,\"content_block\":{\"type\":\"thinking\",\"thinking\":"
			"\"\",\"signature\":\"\"}")
			A_DELTA("\"type\":\"thinking_delta\",\"thinking\":\"%s\"")
				A_DELTA("\"type\":\"thinking_delta\",\"thinking\":\"%s\"")
					A_DELTA("\"type\":\"signature_delta\","
						"\"signature\":\"%s\"")
						A_DELTA("\"type\":\"signature_delta\","
							"\"signature\":\"%s\"") A_CALL,
		"[{\"type\":\"thinking\",\"thinking\":\"" ODD_BACK "\",\"signature\":\"" SIG
		"\"}," A_CALLED,
		A_ALONE},
	/* Display omitted: nothing but a signature. Then one that is hidden. */
	{&anthropic_format,
		A_START("0,\"content_block\":{\"type\":\"thinking\",\"thinking\":"
			"\"\"}") "%.0s%.0s" A_DELTA("\"type\":\"signature_delta\",\"signature\":\"%"
						    "s%s\"")
			A_START("1,\"content_block\":{\"type\":\"redacted_"
				"thinking\","
				"\"data\":\"Zg==\\/\",\"x\":1.0}") A_CALL,
		"[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"" SIG "\"},"
		"{\"type\":\"redacted_thinking\",\"data\":\"Zg==/"
		"\",\"x\":1.0}," A_CALLED,
		A_ALONE},
	{&openai_format,
		O_DELTA("\"reasoning_content\":\"%s\"")
			O_DELTA("\"reasoning_content\":\"%s\"") "%.0s%.0s" O_CALL,
		O_SAID ",\"reasoning_content\":\"" ODD_BACK "\"" O_CALLED, O_ALONE("")},
	{&openai_format, O_DELTA("\"reasoning_content\":\"\"") "%.0s%.0s%.0s%.0s" O_CALL,
		O_SAID ",\"reasoning_content\":\"\"" O_CALLED, O_ALONE("")},
	{&openai_format,
		O_DELTA("\"reasoning\":\"r\",\"reasoning_details\":[{\"type\":"
			"\"reasoning.text\","
			"\"text\":\"%s\",\"index\":0,\"format\":\"f\"}]")
			O_DELTA("\"reasoning_details\":[{\"type\":\"reasoning."
				"text\",\"text\":\"%s\","
				"\"signature\":\"%s%s\",\"index\":0},{\"type\":"
				"\"reasoning.encrypted\","
				"\"data\":\"Zg==\",\"id\":null,\"index\":1}]") O_CALL,
		NULL, O_ALONE("")},
	{&openai_format,
		"%.0s%.0s" O_DELTA("\"content\":\"\",\"extra_content\":{\"google\":"
				   "{\"thought_signature\":\"%s%s\"}}") O_CALL,
		O_SAID ",\"extra_content\":{\"google\":{\"thought_signature\":\"" SIG
		       "\"}}" O_CALLED,
		O_ALONE("\"extra_content\":{\"google\":{\"thought_signature\":"
			"\"" SIG "\"}},")},
};

/* Reports whether a piece may end here: between characters, and not within an escape. */
static bool may_cut(const char *text, size_t at)
{
	size_t i = 0;
	while (i < at)
		i += text[i] != '\\' ? 1 : text[i + 1] == 'u' ? 6 : 2;
	return i == at && (text[at] & 0xc0) != 0x80;
}

/* The turn that came in these two pieces, fed in transport pieces of `bytes`. */
static void hear(
	const struct said *s, size_t cut, size_t cut_sign, size_t bytes, struct wire_turn *turn)
{
	char text[4][64];
	AUTO_FREE char *stream = NULL;
	struct wire_reply reply = {.stop = WIRE_STOP_END};
	struct fault f = FAULT_INIT;
	struct wire_stream *w = wire_stream_new(s->format, 1);
	snprintf(text[0], sizeof(text[0]), "%.*s", (int)cut, ODD);
	snprintf(text[1], sizeof(text[1]), "%s", &ODD[cut]);
	snprintf(text[2], sizeof(text[2]), "%.*s", (int)cut_sign, SIG);
	snprintf(text[3], sizeof(text[3]), "%s", &SIG[cut_sign]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (asprintf(&stream, s->stream, text[0], text[1], text[2], text[3]) < 0)
		bail("out of memory");
#pragma GCC diagnostic pop
	size_t len = strlen(stream);
	for (size_t at = 0; at < len; at += bytes)
		if (wire_stream_feed(w, stream + at, at + bytes < len ? bytes : len - at, &f) < 0)
			bail("%s: %s", stream, f.text);
	if (wire_stream_end(w, &reply, &f))
		bail("%s: %s", stream, f.text);
	*turn = reply.turn;
	wire_stream_free(w);
}

/* However it was cut, it is the same turn. */
static void cuts(const struct said *s, const char *want)
{
	size_t tried = 0, wrong = 0;
	for (size_t cut = 0; cut <= strlen(ODD); cut++)
		for (size_t sign = 0; sign <= strlen(SIG); sign++) {
			if (!may_cut(ODD, cut) || !may_cut(SIG, sign))
				continue;
			struct wire_turn turn;
			hear(s, cut, sign, 1 + tried++ % 7, &turn);
			if (strcmp(turn.raw, want) && !wrong++)
				is_str(turn.raw, want, "cut at %zu and %zu", cut, sign);
			wire_turn_done(&turn);
		}
	ok(!wrong, "%s, %.60s: one turn in %zu cuts", s->format->name, want, tried);
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static size_t sent(const struct said *s, const struct wire_talk *talk, struct wire_quirks quirks,
	const char *part)
{
	AUTO_FREE char *body = encode(
		s->format, &(struct wire_request){
				   .model = "m", .talk = talk, .max_tokens = 9, .quirks = quirks});
	json_auto_t *doc = json_loads(body, 0, NULL);
	ok(doc != NULL, "it is JSON");
	return times(body, part);
}

static void thoughts(const struct said *s)
{
	enum { TURNS = 4 };
	const struct wire_quirks none = {0}, bound = {.bound_thinking = true},
				 refused = {.no_thoughts = true};
	struct wire_talk talk = {0};
	struct wire_turn first;
	hear(s, 0, 0, 1, &first);
	cuts(s, s->raw ? s->raw : first.raw);
	say(&talk, "go");
	for (int i = 0; i < TURNS; i++) {
		answer(&talk, first.raw);
		results(&talk, true);
		is(sent(s, &talk, none, first.raw), (size_t)i + 1,
			"every turn goes back as it came");
	}
	talk.turns[1].stale = talk.turns[5].stale = true;
	is(sent(s, &talk, none, first.raw), TURNS, "also where something before it has changed");
	if (s->format == &anthropic_format) {
		is(sent(s, &talk, bound, first.raw), TURNS - 2,
			"unless that is refused: then the others");
		is(sent(s, &talk, bound, s->thoughtless), 2, "and of those what is no thought");
	} else {
		is(sent(s, &talk, refused, s->thoughtless), TURNS, "unless that is refused");
	}
	wire_turn_done(&first);
	wire_talk_done(&talk);
}

/* OpenRouter's list: pieces grow, members gather, and what is whole stays. */
static void details(void)
{
	struct wire_turn turn;
	hear(&said[4], 0, 0, 1, &turn);
	json_auto_t *doc = json_loads(turn.raw, 0, NULL);
	json_auto_t *want =
		json_loads("[{\"type\":\"reasoning.text\",\"text\":\"" ODD "\",\"index\":0,"
			   "\"format\":\"f\",\"signature\":\"" SIG "\"},"
			   "{\"type\":\"reasoning.encrypted\",\"data\":\"Zg==\",\"id\":null,"
			   "\"index\":1}]",
			0, NULL);
	ok(want && json_equal(json_object_get(doc, "reasoning_details"), want), "the list: %s",
		turn.raw);
	ok(!json_object_get(doc, "reasoning"), "instead of the same as a text");
	wire_turn_done(&turn);
}

/* Nothing but thoughts is no turn, and where they may not go back nothing is sent of it. */
static void nothing_else(void)
{
	struct wire_talk talk = {0};
	say(&talk, "one");
	answer(&talk, "[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}]")->stale =
		true;
	say(&talk, "two");
	AUTO_FREE char *body =
		encode(&anthropic_format, &(struct wire_request){.model = "m",
						  .talk = &talk,
						  .max_tokens = 9,
						  .quirks = {.bound_thinking = true}});
	json_auto_t *doc = json_loads(body, 0, NULL);
	is(json_array_size(json_object_get(doc, "messages")), 2, "two messages: %s", body);
	wire_talk_done(&talk);
}

/* Checks that the member is in every turn if a provider demands it, if need be empty, and that
 * thoughts stay. */
static void every_thought(void)
{
	static const char *const rows[][2] = {
		{O_SAID O_CALLED, "\"reasoning_content\":\"\""},
		{O_SAID ",\"reasoning_content\":\"x\"" O_CALLED, "\"reasoning_content\":\"x\""},
		{O_SAID ",\"reasoning\":\"x\"" O_CALLED, "\"reasoning\":\"x\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wire_talk talk = {0};
		answer(&talk, rows[i][0]);
		AUTO_FREE char *body =
			encode(&openai_format, &(struct wire_request){.model = "m",
						       .talk = &talk,
						       .max_tokens = 9,
						       .quirks = {.every_thought = true}});
		has_str(body, rows[i][1], "%s", rows[i][0]);
		is(times(body, "reasoning"), 1, "once");
		wire_talk_done(&talk);
	}
}

/* Checks that a whole body, from a server that does not stream, is sent back unchanged. */
static void bodies(void)
{
	static const struct {
		const struct wire_format *format;
		const char *body, *raw;
		enum wire_stop stop;
	} rows[] = {
		{&anthropic_format,
			"{\"content\":[{\"type\":\"thinking\",\"thinking\":\"" ODD
			"\",\"signature\":\"" SIG "\"},{\"type\":\"redacted_thinking\",\"data\":"
			"\"Zg==\"},{\"type\":\"text\",\"text\":"
			"\"hi\",\"citations\":null},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
			"\"ls\",\"input\":"
			"{\"n\":1.0}}],\"stop_reason\":\"tool_use\"}",
			"[{\"type\":\"thinking\",\"thinking\":\"" ODD_BACK "\",\"signature\":\"" SIG
			"\"},{\"type\":\"redacted_thinking\",\"data\":\"Zg==\"},{\"type\":\"text\","
			"\"text\":"
			"\"hi\",\"citations\":null},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
			"\"ls\",\"input\":"
			"{\"n\":1.0}}]",
			WIRE_STOP_TOOLS},
		{&anthropic_format,
			"{\"content\":[{\"type\":\"text\",\"text\":\"h\"}],\"stop_reason\":"
			"\"max_tokens\"}",
			"[{\"type\":\"text\",\"text\":\"h\"}]", WIRE_STOP_LENGTH},
		{&openai_format,
			"{\"choices\":[{\"message\":{\"content\":null,\"reasoning_content\":\"" ODD
			"\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"ls\","
			"\"arguments\":\"{}\"}},"
			"{\"id\":\"b\",\"function\":{\"name\":\"cat\",\"arguments\":\"{}\"}}]},"
			"\"finish_reason\":\"stop\"}]}",
			O_SAID ",\"reasoning_content\":\"" ODD_BACK
			       "\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
			       "\"function\":{\"name\":"
			       "\"ls\",\"arguments\":\"{}\"}},{\"id\":\"b\",\"type\":\"function\","
			       "\"function\":"
			       "{\"name\":\"cat\",\"arguments\":\"{}\"}}]}",
			WIRE_STOP_TOOLS},
		{&openai_format,
			"{\"choices\":[{\"message\":{\"content\":\"h\"},\"finish_reason\":"
			"\"length\"}]}",
			"{\"role\":\"assistant\",\"content\":\"h\"}", WIRE_STOP_LENGTH},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wire_stream *w = wire_stream_new(rows[i].format, 1);
		struct wire_reply reply = {.stop = WIRE_STOP_END};
		struct fault f = FAULT_INIT;
		if (ok(!wire_stream_body(w, rows[i].body, strlen(rows[i].body), &f) &&
				    !wire_stream_end(w, &reply, &f),
			    "%s: a whole answer, %s", rows[i].format->name, f.text)) {
			is_str(reply.turn.raw, rows[i].raw, "goes back as it came");
			is(reply.stop, rows[i].stop, "and ended so");
			wire_turn_done(&reply.turn);
		}
		wire_stream_free(w);
	}
}

/* A call that no model made goes out as one that a model did. */
static void made_up(void)
{
	static const struct wire_call call = {(char *)(uintptr_t) "i", (char *)(uintptr_t) "n",
		(char *)(uintptr_t) "{\"a\":\"b\"}"};
	static const char *const want[] = {
		"[{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":{\"a\":\"b\"}}]",
		"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"i\",\"type\":"
		"\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{\\\"a\\\":\\\"b\\\"}\"}"
		"}]}"};
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		AUTO_BUF raw;
		buf_init(&raw, 1000);
		is(formats[i]->made_up(&call, &raw), 0, "%s", formats[i]->name);
		is_str(raw.data, want[i], "a made up call");
		ok(wire_format(formats[i]->name) == formats[i], "by its name");
	}
	ok(!wire_format("other"), "and no other");
}

int main(void)
{
	whole();
	settings();
	temperature();
	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		thoughts(&said[i]);
	details();
	nothing_else();
	every_thought();
	bodies();
	made_up();
	return tap_done();
}
