#include "cli/rehearse/coverage.h"
#include "cli/rehearse/suite.h"
#include "cli/rehearse/verdicts.h"
#include "machine/blackboard.h"
#include "report/text.h"
#include <string.h>

enum { OUTPUT_BYTES_MAX = 64 * 1024 * 1024 };

/* The results of several cases as they come. */
struct results {
	const struct verdict_format *format;
	struct verdict_counts counts;
	struct buf body; /* not printed yet */
	size_t number;
	bool quiet;                /* text for those cases alone that differ, and no sums */
	struct coverage coverage;  /* of all cases, if it is asked for */
	const char *coverage_form; /* text, json, cobertura; NULL: none */
	FILE *stream;              /* for the results of the cases */
	int refused_exit;          /* the exit status of the first refusal; 0: there was none */
};

static void print(struct buf *text, FILE *stream)
{
	if (text->len)
		fwrite(text->data, 1, text->len, stream);
	fflush(stream);
	buf_clear(text);
}

static void on_verdict(
	void *ctx, const struct rehearsal_case *item, const struct case_result *verdict)
{
	struct results *results = ctx;
	results->number++;
	if (!results->quiet || !verdict_passes(verdict))
		results->format->add(&results->body, results->number, item, verdict);
	results->counts.differing += !verdict->refused && !verdict_passes(verdict);
	results->counts.refused += verdict->refused;
	if (results->coverage_form)
		coverage_add(&results->coverage, verdict->visits);
	if (verdict->refused && !results->refused_exit)
		results->refused_exit = verdict->exit_code;
	if (!results->format->sums_first)
		print(&results->body, results->stream);
}

static int exit_code(const struct results *results)
{
	if (results->refused_exit)
		return results->refused_exit;
	return results->counts.differing ? EXIT_FAILED : EXIT_OK;
}

static void begin(const struct results *results, const char *machine)
{
	AUTO_BUF head = BUF_INIT(OUTPUT_BYTES_MAX);
	if (results->format->begin)
		results->format->begin(&head, machine, &results->counts);
	print(&head, results->stream);
}

/* Prints the coverage, and compares it with the least one. Returns the exit code of the call. */
static int tell_coverage(
	const struct call *call, struct results *results, const struct loaded *loaded, int code)
{
	AUTO_BUF text = BUF_INIT(OUTPUT_BYTES_MAX);
	int percent = coverage_percent(&results->coverage);
	struct err e = ERR_NONE; /* check_options has read it */
	long least = 0;
	if (!strcmp(results->coverage_form, "json")) {
		json_auto_t *sums = coverage_json(&results->coverage);
		text_json_line(sums);
	} else if (!strcmp(results->coverage_form, "cobertura")) {
		coverage_cobertura(&results->coverage, loaded->bundle->machine_label, &text);
	} else if (*results->coverage_form) {
		coverage_text(&results->coverage, &text);
	}
	print(&text, stdout);
	if (call_int(call, "min-coverage", (long[]){0, 100}, &least, &e) || percent >= least)
		return code;
	text_complain("the cases take %d %% of the edges, and --min-coverage asks for %ld", percent,
		least);
	return code ? code : EXIT_FAILED;
}

/* Performs all cases, or one as one of them. */
static int rehearse_suite(
	const struct call *call, const struct loaded *loaded, const struct cases *cases)
{
	struct err e = ERR_NONE;
	const char *machine = loaded->machine->name;
	const char *form = call_value(call, "coverage");
	bool machines = form && strcmp(form, "text") != 0;
	struct results results = {.format = verdict_format(call_value(call, "format")),
		.coverage_form = form                             ? form
				 : call_has(call, "min-coverage") ? ""
								  : NULL,
		.stream = machines ? stderr : stdout, /* a program reads the coverage */
		.counts = {.cases = cases->count},
		.quiet = call_has(call, "quiet") && !call_has(call, "format"),
		.body = BUF_INIT(OUTPUT_BYTES_MAX)};
	if (results.coverage_form && coverage_init(&results.coverage, loaded->machine)) {
		coverage_done(&results.coverage);
		return verb_refuse("out of memory");
	}
	if (!results.format->sums_first)
		begin(&results, machine);
	int failed = suite_run(call, loaded, cases, on_verdict, &results, &e);
	if (results.format->sums_first)
		begin(&results, machine);
	if (results.format->end && !results.quiet)
		results.format->end(&results.body, &results.counts);
	print(&results.body, results.stream);
	buf_done(&results.body);
	int code = failed ? verb_fail(EXIT_FAILED, &e) : exit_code(&results);
	if (results.coverage_form && !results.refused_exit)
		code = tell_coverage(call, &results, loaded, code);
	coverage_done(&results.coverage);
	return code;
}

static int rehearse_one(
	const struct call *call, const struct loaded *loaded, const struct rehearsal_case *item)
{
	struct performance performance = {
		.call = call, .loaded = loaded, .item = item, .alone = true};
	struct case_result verdict;
	perform(&performance, &verdict);
	bool passes = verdict_passes(&verdict);
	int code = verdict.refused || !cases_expects(item) ? verdict.exit_code : EXIT_OK;
	if (verdict.refused && *verdict.reason)
		text_complain("%s", verdict.reason);
	verdict_done(&verdict);
	return code == EXIT_OK && !passes ? EXIT_FAILED : code;
}

/* Refuses options that are about one rehearsal, where there are several. */
static int check_options(const struct call *call, const struct cases *cases)
{
	static const char *const single[] = {"dir", "cassette", "json", "exit-on-wait"};
	const char *form = call_value(call, "coverage");
	struct err e = ERR_NONE;
	long least = 0;
	if (call_int(call, "min-coverage", (long[]){0, 100}, &least, &e))
		return verb_fail(EXIT_REFUSED, &e);
	if (form && strcmp(form, "text") && call_has(call, "format"))
		return verb_refuse("--coverage %s and --format both print for a program: call it "
				   "twice",
			form);
	if (form && call_has(call, "json"))
		return verb_refuse("--json prints a journal, and --coverage follows no single "
				   "run: give one of them");
	for (size_t i = 0; cases->count > 1 && i < ARRAY_LEN(single); i++)
		if (call_has(call, single[i]))
			return verb_refuse("--%s is about one rehearsal, and the bundle has %zu "
					   "cases: choose one with --case NAME, such as %s",
				single[i], cases->count, cases->items[0].name);
	return EXIT_OK;
}

static int check_parameters(const struct performance *performance)
{
	struct err e = ERR_NONE;
	const struct machine *machine = performance->loaded->machine;
	const char *name;
	json_t *value;
	json_auto_t *given = case_parameters(performance, &e), *trial = blackboard_new(machine);
	if (!given)
		return verb_fail(EXIT_REFUSED, &e);
	json_object_foreach (given, name, value)
		if (blackboard_set_parameter(machine, trial, name, value, VALUE_WHOLE, &e))
			return verb_fail(EXIT_REFUSED, &e);
	if (!blackboard_complete(machine, trial, &e))
		return EXIT_OK;
	err_wrap(&e, "case %s", performance->item->name);
	return verb_fail(EXIT_REFUSED, &e);
}

/* Checks all cases before any of them runs. */
static int check_all(
	const struct call *call, const struct loaded *loaded, const struct cases *cases)
{
	int code = check_options(call, cases);
	for (size_t i = 0; code == EXIT_OK && i < cases->count; i++)
		code = check_parameters(&(struct performance){
			.call = call, .loaded = loaded, .item = &cases->items[i]});
	return code;
}

static int rehearse_cases(
	const struct call *call, const struct loaded *loaded, const struct cases *cases)
{
	const char *format = call_value(call, "format");
	bool covers = call_has(call, "coverage") || call_has(call, "min-coverage");
	bool as_run = cases->count == 1 && ((!format && !covers) || call_has(call, "json"));
	int code = check_all(call, loaded, cases);
	if (code != EXIT_OK)
		return code;
	return as_run ? rehearse_one(call, loaded, &cases->items[0])
		      : rehearse_suite(call, loaded, cases);
}

/* Leaves only the case that the call names. */
static int choose(const struct call *call, struct cases *cases)
{
	const char *name = call_value(call, "case");
	const struct rehearsal_case *item = name ? cases_find(cases, name) : NULL;
	AUTO_BUF known = BUF_INIT(4096);
	if (!name)
		return EXIT_OK;
	if (item) {
		cases_keep(cases, item);
		return EXIT_OK;
	}
	for (size_t i = 0; i < cases->count; i++)
		buf_addf(&known, "%s%s", i ? ", " : "", cases->items[i].name);
	return verb_refuse("the bundle has no case %s; it has %s", name, known.data);
}

static int rehearse(void *ctx, const struct loaded *loaded)
{
	const struct call *call = ctx;
	struct cases cases;
	struct findings findings;
	AUTO_FREE const struct doc **docs = NULL;
	findings_init(&findings);
	cases_read(loaded, &cases, &findings);
	size_t doc_count = cases_docs(&cases, &docs, 0);
	text_findings(&findings, docs, doc_count);
	int code = findings.errors ? EXIT_REFUSED : choose(call, &cases);
	if (code == EXIT_OK)
		code = rehearse_cases(call, loaded, &cases);
	cases_done(&cases);
	findings_done(&findings);
	return code;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], rehearse, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"case", "NAME", "rehearse only this case, and show it as a run", false},
	{"format", "text|tap|junit|github", "the form of the results of several cases", false},
	{"coverage", "text|json|cobertura", "print which states and edges the cases reach", false},
	{"min-coverage", "PERCENT", "exit with 1 if they take fewer of the edges", false},
	{"cassette", "FILE", "play this instead of the case's own", false},
	{"dir", "DIR", "keep workspace and state in DIR; the same DIR continues there", false},
	{"config", "FILE", "settings that the machine needs; your own files are not read", false},
	{"wire", "anthropic|openai", "the wire format spoken with the agent (anthropic)", false},
	{"set", "NAME=VALUE", "set an operator parameter", true},
	{"params", "FILE", "read operator parameters from a YAML, JSON or TOML file", false},
	{"allow-root", NULL, "run although this is root (AGENT6_ALLOW_ROOT=1)", false},
	{"exit-on-wait", NULL, "park at a wait and exit 0 instead of sleeping", false},
	{"json", NULL, "print the journal's lines as they are committed", false},
	{"quiet", NULL, "print errors only", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_rehearse = {.path = "machine rehearse",
	.summary = "run a machine for real, with recorded model answers",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "Jail, broker, agent and journal are the real ones; the model is a loopback "
		   "provider that answers from cassettes and fails the rehearsal when a request "
		   "does not match the next one. Cassettes poke waits, too. The workspace is a "
		   "copy of the bundle's "
		   "rehearsal/workspace, else of the working directory; a machine with `mode: "
		   "run` gets it as a git repository with one commit.\n"
		   "A folder rehearsal/NAME with a case.yaml is a case: parameters, and what is "
		   "expected of the end. All cases run, two at a time, unless --case chooses one.\n"
		   "Exit status: 0 every case is as expected; 1 one differs, or a request did not "
		   "match; 2 one cannot run. Without cases: as `machine run`.",
	.options = options,
	.run = run};
