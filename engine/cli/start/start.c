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

static int check_digest(const struct starting *starting, const char *recorded, struct err *e)
{
	const struct start *s = starting->start;
	const char *digest = s->authored->bundle->digest;
	if (s->digest && strcmp(s->digest, digest))
		return err_set(e, "the bundle's digest is %s, not the %s that --digest asks for",
			digest, s->digest);
	bool changed = recorded && strcmp(recorded, digest) != 0;
	if (changed && instance_ended(&starting->instance))
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

/* Reserves the bundle where its author keeps it. */
static void reserve_authored(struct reserved *reserved, const struct loaded *authored)
{
	const struct bundle *b = authored->bundle;
	char path[2 * PATH_MAX];
	if (b->form != BUNDLE_LOOSE) {
		reserved_add(reserved, RESERVED_BUNDLE, b->root);
	} else {
		snprintf(path, sizeof(path), "%s/%s", b->root, b->machine->source);
		reserved_add(reserved, RESERVED_BUNDLE, path);
		for (size_t i = 0; i < BUNDLE_FOLDERS; i++) {
			snprintf(path, sizeof(path), "%s/%s", b->root, bundle_folders[i]);
			reserved_add(reserved, RESERVED_BUNDLE, path);
		}
	}
}

static int install(struct starting *starting, struct err *e)
{
	const struct bundle *b = starting->start->authored->bundle;
	enum sandbox_profile set = starting->start->config->sandbox.profile;
	const char *profile = set == PROFILE_AUTO ? NULL : config_word("sandbox.profile", set);
	if (starting->start->gate && bundle_check_committed(b, profile, e))
		return -1;
	/* A start that died between the copy and its first journal line has left one. */
	if (tree_remove(starting->instance.dir_fd, "bundle", e))
		return -1;
	return bundle_install(b, starting->instance.dir_fd, "bundle", e);
}

/* Opens the private copy, which is the bundle from here on. */
static int open_copy(struct starting *starting, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/bundle", starting->instance.path);
	if (loaded_open(&starting->copy, path, &starting->findings, e))
		return -1;
	if (!starting->copy.machine || starting->findings.errors)
		return err_set(e, "the instance's copy of the bundle is damaged: %s",
			starting->findings.count ? starting->findings.items[0].message : path);
	if (strcmp(starting->copy.bundle->digest, starting->start->authored->bundle->digest))
		return err_set(e, "the instance's copy of the bundle has the digest %s, not %s",
			starting->copy.bundle->digest, starting->start->authored->bundle->digest);
	return 0;
}

/* Returns the errors as one reason, with places in the operator's bundle, which has the same bytes
 * as the copy. */
static int findings_reason(struct starting *starting, struct err *e)
{
	const struct doc *docs[] = {&starting->start->authored->doc};
	size_t kept = 0;
	AUTO_BUF text = BUF_INIT(1 << 20);
	for (size_t i = 0; i < starting->findings.count; i++)
		if (starting->findings.items[i].severity == SEVERITY_ERROR)
			starting->findings.items[kept++] = starting->findings.items[i];
	starting->findings.count = kept;
	text_findings_in(
		&text, &(struct finding_look){.columns = WRAP_NEVER}, &starting->findings, docs, 1);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	return err_set(e, "%.*s", FINDINGS_BYTES, text.len ? text.data : "the bundle is refused");
}

/* Refuses to start what `machine check` refuses about commands on this host. */
static int check_host(struct starting *starting, struct err *e)
{
	tool_commands_check(starting->start->authored, starting->start->statedir->workspace,
		&starting->findings);
	return starting->findings.errors ? findings_reason(starting, e) : 0;
}

static int apply_overlay(struct starting *starting, struct err *e)
{
	const struct loaded *l = starting->start->authored;
	if (!config_overlay(
		    starting->start->config, &l->doc, l->machine->config, &starting->findings))
		return 0;
	return findings_reason(starting, e);
}

/* Returns a value without secrets, redacted like an agent's result, which must stay usable. */
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

static void drive(
	struct starting *starting, const struct drive_listener *listener, struct drive_result *out)
{
	const struct start *s = starting->start;
	struct drive_request q = {.machine = starting->copy.machine,
		.config = s->config,
		.bundle_digest = starting->copy.bundle->digest,
		.workspace = s->statedir->workspace,
		.repository = s->repository,
		.reserved = starting->reserved.paths,
		.parameters = s->parameters,
		.overrides = s->overrides,
		.record_dir = s->record_dir,
		.without_secrets = without_secrets,
		.rehearsal_url = s->rehearsal_url,
		.recorded = s->recorded,
		.allow_root = s->allow_root,
		.allow_root_jail = s->allow_root_jail,
		.auto_approve = s->auto_approve,
		.exit_on_wait = s->exit_on_wait};
	drive_run(&starting->instance, &q, listener, out);
}

static int reserve(struct starting *starting, struct err *e)
{
	const struct start *s = starting->start;
	const struct machine *m = starting->copy.machine;
	starting->reserved = (struct reserved){.arena = &starting->arena,
		.config = s->config,
		.workspace = s->statedir->workspace,
		.only_read = true};
	for (size_t i = 0; i < m->state_count; i++)
		starting->reserved.only_read &= !confine_writes(&m->states[i]);
	if (reserved_init(&starting->reserved, s->paths, e))
		return -1;
	reserve_authored(&starting->reserved, s->authored);
	return 0;
}

static int prepare(struct starting *starting, struct drive_result *out, struct err *e)
{
	struct begun begun;
	if (instance_lock(starting->start->statedir, starting->start->id, &starting->instance, e)) {
		size_t len = strlen(e->text);
		if (e->number == EWOULDBLOCK)
			snprintf(e->text + len, sizeof(e->text) - len,
				"; a run beside it needs another --id");
		return refuse(out, RUN_REFUSED, e->text);
	}
	if (recover_begun(&starting->instance, &begun, e))
		return refuse(out, RUN_DAMAGED, e->text);
	if (check_digest(starting, begun.begun ? begun.digest : NULL, e) ||
		(!begun.begun && install(starting, e)))
		return refuse(out, RUN_REFUSED, e->text);
	if (open_copy(starting, e) && begun.begun)
		err_wrap(e,
			"put the bundle's files back into %s/bundle, or start anew under another "
			"--id",
			starting->instance.path);
	if (*e->text)
		return refuse(out, begun.begun ? RUN_DAMAGED : RUN_REFUSED, e->text);
	if (check_host(starting, e) || apply_overlay(starting, e) || reserve(starting, e))
		return refuse(out, RUN_REFUSED, e->text);
	return 0;
}

/* Removes an instance that was refused before its first journal line, in a directory made for it:
 * it holds nothing to keep, and nobody else writes there while it is locked. If the removal fails,
 * it is listed as empty. */
static void leave_nothing(struct starting *starting, const struct drive_result *out)
{
	struct stat st;
	bool refused = out->status == RUN_REFUSED || out->status == RUN_NO_SANDBOX;
	if (!refused || !starting->instance.made)
		return;
	int missing = fstatat(starting->instance.dir_fd, "journal.jsonl", &st, AT_SYMLINK_NOFOLLOW);
	if (missing ? errno == ENOENT : S_ISREG(st.st_mode) && !st.st_size)
		instance_discard(starting->start->statedir, &starting->instance, NULL);
}

void start_run(
	const struct start *start, const struct drive_listener *listener, struct drive_result *out)
{
	struct starting g = {.start = start, .instance = INSTANCE_NONE};
	struct err e = ERR_NONE;
	*out = (struct drive_result){0};
	arena_init(&g.arena);
	findings_init(&g.findings);
	if (!prepare(&g, out, &e))
		drive(&g, listener, out);
	loaded_done(&g.copy);
	leave_nothing(&g, out);
	instance_done(&g.instance);
	findings_done(&g.findings);
	arena_done(&g.arena);
}
