/* Tests positions: the failure that a person asks about, from journal lines and snapshots; the
 * spending; and lines that no run of the machine writes. */
#include "tests/unit/position_kit.h"

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: work\nbudget: {max_transitions: 99}\n"
	"schemas: {r: {n: int}}\n"
	"states:\n"
	"  work: {kind: tool, command: [x], timeout_secs: 1, retry: {max: 1, on: [timeout]},\n"
	"    on: {ok: choose, nonzero: other, timeout: other}}\n"
	"  other: {kind: tool, command: [x], timeout_secs: 1,\n"
	"    on: {ok: work, nonzero: ask, timeout: done}}\n"
	"  choose:\n"
	"    kind: branch\n"
	"    when: [{else: true, goto: work}]\n"
	"  ask: {kind: agent, prompt: p, timeout_secs: 1, output_schema: r,\n"
	"    on: {ok: rest, failed: done, budget_exhausted: done, timeout: done}}\n"
	"  rest: {kind: wait, until: '2030-01-01', on: {tick: done, signal: ask}}\n"
	"  done: {kind: terminal, status: ok, reason: done}\n";

static struct fixture f;
#define LATE "{\"exit\":null,\"signal\":9,\"timed_out\":true,\"stdout\":\"\",\"stderr_tail\":\"\"}"

#define BEGIN(machine)                                                                             \
	"{\"t\":\"begin\",\"machine\":\"" machine "\",\"format\":1,\"parameters\":{}}"

#define TOKENS "\"input_tokens\":7,\"output_tokens\":3,\"cached_tokens\":2"

/* A run that has come to `state`; the next line is one about it. */
static void begin_at(struct position *position, const char *state)
{
	position_init(position, f.m);
	seq = 0;
	apply(position, BEGIN("m"), NULL);
	position->state = machine_state(f.m, state);
	seq = 1;
}

/* The failure, also by way of a snapshot, is `want`. */
static void failed(struct position *position, const char *want, const char *name)
{
	struct position again;
	struct err e = ERR_NONE;
	AUTO_FREE char *text =
		position->failure ? json_dumps(position->failure, JSON_SORT_KEYS | JSON_COMPACT)
				  : NULL;
	is_str(text, want, "%s", name);
	json_auto_t *snapshot = position_encode(position);
	if (!ok(!position_decode(f.m, snapshot, &again, &e), "%s: a snapshot keeps it", name))
		return;
	ok(position->failure ? json_equal(position->failure, again.failure) : !again.failure,
		"%s: as it is", name);
	position_done(&again);
}

static void test_failure(void)
{
	struct position p, copy;
	begin_at(&p, "work");
	seq = 0;
	failed(&p, NULL, "nothing at first");
	step(&p, "{\"state\":\"work\",\"label\":\"nonzero\",\"goto\":\"other\"}", BROKE);
	failed(&p,
		"{\"attempt\":1,\"exit\":2,\"label\":\"nonzero\",\"seq\":1,\"signal\":null,"
		"\"state\":\"work\",\"words\":\"b\"}",
		"a command that failed, and its last line");
	position_copy(&copy, &p);
	step(&p, "{\"state\":\"other\",\"label\":\"ok\",\"goto\":\"work\"}", WORKED);
	ok(p.failure != NULL, "another state's success does not mend it");
	step(&p, "{\"state\":\"work\",\"label\":\"ok\",\"goto\":\"choose\"}", WORKED);
	failed(&p, NULL, "its own does");
	ok(copy.failure != NULL, "and a copy has its own");
	position_done(&copy);
	step(&p, "{\"state\":\"choose\",\"label\":\"else\",\"goto\":\"work\"}", "{\"clause\":0}");
	seq++;
	apply(&p,
		"{\"t\":\"retry\",\"state\":\"work\",\"label\":\"timeout\",\"attempt\":1,"
		"\"delay_ms\":0,\"until\":\"2026-11-21T00:00:00Z\"}",
		LATE);
	seq--;
	failed(&p,
		"{\"attempt\":1,\"exit\":null,\"label\":\"timeout\",\"seq\":5,\"signal\":9,"
		"\"state\":\"work\",\"words\":\"\"}",
		"one that is tried again");
	position_done(&p);
}

#define NO_NUMBER                                                                                  \
	"{\"attempt\":\"1\",\"exit\":2,\"label\":\"x\",\"seq\":1,\"signal\":null,\"state\":"       \
	"\"work\","                                                                                \
	"\"words\":\"b\"}"

static void test_snapshots(void)
{
	static const char *const bad[] = {"1", "[]", "{}", "{\"state\":\"work\"}", (NO_NUMBER)};
	struct position p, again;
	struct err e = ERR_NONE;
	position_init(&p, f.m);
	json_auto_t *snapshot = position_encode(&p);
	position_done(&p);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		json_object_set_new(snapshot, "failure", json_loads(bad[i], JSON_DECODE_ANY, NULL));
		is(position_decode(f.m, snapshot, &again, NULL), -1, "refused: %s", bad[i]);
	}
	json_object_del(snapshot, "failure");
	if (ok(!position_decode(f.m, snapshot, &again, &e), "one from before there was any"))
		position_done(&again);
}

/* Checks snapshots of another machine, of another version, or changed by hand. */
static void test_tampered(void)
{
	static const struct {
		const char *member, *of, *value; /* of NULL: a member of the snapshot itself */
	} rows[] = {{"n", "blackboard", "\"1\""}, {"n", "blackboard", NULL},
		{"more", "blackboard", "1"}, {"usd", "totals", "-0.5"}, {"usd", "totals", "1e13"},
		{"usd", "totals", NULL}, {"more", "totals", "1"}, {"state", NULL, "\"nowhere\""},
		{"seq", NULL, "-1"}, {"attempt", NULL, "0"}, {"cause", NULL, "-1"},
		{"cause", NULL, "3"}, {"poke_name", NULL, NULL}, {"more", NULL, "1"}};
	struct fixture variables;
	struct position p, again;
	fixture_init(&variables, FIXTURE_VARIABLES);
	position_init(&p, variables.m);
	for (size_t i = 0; i <= ARRAY_LEN(rows); i++) {
		json_auto_t *snapshot = position_encode(&p);
		json_auto_t *copy = json_deep_copy(snapshot);
		if (i == ARRAY_LEN(rows)) {
			if (ok(!position_decode(variables.m, copy, &again, NULL), "as it was"))
				position_done(&again);
			break;
		}
		json_t *of = rows[i].of ? json_object_get(copy, rows[i].of) : copy;
		if (rows[i].value)
			json_object_set_new(of, rows[i].member,
				json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		else
			json_object_del(of, rows[i].member);
		is(position_decode(variables.m, copy, &again, NULL), -1, "%s %s of %s is refused",
			rows[i].member, rows[i].value ? rows[i].value : "missing",
			rows[i].of ? rows[i].of : "it");
	}
	json_auto_t *other = position_encode(&p);
	json_auto_t *blackboard = json_deep_copy(p.blackboard);
	json_object_del(blackboard, "j");
	json_object_set_new(blackboard, "more", json_null());
	json_object_set(other, "blackboard", blackboard);
	is(position_decode(variables.m, other, &again, NULL), -1, "as many variables, but others");
	position_done(&p);
	fixture_done(&variables);
}

/* Checks that a state's own values begin anew with the next state, and that a poke goes to the
 * first tool after it. */
static void test_entered(void)
{
	struct position p;
	begin_at(&p, "rest");
	apply(&p, ABOUT("wait.armed", "rest") ",\"wake\":\"2030-01-01T00:00:00Z\"}", NULL);
	seq = 0;
	step(&p, "{\"state\":\"rest\",\"label\":\"signal\",\"goto\":\"ask\"}",
		"{\"woke_by\":\"poke\",\"wake\":\"2030-01-01T00:00:00Z\",\"poke\":\"name\","
		"\"payload\":{\"data\":1}}");
	ok(p.poke && !p.armed && !p.wake_us, "a wait that was poked is over");
	seq++;
	apply(&p, ABOUT("spend", "ask") "," TOKENS ",\"usd\":0.25}", NULL);
	seq--;
	is(p.step.microusd, 250000, "a state spends");
	step(&p, "{\"state\":\"ask\",\"label\":\"failed\",\"goto\":\"done\"}",
		"{\"outcome\":\"failed\"," TOKENS ",\"usd\":0.25}");
	ok(p.poke != NULL, "an agent takes no poke");
	ok(!p.step.microusd && !p.executions && p.totals.microusd == 500000,
		"the next has spent nothing yet");
	position_done(&p);
	begin_at(&p, "work");
	apply(&p, ABOUT("retry", "work") ",\"label\":\"timeout\"" UNTIL(SOON), LATE);
	seq = 0;
	p.poke = json_object();
	p.notified = true;
	step(&p, "{\"state\":\"work\",\"label\":\"ok\",\"goto\":\"choose\"}", WORKED);
	ok(p.attempt == 1 && !p.executions && !p.retry_at_us && !p.notified, "nor tried");
	ok(!p.poke, "a tool takes it");
	position_done(&p);
}

static int end_with(struct position *position, json_int_t transitions, struct err *e)
{
	char digest[POSITION_DIGEST_BYTES];
	struct totals told = position->totals;
	told.transitions += transitions;
	position_blackboard_digest(position, digest);
	json_auto_t *event = json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:o}", "t", "end",
		"ts", SOON, "seq", seq, "state", "done", "cause", "terminal", "status", "ok",
		"reason", "done", "blackboard", digest, "totals", totals_encode(&told));
	return position_apply_event(position, event, e);
}

static void test_end(void)
{
	struct position p;
	struct err e = ERR_NONE;
	begin_at(&p, "done");
	is(end_with(&p, 1, &e), -1, "an end with other totals is refused");
	has_str(e.text, "not the sum of the steps", "which is said");
	e = ERR_NONE;
	is(end_with(&p, 0, &e), 0, "one with its own is the end");
	is(end_with(&p, 0, &e), -1, "and there is but one");
	has_str(e.text, "after the end", "nor is there anything behind it");
	position_done(&p);
}

/* Whoever lists instances believes the totals in such a line, so a run must not go on from others.
 */
static void test_armed(void)
{
	static const struct {
		json_int_t transitions; /* -1: a line from before it had totals */
		int verdict;
	} cases[] = {{0, 0}, {-1, 0}, {1, -1}};
	struct fixture waits;
	fixture_init(&waits, PARK);
	seq = 0;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct position p;
		position_init(&p, waits.m);
		apply(&p, "{\"t\":\"begin\",\"machine\":\"m\",\"format\":1,\"parameters\":{}}",
			NULL);
		json_auto_t *event = json_loads(ARMED, 0, NULL);
		p.totals.transitions = cases[i].transitions;
		if (cases[i].transitions >= 0)
			json_object_set_new(event, "totals", totals_encode(&p.totals));
		p.totals.transitions = 0;
		is(position_apply_event(&p, event, NULL), cases[i].verdict,
			"a wait after no step, and %jd in its totals",
			(intmax_t)cases[i].transitions);
		position_done(&p);
	}
	fixture_done(&waits);
}

/* Twice `spent`, in a state that spends. */
static int spend_twice(struct position *position, const char *spent)
{
	AUTO_FREE char *line = NULL;
	struct err e = ERR_NONE;
	if (asprintf(&line, "{\"t\":\"spend\",\"state\":\"ask\",\"attempt\":1,%s}", spent) < 0)
		bail("out of memory");
	begin_at(position, "ask");
	return try(position, line, NULL, &e) || try(position, line, NULL, &e) ? -1 : 0;
}

static void test_books(void)
{
	static const struct {
		const char *spent;
		int64_t microusd;
		bool unpriced, unmetered;
	} good[] = {{TOKENS ",\"usd\":0.25", 500000, false, false},
		{TOKENS ",\"usd\":0", 0, false, false}, {TOKENS ",\"usd\":null", 0, true, false},
		{TOKENS, 0, true, false},
		{TOKENS ",\"usd\":1e12", 2000000000000000000, false, false},
		{TOKENS ",\"usd\":1,\"unmetered\":true", 2000000, true, true}};
	static const char *const bad[] = {TOKENS ",\"usd\":-0.01", TOKENS ",\"usd\":true",
		TOKENS ",\"usd\":\"1\"", TOKENS ",\"usd\":1e13",
		"\"input_tokens\":-1,\"output_tokens\":3,\"cached_tokens\":2,\"usd\":0",
		"\"input_tokens\":1,\"output_tokens\":0.5,\"cached_tokens\":2,\"usd\":0",
		"\"input_tokens\":1,\"output_tokens\":3,\"cached_tokens\":true,\"usd\":0",
		"\"input_tokens\":1,\"output_tokens\":3,\"usd\":0", "\"usd\":0"};
	struct position p;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		is(spend_twice(&p, good[i].spent), 0, "%s", good[i].spent);
		ok(p.totals.input_tokens == 14 && p.totals.output_tokens == 6 &&
				p.totals.cached_tokens == 4,
			"its tokens are summed");
		ok(p.step.input_tokens == 14 && p.step.output_tokens == 6 &&
				p.step.microusd == p.totals.microusd && p.executions == 2,
			"also as the state's own, by executions");
		is(p.totals.microusd, good[i].microusd, "what it cost");
		is(p.totals.unpriced, good[i].unpriced, "whether that is all");
		is(p.totals.unmetered, good[i].unmetered, "whether every call was counted");
		position_done(&p);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		is(spend_twice(&p, bad[i]), -1, "no amount: %s", bad[i]);
		ok(!p.totals.input_tokens && !p.totals.microusd, "nothing is booked");
		position_done(&p);
	}
	is(spend_twice(&p, "\"input_tokens\":9223372036854775807,\"output_tokens\":3,"
			   "\"cached_tokens\":2,\"usd\":0"),
		0, "more tokens than can be counted");
	is(p.totals.input_tokens, INT64_MAX, "are the most, and not below zero");
	position_done(&p);
}

/* A journal is data that anybody may have edited. */
static void test_refused(void)
{
	static const struct {
		const char *state, *line, *fact, *why;
	} rows[] = {
		{"work", ABOUT("spend", "work") "," TOKENS ",\"usd\":0}", NULL, "spends nothing"},
		{"ask", ABOUT("spend", "work") "," TOKENS ",\"usd\":0}", NULL, "ask"},
		{"work", ABOUT("retry", "work") ",\"label\":\"nonzero\"" UNTIL(SOON), BROKE,
			"does not retry"},
		{"work", ABOUT("retry", "work") ",\"label\":\"timeout\"" UNTIL("soon"), LATE,
			"until is not an instant"},
		{"work", ABOUT("step", "work") ",\"label\":\"timeout\",\"goto\":\"other\"}", LATE,
			"would have tried again"},
		{"work", ABOUT("step", "work") ",\"label\":\"ok\",\"goto\":\"other\"}", WORKED,
			"leads to choose"},
		{"work", ABOUT("step", "work") ",\"label\":\"nonzero\",\"goto\":\"other\"}", WORKED,
			"nonzero"},
		{"ask", ABOUT("step", "ask") ",\"label\":\"failed\",\"goto\":\"done\"}",
			"{\"outcome\":\"failed\"}", "input_tokens is not a count"},
		{"rest", ABOUT("wait.armed", "rest") "}", NULL, "cannot be armed so"},
		{"rest", ABOUT("wait.armed", "rest") ",\"wake\":\"soon\"}", NULL,
			"wake is not an instant"},
		{"work", ABOUT("wait.armed", "work") ",\"wake\":\"" SOON "\"}", NULL,
			"cannot be armed so"},
		{"rest", ABOUT("step", "rest") ",\"label\":\"tick\",\"goto\":\"done\"}",
			"{\"woke_by\":\"timer\",\"wake\":\"" SOON "\"}", "before its wait"},
		{"rest", ABOUT("step", "rest") ",\"label\":\"tick\",\"goto\":\"done\"}", "{}",
			"not that of this wait"},
		{"work", ABOUT("notify", "work") "}", NULL, "nothing to notify"},
		{"work", ABOUT("end", "work") ",\"cause\":\"tired\"}", NULL, "no known cause"},
		{"work", ABOUT("end", "work") ",\"cause\":\"terminal\"}", NULL, "is not terminal"},
		{"done",
			ABOUT("end", "done") ",\"cause\":\"terminal\",\"status\":\"failed\","
					     "\"reason\":\"done\"}",
			NULL, "says something else"},
		{"work", ABOUT("dance", "work") "}", NULL, "no line has the type"},
	};
	struct position p;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = ERR_NONE;
		begin_at(&p, rows[i].state);
		is(try(&p, rows[i].line, rows[i].fact, &e), -1, "refused: %s", rows[i].line);
		has_str(e.text, rows[i].why, "because %s", rows[i].why);
		position_done(&p);
	}
	struct err e = ERR_NONE;
	begin_at(&p, "work");
	apply(&p, ABOUT("retry", "work") ",\"label\":\"timeout\"" UNTIL(SOON), LATE);
	ok(p.attempt == 2 && p.executions == 1 && p.totals.transitions == 1,
		"an attempt is an execution and a transition");
	is(try(&p,
		   "{\"t\":\"retry\",\"state\":\"work\",\"attempt\":2,\"label\":\"timeout\"" UNTIL(
			   SOON),
		   LATE, &e),
		-1, "more of them than the state has are refused");
	position_done(&p);
	begin_at(&p, "rest");
	apply(&p, ABOUT("wait.armed", "rest") ",\"wake\":\"2030-01-01T00:00:00Z\"}", NULL);
	is(try(&p, ABOUT("step", "rest") ",\"label\":\"tick\",\"goto\":\"done\"}",
		   "{\"woke_by\":\"timer\",\"wake\":\"" SOON "\"}", NULL),
		-1, "a wait that ended at another instant than it was armed for");
	is(try(&p, ABOUT("wait.armed", "rest") ",\"wake\":\"" SOON "\"}", NULL, NULL), -1,
		"one that goes on until another instant");
	is(try(&p, ABOUT("wait.armed", "rest") ",\"wake\":\"2030-01-01T00:00:00Z\"}", NULL, NULL),
		0, "and one that goes on as it was");
	seq = 2;
	is(try(&p, ABOUT("stop", "rest") "}", NULL, NULL), -1, "a line out of its order");
	position_done(&p);
	position_init(&p, f.m);
	seq = 0;
	is(try(&p, BEGIN("n"), NULL, NULL), -1, "another machine's begin");
	seq = 1;
	is(try(&p, ABOUT("notify", "work") "}", NULL, NULL), -1, "a line in front of begin");
	position_done(&p);
}

int main(void)
{
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s",
			f.findings.count ? f.findings.items[0].message : "?");
	test_failure();
	test_snapshots();
	test_tampered();
	test_entered();
	test_end();
	test_armed();
	test_books();
	test_refused();
	fixture_done(&f);
	return tap_done();
}
