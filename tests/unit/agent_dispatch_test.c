/* The calls of one turn: which of them run, what is answered to the others, and how long that may
 * be. Without a provider: the loop around it has tests of its own. */
#include "agent/dispatch.h"
#include "agent/policy/redact.h"
#include "agent/tools/permit.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include "types/types.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000, ROOM_BYTES = 100000 };
static const struct redact nothing;
static struct tool_context context;

static struct dispatch fresh(void)
{
	return (struct dispatch){.tools = &context,
		.mode = TOOL_IN_RUN,
		.max_calls = 8,
		.results_bytes = ROOM_BYTES,
		.deadline_ms = clock_monotonic_ms() + HOUR_MS};
}

static void done(struct dispatch *dispatch)
{
	digest_done(&dispatch->digest);
	json_decref(dispatch->payload);
}

/* NAME, ARGUMENTS, ..., NULL: the answers, valid until the next turn. */
static const struct wire_result *turn(struct dispatch *dispatch, ...)
{
	static struct wire_turn results;
	static char id[] = "id";
	struct wire_call calls[16];
	struct wire_turn asked = {.role = WIRE_ASSISTANT, .calls = calls};
	va_list words;
	va_start(words, dispatch);
	for (const char *name; (name = va_arg(words, const char *)); asked.call_count++)
		calls[asked.call_count] = (struct wire_call){id, (char *)(uintptr_t)name,
			(char *)(uintptr_t)va_arg(words, const char *)};
	va_end(words);
	wire_turn_done(&results);
	results.role = WIRE_RESULTS;
	if (dispatch_turn(dispatch, &asked, &results) || results.result_count != asked.call_count)
		bail("not every call was answered");
	return results.results;
}

#define CREATE(path)                                                                               \
	"apply_edit", "{\"path\":\"" path "\",\"edits\":[{\"kind\":\"create\",\"new_string\":"     \
		      "\"x\"}]}"
#define FINISH(text) "finish_run", "{\"summary\":\"" text "\"}"
#define LONG         "read_file", "{\"path\":\"long\"}"
#define CUT          "\n[agent6: "
#define BEHIND       "at a time]\n"
#define LIST         "list_dir", "{\"path\":\"few\"}"

static bool is_there(const char *name)
{
	return !faccessat(context.workspace_fd, name, F_OK, 0);
}

/* Checks that calls after the result, or after the time-out, are not run. */
static void refused(void)
{
	struct dispatch d = fresh();
	const struct wire_result *r =
		turn(&d, FINISH("first"), CREATE("late"), FINISH("second"), NULL);
	ok(!r[0].failed, "a result is accepted");
	has_str(r[1].text, "Ignored: finish_run has already ended", "what follows it is not run");
	ok(r[1].failed && !is_there("late"), "and makes nothing");
	is_str(json_string_value(json_object_get(d.payload, "summary")), "first",
		"nor is it another result");
	done(&d);
	d = fresh();
	d.deadline_ms = clock_monotonic_ms();
	r = turn(&d, CREATE("late"), NULL);
	has_str(r[0].text, "Not executed: time ran out", "nothing runs when time is over");
	ok(r[0].failed && !is_there("late"), "and makes nothing");
	d.max_calls = 0;
	d.deadline_ms += HOUR_MS;
	for (int i = 0; i < 2 * GUARD_REPEATS; i++)
		turn(&d, LIST, NULL);
	is(d.verdict, GUARD_GO_ON, "a call that was refused, again and again, is no circle");
	done(&d);
}

/* A call that gave the same three times is no progress, unless something has changed in between. */
static void circles(void)
{
	struct dispatch d = fresh();
	turn(&d, LIST, CREATE("made"), LIST, LIST, NULL);
	is(d.verdict, GUARD_GO_ON, "what was changed may be looked at anew");
	done(&d);
	d = fresh();
	turn(&d, LIST, CREATE("made"), LIST, LIST, NULL);
	is(d.verdict, GUARD_WARN, "an edit that was refused has changed nothing");
	turn(&d, "read_file", "{\"path\":\"made\"}", NULL);
	is(d.verdict, GUARD_GO_ON, "each turn is judged by itself,");
	turn(&d, LIST, "read_file", "{\"path\":\"made\"}", NULL);
	is(d.verdict, GUARD_STOP, "by its worst call");
	done(&d);
}

/* Checks arguments with common mistakes of models whose meaning is clear. */
static void meant(void)
{
	struct dispatch d = fresh();
	const struct wire_result *r = turn(&d, "apply_edit",
		"{\"path\":\"quoted\",\"edits\":\"[{\\\"kind\\\":\\\"create\\\",\\\"new_string\\\":"
		"\\\"x\\\"}]\"}",
		"apply_edit",
		"{\"path\":\"item\",\"edits\":[\"{\\\"kind\\\":\\\"create\\\",\\\"new_string\\\":"
		"\\\"x\\\"}\"]}",
		"read_file", "{\"path\":\"long\",\"start_line\":\"2\",\"end_line\":2.0}",
		"list_dir", "\"{\\\"path\\\":\\\"few\\\"}\"", NULL);
	ok(!r[0].failed && is_there("quoted"), "a list in a string: %s", r[0].text);
	ok(!r[1].failed && is_there("item"), "an object in a string: %s", r[1].text);
	ok(!r[2].failed, "numbers in a string and with a point: %.80s", r[2].text);
	ok(!r[3].failed, "arguments that were written twice over: %s", r[3].text);
	r = turn(&d, "apply_edit", "{\"path\":\"a\",\"edits\":\"create x\"}", "read_file",
		"{\"path\":\"long\",\"start_line\":\"two\"}", NULL);
	has_str(r[0].text, "must be a list", "a text that holds none is refused");
	has_str(r[1].text, "must be an integer", "as is a word");
	r = turn(&d, "list_dir", "{\"path\":\"a\\u0000b\"}", "list_dir",
		"{\"path\":12345678901234567890}", "list_dir", "{\"path\":\"a\",\"path\":\"b\"}",
		"list_dir", "{\"path\":\"a\"} more", NULL);
	has_str(r[0].text, "a string in them holds the character NUL", "NUL is named");
	has_str(r[1].text, "an integer in them has more than 64 bits", "so is a large integer");
	has_str(r[2].text, "a key stands in one object of them twice",
		"and a key that comes twice");
	for (int i = 0; i < 3; i++)
		ok(!strstr(r[i].text, "not valid") && !strstr(r[i].text, "one JSON object and"),
			"which is not called invalid");
	has_str(r[3].text, "Give one JSON object and nothing beside it", "what is invalid is");
	done(&d);
}

/* The same of a result. */
static void meant_result(void)
{
	struct dispatch d = fresh();
	AUTO_ARENA arena;
	arena_init(&arena);
	json_auto_t *record = json_pack("{s:s, s:[{s:s, s:s}, {s:s, s:s}]}", "name", "r", "fields",
		"name", "n", "type", "int", "name", "l", "type", "list[str]");
	d.record = record_from_json(record, &arena, NULL);
	static const char *const said[] = {"{\"n\":\"1\",\"l\":\"[\\\"a\\\"]\"}",
		"{\"n\":1.0,\"l\":[\"a\"]}", "{\"result\":\"{\\\"n\\\":1,\\\"l\\\":[\\\"a\\\"]}\"}",
		"\"{\\\"n\\\":1,\\\"l\\\":[\\\"a\\\"]}\""};
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		turn(&d, "finish_run", said[i], NULL);
		AUTO_FREE char *got = d.payload ? json_text(d.payload) : NULL;
		is_str(got, "{\"l\":[\"a\"],\"n\":1}", "a result: %s", said[i]);
		json_decref(d.payload);
		d.payload = NULL;
	}
	done(&d);
	arena_done(&arena);
}

static void arguments(void)
{
	struct dispatch d = fresh();
	const struct wire_result *r = turn(&d, "list_dir", "{\"path\":", NULL);
	has_str(r[0].text, "arguments of this call are not usable: ", "half of them are none");
	has_str(r[0].text, d.problems, "which a reason could name");
	ok(*d.problems, "in its own words");
	turn(&d, LIST, NULL);
	is_str(d.problems, "", "and of this turn alone");
	r = turn(&d, "finish_run", "[1]", NULL);
	has_str(r[0].text, "repaired:\nresult: must be one JSON object", "a result is an object");
	is_str(d.problems, "result: must be one JSON object", "which is the reason, too");
	AUTO_ARENA arena;
	arena_init(&arena);
	json_auto_t *record = json_pack(
		"{s:s, s:[{s:s, s:s}]}", "name", "r", "fields", "name", "n", "type", "int");
	d.record = record_from_json(record, &arena, NULL);
	turn(&d, FINISH("x"), NULL);
	ok(d.record && *d.problems && d.problems[strlen(d.problems) - 1] != '\n',
		"a reason ends as a line does without its end: %s", d.problems);
	done(&d);
}

/* A turn's answers share its room; each keeps its two ends, in whole characters. */
static void room(void)
{
	struct dispatch d = fresh();
	AUTO_FREE char *whole = strdup(turn(&d, LONG, NULL)[0].text);
	ok(!strstr(whole, "left out here"), "what fits is not cut");
	for (size_t most = 6000; most <= 6004; most += 2) {
		d.results_bytes = most;
		const struct wire_result *r = turn(&d, LONG, LONG, LIST, NULL);
		const char *cut = strstr(r[0].text, CUT), *tail = cut ? strstr(cut, BEHIND) : "";
		size_t head = cut ? (size_t)(cut - r[0].text) : 0, end = strlen(tail);
		end -= end ? strlen(BEHIND) : 0;
		ok(head > most / 2 - 3 && head <= most / 2 && end > most / 2 - 3 && end <= most / 2,
			"two halves: %zu and %zu of %zu", head, end, most);
		is(head + end + (cut ? strtoul(cut + strlen(CUT), NULL, 10) : 0), strlen(whole),
			"what is left out is said to the byte");
		is(utf8_prefix(r[0].text, strlen(r[0].text)), strlen(r[0].text), "none is cut");
		ok(strlen(r[1].text) > 2000 && strlen(r[1].text) < 2200, "little room is left");
		has_str(r[2].text, "one\t1 bytes", "but each answer has some");
	}
	done(&d);
}

/* Names that take four times as many bytes to show. */
static void too_long(void)
{
	char name[256];
	struct dispatch d = fresh();
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "many/%0250d", i);
		for (size_t k = 5; k < 245; k++)
			name[k] = '\x01';
		tree_file(context.workspace, name, "", 0644);
	}
	const struct wire_result *r = turn(&d, "list_dir", "{\"path\":\"many\"}", NULL);
	is_str(r[0].text, "The result was too long to be passed on.", "not a part of it is");
	ok(r[0].failed, "and the call has failed");
	done(&d);
}

static enum guard_verdict three(struct guard *guard, const char *const calls[3][2])
{
	enum guard_verdict v = GUARD_GO_ON;
	for (size_t i = 0; i < 3; i++)
		v = guard_call(guard, calls[i][0], calls[i][1], "r");
	return v;
}

static void guards(void)
{
	static const char *const split[3][2] = {{"a", "bc"}, {"ab", "c"}, {"abc", ""}};
	static const char *const run[3][2] = {
		{"run_command", "x"}, {"run_command", "x"}, {"run_command", "x"}};
	for (size_t between = 4; between <= 5; between++) {
		char other[8];
		struct guard g = {0};
		enum guard_verdict v = GUARD_GO_ON;
		for (size_t i = 0; i <= 2 * between + 2; i++) {
			snprintf(other, sizeof(other), "%zu", i);
			v = guard_call(&g, "list_dir", i % (between + 1) ? other : "x", "r");
		}
		is(v, between == 4 ? GUARD_WARN : GUARD_GO_ON, "with %zu others between", between);
	}
	struct guard g = {0};
	is(three(&g, split), GUARD_GO_ON, "what begins where something else ends is another");
	is(three(&g, run), GUARD_WARN, "a command is run three times in vain");
	g = (struct guard){0};
	for (size_t i = 3; i < GUARD_WINDOW; i++)
		guard_call(&g, "list_dir", (char[]){(char)('a' + i), '\0'}, "r");
	is(three(&g, run), GUARD_WARN, "with the window full, the newest is in it");
	g = (struct guard){0};
	guard_call(&g, "run_command", "x", "r");
	guard_call(&g, "run_command", "x", "r");
	guard_progress(&g, true);
	is(guard_call(&g, "run_command", "x", "r"), GUARD_WARN, "its own changes are no reason");
	g = (struct guard){0};
	guard_call(&g, "run_command", "x", "r");
	guard_call(&g, "run_command", "x", "r");
	guard_progress(&g, false);
	guard_progress(&g, true);
	is(guard_call(&g, "run_command", "x", "r"), GUARD_GO_ON, "those of an edit stay one");
	for (int i = 0; i < 2; i++) {
		is(guard_turn(&g, true), GUARD_GO_ON, "a turn without a call");
		is(guard_turn(&g, true), GUARD_GO_ON, "and another");
		is(guard_turn(&g, i), i ? GUARD_WARN : GUARD_GO_ON, "three in a row count");
	}
}

/* --- commands --------------------------------------------------------------------------------- */

enum { RUN_IT = 1, HOLD_IT = 0 };
static int asked, answers[8]; /* how often; what is said to each command of a proposal */
static size_t proposed;       /* commands of the last one */

static json_t *answer(void *ctx, const json_t *commands)
{
	(void)ctx;
	asked++;
	proposed = json_array_size(commands);
	json_t *list = json_array();
	for (size_t i = 0; i < proposed; i++)
		json_array_append_new(list, json_pack("{s:b}", "run", answers[i]));
	return json_pack("{s:o}", "answers", list);
}

static json_t *argv_of(const char *word)
{
	return json_pack("[s, s]", "ls", word);
}

static bool take(const char *word, struct buf *said)
{
	json_auto_t *argv = argv_of(word);
	buf_clear(said);
	return permit_take(&context, argv, said);
}

static void permits(void)
{
	struct permits p = {0};
	struct tool_commands c = {.permits = &p, .rules = {.commands_free = true}};
	AUTO_BUF said;
	buf_init(&said, ROOM_BYTES);
	context.commands = &c;
	context.propose = answer;
	json_auto_t *both = json_pack("[o, o]", argv_of("a"), argv_of("b"));
	answers[0] = HOLD_IT;
	answers[1] = RUN_IT;
	permit_batch(&context, both);
	is(proposed, 2, "two commands are one question");
	ok(!take("a", &said), "whose first answer is no");
	has_str(said.data, "the supervisor did not answer", "a no has a reason");
	ok(take("b", &said), "and whose second is yes");
	is(asked, 1, "nobody is asked again");
	ok(!take("b", &said), "an answer holds once");
	is(asked, 2, "the next time is the next question");
	answers[0] = RUN_IT;
	permit_batch(&context, both);
	answers[0] = HOLD_IT;
	ok(!take("other", &said), "and holds for its own command alone");
	permit_batch(&context, both);
	answers[0] = RUN_IT;
	c.rules.commands_free = false;
	json_auto_t *denied = json_pack("[s, s, s]", "sudo", "rm", "x");
	buf_clear(&said);
	ok(!permit_take(&context, denied, &said),
		"the supervisor's yes does not make one of our no");
	permit_forget(&p);
	context.commands = NULL;
}

#define RUN(word) "run_command", "{\"argv\":[\"ls\",\"" word "\"]}"

/* A turn's commands are one question, of those that could run. */
static void proposals(void)
{
	struct permits p = {0};
	struct tool_commands c = {.permits = &p, .rules = {.commands_free = true}};
	struct dispatch d = fresh();
	context.commands = &c;
	d.mode |= TOOL_IN_COMMANDS;
	answers[0] = answers[1] = HOLD_IT;
	asked = 0;
	turn(&d, RUN("a"), LIST, RUN("b"), NULL);
	is(asked, 1, "two commands in a turn are one question");
	is(proposed, 2, "of two");
	c.one_by_one = true;
	turn(&d, RUN("c"), RUN("d"), NULL);
	is(asked, 3, "but where each is its own");
	c.one_by_one = false;
	turn(&d, RUN("e"), "run_command", "{\"argv\":[\"ls\"],\"in\":\"src\"}", "run_command",
		"{\"argv\":[]}", NULL);
	is(proposed, 1, "what is no proper call is not asked about");
	d.max_calls = 2;
	turn(&d, RUN("f"), RUN("g"), RUN("h"), NULL);
	is(proposed, 2, "nor what is over the limit");
	json_auto_t *both = json_pack("[o, o]", argv_of("i"), argv_of("j"));
	permit_batch(&context, both);
	turn(&d, RUN("i"), NULL);
	is(proposed, 1, "no answer outlives its turn");
	permit_forget(&p);
	context.commands = NULL;
	done(&d);
}

static void argvs(void)
{
	json_auto_t *argv = json_array();
	ok(!permit_is_argv(argv), "no words are no command");
	json_array_append_new(argv, json_string(""));
	ok(!permit_is_argv(argv), "nor is one without a name");
	json_array_set_new(argv, 0, json_string("ls"));
	while (json_array_size(argv) < PERMIT_ARGC_MAX)
		json_array_append_new(argv, json_string(""));
	ok(permit_is_argv(argv), "it may have %d words", PERMIT_ARGC_MAX);
	json_array_set_new(argv, 1, json_integer(1));
	ok(!permit_is_argv(argv), "all of them texts");
	json_array_set_new(argv, 1, json_string("-l"));
	json_array_append_new(argv, json_string(""));
	ok(!permit_is_argv(argv), "and no more");
}

int main(void)
{
	AUTO_BUF text;
	const char *workspace = tap_scratch();
	buf_init(&text, ROOM_BYTES);
	for (int i = 0; i < 400; i++)
		buf_adds(&text, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2"
				"\x82\xac\n");
	tree_file(workspace, "long", text.data, 0644);
	tree_file(workspace, "few/one", "1", 0644);
	context = (struct tool_context){.workspace = workspace,
		.workspace_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.redact = &nothing};
	refused();
	circles();
	arguments();
	meant();
	meant_result();
	room();
	too_long();
	guards();
	permits();
	proposals();
	argvs();
	return tap_done();
}
