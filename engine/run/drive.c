#include "run/drive.h"

#include "base/child.h"
#include "base/clock.h"
#include "instance/owner.h"
#include "instance/pokes.h"
#include "instance/recover.h"
#include "instance/states.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "run/drive_inside.h"
#include "run/profile.h"
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

static bool check_root(struct drive *d)
{
	struct err e = ERR_NONE;
	if (confine_check_root(d->request->allow_root, &e))
		return drive_end(d, RUN_REFUSED, "%s", e.text);
	if (!geteuid())
		live_notice(&d->live,
			"RUNNING AS ROOT, as allowed: use an ordinary user where you can");
	return true;
}

/* --- recovery --------------------------------------------------------------------------------- */

/* First, before any line is applied: another bundle's journal would only give riddles. */
static bool check_drift(struct drive *d, bool *begun)
{
	struct begun first;
	struct err e = ERR_NONE;
	if (recover_begun(d->instance, &first, &e))
		return drive_end(d, RUN_DAMAGED, "%s", e.text);
	*begun = first.begun;
	if (*begun && strcmp(first.digest, d->request->bundle_digest) != 0)
		return drive_end(d, RUN_REFUSED,
			"instance %s runs bundle %s, and this one is %s; a live instance keeps the "
			"bytes it began with: give the new bundle another --id",
			d->instance->id, first.digest, d->request->bundle_digest);
	if (*first.workspace && strcmp(first.workspace, d->request->workspace) != 0)
		live_notice(&d->live, "this run began in the workspace %s; it goes on in %s",
			first.workspace, d->request->workspace);
	return true;
}

/* Leaves the journal ready for the next line, and the position where it stands. */
static bool take_up(struct drive *d)
{
	struct err e = ERR_NONE;
	struct recovery r = {.instance = d->instance,
		.machine = d->request->machine,
		.fd = d->journal.fd,
		.snapshot_bytes = RECOVER_SNAPSHOT_BYTES};
	enum recover_end end = recover(&r, &e);
	position_done(&d->at);
	d->at = r.position;
	if (end == RECOVER_DONE && journal_begin(&d->journal, &r.at, &e)) {
		err_wrap(&e, "%s", d->instance->path);
		end = RECOVER_BROKEN;
	}
	if (end != RECOVER_DONE)
		return drive_end(
			d, end == RECOVER_DAMAGED ? RUN_DAMAGED : RUN_BROKEN, "%s", e.text);
	/* One that is killed again and again, a line each time, reads no more with every start; a
	 * snapshot that counted a torn line would miss it once that is cut off; and what a kill
	 * left of an ended run's last one is replaced by no other. */
	if (r.torn_bytes || r.read_bytes >= RECOVER_SNAPSHOT_BYTES || d->at.ended)
		drive_snapshot(d);
	if (recover_whole(d->instance, d->journal.fd, r.at.lines, &e) ||
		journal_cut(&d->journal, &e))
		return drive_end(d, RUN_BROKEN, "%s: %s", d->instance->path, e.text);
	if (r.torn_bytes)
		live_notice(&d->live, "dropped an unfinished last line of %lld bytes",
			(long long)r.torn_bytes);
	return true;
}

/* --- checks of a start ------------------------------------------------------------------------ */

static bool check_parameters(struct drive *d)
{
	const char *name;
	json_t *value, *given = (json_t *)(uintptr_t)d->request->parameters;
	struct err e = ERR_NONE;
	json_auto_t *trial = json_copy(d->at.blackboard);
	json_object_foreach (given, name, value)
		if (blackboard_set_parameter(d->request->machine, trial, name, value, &e))
			return drive_end(d, RUN_REFUSED, "%s", e.text);
	if (!d->at.begun)
		return true;
	json_object_foreach (given, name, value)
		if (!predicate_equal(value, json_object_get(d->at.blackboard, name)))
			return drive_end(d, RUN_REFUSED,
				"instance %s began with another value of %s; parameters stay as "
				"they were: give the new value to a run with another --id",
				d->instance->id, name);
	return true;
}

static bool has_kind(const struct machine *m, enum state_kind kind)
{
	for (size_t i = 0; i < m->state_count; i++)
		if (m->states[i].kind == kind)
			return true;
	return false;
}

static bool is_asked(const struct drive *d, const struct config_provider *p)
{
	const struct machine *m = d->request->machine;
	const char *model;
	bool asked = config_reviewer(d->request->config, &model) == p;
	for (size_t i = 0; i < m->state_count && !asked; i++)
		asked = m->states[i].kind == KIND_AGENT &&
			config_agent_provider(d->request->config, &m->states[i], &model) == p;
	return asked;
}

/* What keeps each provider's key from being read, in the configuration's order: an answer costs a
 * process, so no provider is asked about twice. No command is run for one that no state asks. */
static struct err *ask_keys(const struct drive *d)
{
	const struct config *c = d->request->config;
	struct err *why = calloc(c->provider_count + 1, sizeof(*why));
	for (size_t i = 0; why && i < c->provider_count; i++)
		if (!c->providers[i].token_command.count || is_asked(d, &c->providers[i]))
			secret_check(&d->live.keys, &c->providers[i], &why[i]);
	return why;
}

/* Those that a state or the reviewer needs. */
static bool check_needed(struct drive *d, const struct err *why)
{
	const struct config *c = d->request->config;
	const struct machine *m = d->request->machine;
	const char *model;
	for (size_t i = 0; i < m->state_count; i++) {
		if (m->states[i].kind != KIND_AGENT)
			continue;
		const struct err *e =
			&why[config_agent_provider(c, &m->states[i], &model) - c->providers];
		if (*e->text)
			return drive_end(
				d, RUN_REFUSED, "state %s: %s", m->states[i].name, e->text);
	}
	const struct config_provider *p = config_reviewer(c, &model);
	if (p && *why[p - c->providers].text)
		return drive_end(d, RUN_REFUSED, "agent.summarise: %s", why[p - c->providers].text);
	return true;
}

static bool check_keys(struct drive *d)
{
	const struct config *c = d->request->config;
	struct err e = ERR_NONE;
	d->live.keys.tokens_fd = token_open(&e);
	if (d->live.keys.tokens_fd < 0)
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	AUTO_FREE struct err *why = ask_keys(d);
	if (!why)
		return drive_end(d, RUN_BROKEN, "out of memory");
	if (!check_needed(d, why))
		return false;
	/* Another provider's key is hidden from every model, too, where it can be read. */
	for (size_t i = 0; i < c->provider_count; i++)
		if (*why[i].text && why[i].number != ENOENT)
			live_notice(&d->live,
				"the key of provider %s cannot be hidden from models: %s",
				c->providers[i].name, why[i].text);
	return true;
}

/* The programs, and the one profile that all of a run is confined with, git's calls included. */
static bool find_profile(struct drive *d)
{
	const struct machine *m = d->request->machine;
	bool tools = has_kind(m, KIND_TOOL), agents = has_kind(m, KIND_AGENT);
	struct err e = ERR_NONE;
	struct confine *c = &d->env.confine;
	c->profile =
		d->request->config->sandbox.profile == PROFILE_HARDENED ? "hardened" : "strict";
	if (tools || agents) {
		d->live.agent = agents ? child_sibling("agent6-agent", &e) : NULL;
		c->profile = *e.text ? NULL
				     : profile_resolve(&d->live, d->request->workspace,
					       d->request->allow_root_jail, &e);
		if (!c->profile)
			return drive_end(d, RUN_NO_SANDBOX, "%s", e.text);
	}
	if (d->at.begun && strcmp(d->at.profile, c->profile) != 0)
		live_notice(&d->live, "confinement is %s now; the run began with %s", c->profile,
			d->at.profile);
	return true;
}

/* Everything a state asks for that this host or the operator refuses. */
static bool check_confinement(struct drive *d)
{
	const struct machine *m = d->request->machine;
	AUTO_BUF why = BUF_INIT(POSITION_REASON_BYTES - 1);
	if (confine_refusals(m, &d->env.confine, &why)) {
		size_t len = why.len && why.data[why.len - 1] == '\n' ? why.len - 1 : why.len;
		d->result->ungranted = true;
		return drive_end(d, RUN_REFUSED, "%.*s", (int)len, why.data);
	}
	return !has_kind(m, KIND_AGENT) || check_keys(d);
}

/* Now, before an agent has cost anything. */
static bool check_ids(struct drive *d)
{
	struct err e = ERR_NONE;
	return !profile_check_ids(&d->live, d->request->machine, &d->env.confine, &e) ||
	       drive_end(d, RUN_NO_SANDBOX, "%s", e.text);
}

static bool check_workspace(struct drive *d)
{
	struct stat st;
	if (stat(d->request->workspace, &st) || !S_ISDIR(st.st_mode))
		return drive_end(d, RUN_REFUSED, "the workspace %s is not a directory",
			d->request->workspace);
	return true;
}

/* In a large repository it takes minutes. */
static void tell_preparing(const struct drive *d, const char *what)
{
	const struct drive_listener *l = d->live.listener;
	if (l->activity)
		l->activity(l->ctx, &(struct activity){.preparing = what});
}

/* A machine that writes code does it in a clone of its own. */
/* Of a repository around the workspace nothing is shown, and a command would wonder. */
static bool show_repository(struct drive *d)
{
	struct git_elsewhere *found = &d->elsewhere;
	git_elsewhere_find(d->request->workspace, &d->arena, found);
	d->env.confine.elsewhere = (struct config_list){found->paths, found->count};
	if (found->around)
		live_notice(&d->live,
			"this directory lies in the repository %s, of which commands see nothing "
			"else; where they need its history, grant sandbox.read: [%s/.git] and set "
			"GIT_DISCOVERY_ACROSS_FILESYSTEM=1 in their env, or start in %s",
			found->around, found->around, found->around);
	return true;
}

static bool open_workspace(struct drive *d)
{
	const struct drive_request *q = d->request;
	struct workspace *w = &d->workspace;
	struct confine *c = &d->env.confine;
	struct err e = ERR_NONE;
	struct workspace_ask ask = {d->instance, q->config, q->workspace, c->profile, d->at.seq,
		d->at.attempt, d->at.begun, q->allow_root_jail};
	if (!machine_writes_code(q->machine))
		return show_repository(d);
	tell_preparing(d, "getting the private clone of the repository ready");
	int failed = workspace_open(w, &ask, &e);
	tell_preparing(d, NULL);
	if (failed)
		return drive_end(d, RUN_REFUSED, "%s", e.text);
	c->workspace = w->path;
	c->origin = w->origin.work_tree;
	c->clone = w->clone.work_tree;
	c->objects = w->clone.borrowed;
	return true;
}

/* Behind all checks: a start that is refused leaves the operator's repository as it was. */
static bool begin_workspace(struct drive *d)
{
	struct err e = ERR_NONE;
	return !workspace_begin(&d->workspace, &e) || drive_end(d, RUN_REFUSED, "%s", e.text);
}

/* --- start ------------------------------------------------------------------------------------ */

static bool open_data(struct drive *d, char *path, size_t bytes)
{
	int dir = d->instance->dir_fd;
	struct err e = ERR_NONE;
	snprintf(path, bytes, "%s/data", d->instance->path);
	if (mkdirat(dir, "data", 0700) && errno != EEXIST)
		return drive_end(d, RUN_BROKEN, "cannot create %s: %s", path, strerror(errno));
	d->live.data_fd = openat(dir, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->live.data_fd < 0)
		return drive_end(d, RUN_BROKEN, "cannot open %s: %s", path, strerror(errno));
	if (pokes_init(d->instance, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	return true;
}

/* Before anything runs that could put another one into its place. */
static bool open_record(struct drive *d)
{
	const char *dir = d->live.record_dir = d->request->record_dir;
	d->live.without_secrets = d->request->without_secrets;
	d->live.record_fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return !dir || d->live.record_fd >= 0 ||
	       drive_end(d, RUN_REFUSED, "cannot open %s: %s", dir, strerror(errno));
}

static bool open_audit(struct drive *d)
{
	const struct config *c = d->request->config;
	char path[PATH_MAX];
	struct err e = ERR_NONE;
	audit_path(c, path);
	if (audit_open(path, &d->live.audit, &e))
		return drive_end(d, RUN_REFUSED, "%s", e.text);
	if (audit_retain(&d->live.audit, c->audit.retain_days, &e))
		live_notice(&d->live, "%s", e.text);
	return true;
}

static bool begin(struct drive *d)
{
	const struct drive_request *q = d->request;
	char ts[CLOCK_TEXT_BYTES];
	clock_text(clock_realtime_us(), ts);
	json_t *parameters =
		q->parameters ? json_incref((json_t *)(uintptr_t)q->parameters) : json_object();
	json_t *overrides =
		q->overrides ? json_incref((json_t *)(uintptr_t)q->overrides) : json_array();
	return drive_commit(
		d, json_pack("{s:s,s:s,s:i,s:s,s:s,s:i,s:s,s:o,s:s,s:s,s:o,s:s,s:s*}", "t", "begin",
			   "ts", ts, "seq", 0, "instance", d->instance->id, "machine",
			   q->machine->name, "format", 1, "bundle", q->bundle_digest, "parameters",
			   parameters, "profile", d->env.confine.profile, "agent6", AGENT6_VERSION,
			   "overrides", overrides, "workspace", q->workspace, "repository",
			   q->repository));
}

/* What an attempt spent that never finished is booked before anything is spent again. */
static bool book_unfinished(struct drive *d)
{
	char dir[128];
	if (d->at.state->kind != KIND_AGENT)
		return true;
	snprintf(dir, sizeof(dir), "states/%llu-%s", (unsigned long long)d->at.seq + 1,
		d->at.state->name);
	json_auto_t *note = states_read_spend(d->instance, dir, d->at.executions + 1);
	if (!note)
		return true;
	json_t *event = drive_event(d, "spend");
	json_object_update(event, note);
	json_object_set_new(event, "attempt", json_integer(d->at.attempt));
	return drive_commit(d, event);
}

static bool resume(struct drive *d)
{
	struct err e = ERR_NONE;
	if (!d->at.armed || faccessat(d->instance->dir_fd, "wait.json", F_OK, AT_SYMLINK_NOFOLLOW))
		drive_show_wait(d);
	if (*d->at.poke_name && pokes_remove(d->instance, d->at.poke_name, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	return book_unfinished(d);
}

static void line_committed(void *ctx, const char *line, size_t len)
{
	const struct drive_listener *l = ctx;
	if (l->line)
		l->line(l->ctx, line, len);
}

/* `bundle`, `data`, `aside` and `host` live as long as the run. */
static struct plan_env env_of(const struct drive *d, const char *bundle, const char *data,
	const char *aside, const json_t *host)
{
	const struct drive_request *q = d->request;
	return (struct plan_env){
		.confine = {.config = q->config,
			.workspace = q->workspace,
			.bundle = bundle,
			.data_dir = data,
			.aside = aside,
			.reserved = q->reserved,
			.allow_root_jail = q->allow_root_jail},
		.instance_id = d->instance->id,
		.instance_path = d->instance->path,
		.host_env = host,
		.rehearsal = q->rehearsal_url != NULL,
		.auto_approve = q->auto_approve,
		.record = q->record_dir != NULL,
	};
}

/* Where the journal says that the machine stands. False: nothing is to be run. */
static bool open_journal(struct drive *d)
{
	struct err e = ERR_NONE;
	if (journal_open(d->instance->dir_fd, &d->journal, &e))
		return drive_end(d, RUN_BROKEN, "%s: %s", d->instance->path, e.text);
	d->journal.committed = line_committed;
	d->journal.ctx = (void *)(uintptr_t)d->live.listener;
	if (!take_up(d) || !check_parameters(d))
		return false;
	d->result->already_ended = d->at.ended;
	return !d->at.ended;
}

static void run_instance(struct drive *d)
{
	char data[PATH_MAX], bundle[PATH_MAX], aside[PATH_MAX];
	json_auto_t *host = confine_environment();
	bool begun = false;
	struct err gone = ERR_NONE;
	snprintf(bundle, sizeof(bundle), "%s/bundle", d->instance->path);
	snprintf(aside, sizeof(aside), "%s/aside", d->instance->path);
	d->env = env_of(d, bundle, data, aside, host);
	if (!check_root(d) || !check_workspace(d) || !open_record(d) || !check_drift(d, &begun) ||
		!open_journal(d))
		return;
	if (!open_data(d, data, sizeof(data)) || !open_audit(d) || !find_profile(d) ||
		!open_workspace(d) || !check_confinement(d) || !check_ids(d) ||
		(!begun && !begin_workspace(d)))
		return;
	if (begun ? resume(d) : begin(d))
		drive_loop(d);
	drive_hold(d, &gone); /* if not, a commit has said so, or there was nothing to record */
	drive_snapshot(d);
}

static void fill_result(const struct drive *d, struct drive_result *out)
{
	static const enum run_status failed[] = {
		[END_TERMINAL] = RUN_FAILED, [END_BUDGET] = RUN_BUDGET, [END_HALT] = RUN_FAILED};
	if (d->at.state)
		snprintf(out->state, sizeof(out->state), "%s", d->at.state->name);
	out->seq = d->at.seq;
	out->totals = d->at.totals;
	out->wake_unix_us = d->at.wake_us;
	if (!d->at.ended || *out->reason) /* drive_end() said what is in the way */
		return;
	out->status = d->at.ended_ok ? RUN_OK : failed[d->at.cause];
	memcpy(out->reason, d->at.reason, sizeof(out->reason));
}

static void give_back(const struct drive *d)
{
	const struct audit *a = &d->live.audit;
	char lock[AUDIT_NAME_BYTES + 8];
	snprintf(lock, sizeof(lock), "%s.lock", a->name);
	const struct {
		int dir_fd;
		const char *name;
	} ours[] = {{d->instance->dir_fd, "."}, {a->dir_fd, a->name}, {a->dir_fd, lock}};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		struct err e = ERR_NONE;
		if (ours[i].dir_fd >= 0 && owner_give_back(ours[i].dir_fd, ours[i].name, &e))
			live_notice(&d->live, "%s: %s", d->instance->path, e.text);
	}
}

void drive_run(const struct instance *i, const struct drive_request *q,
	const struct drive_listener *l, struct drive_result *out)
{
	*out = (struct drive_result){.status = RUN_BROKEN};
	struct drive d = {.instance = i,
		.request = q,
		.result = out,
		.journal = {.fd = -1},
		.live = {.instance = i,
			.config = q->config,
			.keys = {q->config, -1},
			.listener = l,
			.data_fd = -1,
			.record_fd = -1,
			.machine = q->machine->name,
			.audit = {.dir_fd = -1}}};
	struct err e = ERR_NONE;
	if (interrupts_init(&d.live.interrupts, &e)) {
		drive_end(&d, RUN_BROKEN, "%s", e.text);
		return;
	}
	position_init(&d.at, q->machine);
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
