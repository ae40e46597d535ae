#include "run/drive.h"

#include "base/child.h"
#include "base/clock.h"
#include "instance/owner.h"
#include "instance/pokes.h"
#include "instance/recover.h"
#include "instance/states.h"
#include "machine/blackboard.h"
#include "machine/kind.h"
#include "machine/predicate.h"
#include "run/drive_private.h"
#include "run/profile.h"
#include "run/recorded.h"
#include "run/secret.h"
#include "run/sleep.h"
#include "run/token.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *run_status_name(enum run_status status)
{
#define X(name, text, exit_code) text,
	static const char *const names[] = {RUN_STATUSES(X)};
#undef X
	return status < RUN_STATUS_COUNT ? names[status] : "?";
}

int run_status_exit(enum run_status status)
{
#define X(name, text, exit_code) exit_code,
	static const int codes[] = {RUN_STATUSES(X)};
#undef X
	return status < RUN_STATUS_COUNT ? codes[status] : EXIT_FAILED;
}

static bool check_root(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (confine_check_root(drive->request->allow_root, &e))
		return drive_end(drive, RUN_REFUSED, "%s", e.text);
	if (!geteuid())
		live_notice(&drive->live,
			"RUNNING AS ROOT, as allowed: use an ordinary user where you can");
	return true;
}

/* --- recovery --------------------------------------------------------------------------------- */

/* Reads the journal's first line: the run has begun before, and where. */
static bool read_begun(struct drive *drive, bool *begun)
{
	struct begun first;
	struct err e = ERR_NONE;
	if (recover_begun(drive->instance, &first, &e))
		return drive_end(drive, RUN_DAMAGED, "%s", e.text);
	*begun = first.begun;
	if (*first.workspace && strcmp(first.workspace, drive->request->workspace) != 0)
		live_notice(&drive->live, "this run began in the workspace %s; it goes on in %s",
			first.workspace, drive->request->workspace);
	return true;
}

/* Recovers the position from the journal and makes the journal ready for the next line. */
static bool take_up(struct drive *drive)
{
	struct err e = ERR_NONE;
	struct recovery r = {.instance = drive->instance,
		.machine = drive->request->machine,
		.fd = drive->journal.fd,
		.snapshot_bytes = RECOVER_SNAPSHOT_BYTES};
	enum recover_end end = recover(&r, &e);
	position_done(&drive->at);
	drive->at = r.position;
	if (end == RECOVER_DONE && journal_begin(&drive->journal, &r.at, &e)) {
		err_wrap(&e, "%s", drive->instance->path);
		end = RECOVER_BROKEN;
	}
	if (end != RECOVER_DONE)
		return drive_end(
			drive, end == RECOVER_DAMAGED ? RUN_DAMAGED : RUN_BROKEN, "%s", e.text);
	/* Write a snapshot in three cases. The tail since the last one has grown long, as when a
	 * run is killed again and again. A torn line will be cut off, and an older snapshot may
	 * have counted it. Or the run has ended, and no later step writes another. */
	if (r.torn_bytes || r.read_bytes >= RECOVER_SNAPSHOT_BYTES || drive->at.ended)
		drive_snapshot(drive);
	if (recover_whole(drive->instance, drive->journal.fd, r.at.lines, &e) ||
		journal_cut(&drive->journal, &e))
		return drive_end(drive, RUN_BROKEN, "%s: %s", drive->instance->path, e.text);
	if (r.torn_bytes)
		live_notice(&drive->live, "dropped an unfinished last line of %lld bytes",
			(long long)r.torn_bytes);
	return true;
}

/* --- checks of a start ------------------------------------------------------------------------ */

static bool check_parameters(struct drive *drive)
{
	const char *name;
	json_t *value, *given = (json_t *)(uintptr_t)drive->request->parameters;
	struct err e = ERR_NONE;
	json_auto_t *trial = json_copy(drive->at.blackboard);
	json_object_foreach (given, name, value)
		if (blackboard_set_parameter(
			    drive->request->machine, trial, name, value, VALUE_WHOLE, &e))
			return drive_end(drive, RUN_REFUSED, "%s", e.text);
	if (!drive->at.begun)
		return !blackboard_complete(drive->request->machine, trial, &e) ||
		       drive_end(drive, RUN_REFUSED, "%s", e.text);
	json_object_foreach (given, name, value)
		if (!predicate_equal(value, json_object_get(drive->at.blackboard, name)))
			return drive_end(drive, RUN_REFUSED,
				"instance %s began with another value of %s; parameters stay as "
				"they were: give the new value to a run with another --id",
				drive->instance->id, name);
	return true;
}

static bool has_trait(const struct machine *machine, unsigned traits)
{
	for (size_t i = 0; i < machine->state_count; i++)
		if (state_is(&machine->states[i], traits))
			return true;
	return false;
}

static bool is_asked(const struct drive *drive, const struct config_provider *provider)
{
	const struct machine *m = drive->request->machine;
	const char *model;
	bool asked = config_reviewer(drive->request->config, &model) == provider;
	for (size_t i = 0; i < m->state_count && !asked; i++)
		asked = state_agent(&m->states[i]) && config_agent_provider(drive->request->config,
							      &m->states[i], &model) == provider;
	return asked;
}

/* Checks for each provider whether its key can be read; returns one error for each, in the
 * configuration's order. Each is asked once, since an answer costs a process. A token_command runs
 * only for a provider that some state uses. */
static struct err *ask_keys(const struct drive *drive)
{
	const struct config *c = drive->request->config;
	struct err *why = calloc(c->provider_count + 1, sizeof(*why));
	for (size_t i = 0; why && i < c->provider_count; i++)
		if (!c->providers[i].token_command.count || is_asked(drive, &c->providers[i]))
			secret_check(&drive->live.keys, &c->providers[i], &why[i]);
	return why;
}

/* Refuses a start if a state or the reviewer needs a key that cannot be read. */
static bool check_needed(struct drive *drive, const struct err *why)
{
	const struct config *c = drive->request->config;
	const struct machine *m = drive->request->machine;
	const char *model;
	for (size_t i = 0; i < m->state_count; i++) {
		if (!state_agent(&m->states[i]))
			continue;
		const struct err *e =
			&why[config_agent_provider(c, &m->states[i], &model) - c->providers];
		if (*e->text)
			return drive_end(
				drive, RUN_REFUSED, "state %s: %s", m->states[i].name, e->text);
	}
	const struct config_provider *p = config_reviewer(c, &model);
	if (p && *why[p - c->providers].text)
		return drive_end(
			drive, RUN_REFUSED, "agent.summarise: %s", why[p - c->providers].text);
	return true;
}

static bool check_keys(struct drive *drive)
{
	const struct config *c = drive->request->config;
	struct err e = ERR_NONE;
	drive->live.keys.tokens_fd = token_open(&e);
	if (drive->live.keys.tokens_fd < 0)
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	AUTO_FREE struct err *why = ask_keys(drive);
	if (!why)
		return drive_end(drive, RUN_BROKEN, "out of memory");
	if (!check_needed(drive, why))
		return false;
	/* Hide the keys of unused providers from models, too, if they can be read. */
	for (size_t i = 0; i < c->provider_count; i++)
		if (*why[i].text && why[i].number != ENOENT)
			live_notice(&drive->live,
				"the key of provider %s cannot be hidden from models: %s",
				c->providers[i].name, why[i].text);
	return true;
}

/* Finds the programs, and the one profile that confines everything in this run, git's calls
 * included. */
static bool find_profile(struct drive *drive)
{
	const struct machine *m = drive->request->machine;
	bool agents = has_trait(m, TRAIT_MODEL);
	struct err e = ERR_NONE;
	struct confine *c = &drive->env.confine;
	c->profile =
		drive->request->config->sandbox.profile == PROFILE_HARDENED ? "hardened" : "strict";
	if (agents || has_trait(m, TRAIT_COMMAND)) {
		drive->live.agent = agents ? child_sibling("agent6-agent", &e) : NULL;
		c->profile = *e.text ? NULL
				     : profile_resolve(&drive->live, drive->request->workspace,
					       drive->request->allow_root_jail, &e);
		if (!c->profile)
			return drive_end(drive, RUN_NO_SANDBOX, "%s", e.text);
	}
	if (drive->at.begun && strcmp(drive->at.profile, c->profile) != 0)
		live_notice(&drive->live, "confinement is %s now; the run began with %s",
			c->profile, drive->at.profile);
	return true;
}

/* Notes the states that a rehearsal has recorded, for which nothing needs to be granted. */
static void note_recorded(struct drive *drive)
{
	const struct recorded *recorded = drive->request->recorded;
	const struct machine *m = drive->request->machine;
	bool *states =
		recorded ? arena_array(&drive->arena, m->state_count + 1, sizeof(bool)) : NULL;
	for (size_t i = 0; states && i < m->state_count; i++)
		states[i] = recorded->has(recorded->ctx, &m->states[i]);
	drive->env.confine.recorded = states;
}

/* Refuses a start if a state asks for something that this host or the operator refuses. */
static bool check_confinement(struct drive *drive)
{
	const struct machine *m = drive->request->machine;
	AUTO_BUF why = BUF_INIT(POSITION_REASON_BYTES - 1);
	note_recorded(drive);
	if (confine_refusals(m, &drive->env.confine, &why)) {
		size_t len = why.len && why.data[why.len - 1] == '\n' ? why.len - 1 : why.len;
		drive->result->ungranted = true;
		return drive_end(drive, RUN_REFUSED, "%.*s", (int)len, why.data);
	}
	return !has_trait(m, TRAIT_MODEL) || check_keys(drive);
}

/* Checks this before an agent has cost anything. */
static bool check_ids(struct drive *drive)
{
	struct err e = ERR_NONE;
	return !profile_check_ids(&drive->live, drive->request->machine, &drive->env.confine, &e) ||
	       drive_end(drive, RUN_NO_SANDBOX, "%s", e.text);
}

static bool check_workspace(struct drive *drive)
{
	struct stat st;
	if (stat(drive->request->workspace, &st) || !S_ISDIR(st.st_mode))
		return drive_end(drive, RUN_REFUSED, "the workspace %s is not a directory",
			drive->request->workspace);
	return true;
}

/* Tells the listener, since this takes minutes in a large repository. */
static void tell_preparing(const struct drive *drive, const char *what)
{
	const struct drive_listener *l = drive->live.listener;
	if (l->activity)
		l->activity(l->ctx, &(struct activity){.preparing = what});
}

/* Tells the user if the workspace lies inside a larger repository: commands do not see the rest of
 * it, which would confuse them. A machine that writes code works in its own clone instead. */
static bool show_repository(struct drive *drive)
{
	struct git_elsewhere *found = &drive->elsewhere;
	git_elsewhere_find(drive->request->workspace, &drive->arena, found);
	drive->env.confine.elsewhere = (struct config_list){found->paths, found->count};
	if (found->around)
		live_notice(&drive->live,
			"this directory lies in the repository %s, of which commands see nothing "
			"else; where they need its history, grant sandbox.read: [%s/.git] and set "
			"GIT_DISCOVERY_ACROSS_FILESYSTEM=1 in their env, or start in %s",
			found->around, found->around, found->around);
	return true;
}

static bool open_workspace(struct drive *drive)
{
	const struct drive_request *q = drive->request;
	struct workspace *w = &drive->workspace;
	struct confine *c = &drive->env.confine;
	struct err e = ERR_NONE;
	struct workspace_ask ask = {drive->instance, q->config, q->workspace, c->profile,
		drive->at.seq, drive->at.attempt, drive->at.begun, q->allow_root_jail};
	if (!machine_writes_code(q->machine))
		return show_repository(drive);
	tell_preparing(drive, "getting the private clone of the repository ready");
	int failed = workspace_open(w, &ask, &e);
	tell_preparing(drive, NULL);
	if (failed)
		return drive_end(drive, RUN_REFUSED, "%s", e.text);
	c->workspace = w->path;
	c->origin = w->origin.work_tree;
	c->clone = w->clone.work_tree;
	c->objects = w->clone.borrowed;
	return true;
}

/* Runs after all checks: a start that is refused leaves the operator's repository as it was. */
static bool begin_workspace(struct drive *drive)
{
	struct err e = ERR_NONE;
	return !workspace_begin(&drive->workspace, &e) ||
	       drive_end(drive, RUN_REFUSED, "%s", e.text);
}

/* --- start ------------------------------------------------------------------------------------ */

static bool open_data(struct drive *drive, char *path, size_t bytes)
{
	int dir = drive->instance->dir_fd;
	struct err e = ERR_NONE;
	snprintf(path, bytes, "%s/data", drive->instance->path);
	if (mkdirat(dir, "data", 0700) && errno != EEXIST)
		return drive_end(drive, RUN_BROKEN, "cannot create %s: %s", path, strerror(errno));
	drive->live.data_fd = openat(dir, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (drive->live.data_fd < 0)
		return drive_end(drive, RUN_BROKEN, "cannot open %s: %s", path, strerror(errno));
	if (pokes_init(drive->instance, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	return true;
}

/* Opens the directory before anything runs that could put another one in its place. */
static bool open_record(struct drive *drive)
{
	const char *dir = drive->live.record_dir = drive->request->record_dir;
	drive->live.without_secrets = drive->request->without_secrets;
	drive->live.record_fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return !dir || drive->live.record_fd >= 0 ||
	       drive_end(drive, RUN_REFUSED, "cannot open %s: %s", dir, strerror(errno));
}

static bool open_audit(struct drive *drive)
{
	const struct config *c = drive->request->config;
	char path[PATH_MAX];
	struct err e = ERR_NONE;
	audit_path(c, path);
	if (audit_open(path, &drive->live.audit, &e))
		return drive_end(drive, RUN_REFUSED, "%s", e.text);
	if (audit_retain(&drive->live.audit, c->audit.retain_days, &e))
		live_notice(&drive->live, "%s", e.text);
	return true;
}

static bool begin(struct drive *drive)
{
	const struct drive_request *q = drive->request;
	char ts[CLOCK_TEXT_BYTES];
	clock_text(clock_realtime_us(), ts);
	json_auto_t *parameters =
		q->parameters ? json_incref((json_t *)(uintptr_t)q->parameters) : json_object();
	json_auto_t *overrides =
		q->overrides ? json_incref((json_t *)(uintptr_t)q->overrides) : json_array();
	const struct line line = {.type = LINE_BEGIN,
		.ts = ts,
		.begin = {.instance = drive->instance->id,
			.machine = q->machine->name,
			.bundle = q->bundle_digest,
			.profile = drive->env.confine.profile,
			.agent6 = AGENT6_VERSION,
			.workspace = q->workspace,
			.repository = q->repository,
			.format = drive->request->machine->journal_format,
			.parameters = parameters,
			.overrides = overrides}};
	return drive_commit(drive, &line);
}

bool drive_book_unfinished(struct drive *drive)
{
	char dir[128];
	if (!state_is(drive->at.state, TRAIT_MODEL))
		return true;
	snprintf(dir, sizeof(dir), "states/%llu-%s", (unsigned long long)drive->at.seq + 1,
		drive->at.state->name);
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, LINE_SPEND, ts);
	return states_read_spend(drive->instance, dir, drive->at.executions + 1, &line.spend) ||
	       drive_commit(drive, &line);
}

static bool resume(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (!drive->at.armed ||
		faccessat(drive->instance->dir_fd, "wait.json", F_OK, AT_SYMLINK_NOFOLLOW))
		drive_show_wait(drive);
	if (*drive->at.poke_name && pokes_remove(drive->instance, drive->at.poke_name, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	if (*drive->at.refused_poke && pokes_set_aside(drive->instance, drive->at.refused_poke, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	return drive_book_unfinished(drive);
}

static void line_committed(void *ctx, const char *line, size_t len)
{
	const struct drive_listener *l = ctx;
	if (l->line)
		l->line(l->ctx, line, len);
}

/* Returns the environment for plan. `bundle`, `data`, `aside` and `host` must live as long as the
 * run. */
static struct plan_env env_of(const struct drive *drive, const char *bundle, const char *data,
	const char *aside, const json_t *host)
{
	const struct drive_request *q = drive->request;
	return (struct plan_env){
		.confine = {.config = q->config,
			.workspace = q->workspace,
			.bundle = bundle,
			.data_dir = data,
			.aside = aside,
			.reserved = q->reserved,
			.allow_root_jail = q->allow_root_jail},
		.instance_id = drive->instance->id,
		.instance_path = drive->instance->path,
		.host_env = host,
		.rehearsal = q->rehearsal_url != NULL,
		.auto_approve = q->auto_approve,
		.record = q->record_dir != NULL,
	};
}

/* Opens the journal and recovers the position. Returns false if nothing is to be run. */
static bool open_journal(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (journal_open(drive->instance->dir_fd, &drive->journal, &e))
		return drive_end(drive, RUN_BROKEN, "%s: %s", drive->instance->path, e.text);
	drive->journal.committed = line_committed;
	drive->journal.ctx = (void *)(uintptr_t)drive->live.listener;
	if (!take_up(drive) || !check_parameters(drive))
		return false;
	drive->result->already_ended = drive->at.ended;
	return !drive->at.ended;
}

static void run_instance(struct drive *drive)
{
	char data[PATH_MAX], bundle[PATH_MAX], aside[PATH_MAX];
	json_auto_t *host = confine_environment();
	bool begun = false;
	struct err gone = ERR_NONE;
	snprintf(bundle, sizeof(bundle), "%s/bundle", drive->instance->path);
	snprintf(aside, sizeof(aside), "%s/aside", drive->instance->path);
	drive->env = env_of(drive, bundle, data, aside, host);
	if (!check_root(drive) || !check_workspace(drive) || !open_record(drive) ||
		!read_begun(drive, &begun) || !open_journal(drive))
		return;
	if (!open_data(drive, data, sizeof(data)) || !open_audit(drive) || !find_profile(drive) ||
		!open_workspace(drive) || !check_confinement(drive) || !check_ids(drive) ||
		(!begun && !begin_workspace(drive)))
		return;
	if (begun ? resume(drive) : begin(drive))
		drive_loop(drive);
	drive_hold(drive, &gone); /* a failed commit has told why, or there was nothing to record */
	drive_snapshot(drive);
}

static void fill_result(const struct drive *drive, struct drive_result *out)
{
	static const enum run_status failed[] = {
		[END_TERMINAL] = RUN_FAILED, [END_BUDGET] = RUN_BUDGET, [END_HALT] = RUN_FAILED};
	if (drive->at.state)
		snprintf(out->state, sizeof(out->state), "%s", drive->at.state->name);
	out->seq = drive->at.seq;
	out->totals = drive->at.totals;
	out->wake_unix_us = drive->at.wake_us;
	if (!drive->at.ended || *out->reason) /* drive_end() has told the reason */
		return;
	out->status = drive->at.ended_ok ? RUN_OK : failed[drive->at.cause];
	memcpy(out->reason, drive->at.reason, sizeof(out->reason));
	const struct terminal_state *end = drive->at.state ? state_terminal(drive->at.state) : NULL;
	out->exit_code = end && drive->at.cause == END_TERMINAL ? end->exit_code : 0;
}

static void give_back(const struct drive *drive)
{
	const struct audit *a = &drive->live.audit;
	char lock[AUDIT_NAME_BYTES + 8];
	snprintf(lock, sizeof(lock), "%s.lock", a->name);
	const struct {
		int dir_fd;
		const char *name;
	} ours[] = {{drive->instance->dir_fd, "."}, {a->dir_fd, a->name}, {a->dir_fd, lock}};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		struct err e = ERR_NONE;
		if (ours[i].dir_fd >= 0 && owner_give_back(ours[i].dir_fd, ours[i].name, &e))
			live_notice(&drive->live, "%s: %s", drive->instance->path, e.text);
	}
}

void drive_run(const struct instance *instance, const struct drive_request *request,
	const struct drive_listener *listener, struct drive_result *out)
{
	*out = (struct drive_result){.status = RUN_BROKEN};
	struct drive d = {.instance = instance,
		.request = request,
		.result = out,
		.journal = {.fd = -1},
		.live = {.instance = instance,
			.config = request->config,
			.keys = {request->config, -1},
			.listener = listener,
			.data_fd = -1,
			.record_fd = -1,
			.machine = request->machine->name,
			.audit = {.dir_fd = -1}}};
	struct err e = ERR_NONE;
	if (interrupts_init(&d.live.interrupts, &e)) {
		drive_end(&d, RUN_BROKEN, "%s", e.text);
		return;
	}
	position_init(&d.at, request->machine);
	run_instance(&d);
	jails_clear(&d.live.jails);
	journal_close(&d.journal);
	give_back(&d);
	audit_done(&d.live.audit);
	interrupts_done(&d.live.interrupts);
	fill_result(&d, out);
	workspace_done(&d.workspace);
	arena_done(&d.arena);
	position_done(&d.at);
	own_close(&d.live.data_fd);
	own_close(&d.live.record_fd);
	own_close(&d.live.keys.tokens_fd);
	free(d.live.agent);
}
