#include "base/json.h"
#include "cli/load.h"
#include "cli/verb.h"
#include "machine/analyse.h"
#include <stdio.h>
#include <string.h>

enum { CHECK_BYTES_MAX = 256 * 1024 * 1024 };

/* The findings of all bundles together: one report, in the order the bundles were named. */
struct checking {
	struct findings findings;
	struct loaded *loaded;
	size_t count;
	bool missing; /* a name led to no bundle */
};

static void open_all(const struct call *c, struct checking *k)
{
	for (int i = 0; i < c->argument_count; i++) {
		struct err e = ERR_NONE;
		struct loaded *l = &k->loaded[k->count];
		if (!loaded_open(l, c->arguments[i], &k->findings, &e)) {
			k->count++;
			if (l->machine)
				machine_analyse(l->machine, &k->findings);
			continue;
		}
		fail(EXIT_REFUSED, &e);
		k->missing = true;
	}
	findings_sort(&k->findings);
}

static void show_text(const struct checking *k)
{
	AUTO_BUF text;
	buf_init(&text, CHECK_BYTES_MAX);
	AUTO_FREE const struct doc **docs = NULL;
	size_t doc_count = 0;
	for (size_t i = 0; i < k->count; i++)
		doc_count = loaded_docs(&k->loaded[i], &docs, doc_count);
	findings_text(&k->findings, docs, doc_count, &text);
	if (text.len)
		fwrite(text.data, 1, text.len, stderr);
}

static void show_accepted(const struct checking *k)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct loaded *l = &k->loaded[i];
		if (l->machine)
			printf("%s: ok: machine %s, %zu state%s, %s\n", l->bundle->named,
				l->machine->name, l->machine->state_count,
				l->machine->state_count == 1 ? "" : "s", l->bundle->digest);
	}
}

static const struct {
	const char *name;
	void (*write)(const struct findings *f, struct buf *out);
} formats[] = {{"json", findings_json}, {"sarif", findings_sarif}, {"github", findings_github}};

static void show(const struct call *c, const struct checking *k)
{
	const char *format = call_value(c, "format");
	if (!format || !strcmp(format, "text")) {
		show_text(k);
		show_accepted(k);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (strcmp(format, formats[i].name) != 0)
			continue;
		AUTO_BUF text;
		buf_init(&text, CHECK_BYTES_MAX);
		formats[i].write(&k->findings, &text);
		fwrite(text.data, 1, text.len, stdout);
	}
}

static int run(const struct call *c)
{
	struct checking k = {.count = 0};
	k.loaded = calloc((size_t)c->argument_count, sizeof(*k.loaded));
	if (!k.loaded)
		return fail(EXIT_REFUSED, &(struct err){.text = "out of memory"});
	findings_init(&k.findings);
	open_all(c, &k);
	show(c, &k);
	bool refused =
		k.missing || k.findings.errors || (call_has(c, "strict") && k.findings.warnings);
	for (size_t i = 0; i < k.count; i++)
		loaded_done(&k.loaded[i]);
	findings_done(&k.findings);
	free(k.loaded);
	return refused ? EXIT_REFUSED : EXIT_OK;
}

static const struct verb_option options[] = {{"strict", NULL, "warnings fail too", false},
	{"format", "text|json|sarif|github", "how findings are printed (text)", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_check = {.path = "machine check",
	.summary = "say everything that is wrong with a bundle, without running any of it",
	.arguments = "BUNDLE...",
	.min_arguments = 1,
	.max_arguments = -1,
	.details = "Findings are printed as FILE:LINE:COL: error[rule]: message, all of them in "
		   "one go and in\n"
		   "source order. Nothing is executed, written or looked up on the network.\n"
		   "Exit status: 0 accepted, 2 refused.",
	.options = options,
	.run = run};
