#include "base/json.h"
#include "base/path.h"
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

enum { CHECK_BYTES_MAX = 256 * 1024 * 1024, SHOWN_COLUMNS = 80, DESCRIPTION_MAX = 400 };

/* The findings of all bundles together: one report, in the order the bundles were named. */
struct checking {
	struct findings findings;
	struct loaded *loaded;
	bool *accepted; /* of each that was loaded */
	json_t **exposures;
	size_t count;
	size_t widened;
};

/* What breaks no rule of the language, and yet a reviewer should know. The analyses would only
 * repeat what is wrong with a machine that has errors. */
static void look_closer(const struct loaded *l, struct findings *findings)
{
	AUTO_FREE char *workspace = getcwd(NULL, 0);
	if (l->machine)
		machine_analyse(l->machine, findings);
	literals_check(l, findings);
	tool_commands_check(l, workspace ? workspace : "/", findings);
}

/* About a bundle as a whole. */
static void add_finding(
	struct findings *f, enum rule rule, const char *named, const struct err *why)
{
	struct finding *it = finding_add(f, rule, NULL, NULL, "%s", why->text);
	it->file = arena_copy(&f->arena, named, strlen(named));
}

static void check_signature(const struct call *c, const struct config *config,
	const struct bundle *b, struct findings *f)
{
	struct err e = ERR_NONE;
	char principal[SIGN_PRINCIPAL_BYTES];
	if (!signers_check(c, config, b, principal, &e))
		return;
	add_finding(f, RULE_BUNDLE_SIGNATURE, b->named, &e);
}

/* What makes the check fail. */
static size_t faults(const struct call *c, const struct checking *k)
{
	/* Widening has an exit code of its own: it is no reason to refuse. */
	size_t warnings = call_has(c, "strict") ? k->findings.warnings - k->widened : 0;
	return k->findings.errors + warnings;
}

static void open_all(const struct call *c, struct checking *k)
{
	for (int i = 0; i < c->argument_count; i++) {
		struct err e = ERR_NONE;
		struct loaded *l = &k->loaded[k->count];
		size_t before = faults(c, k);
		if (loaded_open(l, c->arguments[i], &k->findings, &e)) {
			add_finding(&k->findings, RULE_BUNDLE_OPEN, c->arguments[i], &e);
			continue;
		}
		if (l->draft)
			look_closer(l, &k->findings);
		k->accepted[k->count++] = l->machine && faults(c, k) == before;
	}
}

/* By whom a start would want the bundles signed; `config` NULL: only what the option says. */
static void check_signatures(const struct call *c, struct checking *k, const struct config *config)
{
	for (size_t i = 0; i < k->count; i++) {
		size_t before = faults(c, k);
		check_signature(c, config, k->loaded[i].bundle, &k->findings);
		k->accepted[i] &= faults(c, k) == before;
	}
}

/* Whom the operator trusts matters to packed bundles only. A configuration with faults refuses a
 * start, not a check that needs nothing else of it. */
static void check_packed(const struct call *c, struct checking *k)
{
	bool packed = false;
	struct setup setup;
	for (size_t i = 0; i < k->count; i++)
		packed |= k->loaded[i].bundle->form == BUNDLE_PACKED;
	bool known = packed && !setup_load(&setup, c);
	check_signatures(c, k, known ? setup.config : NULL);
	if (known)
		setup_done(&setup);
}

/* The older bundle, whose own problems are not ours to report. */
static int open_old(struct loaded *l, const char *path, struct err *e)
{
	struct findings ignored;
	findings_init(&ignored);
	int failed = loaded_open(l, path, &ignored, e);
	if (failed && e->number == ENOENT)
		err_wrap(e,
			"--against names an older bundle by its path; of a revision, check out a "
			"copy first (git worktree add -q ../before REV)");
	if (!failed && !l->machine)
		failed = err_set(e,
			"%s, which --against names, is not a valid bundle; check it by itself",
			path);
	findings_done(&ignored);
	return failed;
}

/* What a machine may touch under the operator's configuration and its own overlay, which begins
 * anew for each. NULL: the configuration cannot be read, which has been said. */
static json_t *exposure_under(
	const struct call *c, const struct setup *setup, const struct loaded *l, struct findings *f)
{
	struct setup own;
	if (setup_load(&own, c))
		return NULL;
	config_overlay(own.config, &l->doc, l->machine->config, f);
	json_t *exposure = exposure_of(l->machine, own.config, setup->paths.workspace);
	setup_done(&own);
	return exposure;
}

/* --against: what the one bundle may touch that OLD could not. */
static int compare(
	const struct call *c, struct checking *k, const struct setup *setup, struct err *e)
{
	struct loaded old = {0};
	const struct machine *m = k->count ? k->loaded[0].machine : NULL;
	int failed = open_old(&old, call_value(c, "against"), e);
	if (!failed && m) {
		struct findings ignored;
		findings_init(&ignored);
		json_auto_t *before = exposure_under(c, setup, &old, &ignored);
		k->widened = exposure_compare(before, k->exposures[0], m, &k->findings);
		findings_done(&ignored);
	}
	loaded_done(&old);
	return failed;
}

static void show_exposures(const struct checking *k, const char *format)
{
	bool json = !strcmp(format, "json");
	AUTO_BUF text = BUF_INIT(CHECK_BYTES_MAX);
	for (size_t i = 0; i < k->count; i++) {
		const json_t *all = k->exposures[i];
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

/* SARIF and annotations know findings only, so the report becomes some. */
static void report_findings(struct checking *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->exposures[i])
			exposure_findings(k->exposures[i], k->loaded[i].machine, &k->findings);
}

static void find_exposures(const struct call *c, struct checking *k, const struct setup *setup)
{
	for (size_t i = 0; i < k->count; i++) {
		size_t before = faults(c, k);
		if (k->loaded[i].machine)
			k->exposures[i] = exposure_under(c, setup, &k->loaded[i], &k->findings);
		k->accepted[i] &= faults(c, k) == before;
	}
}

static void show_text(struct checking *k)
{
	AUTO_FREE const struct doc **docs = NULL;
	size_t doc_count = 0;
	for (size_t i = 0; i < k->count; i++)
		doc_count = loaded_docs(&k->loaded[i], &docs, doc_count);
	text_findings(&k->findings, docs, doc_count);
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

/* `gap`: what stands before the digest, which is as wide as a report may be for the most part. */
static void show_accepted(const struct checking *k, const char *gap)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct loaded *l = &k->loaded[i];
		AUTO_BUF line = BUF_INIT(CHECK_BYTES_MAX);
		if (!k->accepted[i])
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

/* A format that is made of findings; NULL: text and Markdown, which are for people. */
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

/* In a review's comment; beside a report, which is one by itself, findings are text. */
static void findings_markdown(const struct findings *f, struct buf *out)
{
	static const char *const names[] = {"note", "warning", "error"};
	buf_adds(out, "| | where | what |\n|---|---|---|\n");
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *it = &f->items[i];
		buf_addf(out, "| %s `%s` | ", names[it->severity], rule_info(it->rule)->id);
		text_markdown(out, it->file);
		if (it->pos.line) /* 0: the file as a whole */
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

/* A file as its repository calls it; NULL: it lies in none, or is no file. */
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

/* Code scanning and annotations know files by these names, wherever the check was started. */
static void name_files(struct findings *f)
{
	const char *last = "", *named = "";
	for (size_t i = 0; i < f->count; i++) {
		struct finding *it = &f->items[i];
		if (strcmp(it->file, last) != 0) {
			AUTO_FREE char *name = name_in_repository(it->file);
			last = it->file;
			named = name ? arena_copy(&f->arena, name, strlen(name)) : it->file;
		}
		it->file = named;
	}
}

static void show(const struct call *c, struct checking *k, const char *format)
{
	findings_fn *write = findings_writer(format);
	bool report = call_has(c, "report");
	if (report && !strcmp(format, "json"))
		write = NULL;
	if (!strcmp(format, "markdown") && (!report || call_has(c, "against")))
		write = findings_markdown;
	if (write == findings_markdown && !k->findings.count) {
		puts(call_has(c, "against") ? "Nothing widened, nothing narrowed."
					    : "Nothing found.");
		return;
	}
	if (write == findings_sarif || write == findings_github)
		name_files(&k->findings);
	if (write) {
		text_findings_as(&k->findings, write);
		return;
	}
	show_text(k);
	if (!strcmp(format, "text"))
		show_accepted(k, report ? "\n  " : " ");
}

/* With the operator's configuration: only what a state may touch depends on it. */
static int check_exposure(const struct call *c, struct checking *k, const char *format)
{
	const char *against = call_value(c, "against");
	bool report = call_has(c, "report");
	bool as_findings = !strcmp(format, "sarif") || !strcmp(format, "github");
	struct setup setup;
	struct err e = ERR_NONE;
	if (setup_read(&setup, c))
		return EXIT_REFUSED;
	int code = EXIT_OK;
	check_signatures(c, k, setup.config);
	if (against && c->argument_count != 1)
		code = verb_refuse("--against compares one bundle with an older one: "
				   "run it once for each");
	else
		find_exposures(c, k, &setup);
	if (!code && against && compare(c, k, &setup, &e))
		code = verb_fail(EXIT_REFUSED, &e);
	if (!code && report && as_findings)
		report_findings(k);
	if (!code)
		show(c, k, format);
	if (!code && report && !as_findings)
		show_exposures(k, format);
	setup_done(&setup);
	return code;
}

/* What a start would refuse: a machine's own `config` is held against the operator's limits. */
static bool needs_operator(const struct call *c, const struct checking *k)
{
	bool needs = call_has(c, "report") || call_has(c, "against") || call_has(c, "config");
	for (size_t i = 0; i < k->count; i++)
		needs |= k->loaded[i].machine && k->loaded[i].machine->config;
	return needs;
}

static int verdict(const struct call *c, const struct checking *k)
{
	if (faults(c, k))
		return EXIT_REFUSED;
	return k->widened ? EXIT_WIDENED : EXIT_OK;
}

static int run(const struct call *c)
{
	size_t count = (size_t)c->argument_count;
	AUTO_FREE struct loaded *loaded = calloc(count, sizeof(*loaded));
	AUTO_FREE bool *accepted = calloc(count, sizeof(*accepted));
	AUTO_FREE json_t **exposures = calloc(count, sizeof(json_t *));
	struct checking k = {.loaded = loaded, .accepted = accepted, .exposures = exposures};
	const char *format = call_value(c, "format") ? call_value(c, "format") : "text";
	int code = EXIT_OK;
	if (call_has(c, "json") && call_has(c, "format"))
		return verb_refuse("--json is --format json: give one of them");
	if (call_has(c, "json"))
		format = "json";
	if (!loaded || !accepted || !exposures)
		return verb_refuse("out of memory");
	findings_init(&k.findings);
	open_all(c, &k);
	if (needs_operator(c, &k))
		code = check_exposure(c, &k, format);
	else {
		check_packed(c, &k);
		show(c, &k, format);
	}
	code = code ? code : verdict(c, &k);
	for (size_t i = 0; i < k.count; i++) {
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
	{"against", "OLD", "say what BUNDLE may touch that OLD could not; exit 4 if anything",
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
		   "What is only suspicious is looked for in a machine without errors.\n"
		   "Exit status: 0 accepted, 2 refused, 4 --against found a widening.",
	.options = options,
	.run = run};
