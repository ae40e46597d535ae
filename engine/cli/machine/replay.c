#include "run/replay.h"
#include "base/json.h"
#include "cli/verb/opened_instance.h"
#include "report/show.h"
#include "report/text.h"
#include <limits.h>
#include <string.h>

/* The listener of a replay. */
struct replaying {
	struct show show;
	bool silent; /* shows the blackboard instead of the path */
};

static void on_line(void *ctx, const struct line *line, const json_t *blackboard)
{
	struct replaying *r = ctx;
	(void)blackboard;
	if (r->silent)
		return;
	if (r->show.mode == SHOW_JSON) {
		if (line->type == LINE_STEP)
			text_json_line(line->held);
	} else if (r->show.mode != SHOW_QUIET) {
		show_event(&r->show, line);
	}
}

static int print_blackboard(const json_t *blackboard)
{
	text_json_line(blackboard);
	return EXIT_OK;
}

struct asked {
	const struct call *call;
	struct opened_instance opened;
	long to; /* -1: to the end */
};

/* Replays. `machine`: the instance's own machine, or the one it is compared with. */
static int replay(const struct asked *asked, const struct machine *machine)
{
	const struct call *c = asked->call;
	const struct opened_instance *r = &asked->opened;
	struct err e = ERR_NONE;
	struct replaying replaying = {.silent = asked->to >= 0};
	struct drive_result result;
	json_auto_t *blackboard = NULL;
	show_init(&replaying.show, call_has(c, "json"), call_has(c, "quiet"));
	struct replay_request q = {.machine = machine,
		.foreign = machine != r->loaded.machine,
		.to_seq = (uint64_t)asked->to,
		.line = on_line,
		.ctx = &replaying};
	if (replay_run(&r->instance, &q, &result, &blackboard, &e)) {
		bool other = machine != r->loaded.machine;
		err_wrap(&e, other ? "with %s it would have gone elsewhere" : "replay of %s",
			other ? call_value(c, "with") : r->instance.id);
		return verb_fail(other ? EXIT_FAILED : EXIT_DAMAGED, &e);
	}
	if (asked->to > (long)result.seq)
		return verb_refuse(
			"--to %ld: instance %s has %ju step%s; `agent6 machine replay %s` lists "
			"them",
			asked->to, r->instance.id, (uintmax_t)result.seq,
			result.seq == 1 ? "" : "s", r->instance.id);
	if (replaying.show.mode == SHOW_QUIET)
		return EXIT_OK; /* the run's failure is no error of the replay */
	if (asked->to >= 0)
		return print_blackboard(blackboard);
	result.already_ended = false; /* the replay tells the run from its beginning */
	show_result(&replaying.show, r->instance.id, &result);
	return EXIT_OK;
}

static int replay_with(void *ctx, const struct loaded *loaded)
{
	const struct asked *a = ctx;
	return replay(a, loaded->machine);
}

static int run(const struct call *call)
{
	struct asked a = {.call = call, .to = -1};
	struct err e = ERR_NONE;
	const char *with = call_value(call, "with");
	if (call_int(call, "to", (long[]){0, LONG_MAX}, &a.to, &e))
		return verb_fail(EXIT_REFUSED, &e);
	int code = opened_instance_open(&a.opened, call, true);
	if (code)
		return code;
	code = with ? loaded_with(with, replay_with, &a) : replay(&a, a.opened.loaded.machine);
	opened_instance_done(&a.opened);
	return code;
}

static const struct verb_option options[] = {
	{"to", "SEQ", "stop after step SEQ, 0: before the first, and print the blackboard as JSON",
		false},
	{"with", "BUNDLE", "feed the recorded facts to another bundle", false},
	{"json", NULL, "print one JSON object per step", false},
	{"quiet", NULL, "print errors only", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_replay = {.path = "machine replay",
	.summary = "rebuild a run from its journal alone and print its path",
	.arguments = "ID|DIR",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "No clock, process or network is used. With --with, the first step at which "
		   "the other bundle would have gone elsewhere is reported: the regression test "
		   "for editing a machine.\n"
		   "Exit status: 0 it replays; 1 the other bundle diverges; 5 the journal "
		   "contradicts itself.",
	.options = options,
	.run = run};
