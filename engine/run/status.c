#include "run/status.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "instance/pokes.h"
#include "instance/recover.h"
#include "instance/snapshot.h"
#include "instance/stop.h"
#include "machine/kind.h"
#include "machine/template.h"
#include "run/ask.h"
#include "run/workspace.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the status of a run that nobody holds, from its last line. */
static const char *resting(const struct position *position, int journal)
{
	if (position->ended)
		return position->ended_ok ? "ok" : "failed";
	if (!position->begun)
		return "empty";
	return position->armed && !stop_is_last(journal) ? "waiting" : "stopped";
}

static json_t *instant(int64_t unix_us)
{
	char text[CLOCK_TEXT_BYTES];
	clock_text(unix_us, text);
	return unix_us ? json_string(text) : json_null();
}

/* Returns the open question of an agent in a live run; null if there is none that can be read. */
static json_t *question(const struct instance *instance, const struct holder *who)
{
	struct err e = ERR_NONE;
	json_t *doc = who->pid ? ask_read(instance, &e) : NULL;
	return doc ? doc : json_null();
}

static json_t *branch(const struct instance *instance, uint64_t seq)
{
	struct workspace_branch b;
	return workspace_branch(instance, seq, &b)
		       ? json_pack("{s:s,s:s,s:s}", "name", b.name, "base", b.base, "tip", b.tip)
		       : json_null();
}

/* Returns the notify text of the wait that the run is in: often the question that a person is to
 * answer. */
static json_t *says(const struct position *position)
{
	struct err e = ERR_NONE;
	AUTO_BUF text = BUF_INIT(NOTIFY_BYTES_MAX);
	bool said =
		position->armed && position->state->notify &&
		!template_render(position->state->notify, position->blackboard, NULL, &text, &e) &&
		text.len;
	return said ? json_stringn(text.data, text.len) : json_null();
}

/* Returns the last notice among the events in `text` that no turn has followed. */
static json_t *last_notice(const char *text, const char *end)
{
	json_t *said = NULL;
	for (const char *next; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		next = newline ? newline + 1 : end;
		json_auto_t *line =
			json_read(text, (size_t)(next - text), (size_t)(next - text), NULL);
		const char *event = json_get_text(line, "event");
		bool notice = !strcmp(event, "notice");
		if (!notice && strcmp(event, "turn") != 0 && strcmp(event, "confined") != 0)
			continue;
		json_decref(said);
		said = notice ? json_string(json_get_text(line, "text")) : NULL;
	}
	return said;
}

/* Returns the agent's last notice in its current turn, such as why a call is repeated. */
static json_t *notice(
	const struct instance *instance, const struct position *position, bool running)
{
	enum { TAIL_BYTES = 64 * 1024 };
	char path[NAME_MAX];
	struct stat st;
	if (!running || !state_is(position->state, TRAIT_MODEL))
		return json_null();
	snprintf(path, sizeof(path), "states/%ju-%s/events.jsonl", (uintmax_t)position->seq + 1,
		position->state->name);
	AUTO_FD int fd = io_open_plain(instance->dir_fd, path, O_RDONLY, NULL);
	AUTO_FREE char *tail = malloc(TAIL_BYTES);
	if (fd < 0 || !tail || fstat(fd, &st))
		return json_null();
	ssize_t n =
		pread(fd, tail, TAIL_BYTES, st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0);
	json_t *said = n > 0 ? last_notice(tail, tail + n) : NULL;
	return said ? said : json_null();
}

static json_t *encode(
	const struct instance *instance, struct recovery *recovery, const struct holder *who)
{
	struct position *p = &recovery->position;
	uint64_t journaled = p->seq;
	position_pass_branches(p);
	const char *status =
		who->pid && !p->ended ? p->armed ? "waiting" : "running" : resting(p, recovery->fd);
	bool running = !strcmp(status, "running");
	bool pausing = running && p->retry_at_us > clock_realtime_us();
	json_t *holder = who->pid ? json_pack("{s:i,s:s}", "pid", (int)who->pid, "host", who->host)
				  : json_null();
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:i,s:s?,s:o,s:o,s:o,s:O,s:o,s:o,s:i,s:s,s:s,s:"
			 "o,s:O?,s:o,s:b,s:b,s:s,s:o,s:o,s:o,s:O?,s:O?}",
		"id", instance->id, "machine", recovery->machine->name, "status", status, "state",
		p->state->name, "kind", state_kind_name(p->state->kind), "seq", (json_int_t)p->seq,
		"attempt", p->attempt, "reason", *p->reason ? p->reason : NULL, "wake",
		instant(p->armed ? p->wake_us : 0), "holder", holder, "totals",
		totals_encode(&p->totals), "blackboard", p->blackboard, "started",
		instant(p->started_us), "updated", instant(p->updated_us), "pokes",
		pokes_count(instance), "bundle", p->digest, "profile", p->profile, "question",
		question(instance, who), "failure", p->failure, "branch",
		branch(instance, journaled), "cut_off",
		!strcmp(status, "stopped") && !stop_is_last(recovery->fd), "stopping",
		who->pid && stop_asked(instance), "directory", instance->path, "says", says(p),
		"retry_at", instant(pausing ? p->retry_at_us : 0), "notice",
		notice(instance, p, running && !pausing), "autorun", p->autorun, "returns",
		p->returns);
}

json_t *status_run(const struct instance *instance, const struct machine *machine, struct err *e)
{
	struct holder who;
	AUTO_FD int fd = instance_journal(instance, e);
	if (fd < 0 || instance_holder(instance, &who, e))
		return NULL;
	struct recovery r = {.instance = instance,
		.machine = machine,
		.fd = fd,
		.snapshot_bytes = RECOVER_SNAPSHOT_BYTES,
		.patience_ms = who.pid ? JOURNAL_PATIENCE_MS : 0};
	json_t *status = recover(&r, e) == RECOVER_DONE ? encode(instance, &r, &who) : NULL;
	position_done(&r.position);
	return status;
}

/* --- every instance of a workspace ------------------------------------------------------------ */

/* Returns the status for a list, from the last line and whether somebody holds the lock. */
static const char *status_of(const struct line *last, bool held)
{
	if (last->type == LINE_END)
		return last->end.status == OUTCOME_COUNT ? "damaged"
							 : outcome_name(last->end.status);
	if (last->type == LINE_ARMED || last->type == LINE_REFUSED)
		return "waiting";
	return held ? "running" : "stopped";
}

static int enter(int machines, const char *id)
{
	return openat(machines, id, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool held(const struct instance *instance)
{
	struct holder who = {0};
	return !instance_holder(instance, &who, NULL) && who.pid;
}

static bool asks(const struct instance *instance)
{
	struct stat st;
	return !fstatat(instance->dir_fd, "question.json", &st, AT_SYMLINK_NOFOLLOW);
}

static bool is_of(const char *line, size_t len, const char *type)
{
	size_t n = strlen(type);
	return len > n && !memcmp(line, type, n);
}

/* Adds the spending of a line. Most lines have none, which shows without parsing them. */
static void add_line(struct totals *totals, const char *line, size_t len)
{
	static const char tokens[] = "\"input_tokens\":";
	totals->transitions +=
		is_of(line, len, "{\"t\":\"step\"") || is_of(line, len, "{\"t\":\"retry\"");
	if (!memmem(line, len, tokens, sizeof(tokens) - 1))
		return;
	json_auto_t *event = journal_decode(line, len, NULL);
	AUTO_LINE decoded;
	if (line_decode(event, &decoded, NULL))
		return;
	if (decoded.type == LINE_SPEND)
		totals_add(totals, &decoded.spend);
	else if (decoded.fact.kind == FACT_AGENT)
		totals_add(totals, &decoded.fact.agent.spend);
}

/* Returns the spending of an instance that has not ended, counted from its newest snapshot on. */
static json_t *spent(const struct instance *instance, int journal)
{
	struct journal_mark at = journal_start();
	struct journal_reader reader;
	struct totals t = {0};
	const char *line;
	size_t len;
	snapshot_totals(instance, journal, &t, &at);
	journal_reader_init(&reader, journal, &at);
	while (journal_next(&reader, &line, &len, NULL) > 0)
		add_line(&t, line, len);
	journal_reader_done(&reader);
	return totals_encode(&t);
}

/* Returns an entry with every key, so that readers need not ask which keys there are. */
static json_t *bare(const char *id, const char *status, const char *reason)
{
	return json_pack("{s:s,s:s,s:b,s:n,s:n,s:s?,s:n,s:n,s:n}", "id", id, "status", status,
		"asks", false, "state", "seq", "reason", reason, "updated", "totals", "bundle");
}

/* Returns the digest from the first line, where only the writer's name and the time come before
 * it. */
static json_t *bundle(int journal)
{
	static const char key[] = "\"bundle\":\"";
	char text[512];
	ssize_t n = pread(journal, text, sizeof(text), 0);
	const char *end = text + (n > 0 ? n : 0);
	const char *from = memmem(text, (size_t)(end - text), key, sizeof(key) - 1);
	from = from ? from + sizeof(key) - 1 : end;
	const char *to = memchr(from, '"', (size_t)(end - from));
	return to ? json_stringn(from, (size_t)(to - from)) : NULL;
}

/* Returns the totals that the line holds; NULL: none. */
static const struct totals *recorded_totals(const struct line *line)
{
	const struct line_totals *totals = line->type == LINE_END       ? &line->end.totals
					   : line->type == LINE_ARMED   ? &line->armed.totals
					   : line->type == LINE_REFUSED ? &line->refused.totals
									: NULL;
	return totals && totals->given ? &totals->sum : NULL;
}

/* Describes an instance. If its last line is an end or a wait, that line has the totals and no
 * agent asks anything. The lock is looked at only if it can change the status. */
static json_t *describe_instance(int machines, const char *id, int journal, const struct line *last)
{
	const struct totals *told = recorded_totals(last);
	bool step = last->type == LINE_STEP, end = last->type == LINE_END;
	const char *state = step ? last->go_to : last->state;
	json_int_t seq = last->seq > 0 ? last->seq : 0;
	AUTO_FD int dir = told ? -1 : enter(machines, id);
	const struct instance i = {.dir_fd = dir, .lock_fd = -1};
	bool asked = !told && asks(&i);
	bool live = !told && (asked || last->type != LINE_ARMED) && held(&i);
	return json_pack("{s:s,s:s,s:b,s:s?,s:I,s:s?,s:s?,s:o,s:o?}", "id", id, "status",
		status_of(last, live), "asks", asked && live, "state", *state ? state : NULL, "seq",
		seq - (!step && seq > 0), "reason",
		end && *last->end.reason ? last->end.reason : NULL, "updated",
		*last->ts ? last->ts : NULL, "totals",
		told ? totals_encode(told) : spent(&i, journal), "bundle", bundle(journal));
}

/* Checks whether the journal is empty because the start was refused, or because lines were lost. */
static void check_empty(int machines, const char *id, int journal, struct err *e)
{
	AUTO_FD int dir = enter(machines, id);
	recover_whole(&(struct instance){.dir_fd = dir}, journal, 0, e);
}

static json_t *brief(int machines, const char *id)
{
	struct err e = ERR_NONE;
	char path[NAME_MAX + sizeof("/journal.jsonl")];
	snprintf(path, sizeof(path), "%s/journal.jsonl", id);
	AUTO_FD int fd = io_open_plain(machines, path, O_RDONLY, &e);
	if (e.number == ENOENT)
		e = ERR_NONE;
	AUTO_LINE last;
	bool any = recover_last(fd, &last, &e);
	if (!any)
		check_empty(machines, id, fd, &e);
	if (any && !*last.type_text)
		err_set(&e, "its last line has no type");
	if (*e.text)
		return bare(id, "damaged", e.text);
	if (any)
		return describe_instance(machines, id, fd, &last);
	json_t *out = bare(id, "empty", NULL);
	json_object_set_new(out, "seq", json_integer(0));
	return out;
}

struct listing {
	int machines;
	status_each_fn *each;
	void *ctx;
};

static int list_one(void *ctx, const char *id)
{
	struct listing *l = ctx;
	json_auto_t *status = brief(l->machines, id);
	l->each(l->ctx, l->machines, status);
	return 0;
}

int status_each(const struct statedir *statedir, status_each_fn *each, void *ctx, struct err *e)
{
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/machines", statedir->repo) < 0)
		return err_set(e, "out of memory");
	AUTO_FD int machines = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (machines < 0)
		return errno == ENOENT ? 0 : err_errno(e, "cannot list %s", path);
	struct listing l = {machines, each, ctx};
	return instance_list(statedir, list_one, &l, e);
}
