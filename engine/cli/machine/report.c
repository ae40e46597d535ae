#include "report/report.h"
#include "base/io.h"
#include "cli/verb/opened_instance.h"
#include "instance/data_repositories.h"
#include "instance/moved_aside.h"
#include "instance/recover.h"
#include "report/exposure.h"
#include "run/replay.h"
#include "run/workspace.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 1024 * 1024 * 1024 };

static void on_line(void *ctx, const struct line *line, const json_t *blackboard)
{
	report_line(ctx, line, blackboard);
}

/* Returns the number of steps by the last line; 0 if that cannot be read, which the replay will
 * report. */
static uint64_t count_steps(const struct instance *instance)
{
	struct err e = ERR_NONE;
	AUTO_FD int fd = instance_journal(instance, &e);
	AUTO_LINE last;
	return recover_last(fd, &last, &e) && last.seq > 0 ? (uint64_t)last.seq : 0;
}

static int collect(struct report *report, const struct opened_instance *instance, struct err *e)
{
	json_auto_t *blackboard = NULL;
	struct replay_request q = {.machine = instance->loaded.machine,
		.to_seq = UINT64_MAX,
		.line = on_line,
		.ctx = report};
	report->steps = count_steps(&instance->instance);
	report->dir_fd = instance->instance.dir_fd;
	report->data = data_repositories(&instance->instance);
	report->aside = moved_aside_list(&instance->instance);
	summary_read_layers(&report->summary, &instance->instance);
	if (replay_run(&instance->instance, &q, &report->result, &blackboard, e))
		return -1;
	report_unfinished(report);
	struct workspace_branch b;
	if (workspace_branch(&instance->instance, report->result.seq, &b))
		snprintf(report->commits, sizeof(report->commits), "%s", b.log);
	return 0;
}

static int save(const struct buf *page, const char *path, struct err *e)
{
	if (page->failed)
		return err_set(e, "the report would be larger than 1 GiB");
	if (!strcmp(path, "-")) {
		fwrite(page->data, 1, page->len, stdout);
		return 0;
	}
	return io_publish_file(path, page->data, page->len, e);
}

static int write_page(const struct opened_instance *instance, struct buf *page, struct err *e)
{
	struct report r;
	const struct machine *m = instance->loaded.machine;
	struct findings ignored; /* the run accepted it when it began */
	findings_init(&ignored);
	config_overlay(instance->setup.config, &instance->loaded.doc, m->config, &ignored);
	findings_done(&ignored);
	report_init(&r, m, instance->instance.id);
	r.digest = instance->loaded.bundle->digest;
	int failed = collect(&r, instance, e);
	json_auto_t *exposure = exposure_of(
		m, r.before, instance->setup.config, instance->setup.statedir.workspace);
	/* The report is about a past run, not about one that would start now. */
	json_object_del(exposure, "refusals");
	r.exposure = exposure;
	if (!failed)
		report_html(&r, page);
	report_done(&r);
	return failed;
}

static int run(const struct call *call)
{
	const char *path = call_value(call, "output");
	struct opened_instance r;
	struct err e = ERR_NONE;
	AUTO_BUF page = BUF_INIT(PAGE_BYTES_MAX);
	if (!path)
		return verb_refuse("say where to: agent6 machine report %s -o %s.html",
			call->arguments[0], call->arguments[0]);
	int code = opened_instance_open(&r, call, true);
	if (code)
		return code;
	if (r.setup.findings.errors) { /* the page shows the configuration's grants */
		setup_tell(&r.setup);
		code = EXIT_REFUSED;
	} else if (write_page(&r, &page, &e)) {
		code = verb_fail(EXIT_DAMAGED, &e);
	} else if (save(&page, path, &e)) {
		code = verb_fail(EXIT_REFUSED, &e);
	}
	opened_instance_done(&r);
	return code;
}

static const struct verb_option options[] = {
	{"output", "FILE", "where the page is written; - is standard output", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_report = {.path = "machine report",
	.summary = "write what happened as one HTML page",
	.arguments = "ID|DIR",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "The page refers to nothing outside itself and holds no script: the graph "
		   "with the path taken, every step's fact and what it changed, what models were "
		   "told and said, time and cost by state, egress, confinement.",
	.options = options,
	.run = run};
