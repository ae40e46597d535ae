/* Cassettes: reading, matching, and which exchange answers whom. */
#include "rehearse/cassette.h"

#include "base/json.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <string.h>

static struct cassette tape;

static void load(const char *lines)
{
	struct err e = ERR_NONE;
	static char path[4096];
	cassette_done(&tape);
	tree_file(tap_scratch(), "tape.jsonl", lines, 0600);
	snprintf(path, sizeof(path), "%s/tape.jsonl", tap_scratch());
	if (cassette_read(&tape, path, &e))
		bail("%s", e.text);
}

static void refused(const char *lines, const char *text)
{
	struct err e = ERR_NONE;
	struct cassette c = {0};
	tree_file(tap_scratch(), "bad.jsonl", lines, 0600);
	is(cassette_read(&c, tree_path(tap_scratch(), "bad.jsonl"), &e), -1, "refused: %s", lines);
	has_str(e.text, text, "says why");
	cassette_done(&c);
}

static void test_refused(void)
{
	refused("[]\n", ":1: a line is an object");
	refused("{\"state\":\"a\",\"reply\":{}}\n{\"state\":\"a\"}\n",
		":2: \"reply\" must be an object");
	refused("{\"reply\":{}}\n", "\"state\" must name a state");
	refused("{\"state\":\"a\",\"reply\":{},\"mach\":{}}\n", "unknown key \"mach\"");
	refused("{\"state\":\"a\",\"reply\":{\"txt\":\"x\"}}\n", "unknown key \"txt\"");
	refused("{\"state\":\"a\",\"match\":{\"promt\":\"x\"},\"reply\":{}}\n",
		"match: unknown key \"promt\"; those there are: \"model\", \"system\", \"prompt\"");
	refused("{\"state\":\"a\",\"match\":{\"prompt\":1},\"reply\":{}}\n",
		"match: \"prompt\" must be text");
	refused("{\"state\":\"a\",\"reply\":{\"tool_calls\":[{\"name\":\"x\"}]}}\n",
		"reply.tool_calls");
	refused("{\"state\":\"a\",\"reply\":{\"delay_ms\":-1}}\n", "delay_ms");
	refused("{\"state\":\"a\",\"reply\":{\"status\":99}}\n", "status");
	refused("{\"state\":\"a\",\"reply\":{}\n", ":1:");
	refused("{\"state\":\"a\",\"reply\":{\"text\":1}}\n", "reply: \"text\" must be text");
	refused("{\"state\":\"a\",\"reply\":{\"tool_calls\":{}}}\n",
		"\"tool_calls\" must be a list");
	refused("{\"state\":\"a\",\"reply\":{\"tool_calls\":[1]}}\n", "reply.tool_calls");
	refused("{\"state\":\"a\",\"reply\":{\"usage\":{\"input\":1}}}\n",
		"reply.usage: unknown key \"input\"");
	refused("{\"state\":\"a\",\"reply\":{\"usage\":{\"input_tokens\":-1}}}\n",
		"\"input_tokens\" must be an integer of 0 or more");
	refused("{\"state\":\"a\",\"reply\":{\"stop\":true}}\n", "\"stop\" must be text");
	refused("{\"state\":\"a\",\"reply\":{\"status\":429,\"error\":{\"mesage\":\"x\"}}}\n",
		"\"error\" must be text");
	refused("{\"state\":\"a\",\"match\":[],\"reply\":{}}\n", "\"match\" must be an object");
	refused("{\"state\":\"a\",\"poke\":{\"message\":1}}\n", "\"message\" must be text");
	refused("{\"state\":\"a\",\"poke\":{\"message\":\"x\",\"data\":1}}\n", "\"poke\" takes");
}

static long serve_attempt(uint64_t seq, uint64_t attempt, const char *state, long turn)
{
	struct asker who = {seq, attempt, state, turn};
	struct exchange *x = cassette_next(&tape, &who);
	if (!x)
		return -1;
	cassette_served(&tape, &who, x);
	return (long)x->line;
}

static long serve(uint64_t seq, const char *state, long turn)
{
	return serve_attempt(seq, 1, state, turn);
}

static void test_order(void)
{
	load("{\"state\":\"a\",\"reply\":{}}\n\n{\"state\":\"b\",\"reply\":{}}\n"
	     "{\"state\":\"a\",\"reply\":{}}\n{\"state\":\"a\",\"reply\":{}}\n");
	is(tape.count, 4, "blank lines are none");
	is(serve(1, "a", 0), 1, "a state has its own queue");
	is(serve(2, "b", 0), 3, "whatever else was asked");
	is(serve(1, "a", 1), 4, "the next turn takes the next line");
	is(serve(1, "a", 0), 1, "a step that starts over begins at its first");
	is(serve(1, "a", 1), 4, "and goes on from there");
	is(serve(5, "a", 0), 5, "a later step of the same state continues behind it");
	is(serve(5, "a", 1), -1, "until none is left");
	is(serve(6, "c", 0), -1, "a state without lines has none");
	is(cassette_unused(&tape), 0, "all were used");
}

static void test_attempts(void)
{
	load("{\"state\":\"a\",\"reply\":{}}\n{\"state\":\"a\",\"reply\":{}}\n"
	     "{\"state\":\"a\",\"reply\":{}}\n");
	is(serve_attempt(1, 1, "a", 0), 1, "the first attempt");
	is(serve_attempt(1, 2, "a", 0), 2, "the second goes on behind it");
	is(serve_attempt(1, 2, "a", 0), 2, "and starts over at its own first");
	is(serve_attempt(2, 1, "a", 0), 3, "as does the next step");
}

static void test_errors_are_asked_again(void)
{
	load("{\"state\":\"a\",\"reply\":{\"status\":529}}\n"
	     "{\"state\":\"a\",\"reply\":{\"stop\":\"max_tokens\",\"text\":\"x\"}}\n"
	     "{\"state\":\"a\",\"reply\":{\"text\":\"x\"}}\n");
	is(serve(1, "a", 0), 1, "an error");
	is(serve(1, "a", 0), 2, "the same turn again is no new start");
	is(serve(1, "a", 0), 3, "nor behind a reply that was cut");
	is(serve(1, "a", 0), 1, "behind a reply it is");
	is((int64_t)cassette_unsettled(&tape, &(struct asker){1, 1, "a", 0})->line, 1,
		"what was not settled is told");
	cassette_restart(&tape);
	is(serve(1, "a", 0), 1, "and to who was killed behind an error, that is a new start");
}

static void test_without_state(void)
{
	load("{\"state\":\"a\",\"reply\":{}}\n{\"state\":\"b\",\"reply\":{}}\n");
	is(serve(0, NULL, 0), 1, "lines in order");
	is(serve(0, NULL, 0), 2, "whatever their state");
	is(serve(0, NULL, 0), -1, "to the end");
}

static const char request[] =
	"{\"model\":\"m\",\"prompt\":\"sort inbox/1.txt now\",\"turn\":0,"
	"\"tools\":[\"read_file\",\"grep\",\"finish_run\"],"
	"\"messages\":[{\"role\":\"user\",\"text\":\"sort\"},{\"role\":\"assistant\","
	"\"tool_calls\":[{\"name\":\"grep\",\"arguments\":{\"pattern\":\"x\"}}]}]}";

/* Returns the differences, one per line; "" if it matches. */
static const char *differences(const char *match)
{
	static char text[4096];
	struct err e = ERR_NONE;
	json_auto_t *m = json_read(match, strlen(match), 4096, &e);
	json_auto_t *r = json_read(request, strlen(request), 4096, &e);
	json_auto_t *all = cassette_differences(m, r);
	size_t i, used = 0;
	json_t *line;
	text[0] = '\0';
	json_array_foreach (all, i, line)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s\n", json_string_value(line));
	return text;
}

static void test_match(void)
{
	is_str(differences("{}"), "", "nothing asked");
	is_str(differences("{\"prompt\":\"inbox/1.txt\",\"turn\":0}"), "",
		"a part of a string, a number");
	is_str(differences("{\"tools\":[\"read_file\",\"finish_run\"]}"), "", "a subsequence");
	is_str(differences(
		       "{\"messages\":[{\"tool_calls\":[{\"arguments\":{\"pattern\":\"x\"}}]}]}"),
		"", "objects inside lists");
	has_str(differences("{\"prompt\":\"inbox/2.txt\"}"),
		"prompt: expected text holding \"inbox/2.txt\", got \"sort inbox/1.txt now\"",
		"another text");
	has_str(differences("{\"tools\":[\"finish_run\",\"read_file\"]}"),
		"tools: expected an item \"read_file\"", "another order");
	has_str(differences("{\"turn\":1}"), "turn: expected 1, got 0", "another number");
	has_str(differences("{\"turn\":\"0\"}"), "turn: expected \"0\", got 0", "another kind");
	has_str(differences("{\"system\":\"x\"}"), "system: expected \"x\", got nothing",
		"a missing key");
	has_str(differences("{\"prompt\":\"a\\u00e9\",\"turn\":3}"), "turn: expected 3",
		"all of them");
	char match[1200] = "{\"prompt\":\"x";
	size_t len = strlen(match);
	for (; len < 1000; len += 2)
		memcpy(match + len, "é", 2);
	memcpy(match + len, "\"}", 3);
	has_str(differences(match), "é\"..., got \"sort", "a long one, cut behind a character");
}

int main(void)
{
	test_refused();
	test_order();
	test_attempts();
	test_errors_are_asked_again();
	test_without_state();
	test_match();
	cassette_done(&tape);
	return tap_done();
}
