/* The report of a very long run: every step counts, the first and the last are shown. */
#include "report/report.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

#include <string.h>

static const char *const flow =
	"machine: flow\nversion: 1\ninitial: a\n"
	"budget: {max_transitions: 1000000}\n"
	"vars: {code: {n: {type: int, default: 0}}}\n"
	"states:\n"
	"  a: {kind: branch, when: [{if: 'n > 0', goto: end}, {else: true, goto: b}]}\n"
	"  b: {kind: branch, when: [{else: true, goto: a}]}\n"
	"  end: {kind: terminal, status: ok, reason: end}\n";

/* Not by strstr(3): the sanitizer looks at all of the page for each of its calls. */
static size_t count(const char *text, const char *part)
{
	size_t n = 0, len = strlen(part);
	for (; *text; text++)
		n += *text == *part && !strncmp(text, part, len);
	return n;
}

/* The steps that fail; 0: none. */
static int bad_steps[2];

static json_t *step(int seq)
{
	bool odd = seq % 2, bad = seq == bad_steps[0] || seq == bad_steps[1];
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:i,s:{s:i}}", "t", "step", "ts",
		"2026-11-21T10:00:00.000000Z", "seq", seq, "state", odd ? "a" : "b", "goto",
		odd ? "b" : "a", "label", bad ? "nonzero" : "else", "attempt", 1, "fact", "exit",
		bad);
}

/* A page of `steps` steps. */
static void make(const struct machine *machine, int steps, struct buf *page)
{
	struct report r;
	json_auto_t *blackboard = json_object(), *exposure = json_object();
	report_init(&r, machine, "flow");
	r.digest = "sha256:one";
	r.exposure = exposure;
	r.steps = (uint64_t)steps;
	for (int seq = 1; seq <= steps; seq++) {
		AUTO_LINE line;
		json_auto_t *fields = step(seq);
		line_decode(fields, &line, NULL);
		report_line(&r, &line, blackboard);
	}
	r.result.status = RUN_FAILED;
	buf_clear(page);
	report_html(&r, page);
	report_done(&r);
}

int main(void)
{
	struct fixture f;
	AUTO_BUF page;
	buf_init(&page, 64 * 1024 * 1024);
	fixture_init(&f, flow);
	if (!f.m)
		bail("the fixture is wrong: %s", f.findings.items[0].message);
	make(f.m, 10000, &page);
	is(count(page.data, "<details>"), 10000, "ten thousand steps are all on the page");
	is(count(page.data, "left out here"), 0, "and nothing is left out");
	make(f.m, 30001, &page);
	is(count(page.data, "<details>"), 10000, "of three times as many as many are shown");
	has_str(page.data, "left out here: 20,001 of the steps; agent6 machine replay flow",
		"it is said how many are not, and who tells them");
	has_str(page.data, "<span class=\"n\">5000</span>", "the first half ends where it should");
	ok(!strstr(page.data, "<span class=\"n\">5001</span>"), "not later");
	ok(!strstr(page.data, "<span class=\"n\">25001</span>"), "the second half begins");
	has_str(page.data, "<span class=\"n\">25002</span>", "where it should");
	has_str(page.data,
		"\xc3\x97"
		"15001",
		"the graph counts them all");
	bad_steps[0] = 12000;
	bad_steps[1] = 20000;
	make(f.m, 30001, &page);
	has_str(page.data, "href=\"#step-20000-1\"", "what went wrong last is left out");
	is(count(page.data, "<details id="), 1, "and yet on the page, alone");
	is(count(page.data, "<details id=\"step-20000-1\">"), 1, "where it leads");
	is(count(page.data, "left out here"), 1, "beside the one line for the others");
	is(count(page.data, "<div class=\"chunk\">"), 501, "and the page is as it was");
	fixture_done(&f);
	return tap_done();
}
