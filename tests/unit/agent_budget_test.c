/* Tests an agent's budget, and replies that do not report their cost. */
#include "tests/kit/agent.h"

#include "base/cleanup.h"
#include "tests/kit/tap.h"

#define LIST(path)                                                                                 \
	{                                                                                          \
		KIT_TURN("list_dir", "{\"path\":\"" path "\"}"), 0, 0                              \
	}

#define ODD_USAGE(input, output)                                                                   \
	KIT_STREAM                                                                                 \
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","               \
	"\"function\":{\"name\":\"finish_run\",\"arguments\":\"{\\\"summary\\\":\\\"x\\\"}\"}}"    \
	"]},\"finish_reason\":\"tool_calls\"}]}\n\n"                                               \
	"data: {\"choices\":[],\"usage\":{" input output "}}\n\ndata: [DONE]\n\n"

/* The output can be read and the input cannot. */
static void input_untold(const char *reply)
{
	AUTO_KIT k = {.format = "openai", .replies = {{reply, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "half a usage is no obstacle where nothing is capped");
	ok(kit_usage(&k, "input_tokens") > 100, "the unread input is estimated (%lld)",
		(long long)kit_usage(&k, "input_tokens"));
	is(kit_usage(&k, "output_tokens"), 20, "the output is as it was told");
	ok(json_is_true(json_object_get(json_object_get(k.result, "usage"), "unmetered")),
		"and it stays marked");
	AUTO_KIT hard = {.format = "openai",
		.limits = json_pack("{s:i}", "max_input_tokens", 1000000),
		.replies = {{reply, 0, 0}}};
	kit_run(&hard);
	has_str(kit_reason(&hard), "not report both", "a hard limit fails closed");
}

static void half_told(void)
{
	input_untold(ODD_USAGE("\"prompt_tokens\":-5,", "\"completion_tokens\":20"));
	input_untold(ODD_USAGE("\"prompt_tokens\":2000000000000,", "\"completion_tokens\":20"));
	input_untold(ODD_USAGE("\"prompt_tokens\":\"9\",", "\"completion_tokens\":20"));
	input_untold(ODD_USAGE("", "\"completion_tokens\":20"));
	AUTO_KIT output = {.format = "openai",
		.replies = {
			{ODD_USAGE("\"prompt_tokens\":90,", "\"completion_tokens\":-1"), 0, 0}}};
	kit_run(&output);
	is(kit_usage(&output, "input_tokens"), 90, "the other way round");
	ok(kit_usage(&output, "output_tokens") > 0, "the output is estimated");
}

static void fails_closed(const char *format, const char *reply, const char *limit, const char *what)
{
	AUTO_KIT hard = {.format = format,
		.limits = json_pack("{s:i}", limit, 1000000),
		.replies = {{reply, 0, 0}}};
	kit_run(&hard);
	is_str(kit_outcome(&hard), "failed", "%s: %s fails closed", what, limit);
	has_str(kit_reason(&hard), "not report both", "%s: and says why", what);
}

/* A reply that counts nothing, or what cannot be: it is estimated where nothing is capped. */
static void told_nothing(const char *format, const char *reply, const char *what)
{
	AUTO_KIT soft = {.format = format, .replies = {{reply, 0, 0}}};
	kit_run(&soft);
	is_str(kit_outcome(&soft), "ok", "%s: no obstacle where nothing is capped", what);
	ok(kit_usage(&soft, "input_tokens") > 100, "%s: the input is estimated (%lld)", what,
		(long long)kit_usage(&soft, "input_tokens"));
	ok(kit_usage(&soft, "output_tokens") > 0, "%s: so is the output", what);
	ok(kit_usage(&soft, "microusd") > 300, "%s: and priced", what);
	ok(json_is_true(json_object_get(json_object_get(soft.result, "usage"), "unmetered")),
		"%s: which is marked", what);
	static const char *const limits[] = {
		"max_input_tokens", "max_output_tokens", "max_microusd"};
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		fails_closed(format, reply, limits[i], what);
}

#define ANTHROPIC_USAGE(input, output)                                                             \
	KIT_STREAM "data: {\"type\":\"message_start\",\"message\":{\"usage\":{" input              \
		   "}}}\n\n" KIT_CALL(0, "t", "finish_run",                                        \
			   "{\"summary\":\"x\"}") "data: {\"type\":\"message_delta\","             \
						  "\"delta\":{},\"usage\":{" output "}}\n\n"       \
						  "data: {\"type\":\"message_stop\"}\n\n"

static void untold(void)
{
	told_nothing("openai", ODD_USAGE("", ""), "no usage");
	told_nothing("openai", ODD_USAGE("\"prompt_tokens\":0,", "\"completion_tokens\":0"), "0/0");
	told_nothing("openai", ODD_USAGE("\"prompt_tokens\":0,", "\"completion_tokens\":20"),
		"0 of input");
	told_nothing("openai", ODD_USAGE("\"prompt_tokens\":2000,", "\"completion_tokens\":0"),
		"0 of output");
	told_nothing("openai",
		ODD_USAGE("\"prompt_tokens\":2000,\"cost\":-1,", "\"completion_tokens\":20"),
		"a negative charge");
	told_nothing("anthropic", ANTHROPIC_USAGE("\"input_tokens\":0", "\"output_tokens\":0"),
		"anthropic: 0/0");
	told_nothing("anthropic",
		ANTHROPIC_USAGE(
			"\"input_tokens\":0,\"cache_read_input_tokens\":0", "\"output_tokens\":7"),
		"anthropic: 0 of input");
}

static void budgets(void)
{
	AUTO_KIT out = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_output_tokens", 30),
		.replies = {LIST(".")}};
	kit_run(&out);
	is_str(kit_outcome(&out), "budget_exhausted", "max_output_tokens binds");
	is(kit_usage(&out, "turns"), 2, "before the next call");
	has_str(out.requests, "\"max_tokens\":10,", "and caps the last one");
	AUTO_KIT nearly = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_output_tokens", 125),
		.replies = {LIST("."), LIST("u"), LIST("v"), LIST("x"), LIST("y"), LIST("z"),
			{KIT_FINISH, 0, 0}}};
	kit_run(&nearly);
	is_str(kit_outcome(&nearly), "ok", "what is left is enough to come to an end");
	is(kit_count(nearly.output, " % of this step's budget is used"), 1,
		"which the model is told in time, once");
	AUTO_KIT money = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_microusd", 1000),
		.replies = {LIST(".")}};
	kit_run(&money);
	is_str(kit_outcome(&money), "budget_exhausted", "max_usd binds");
	AUTO_KIT soft = {.format = "anthropic",
		.limits = json_pack("{s:i}", "best_effort_microusd", 600),
		.replies = {LIST("."), {KIT_TURN("read_file", "{\"path\":\"x\"}"), 0, 0}}};
	kit_run(&soft);
	is_str(kit_outcome(&soft), "budget_exhausted",
		"best_effort_usd_limit binds by what was counted");
	is(kit_usage(&soft, "turns"), 1, "as soon as it is reached");
	AUTO_KIT guessed = {.format = "anthropic",
		.limits = json_pack("{s:i}", "best_effort_microusd", 600),
		.replies = {{KIT_STREAM KIT_CALL(0, "t", "list_dir",
				     "{\"path\":\".\"}") "data: {\"type\":\"message_stop\"}\n\n",
			0, 0}}};
	kit_run(&guessed);
	is_str(kit_outcome(&guessed), "budget_exhausted", "and by what was estimated");
	is(kit_usage(&guessed, "turns"), 1, "as soon as that is");
	AUTO_KIT blind = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_microusd", 100000),
		.replies = {{KIT_STREAM KIT_CALL(0, "t", "list_dir",
				     "{\"path\":\".\"}") "data: {\"type\":\"message_stop\"}\n\n",
			0, 0}}};
	kit_run(&blind);
	is_str(kit_outcome(&blind), "failed", "missing usage under a hard budget fails closed");
	has_str(kit_reason(&blind), "not report both", "and says why");
	AUTO_KIT some = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_microusd", 100000),
		.replies = {LIST("."),
			{KIT_STREAM KIT_CALL(0, "t", "list_dir",
				 "{\"path\":\".\"}") "data: {\"type\":\"message_stop\"}\n\n",
				0, 0}}};
	kit_run(&some);
	ok(kit_usage(&some, "microusd") > 0, "what was reported until then is still told");
	ok(json_is_true(json_object_get(json_object_get(some.result, "usage"), "unmetered")),
		"as a lower bound");
	AUTO_KIT begun = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_microusd", 100000),
		.replies = {{KIT_STREAM KIT_BEGIN KIT_CALL(0, "t", "list_dir",
				     "{\"path\":\".\"}") "data: {\"type\":\"message_stop\"}\n\n",
			0, 0}}};
	kit_run(&begun);
	has_str(kit_reason(&begun), "not report both",
		"what a stream begins with counts no output");
	AUTO_KIT done = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_output_tokens", 1000),
		.replies = {
			{KIT_STREAM KIT_CALL(0, "t", "finish_run",
				 "{\"summary\":\"done\"}") "data: {\"type\":\"message_stop\"}\n\n",
				0, 0}}};
	kit_run(&done);
	is_str(kit_outcome(&done), "failed", "a result that nobody can account for is none");
	AUTO_KIT unpriced = {.format = "anthropic",
		.limits = json_pack("{s:i}", "max_microusd", 100000),
		.provider = json_pack("{s:n}", "prices"),
		.replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&unpriced);
	has_str(kit_reason(&unpriced), "no price", "an unpriced model under max_usd is refused");
	is_str(unpriced.requests, "", "before anything is sent");
}

int main(void)
{
	half_told();
	untold();
	budgets();
	return tap_done();
}
