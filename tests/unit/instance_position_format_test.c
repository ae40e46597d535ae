/* Tests positions: what a journal of format 2 may hold besides one of format 1, and only that one.
 */
#include "tests/unit/position_kit.h"

static struct fixture park;

static void begin(struct position *position, const struct machine *machine, int format)
{
	char line[128];
	snprintf(line, sizeof(line),
		"{\"t\":\"begin\",\"machine\":\"m\",\"format\":%d,\"parameters\":{}}", format);
	position_init(position, machine);
	seq = 0;
	apply(position, line, NULL);
	seq = 1;
}

#define RETURNS                                                                                    \
	"machine: m\nversion: 1\ninitial: done\nbudget: {max_transitions: 9}\nreturns: r\n"        \
	"schemas: {r: {n: {type: int, optional: true}}}\n"                                         \
	"states:\n"                                                                                \
	"  done: {kind: terminal, status: ok, reason: done, returns: {}}\n"

/* Checks that a result stands in a journal of format 2 only. */
static void test_returns(void)
{
	struct fixture returns;
	fixture_init(&returns, RETURNS);
	if (!ok(returns.m != NULL, "the machine loads"))
		return;
	for (int format = 1; format < 3; format++) {
		struct position p;
		struct err e = ERR_NONE;
		char digest[POSITION_DIGEST_BYTES];
		begin(&p, returns.m, format);
		position_blackboard_digest(&p, digest);
		json_auto_t *end = json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:s,s:{}}", "t", "end",
			"state", "done", "cause", "terminal", "status", "ok", "reason", "done",
			"totals", totals_encode(&p.totals), "blackboard", digest, "returns");
		AUTO_FREE char *last = json_dumps(end, 0);
		is(try(&p, last, NULL, &e), format == 2 ? 0 : -1, "a result in format %d", format);
		has_str(e.text, format == 2 ? "" : "a journal of format 1 has no result",
			"says why");
		position_done(&p);
	}
	fixture_done(&returns);
}

#define FORM                                                                                       \
	"machine: m\nversion: 1\ninitial: park\nbudget: {max_transitions: 9}\n"                    \
	"schemas: {r: {n: int}}\n"                                                                 \
	"states:\n  park: {kind: wait, output_schema: r, on: {signal: done}}\n"                    \
	"  done: {kind: terminal, status: ok, reason: done}\n"
#define REFUSED                                                                                    \
	"{\"t\":\"poke.refused\",\"state\":\"park\",\"poke\":\"p.json\",\"reason\":\"odd\","       \
	"\"totals\":{\"cached_tokens\":0,\"input_tokens\":0,\"output_tokens\":0,"                  \
	"\"transitions\":0,\"unpriced\":false,\"usd\":0.0}}"

/* Checks that a poke is refused only in a wait that has begun and takes a form, and that a snapshot
 * keeps its name. */
static void test_refused_pokes(void)
{
	struct fixture form;
	struct position p, again;
	struct err e = ERR_NONE;
	fixture_init(&form, FORM);
	begin(&p, form.m, 2);
	is(try(&p, REFUSED, NULL, &e), -1, "a wait that has not begun refuses nothing");
	has_str(e.text, "state park refuses no poke", "says why");
	position_done(&p);
	begin(&p, form.m, 2);
	apply(&p, ARMED, NULL);
	is(try(&p, REFUSED, NULL, NULL), 0, "one that has begun does");
	json_auto_t *snapshot = position_encode(&p);
	is_str(p.refused_poke, "p.json", "its name is kept");
	if (ok(!position_decode(form.m, snapshot, &again, NULL), "in a snapshot, too")) {
		is_str(again.refused_poke, "p.json", "as it is");
		position_done(&again);
	}
	e = ERR_NONE;
	is(try(&p,
		   "{\"t\":\"step\",\"state\":\"park\",\"attempt\":1,\"label\":\"signal\",\"goto\":"
		   "\"done\"}",
		   "{\"woke_by\":\"poke\",\"wake\":null,\"payload\":{\"data\":{\"n\":\"1\"}},"
		   "\"poke\":"
		   "\"q.json\"}",
		   &e),
		-1, "a step by a poke of another form is refused");
	has_str(e.text, "data.n: expected an integer", "says why");
	position_done(&p);
	begin(&p, form.m, 1);
	apply(&p, ARMED, NULL);
	is(try(&p, REFUSED, NULL, NULL), -1, "a journal of format 1 has no such line");
	position_done(&p);
	begin(&p, park.m, 2);
	apply(&p, ARMED, NULL);
	is(try(&p, REFUSED, NULL, NULL), -1, "a wait that takes any poke refuses none");
	position_done(&p);
	fixture_done(&form);
}

static const char *const loop =
	"machine: m\nversion: 1\ninitial: work\nbudget: {max_transitions: 99}\n"
	"states:\n"
	"  work: {kind: tool, command: [x], timeout_secs: 1, max_visits: 2, notify: hi,\n"
	"    retry: {max: 1, on: [nonzero]},\n"
	"    on: {ok: choose, nonzero: choose, timeout: done, exhausted: choose}}\n"
	"  choose: {kind: branch, max_visits: 3, exhausted: done,\n"
	"    when: [{else: true, goto: work}]}\n"
	"  done: {kind: terminal, status: ok, reason: done}\n";

#define VISITS(n) "{\"visits\":" n "}"

/* A run whose first state has been entered three times. */
static void begin_bounded(struct position *position, const struct machine *machine, int format)
{
	begin(position, machine, format);
	json_object_set_new(position->visits, "work", json_integer(3));
}

/* Checks that visits are counted from the journal alone: attempts are none, a snapshot keeps them,
 * and a step of `exhausted` is where they are used up, and only there. */
static void visits(void)
{
	struct fixture bounded;
	struct position p, again;
	struct err e = ERR_NONE;
	fixture_init(&bounded, loop);
	if (!ok(bounded.m != NULL, "the machine loads"))
		return;
	position_init(&p, bounded.m);
	seq = 0;
	apply(&p, "{\"t\":\"begin\",\"machine\":\"m\",\"format\":2,\"parameters\":{}}", NULL);
	seq = 1;
	position_copy(&again, &p);
	is(try(&again, ABOUT("step", "work") ",\"label\":\"exhausted\",\"goto\":\"choose\"}",
		   VISITS("2"), &e),
		-1, "the first visit is none too many");
	has_str(e.text, "state work may still be visited", "says why");
	position_done(&again);
	apply(&p, ABOUT("retry", "work") ",\"label\":\"nonzero\"" UNTIL(SOON), BROKE);
	seq = 0;
	step(&p, "{\"label\":\"ok\",\"goto\":\"choose\",\"state\":\"work\"}", WORKED);
	step(&p, "{\"label\":\"else\",\"goto\":\"work\",\"state\":\"choose\"}", "{\"clause\":0}");
	step(&p, "{\"label\":\"ok\",\"goto\":\"choose\",\"state\":\"work\"}", WORKED);
	step(&p, "{\"label\":\"else\",\"goto\":\"work\",\"state\":\"choose\"}", "{\"clause\":0}");
	json_auto_t *snapshot = position_encode(&p);
	if (!ok(!position_decode(bounded.m, snapshot, &again, &e), "a snapshot: %s", e.text))
		return;
	ok(position_exhausted(&p) && position_exhausted(&again), "the third entry is one too many");
	is(position_decode(park.m, snapshot, &again, &e), -1, "another machine has no such visits");
	seq++;
	e = ERR_NONE;
	is(try(&again, ABOUT("step", "work") ",\"label\":\"ok\",\"goto\":\"choose\"}", WORKED, &e),
		-1, "no work is done");
	has_str(e.text, "has been visited 2 times and does no work", "says why");
	position_done(&again);
	position_copy(&again, &p);
	is(try(&again,
		   "{\"t\":\"notify\",\"state\":\"work\",\"level\":\"info\",\"message\":\"hi\"}",
		   NULL, &e),
		-1, "nothing is notified");
	position_done(&again);
	seq--;
	step(&p, "{\"label\":\"exhausted\",\"goto\":\"choose\",\"state\":\"work\"}", VISITS("2"));
	step(&p, "{\"label\":\"else\",\"goto\":\"work\",\"state\":\"choose\"}", "{\"clause\":0}");
	ok(position_exhausted(&p), "it stays exhausted");
	is(p.totals.transitions, 7, "its steps and its retry count as transitions");
	position_pass_branches(&p);
	is_str(p.state->name, "done", "a branch that is exhausted is passed too");
	position_done(&p);
	begin_bounded(&p, bounded.m, 1);
	e = ERR_NONE;
	is(try(&p, ABOUT("step", "work") ",\"label\":\"exhausted\",\"goto\":\"choose\"}",
		   VISITS("2"), &e),
		-1, "a journal of format 1 has no such step");
	has_str(e.text, "a journal of format 1 counts no visits", "says why");
	position_done(&p);
	fixture_done(&bounded);
}

/* Checks that a snapshot keeps the journal's format, and that only known ones are read. */
static void formats(void)
{
	for (int format = 0; format < 4; format++) {
		struct position p, again;
		struct err e = ERR_NONE;
		char begin[128];
		bool known = format == 1 || format == 2;
		position_init(&p, park.m);
		seq = 0;
		snprintf(begin, sizeof(begin),
			"{\"t\":\"begin\",\"machine\":\"m\",\"format\":%d,\"parameters\":{}}",
			format);
		is(try(&p, begin, NULL, &e), known ? 0 : -1, "format %d", format);
		if (!known)
			has_str(e.text, "its format is neither 1 nor 2", "is refused");
		json_auto_t *snapshot = known ? position_encode(&p) : NULL;
		if (known && ok(!position_decode(park.m, snapshot, &again, &e), "%s", e.text)) {
			is(again.format, format, "the snapshot keeps it");
			is(!json_object_get(snapshot, "format"), format == 1,
				"a snapshot of format 1 is as ever");
			position_done(&again);
		}
		position_done(&p);
	}
}

int main(void)
{
	fixture_init(&park, PARK);
	test_returns();
	test_refused_pokes();
	formats();
	visits();
	fixture_done(&park);
	return tap_done();
}
