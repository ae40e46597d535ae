#include "base/clock.h"
#include "cli/verb/setup.h"
#include "report/text.h"
#include "run/status.h"

#include <stdio.h>
#include <string.h>

enum { DAY_SECS = 86400, IDS_BYTES_MAX = 64 * 1024 * 1024 };

struct pruning {
	const struct statedir *statedir;
	int64_t before_us; /* remove instances that ended earlier */
	struct buf ids;    /* each ended by a NUL */
	json_t *told;      /* --json: the ids that were removed, or would be */
};

/* Selects ended instances that are old enough. One that cannot be read is left for a person to
 * examine. */
static void consider(void *ctx, int machines, json_t *status)
{
	(void)machines;
	struct pruning *p = ctx;
	const char *word = json_string_value(json_object_get(status, "status"));
	const char *updated = json_string_value(json_object_get(status, "updated"));
	const char *id = json_string_value(json_object_get(status, "id"));
	int64_t at = 0;
	if (!id || !word || (strcmp(word, "ok") != 0 && strcmp(word, "failed") != 0) || !updated ||
		clock_parse(updated, strlen(updated), &at) || at >= p->before_us)
		return;
	buf_add(&p->ids, id, strlen(id) + 1);
}

static void tell_pruned(const struct pruning *pruning, const char *what, const char *id)
{
	if (pruning->told)
		json_array_append_new(pruning->told, json_string(id));
	else
		printf("%s %s\n", what, id);
}

static int remove_one(const struct pruning *pruning, const char *id, bool unfinished)
{
	struct err e = ERR_NONE;
	if (instance_remove(pruning->statedir, id, unfinished, &e))
		return verb_fail(EXIT_REFUSED, &e);
	tell_pruned(pruning, "removed", id);
	return EXIT_OK;
}

static int remove_old(struct pruning *pruning, bool dry_run)
{
	struct err e = ERR_NONE;
	int code = EXIT_OK;
	if (status_each(pruning->statedir, consider, pruning, &e))
		return verb_fail(EXIT_REFUSED, &e);
	for (size_t at = 0; at < pruning->ids.len; at += strlen(pruning->ids.data + at) + 1) {
		const char *id = pruning->ids.data + at;
		if (dry_run)
			tell_pruned(pruning, "would remove", id);
		else if (remove_one(pruning, id, false))
			code = EXIT_REFUSED;
	}
	return code;
}

/* Refuses options without effect here: they might have been meant to keep an instance. */
static int check_options(const struct call *call, long *days, struct err *e)
{
	static const char *const alone[] = {"older-than-days", "dry-run"};
	for (size_t i = 0; call->argument_count && i < ARRAY_LEN(alone); i++)
		if (call_has(call, alone[i]))
			return err_set(e, "--%s goes without IDs", alone[i]);
	if (!call->argument_count && call_has(call, "unfinished"))
		return err_set(e, "--unfinished needs the IDs of what to remove");
	return call_int(call, "older-than-days", (long[]){0, 36500}, days, e);
}

static int run(const struct call *call)
{
	struct setup setup;
	struct err e = ERR_NONE;
	long days = 0;
	int code = EXIT_OK;
	if (check_options(call, &days, &e))
		return verb_fail(EXIT_REFUSED, &e);
	if (setup_open(&setup, call))
		return EXIT_REFUSED;
	struct pruning p = {.statedir = &setup.statedir,
		.before_us = clock_realtime_us() - (int64_t)days * DAY_SECS * 1000000,
		.told = call_has(call, "json") ? json_array() : NULL};
	buf_init(&p.ids, IDS_BYTES_MAX);
	if (!call_has(call, "dry-run") && instance_sweep(p.statedir, &e))
		code = verb_fail(EXIT_REFUSED, &e);
	for (int i = 0; i < call->argument_count; i++)
		if (remove_one(&p, call->arguments[i], call_has(call, "unfinished")))
			code = EXIT_REFUSED;
	if (!call->argument_count && remove_old(&p, call_has(call, "dry-run")))
		code = EXIT_REFUSED;
	if (p.told)
		text_json_line(p.told);
	json_decref(p.told);
	buf_done(&p.ids);
	setup_done(&setup);
	return code;
}

static const struct verb_option options[] = {
	{"older-than-days", "N", "without IDs: those that ended at least N days ago (default 0)",
		false},
	{"unfinished", NULL, "with IDs: also one that could still go on", false},
	{"dry-run", NULL, "without IDs: only say which", false},
	{"json", NULL, "print the ids as one JSON array", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_prune = {.path = "machine prune",
	.summary = "remove instances that have ended",
	.arguments = "[ID...]",
	.max_arguments = -1,
	.acts = true,
	.details = "With IDs those, without any all that have ended. An instance that somebody "
		   "runs stays.",
	.options = options,
	.run = run};
