#include "base/json.h"
#include "base/path.h"
#include "cli/bundle/cases.h"
#include "cli/bundle/cassettes.h"
#include "cli/bundle/literals.h"
#include "cli/bundle/signers.h"
#include "cli/bundle/tool_commands.h"
#include "cli/verb/loaded.h"
#include "cli/verb/setup.h"
#include "cli/verb/verb.h"
#include "git/git.h"
#include "machine/analyse/analyse.h"
#include "report/exposure.h"
#include "report/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The word for no older bundle; a directory of that name is ./none. */
#define AGAINST_NOTHING "none"

enum { CHECK_BYTES_MAX = 256 * 1024 * 1024, SHOWN_COLUMNS = 80, DESCRIPTION_MAX = 400 };

/* The findings of all bundles together: one report, in the order in which the bundles were
 * named. */
struct checking {
	struct findings findings;
	struct loaded *loaded;
	struct cases *cases; /* of each loaded bundle */
	bool *accepted;      /* for each loaded bundle */
	json_t **exposures;
	size_t count;
	size_t widened;
};

/* Adds what a reviewer should know although it breaks no rule. The analyses are skipped if the
 * machine has errors, which they would only repeat. */
static void look_closer(const struct loaded *loaded, struct cases *cases, struct findings *findings)
{
	AUTO_FREE char *workspace = getcwd(NULL, 0);
	if (loaded->machine)
		machine_analyse(loaded->machine, findings);
	literals_check(loaded, findings);
	cassettes_check(loaded, findings);
	cases_read(loaded, cases, findings);
	tool_commands_check(loaded, workspace ? workspace : "/", findings);
}

/* Adds a finding about a bundle as a whole. */
static void add_finding(
	struct findings *findings, enum rule rule, const char *named, const struct err *why)
{
	struct finding *it = finding_add(findings, rule, NULL, NULL, "%s", why->text);
	it->file = arena_copy(&findings->arena, named, strlen(named));
}

static void check_signature(const struct call *call, const struct config *config,
	const struct bundle *bundle, struct findings *findings)
{
	struct err e = ERR_NONE;
	char principal[SIGN_PRINCIPAL_BYTES];
	if (!signers_check(call, config, bundle, principal, &e))
		return;
	add_finding(findings, RULE_BUNDLE_SIGNATURE, bundle->named, &e);
}

/* Returns the number of findings that make the check fail. */
static size_t faults(const struct call *call, const struct checking *checking)
{
	/* Widening has an exit code of its own, and does not count as a warning. */
	size_t warnings =
		call_has(call, "strict") ? checking->findings.warnings - checking->widened : 0;
	return checking->findings.errors + warnings;
}

static void open_all(const struct call *call, struct checking *checking)
{
	for (int i = 0; i < call->argument_count; i++) {
		struct err e = ERR_NONE;
		struct loaded *l = &checking->loaded[checking->count];
		size_t before = faults(call, checking);
		if (loaded_open(l, call->arguments[i], &checking->findings, &e)) {
			add_finding(&checking->findings, RULE_BUNDLE_OPEN, call->arguments[i], &e);
			continue;
		}
		if (l->draft)
			look_closer(l, &checking->cases[checking->count], &checking->findings);
		checking->accepted[checking->count++] =
			l->machine && faults(call, checking) == before;
	}
}

/* Checks the signatures that a start would demand; `config` NULL: only those of the option. */
static void check_signatures(
	const struct call *call, struct checking *checking, const struct config *config)
{
	for (size_t i = 0; i < checking->count; i++) {
		size_t before = faults(call, checking);
		check_signature(call, config, checking->loaded[i].bundle, &checking->findings);
		checking->accepted[i] &= faults(call, checking) == before;
	}
}

/* Checks packed bundles, the only ones that need the operator's trust. A faulty configuration
 * refuses a start, but not a check that needs nothing else from it. */
static void check_packed(const struct call *call, struct checking *checking)
{
	bool packed = false;
	struct setup setup;
	for (size_t i = 0; i < checking->count; i++)
		packed |= checking->loaded[i].bundle->form == BUNDLE_PACKED;
	bool known = packed && !setup_load(&setup, call);
	check_signatures(call, checking, known ? setup.config : NULL);
	if (known)
		setup_done(&setup);
}

/* Opens the older bundle, whose own problems are not reported. */
static int open_old(struct loaded *loaded, const char *path, struct err *e)
{
	struct findings ignored;
	findings_init(&ignored);
	int failed = loaded_open(loaded, path, &ignored, e);
	if (failed && e->number == ENOENT)
		err_wrap(e,
			"--against names an older bundle by its path, or `none`; of a revision, "
			"check out a copy first (git worktree add -q ../before REV)");
	if (!failed && !loaded->machine)
		failed = err_set(e,
			"%s, which --against names, is not a valid bundle; check it by itself",
			path);
	findings_done(&ignored);
	return failed;
}

/* Returns a machine's exposure under the operator's configuration and its own overlay, which begins
 * anew for each machine. NULL: the configuration cannot be read, which was reported. */
static json_t *exposure_under(const struct call *call, const struct setup *setup,
	const struct loaded *loaded, struct findings *findings)
{
	struct setup own;
	if (setup_load(&own, call))
		return NULL;
	config_overlay(own.config, &loaded->doc, loaded->machine->config, findings);
	json_t *exposure = exposure_of(loaded->machine, NULL, own.config, setup->paths.workspace);
	setup_done(&own);
	return exposure;
}

/* Compares for --against: reports what the bundle may touch that OLD, or nothing, could not. */
static int compare(const struct call *call, struct checking *checking, const struct setup *setup,
	struct err *e)
{
	struct loaded old = {0};
	const struct machine *m = checking->count ? checking->loaded[0].machine : NULL;
	if (!strcmp(call_value(call, "against"), AGAINST_NOTHING)) {
		if (m)
			checking->widened = exposure_compare_new(
				checking->exposures[0], m, &checking->findings);
		return 0;
	}
	int failed = open_old(&old, call_value(call, "against"), e);
	if (!failed && m) {
		struct findings ignored;
		findings_init(&ignored);
		json_auto_t *before = exposure_under(call, setup, &old, &ignored);
		checking->widened =
			exposure_compare(before, checking->exposures[0], m, &checking->findings);
		findings_done(&ignored);
	}
	loaded_done(&old);
	return failed;
}

static void show_exposures(const struct checking *checking, const char *format)
{
	bool json = !strcmp(format, "json");
	AUTO_BUF text = BUF_INIT(CHECK_BYTES_MAX);
	for (size_t i = 0; i < checking->count; i++) {
		const json_t *all = checking->exposures[i];
		if (!all)
			continue;
		if (json)
			buf_addc(&text, text.len ? ',' : '[');
		if (json)
			json_write(&text, all);
		else if (!strcmp(format, "markdown"))
			exposure_markdown(all, &text);
		else
			exposure_text(all, &text);
	}
	if (json)
		buf_adds(&text, text.len ? "]\n" : "[]\n");
	text_json(text.data, text.len);
}

/* Turns the report into findings: SARIF and annotations know nothing else. */
static void report_findings(struct checking *checking)
{
	for (size_t i = 0; i < checking->count; i++)
		if (checking->exposures[i])
			exposure_findings(checking->exposures[i], checking->loaded[i].machine,
				&checking->findings);
}

static void find_exposures(
	const struct call *call, struct checking *checking, const struct setup *setup)
{
	for (size_t i = 0; i < checking->count; i++) {
		size_t before = faults(call, checking);
		if (checking->loaded[i].machine)
			checking->exposures[i] = exposure_under(
				call, setup, &checking->loaded[i], &checking->findings);
		checking->accepted[i] &= faults(call, checking) == before;
	}
}

static void show_text(struct checking *checking)
{
	AUTO_FREE const struct doc **docs = NULL;
	size_t doc_count = 0;
	for (size_t i = 0; i < checking->count; i++)
		doc_count = loaded_docs(&checking->loaded[i], &docs, doc_count);
	for (size_t i = 0; i < checking->count; i++)
		doc_count = cases_docs(&checking->cases[i], &docs, doc_count);
	text_findings(&checking->findings, docs, doc_count);
}

static void show_description(const char *text)
{
	size_t columns = text_columns(STDOUT_FILENO);
	AUTO_BUF clean = BUF_INIT(CHECK_BYTES_MAX), out = BUF_INIT(CHECK_BYTES_MAX);
	text_clean_hidden(&clean, text, DESCRIPTION_MAX);
	buf_adds(&out, "  ");
	wrap_text(&out, clean.data, 2, columns < SHOWN_COLUMNS ? columns : SHOWN_COLUMNS);
	puts(out.data);
}

/* Shows the accepted bundles. `gap` stands before the digest, which is nearly as wide as a report
 * may be. */
static void show_accepted(const struct checking *checking, const char *gap)
{
	for (size_t i = 0; i < checking->count; i++) {
		const struct loaded *l = &checking->loaded[i];
		AUTO_BUF line = BUF_INIT(CHECK_BYTES_MAX);
		if (!checking->accepted[i])
			continue;
		text_clean(&line, l->bundle->named, PATH_MAX);
		buf_addf(&line, ": ok: machine %s, %zu state%s,%s%s", l->machine->name,
			l->machine->state_count, l->machine->state_count == 1 ? "" : "s", gap,
			l->bundle->digest);
		text_print(line.data, 2);
		if (l->machine->description && *l->machine->description)
			show_description(l->machine->description);
	}
}

/* Returns the writer of a format made of findings; NULL: text and Markdown, which are for
 * people. */
static findings_fn *findings_writer(const char *format)
{
	static const struct {
		const char *name;
		findings_fn *write;
	} formats[] = {
		{"json", findings_json}, {"sarif", findings_sarif}, {"github", findings_github}};
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(format, formats[i].name))
			return formats[i].write;
	return NULL;
}

/* Writes findings as Markdown for a review's comment. Beside a report, which is a comment by
 * itself, findings are text. */
static void findings_markdown(const struct findings *findings, struct buf *out)
{
	static const char *const names[] = {"note", "warning", "error"};
	buf_adds(out, "| | where | what |\n|---|---|---|\n");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *it = &findings->items[i];
		buf_addf(out, "| %s `%s` | ", names[it->severity], rule_info(it->rule)->id);
		text_markdown(out, it->file);
		if (it->pos.line) /* 0: about the file as a whole */
			buf_addf(out, ":%u", it->pos.line);
		buf_adds(out, " | ");
		text_markdown(out, it->message);
		if (it->help) {
			buf_adds(out, "<br>");
			text_markdown(out, it->help);
		}
		buf_adds(out, " |\n");
	}
}

/* Returns a file's name in its repository; NULL: it lies in none, or is no file. */
static char *name_in_repository(const char *file)
{
	struct git_repo r;
	struct err e = ERR_NONE;
	AUTO_FREE char *real = realpath(file, NULL), *dir = real ? strdup(real) : NULL;
	if (!dir || !strrchr(dir, '/'))
		return NULL;
	*strrchr(dir, '/') = '\0';
	if (git_find(dir, &r, &e))
		return NULL;
	const char *below =
		r.git_dir && path_is_below(real, r.work_tree) ? real + strlen(r.work_tree) : NULL;
	char *name = below ? strdup(below + (*below == '/')) : NULL;
	git_repo_done(&r);
	return name;
}

/* Names files as in their repository, as code scanning and annotations do, wherever the check was
 * started. */
static void name_files(struct findings *findings)
{
	const char *last = "", *named = "";
	for (size_t i = 0; i < findings->count; i++) {
		struct finding *it = &findings->items[i];
		if (strcmp(it->file, last) != 0) {
			AUTO_FREE char *name = name_in_repository(it->file);
			last = it->file;
			named = name ? arena_copy(&findings->arena, name, strlen(name)) : it->file;
		}
		it->file = named;
	}
}

static void show(const struct call *call, struct checking *checking, const char *format)
{
	findings_fn *write = findings_writer(format);
	bool report = call_has(call, "report");
	if (report && !strcmp(format, "json"))
		write = NULL;
	if (!strcmp(format, "markdown") && (!report || call_has(call, "against")))
		write = findings_markdown;
	if (write == findings_markdown && !checking->findings.count) {
		puts(call_has(call, "against") ? "Nothing widened, nothing narrowed."
					       : "Nothing found.");
		return;
	}
	if (write == findings_sarif || write == findings_github)
		name_files(&checking->findings);
	if (write) {
		text_findings_as(&checking->findings, write);
		return;
	}
	show_text(checking);
	if (!strcmp(format, "text"))
		show_accepted(checking, report ? "\n  " : " ");
}

/* Checks with the operator's configuration; only the exposure depends on it. */
static int check_exposure(const struct call *call, struct checking *checking, const char *format)
{
	const char *against = call_value(call, "against");
	bool report = call_has(call, "report");
	bool as_findings = !strcmp(format, "sarif") || !strcmp(format, "github");
	struct setup setup;
	struct err e = ERR_NONE;
	if (setup_read(&setup, call))
		return EXIT_REFUSED;
	int code = EXIT_OK;
	check_signatures(call, checking, setup.config);
	if (against && call->argument_count != 1)
		code = verb_refuse("--against compares one bundle with an older one: "
				   "run it once for each");
	else
		find_exposures(call, checking, &setup);
	if (!code && against && compare(call, checking, &setup, &e))
		code = verb_fail(EXIT_REFUSED, &e);
	if (!code && report && as_findings)
		report_findings(checking);
	if (!code)
		show(call, checking, format);
	if (!code && report && !as_findings)
		show_exposures(checking, format);
	setup_done(&setup);
	return code;
}

/* Reports whether the check needs the operator's configuration, as for a machine's own `config`,
 * which a start compares with the operator's limits. */
static bool needs_operator(const struct call *call, const struct checking *checking)
{
	bool needs =
		call_has(call, "report") || call_has(call, "against") || call_has(call, "config");
	for (size_t i = 0; i < checking->count; i++)
		needs |= checking->loaded[i].machine && checking->loaded[i].machine->config;
	return needs;
}

static int verdict(const struct call *call, const struct checking *checking)
{
	if (faults(call, checking))
		return EXIT_REFUSED;
	return checking->widened ? EXIT_WIDENED : EXIT_OK;
}

static int run(const struct call *call)
{
	size_t count = (size_t)call->argument_count;
	AUTO_FREE struct loaded *loaded = calloc(count, sizeof(*loaded));
	AUTO_FREE struct cases *cases = calloc(count, sizeof(*cases));
	AUTO_FREE bool *accepted = calloc(count, sizeof(*accepted));
	AUTO_FREE json_t **exposures = calloc(count, sizeof(json_t *));
	struct checking k = {
		.loaded = loaded, .cases = cases, .accepted = accepted, .exposures = exposures};
	const char *format = call_value(call, "format") ? call_value(call, "format") : "text";
	int code = EXIT_OK;
	if (call_has(call, "json") && call_has(call, "format"))
		return verb_refuse("--json is --format json: give one of them");
	if (call_has(call, "json"))
		format = "json";
	if (!loaded || !cases || !accepted || !exposures)
		return verb_refuse("out of memory");
	findings_init(&k.findings);
	open_all(call, &k);
	if (needs_operator(call, &k))
		code = check_exposure(call, &k, format);
	else {
		check_packed(call, &k);
		show(call, &k, format);
	}
	code = code ? code : verdict(call, &k);
	for (size_t i = 0; i < k.count; i++) {
		cases_done(&k.cases[i]);
		loaded_done(&k.loaded[i]);
		json_decref(k.exposures[i]);
	}
	findings_done(&k.findings);
	return code;
}

static const struct verb_option options[] = {{"strict", NULL, "warnings fail too", false},
	{"format", "text|json|sarif|github|markdown",
		"how findings and the report are printed (text)", false},
	{"json", NULL, "the same as --format json", false},
	{"report", NULL, "print what every state may touch on this host", false},
	{"against", "OLD", "say what BUNDLE may touch that OLD (none: nothing) could not; exit 4",
		false},
	{"allowed-signers", "FILE", "refuse a bundle that nobody in FILE signed", false},
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_check = {.path = "machine check",
	.summary = "say all that is wrong with a bundle, without running it",
	.arguments = "BUNDLE...",
	.min_arguments = 1,
	.max_arguments = -1,
	.details = "Findings are printed as FILE:LINE:COL: error[rule]: message, all of them in "
		   "one go and in source order. Nothing is executed, written or looked up on the "
		   "network. A machine's own `config` is held against the operator's limits here. "
		   "Warnings are looked for only in a machine without errors.\n"
		   "Exit status: 0 accepted, 2 refused, 4 --against found a widening.",
	.options = options,
	.run = run};
