#include "cli/rehearse/perform.h"

#include "base/clock.h"
#include "base/json.h"
#include "cli/rehearse/coverage.h"
#include "cli/rehearse/expect.h"
#include "cli/start/parameters.h"
#include "cli/start/rehearsal_pokes.h"
#include "cli/start/stage.h"
#include "cli/start/start.h"
#include "instance/repository.h"
#include "instance/stop.h"
#include "machine/kind.h"
#include "rehearse/cassette.h"
#include "report/show.h"
#include "report/summary.h"
#include "report/text.h"
#include "run/recorded.h"
#include "run/replay.h"
#include <fcntl.h>
#include <string.h>

enum { PROVIDERS_MAX = 32, REPORT_BYTES_MAX = 1 << 20 };

/* A rehearsal under way. */
struct rehearsal {
	const struct performance *performance;
	const struct call *call;
	const struct loaded *loaded;
	struct stage stage;
	struct rehearsal_pokes pokes;
	struct recorded recorded;
	struct journal_mark counted; /* the journal's executions are counted up to here */
	json_t *executions;          /* owned: their number by state */
	json_t *mismatches;          /* owned array of texts: steps that were not as recorded */
	struct drive_listener shown;
	struct statedir statedir;          /* the stage's */
	char unanswered[DRIVE_NAME_BYTES]; /* the wait that nobody would have woken; "": none */
	struct show show;
	struct summary summary;
	json_t *visits;     /* borrowed of the result */
	json_t *endpoints;  /* owned: an object with each HOST:PORT that was contacted */
	json_t *blackboard; /* owned: at the end; NULL: not asked for */
	int files_fd;       /* the workspace at the end; owned; -1: there is none */
};

static void add_provider(const char **names, size_t *count, const char *name)
{
	for (size_t i = 0; i < *count; i++)
		if (!strcmp(names[i], name))
			return;
	if (*count < PROVIDERS_MAX)
		names[(*count)++] = name;
}

/* Collects every provider name that the machine uses; the first one also serves states that name
 * none. */
static size_t providers_of(const struct loaded *loaded, const char **names)
{
	static const char *const roles[] = {"worker", "reviewer", "planner"};
	const struct machine *m = loaded->machine;
	const struct doc_node *models = doc_get(m->config, "models");
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		const struct doc_node *name = doc_get(doc_get(models, roles[i]), "provider");
		if (name && name->kind == DOC_STR)
			add_provider(names, &count, name->text);
	}
	for (size_t i = 0; i < m->state_count; i++) {
		const struct agent_state *agent = state_agent(&m->states[i]);
		if (agent && agent->provider)
			add_provider(names, &count, agent->provider);
	}
	if (!count)
		names[count++] = "rehearsal";
	return count;
}

/* Notes the endpoint of a line about egress; the rehearsal's own provider is none. */
static void note_endpoint(struct rehearsal *rehearsal, const struct line_egress *egress)
{
	const char *provider = rehearsal->stage.url + strlen("http://");
	if (egress->connections > 0 && strcmp(egress->endpoint, provider))
		json_object_set_new(rehearsal->endpoints, egress->endpoint, json_true());
}

static void on_line(void *ctx, const json_t *fields)
{
	struct rehearsal *r = ctx;
	AUTO_LINE line;
	line_decode(fields, &line, NULL);
	summary_add(&r->summary, &line);
	coverage_visit(r->visits, &line);
	if (line.type == LINE_EGRESS)
		note_endpoint(r, &line.egress);
}

/* Looks at the values and files that are left, for a case that expects something of them. */
static void look_at_rest(struct rehearsal *rehearsal, const struct instance *instance)
{
	const struct expectation *expect = &rehearsal->performance->item->expect;
	const struct machine *machine = rehearsal->loaded->machine;
	struct err e = ERR_NONE;
	struct drive_result result;
	struct replay_request request = {.machine = machine, .to_seq = UINT64_MAX};
	bool clone = machine_writes_code(machine);
	if (expect->vars && replay_run(instance, &request, &result, &rehearsal->blackboard, &e))
		verb_fail(EXIT_FAILED, &e);
	if (expect->file_count)
		rehearsal->files_fd = openat(clone ? instance->dir_fd : rehearsal->stage.dir_fd,
			"workspace", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Sums up the whole run, including earlier calls of a rehearsal that is kept. */
static void add_up(struct rehearsal *rehearsal, const char *id)
{
	struct instance instance = INSTANCE_NONE;
	struct journal_mark at = journal_start();
	struct err e = ERR_NONE; /* the run has reported what cannot be read */
	if (instance_open(&rehearsal->statedir, id, &instance, &e))
		return;
	AUTO_FD int fd = instance_journal(&instance, &e);
	if (fd >= 0)
		journal_each(fd, &at, on_line, rehearsal, &e);
	if (rehearsal->performance->alone)
		summary_read_layers(&rehearsal->summary, &instance);
	look_at_rest(rehearsal, &instance);
	instance_done(&instance);
}

/* Stops a wait that nobody can poke. A rehearsal that is kept can be poked from elsewhere; one that
 * is removed cannot be found. */
static void stop_waiting(
	struct rehearsal *rehearsal, const struct instance *instance, const struct activity *now)
{
	struct err e = ERR_NONE;
	if (now->wake_unix_us || !rehearsal->stage.throwaway ||
		call_has(rehearsal->call, "exit-on-wait"))
		return;
	snprintf(rehearsal->unanswered, sizeof(rehearsal->unanswered), "%s", now->state);
	if (stop_ask(instance, &e))
		verb_fail(EXIT_FAILED, &e);
}

static void on_activity(void *ctx, const struct activity *now)
{
	struct rehearsal *r = ctx;
	struct instance instance = INSTANCE_NONE;
	struct err e = ERR_NONE;
	enum cue cue;
	r->shown.activity(r->shown.ctx, now);
	if (!now->state || strcmp(now->kind, "wait") != 0)
		return;
	if (instance_open(&r->statedir, r->loaded->machine->name, &instance, &e) ||
		rehearsal_pokes_give(&r->pokes, &instance, now->state, &cue, &e))
		verb_fail(EXIT_FAILED, &e);
	else if (cue == CUE_NONE)
		stop_waiting(r, &instance, now);
	instance_done(&instance);
}

static void on_journal(void *ctx, const char *line, size_t len)
{
	struct rehearsal *r = ctx;
	r->shown.line(r->shown.ctx, line, len);
}

static void on_notice(void *ctx, const char *text)
{
	struct rehearsal *r = ctx;
	r->shown.notice(r->shown.ctx, text);
}

/* --- recorded steps --------------------------------------------------------------------------- */

static bool has_recorded(const void *ctx, const struct state *state)
{
	const struct rehearsal *r = ctx;
	return recorded_steps_of(&r->performance->item->recorded, state->name, 0);
}

static void count_execution(void *ctx, const json_t *fields)
{
	AUTO_LINE line;
	line_decode(fields, &line, NULL);
	bool executed = line.fact.kind != FACT_VISITS;
	if ((line.type == LINE_STEP || line.type == LINE_RETRY) && executed)
		json_add_int(ctx, line.state, 1);
}

/* Counts the executions that are journaled, also by an earlier call of a rehearsal that is kept. */
static int count_executions(struct rehearsal *rehearsal, struct err *e)
{
	struct instance instance = INSTANCE_NONE;
	if (instance_open(&rehearsal->statedir, rehearsal->loaded->machine->name, &instance, e))
		return -1;
	AUTO_FD int fd = instance_journal(&instance, e);
	int failed = fd < 0 || journal_each(fd, &rehearsal->counted, count_execution,
				       rehearsal->executions, e);
	instance_done(&instance);
	return failed ? -1 : 0;
}

static json_t *command_of(const struct step *step)
{
	return json_pack("{s:O, s:s%}", "argv", step->order.argv, "stdin",
		step->stdin_text ? step->stdin_text : "", step->stdin_text ? step->stdin_len : 0);
}

static int take_recorded(void *ctx, const struct step *step, struct fact *fact, struct err *why)
{
	struct rehearsal *r = ctx;
	const struct recorded_steps *steps = &r->performance->item->recorded;
	const struct recorded_step *next = NULL;
	if (count_executions(r, why))
		return -1;
	next = recorded_steps_of(
		steps, step->state->name, (size_t)json_get_int(r->executions, step->state->name));
	json_auto_t *command = command_of(step);
	json_auto_t *differences = next ? cassette_differences(next->match, command) : NULL;
	if (next && !json_array_size(differences)) {
		*fact = next->fact;
		json_incref(fact->held);
		return 0;
	}
	if (!next)
		err_set(why, "tools.jsonl has no line left for it");
	else
		err_set(why, "the command does not match tools.jsonl:%u: %s", next->line,
			json_string_value(json_array_get(differences, 0)));
	json_array_append_new(
		r->mismatches, json_sprintf("state %s, step %ju: %s", step->state->name,
				       (uintmax_t)step->seq, why->text));
	return -1;
}

/* Returns how many of the recorded steps were taken. */
static size_t count_taken(struct rehearsal *rehearsal)
{
	const struct recorded_steps *steps = &rehearsal->performance->item->recorded;
	struct err e = ERR_NONE;
	size_t taken = 0;
	const char *state;
	json_t *queue;
	if (!steps->count || count_executions(rehearsal, &e))
		return 0;
	json_object_foreach (steps->queues, state, queue) {
		size_t times = (size_t)json_get_int(rehearsal->executions, state);
		taken += times < json_array_size(queue) ? times : json_array_size(queue);
	}
	return taken;
}

/* Takes the settings of --config: the grants that the machine needs. */
static int take_settings(const struct rehearsal *rehearsal, struct config *config, struct err *e)
{
	const char *file = call_value(rehearsal->call, "config");
	const struct doc *docs[LAYER_COUNT];
	struct findings f;
	if (!file)
		return 0;
	findings_init(&f);
	config_rehearsal_settings(config, file, rehearsal->stage.workspace, &f);
	text_findings(&f, docs, config_docs(config, docs));
	bool refused = f.errors;
	findings_done(&f);
	return refused ? err_set(e, "%s: see above", file) : 0;
}

json_t *case_parameters(const struct performance *performance, struct err *e)
{
	json_t *all = parameters_read(performance->call, performance->loaded->machine, e);
	if (all)
		json_object_update_missing(all, performance->item->params);
	return all;
}

static int drive(struct rehearsal *rehearsal, struct drive_result *out, struct err *e)
{
	const char *names[PROVIDERS_MAX], *wire = call_value(rehearsal->call, "wire");
	bool openai = wire && !strcmp(wire, "openai");
	json_auto_t *parameters = case_parameters(rehearsal->performance, e);
	if (!parameters)
		return -1;
	struct config *config = config_rehearsal(names, providers_of(rehearsal->loaded, names),
		openai ? API_OPENAI : API_ANTHROPIC, rehearsal->stage.url, rehearsal->stage.state);
	if (take_settings(rehearsal, config, e)) {
		config_free(config);
		return -1;
	}
	struct config_paths paths;
	struct arena arena;
	arena_init(&arena);
	bool known = !config_paths_init(&paths, &arena, NULL);
	struct start start = {.statedir = &rehearsal->statedir,
		.config = config,
		.paths = known ? &paths : NULL, /* not read: it is reserved if --config grants it */
		.authored = rehearsal->loaded,
		.id = rehearsal->loaded->machine->name,
		.parameters = parameters,
		.rehearsal_url = rehearsal->stage.url,
		.recorded = &rehearsal->recorded,
		.allow_root = call_has(rehearsal->call, "allow-root"),
		.exit_on_wait = call_has(rehearsal->call, "exit-on-wait")};
	rehearsal->shown = show_listener(&rehearsal->show);
	struct drive_listener listener = {.line = on_journal,
		.activity = on_activity,
		.notice = on_notice,
		.terminal_fd = -1,
		.tick_ms = rehearsal->shown.tick_ms,
		.ctx = rehearsal};
	start_run(&start, &listener, out);
	add_up(rehearsal, start.id);
	arena_done(&arena);
	config_free(config);
	return 0;
}

/* Tells about unused exchanges. Those for another path are no mistake, but a graph that no longer
 * reaches its agent leaves some, too: without --json, stderr tells. */
static void print_unused(const struct rehearsal *rehearsal, int64_t unused)
{
	char text[120];
	if (!unused)
		return;
	snprintf(text, sizeof(text), "%jd exchange%s of the cassette %s not asked for",
		(intmax_t)unused, unused == 1 ? "" : "s", unused == 1 ? "was" : "were");
	if (show_tells(&rehearsal->show))
		printf("%-14s%s\n", "left over", text);
	else if (!rehearsal->show.quiet)
		text_complain("%s", text);
}

static void print_report(const struct rehearsal *rehearsal, const struct drive_result *out)
{
	AUTO_BUF text = BUF_INIT(REPORT_BYTES_MAX);
	summary_text(&rehearsal->summary, rehearsal->loaded->machine, out, &text);
	printf("\n%s", text.data);
	if (!rehearsal->stage.throwaway)
		printf("%-14s%s\n", "kept in", rehearsal->stage.dir);
}

/* Lists each request that did not match, and the wait that nobody would have woken. */
static void add_mismatches(
	const struct rehearsal *rehearsal, const json_t *failures, json_t *differences)
{
	size_t i;
	json_t *failure;
	json_array_foreach (failures, i, failure) {
		const char *state = json_string_value(json_object_get(failure, "state"));
		json_array_append_new(differences,
			json_sprintf("state %s, step %jd, turn %jd: %s", state ? state : "?",
				(intmax_t)json_get_int(failure, "seq"),
				(intmax_t)json_get_int(failure, "turn"),
				json_get_text(failure, "text")));
	}
	json_array_extend(differences, rehearsal->mismatches);
	if (*rehearsal->unanswered)
		json_array_append_new(differences,
			json_sprintf("state %s waits to be poked, and no cassette does it: add a "
				     "line {\"state\": \"%s\", \"poke\": {\"message\": "
				     "\"...\"}}, or end there with --exit-on-wait",
				rehearsal->unanswered, rehearsal->unanswered));
}

static void print_differences(const json_t *differences)
{
	size_t i;
	json_t *difference;
	json_array_foreach (differences, i, difference)
		text_complain("rehearsal: %s", json_string_value(difference));
}

/* Compares the end with what the case expects. Of the default case alone, the exit status tells. */
static void compare(const struct rehearsal *rehearsal, const struct drive_result *out,
	int64_t unused, struct case_result *verdict)
{
	bool ok = out->status == RUN_OK;
	if (rehearsal->performance->alone && !cases_expects(rehearsal->performance->item))
		return;
	struct observed observed = {.state = out->state,
		.reason = out->reason,
		.ended = ok || out->status == RUN_FAILED || out->status == RUN_BUDGET,
		.ok = ok,
		.exit_code = verdict->exit_code,
		.path = rehearsal->summary.path,
		.returns = rehearsal->summary.returns,
		.blackboard = rehearsal->blackboard,
		.endpoints = rehearsal->endpoints,
		.left_over = unused,
		.files_fd = rehearsal->files_fd};
	expect_compare(&rehearsal->performance->item->expect, &observed, verdict->differences);
}

static void refuse(struct case_result *verdict, int exit_code, const char *reason)
{
	verdict->refused = true;
	verdict->exit_code = exit_code;
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", reason);
}

static void judge(
	struct rehearsal *rehearsal, const struct drive_result *out, struct case_result *verdict)
{
	struct err e = ERR_NONE;
	json_auto_t *failures = NULL;
	int64_t unused = 0;
	bool alone = rehearsal->performance->alone;
	bool ran = out->status != RUN_REFUSED && out->status != RUN_NO_SANDBOX;
	if (alone)
		show_result(&rehearsal->show, rehearsal->loaded->machine->name, out);
	if (stage_end(&rehearsal->stage, &failures, &unused, &e)) {
		refuse(verdict, EXIT_FAILED, e.text);
		return;
	}
	/* The settings that the reason names have no effect here: see config_rehearsal. */
	if (out->ungranted)
		text_complain("a rehearsal does not read your configuration: put such settings "
			      "into a file, and name it with --config");
	verdict->exit_code = out->exit_code ? out->exit_code : run_status_exit(out->status);
	if (!ran) {
		refuse(verdict, verdict->exit_code, out->reason);
		*verdict->reason = alone ? '\0' : *verdict->reason; /* it was shown */
		return;
	}
	add_mismatches(rehearsal, failures, verdict->differences);
	verdict->recorded = count_taken(rehearsal);
	unused += (int64_t)(rehearsal->performance->item->recorded.count - verdict->recorded);
	stage_told(&rehearsal->stage);
	/* After a request that did not match, all else follows from that; and a rehearsal that was
	 * to park has no end. */
	if (!json_array_size(verdict->differences) && out->status != RUN_WAITING)
		compare(rehearsal, out, unused, verdict);
	if (!alone)
		return;
	print_differences(verdict->differences);
	if (show_tells(&rehearsal->show))
		print_report(rehearsal, out);
	if (show_tells(&rehearsal->show) && verdict->recorded)
		printf("%-14s%zu step%s, not executed\n", "recorded", verdict->recorded,
			verdict->recorded == 1 ? "" : "s");
	print_unused(rehearsal, unused);
}

/* Refuses a rehearsal that has nothing to play. A case may expect that no model is asked. */
static int check_cassettes(const struct rehearsal *rehearsal, struct err *e)
{
	const struct machine *m = rehearsal->loaded->machine;
	if (cases_expects(rehearsal->performance->item))
		return 0;
	for (size_t i = 0; m && !rehearsal->stage.cassette_count && i < m->state_count; i++)
		if (state_is(&m->states[i], TRAIT_MODEL))
			return err_set(e,
				"no cassette says what the model would answer in state %s: put one "
				"into the bundle's rehearsal/, NAME.jsonl, or name it with "
				"--cassette",
				m->states[i].name);
	return 0;
}

/* Finds the stage's own state directory, which no other settings or instances are in. */
static int find_statedir(struct rehearsal *rehearsal, struct err *e)
{
	struct repository repository;
	if (repository_find(rehearsal->stage.workspace, NULL, &repository, e))
		return -1;
	int failed = statedir_find(rehearsal->stage.workspace, rehearsal->stage.state,
		repository.id, &rehearsal->statedir, e);
	repository_done(&repository);
	return failed;
}

static void rehearse(struct rehearsal *r, struct case_result *verdict)
{
	struct err e = ERR_NONE;
	struct drive_result out = {0};
	const struct loaded *loaded = r->loaded;
	struct stage_ask ask = {.bundle = loaded->bundle,
		.machine = loaded->machine->name,
		.folder = r->performance->item->folder,
		.dir = call_value(r->call, "dir"),
		.cassette = call_value(r->call, "cassette"),
		.repository = machine_writes_code(loaded->machine)};
	show_live(&r->show, "copying the workspace"); /* 20,000 files take a while */
	int failed = stage_open(&r->stage, &ask, &e);
	show_live(&r->show, "");
	if (failed || find_statedir(r, &e) || stage_load(&r->stage, &ask, &e) ||
		check_cassettes(r, &e) ||
		rehearsal_pokes_read(&r->pokes, loaded->machine, r->stage.cassettes,
			r->stage.cassette_count, &e) ||
		stage_play(&r->stage, &e) || drive(r, &out, &e))
		refuse(verdict, EXIT_REFUSED, e.text);
	else
		judge(r, &out, verdict);
}

void perform(const struct performance *performance, struct case_result *out)
{
	const struct call *call = performance->call;
	struct rehearsal r = {.performance = performance,
		.call = call,
		.loaded = performance->loaded,
		.stage = STAGE_NONE,
		.endpoints = json_object(),
		.counted = journal_start(),
		.executions = json_object(),
		.mismatches = json_array(),
		.files_fd = -1};
	int64_t began = clock_monotonic_ms();
	r.recorded = (struct recorded){has_recorded, take_recorded, &r};
	*out = (struct case_result){.differences = json_array(), .visits = json_object()};
	r.visits = out->visits;
	summary_init(&r.summary);
	show_init(&r.show, performance->alone && call_has(call, "json"),
		!performance->alone || call_has(call, "quiet"));
	r.show.thrown_away = !call_has(call, "dir");
	rehearse(&r, out);
	out->ms = clock_monotonic_ms() - began;
	stage_done(&r.stage);
	statedir_done(&r.statedir);
	rehearsal_pokes_done(&r.pokes);
	summary_done(&r.summary);
	own_close(&r.files_fd);
	json_decref(r.endpoints);
	json_decref(r.executions);
	json_decref(r.mismatches);
	json_decref(r.blackboard);
}

void verdict_done(struct case_result *verdict)
{
	json_decref(verdict->differences);
	json_decref(verdict->visits);
	verdict->differences = verdict->visits = NULL;
}
