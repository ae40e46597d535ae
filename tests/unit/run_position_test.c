/* Where a run stands: the failure that a person asks about, from journal lines and snapshots. */
#include "run/position.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <string.h>

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: work\nbudget: {max_transitions: 99}\n"
	"states:\n"
	"  work: {kind: tool, command: [x], timeout_secs: 1, retry: {max: 1, on: [timeout]},\n"
	"    on: {ok: choose, nonzero: other, timeout: other}}\n"
	"  other: {kind: tool, command: [x], timeout_secs: 1,\n"
	"    on: {ok: work, nonzero: other, timeout: done}}\n"
	"  choose:\n"
	"    kind: branch\n"
	"    when: [{else: true, goto: work}]\n"
	"  done: {kind: terminal, status: ok, reason: done}\n";

static struct fixture f;
static int seq;

static void apply(struct position *p, const char *fields, const char *fact)
{
	struct err e = ERR_NONE;
	json_auto_t *event = json_loads(fields, 0, NULL);
	json_object_set_new(event, "seq", json_integer(seq));
	json_object_set_new(event, "ts", json_string("2026-11-21T00:00:00Z"));
	if (fact)
		json_object_set_new(event, "fact", json_loads(fact, 0, NULL));
	if (position_apply(p, event, &e))
		bail("%s", e.text);
}

/* {"label":L,"goto":G,"state":S} */
static void step(struct position *p, const char *fields, const char *fact)
{
	seq++;
	json_auto_t *event = json_loads(fields, 0, NULL);
	json_object_set_new(event, "t", json_string("step"));
	json_object_set_new(event, "attempt", json_integer(p->attempt));
	AUTO_FREE char *text = json_dumps(event, 0);
	apply(p, text, fact);
}

#define WORKED                                                                                     \
	"{\"exit\":0,\"signal\":null,\"timed_out\":false,\"stdout\":\"\",\"stderr_tail\":\"odd\"}"
#define BROKE                                                                                      \
	"{\"exit\":2,\"signal\":null,\"timed_out\":false,\"stdout\":\"\",\"stderr_tail\":"         \
	"\"a\\nb\"}"
#define LATE "{\"exit\":null,\"signal\":9,\"timed_out\":true,\"stdout\":\"\",\"stderr_tail\":\"\"}"

/* The failure, also by way of a snapshot, is `want`. */
static void failed(struct position *p, const char *want, const char *name)
{
	struct position again;
	struct err e = ERR_NONE;
	AUTO_FREE char *text =
		p->failure ? json_dumps(p->failure, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
	is_str(text, want, "%s", name);
	json_auto_t *snapshot = position_encode(p);
	if (!ok(!position_decode(f.m, snapshot, &again, &e), "%s: a snapshot keeps it", name))
		return;
	ok(p->failure ? json_equal(p->failure, again.failure) : !again.failure, "%s: as it is",
		name);
	position_done(&again);
}

static void test_failure(void)
{
	struct position p, copy;
	position_init(&p, f.m);
	apply(&p, "{\"t\":\"begin\",\"machine\":\"m\",\"format\":1,\"parameters\":{}}", NULL);
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

#define PARK                                                                                       \
	"machine: m\nversion: 1\ninitial: park\nbudget: {max_transitions: 9}\n"                    \
	"states:\n  park: {kind: wait, on: {signal: done}}\n"                                      \
	"  done: {kind: terminal, status: ok, reason: done}\n"
#define ARMED                                                                                      \
	"{\"t\":\"wait.armed\",\"ts\":\"2026-11-21T00:00:00Z\",\"seq\":1,"                         \
	"\"state\":\"park\",\"wake\":null}"

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
		is(position_apply(&p, event, NULL), cases[i].verdict,
			"a wait after no step, and %jd in its totals",
			(intmax_t)cases[i].transitions);
		position_done(&p);
	}
	fixture_done(&waits);
}

int main(void)
{
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s",
			f.findings.count ? f.findings.items[0].message : "?");
	test_failure();
	test_snapshots();
	test_armed();
	fixture_done(&f);
	return tap_done();
}
