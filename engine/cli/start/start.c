#include "cli/start/start.h"

#include "agent/policy/redact_json.h"
#include "base/tree.h"
#include "cli/bundle/tool_commands.h"
#include "confine/reserved.h"
#include "instance/recover.h"
#include "report/text.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FINDINGS_BYTES = POSITION_REASON_BYTES - 64 };

struct starting {
	const struct start *start;
	struct instance instance;
	struct findings findings;
	struct loaded copy;
	struct arena arena;
	struct reserved reserved;
};

static int refuse(struct drive_result *out, enum run_status status, const char *reason)
{
	out->status = status;
	snprintf(out->reason, sizeof(out->reason), "%s", reason);
	return -1;
}

static int check_digest(const struct starting *g, const char *recorded, struct err *e)
{
	const struct start *s = g->start;
	const char *digest = s->authored->bundle->digest;
	if (s->digest && strcmp(s->digest, digest))
		return err_set(e, "the bundle's digest is %s, not the %s that --digest asks for",
			digest, s->digest);
	bool changed = recorded && strcmp(recorded, digest) != 0;
	if (changed && instance_ended(&g->instance))
		return err_set(e,
			"instance %s has ended, and ran the bundle %s; to run this one, %s, "
			"give it another --id, or remove the old instance first: agent6 machine "
			"prune %s",
			s->id, recorded, digest, s->id);
	if (changed)
		return err_set(e,
			"instance %s runs the bundle %s, and this one is %s: an instance keeps "
			"running what it recorded; start the changed bundle under another --id, "
			"remove this instance: agent6 machine prune %s --unfinished, or let it go "
			"on with its own copy: agent6 machine run --id %s %s/machines/%s/bundle",
			s->id, recorded, digest, s->id, s->id, s->statedir->repo, s->id);
	return 0;
}

/* The bundle as its author has it. */
static void reserve_authored(struct reserved *h, const struct loaded *authored)
{
	const struct bundle *b = authored->bundle;
	char path[2 * PATH_MAX];
	if (b->form != BUNDLE_LOOSE) {
		reserved_add(h, RESERVED_BUNDLE, b->root);
	} else {
		snprintf(path, sizeof(path), "%s/%s", b->root, b->machine->source);
		reserved_add(h, RESERVED_BUNDLE, path);
		for (size_t i = 0; i < BUNDLE_FOLDERS; i++) {
			snprintf(path, sizeof(path), "%s/%s", b->root, bundle_folders[i]);
			reserved_add(h, RESERVED_BUNDLE, path);
		}
	}
}

static int install(struct starting *g, struct err *e)
{
	const struct bundle *b = g->start->authored->bundle;
	enum sandbox_profile set = g->start->config->sandbox.profile;
	const char *profile = set == PROFILE_AUTO ? NULL : config_word("sandbox.profile", set);
	if (g->start->gate && bundle_check_committed(b, profile, e))
		return -1;
	/* A start that died between the copy and its first journal line left one behind. */
	if (tree_remove(g->instance.dir_fd, "bundle", e))
		return -1;
	return bundle_install(b, g->instance.dir_fd, "bundle", e);
}

/* From here on the private copy is the bundle. */
static int open_copy(struct starting *g, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/bundle", g->instance.path);
	if (loaded_open(&g->copy, path, &g->findings, e))
		return -1;
	if (!g->copy.machine || g->findings.errors)
		return err_set(e, "the instance's copy of the bundle is damaged: %s",
			g->findings.count ? g->findings.items[0].message : path);
	if (strcmp(g->copy.bundle->digest, g->start->authored->bundle->digest))
		return err_set(e, "the instance's copy of the bundle has the digest %s, not %s",
			g->copy.bundle->digest, g->start->authored->bundle->digest);
	return 0;
}

/* The errors as one reason. They are placed in what the operator named: it has the copy's bytes. */
static int findings_reason(struct starting *g, struct err *e)
{
	const struct doc *docs[] = {&g->start->authored->doc};
	size_t kept = 0;
	AUTO_BUF text = BUF_INIT(1 << 20);
	for (size_t i = 0; i < g->findings.count; i++)
		if (g->findings.items[i].severity == SEVERITY_ERROR)
			g->findings.items[kept++] = g->findings.items[i];
	g->findings.count = kept;
	text_findings_in(
		&text, &(struct finding_look){.columns = WRAP_NEVER}, &g->findings, docs, 1);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	return err_set(e, "%.*s", FINDINGS_BYTES, text.len ? text.data : "the bundle is refused");
}

/* What `machine check` refuses about commands on this host is not started either. */
static int check_host(struct starting *g, struct err *e)
{
	tool_commands_check(g->start->authored, g->start->statedir->workspace, &g->findings);
	return g->findings.errors ? findings_reason(g, e) : 0;
}

static int apply_overlay(struct starting *g, struct err *e)
{
	const struct loaded *l = g->start->authored;
	if (!config_overlay(g->start->config, &l->doc, l->machine->config, &g->findings))
		return 0;
	return findings_reason(g, e);
}

/* As of what an agent hands back: it goes on being used. */
static json_t *without_secrets(const json_t *secrets, const json_t *value)
{
	struct redact known = {0};
	size_t i;
	const json_t *secret;
	int failed = 0;
	json_array_foreach (secrets, i, secret)
		failed |= redact_add(&known, json_string_value(secret));
	json_t *safe = failed ? NULL : redact_json(redact_known, &known, value, NULL);
	redact_done(&known);
	return safe;
}

static void drive(struct starting *g, const struct drive_listener *l, struct drive_result *out)
{
	const struct start *s = g->start;
	struct drive_request q = {.machine = g->copy.machine,
		.config = s->config,
		.bundle_digest = g->copy.bundle->digest,
		.workspace = s->statedir->workspace,
		.repository = s->repository,
		.reserved = g->reserved.paths,
		.parameters = s->parameters,
		.overrides = s->overrides,
		.record_dir = s->record_dir,
		.without_secrets = without_secrets,
		.rehearsal_url = s->rehearsal_url,
		.allow_root = s->allow_root,
		.allow_root_jail = s->allow_root_jail,
		.auto_approve = s->auto_approve,
		.exit_on_wait = s->exit_on_wait};
	drive_run(&g->instance, &q, l, out);
}

static int reserve(struct starting *g, struct err *e)
{
	const struct start *s = g->start;
	const struct machine *m = g->copy.machine;
	g->reserved = (struct reserved){.arena = &g->arena,
		.config = s->config,
		.workspace = s->statedir->workspace,
		.only_read = true};
	for (size_t i = 0; i < m->state_count; i++)
		g->reserved.only_read &= !confine_writes(&m->states[i]);
	if (reserved_init(&g->reserved, s->paths, e))
		return -1;
	reserve_authored(&g->reserved, s->authored);
	return 0;
}

static int prepare(struct starting *g, struct drive_result *out, struct err *e)
{
	struct begun begun;
	if (instance_lock(g->start->statedir, g->start->id, &g->instance, e)) {
		size_t len = strlen(e->text);
		if (e->number == EWOULDBLOCK)
			snprintf(e->text + len, sizeof(e->text) - len,
				"; a run beside it needs another --id");
		return refuse(out, RUN_REFUSED, e->text);
	}
	if (recover_begun(&g->instance, &begun, e))
		return refuse(out, RUN_DAMAGED, e->text);
	if (check_digest(g, begun.begun ? begun.digest : NULL, e) ||
		(!begun.begun && install(g, e)))
		return refuse(out, RUN_REFUSED, e->text);
	if (open_copy(g, e) && begun.begun)
		err_wrap(e,
			"put the bundle's files back into %s/bundle, or start anew under another "
			"--id",
			g->instance.path);
	if (*e->text)
		return refuse(out, begun.begun ? RUN_DAMAGED : RUN_REFUSED, e->text);
	if (check_host(g, e) || apply_overlay(g, e) || reserve(g, e))
		return refuse(out, RUN_REFUSED, e->text);
	return 0;
}

/* Refused before its first journal line, in a directory made for it: there is nothing to keep, and
 * nobody else writes here while the lock is held. If it cannot be removed, it is listed as empty.
 */
static void leave_nothing(struct starting *g, const struct drive_result *out)
{
	struct stat st;
	bool refused = out->status == RUN_REFUSED || out->status == RUN_NO_SANDBOX;
	if (!refused || !g->instance.made)
		return;
	int missing = fstatat(g->instance.dir_fd, "journal.jsonl", &st, AT_SYMLINK_NOFOLLOW);
	if (missing ? errno == ENOENT : S_ISREG(st.st_mode) && !st.st_size)
		instance_discard(g->start->statedir, &g->instance, NULL);
}

void start_run(const struct start *s, const struct drive_listener *l, struct drive_result *out)
{
	struct starting g = {.start = s, .instance = INSTANCE_NONE};
	struct err e = ERR_NONE;
	*out = (struct drive_result){0};
	arena_init(&g.arena);
	findings_init(&g.findings);
	if (!prepare(&g, out, &e))
		drive(&g, l, out);
	loaded_done(&g.copy);
	leave_nothing(&g, out);
	instance_done(&g.instance);
	findings_done(&g.findings);
	arena_done(&g.arena);
}
