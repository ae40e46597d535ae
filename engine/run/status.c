#include "base/clock.h"
#include "run/ask.h"
#include "run/drive.h"
#include "run/pokes.h"
#include "run/recover.h"

#include <string.h>

static bool was_stopped(int journal)
{
	json_auto_t *last = journal_last(journal, NULL);
	const char *type = json_string_value(json_object_get(last, "t"));
	return type && !strcmp(type, "stop");
}

/* What the last line says about a run that nobody holds. */
static const char *resting(const struct position *p, int journal)
{
	if (p->ended)
		return p->ended_ok ? "ok" : "failed";
	if (!p->begun)
		return "empty";
	return p->armed && !was_stopped(journal) ? "waiting" : "stopped";
}

static json_t *instant(int64_t unix_us)
{
	char text[CLOCK_TEXT_BYTES];
	clock_text(unix_us, text);
	return unix_us ? json_string(text) : json_null();
}

/* What an agent of a live run asks; what cannot be read is no question. */
static json_t *question(const struct instance *i, const struct holder *who)
{
	struct err e = ERR_NONE;
	json_t *doc = who->pid ? ask_read(i, &e) : NULL;
	return doc ? doc : json_null();
}

static json_t *encode(const struct instance *i, const struct recovery *r, const struct holder *who)
{
	const struct position *p = &r->position;
	const char *status =
		who->pid && !p->ended ? p->armed ? "waiting" : "running" : resting(p, r->fd);
	json_t *holder = who->pid ? json_pack("{s:i,s:s}", "pid", (int)who->pid, "host", who->host)
				  : json_null();
	return json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:I,s:i,s:s?,s:o,s:o,s:o,s:O,s:o,s:o,s:i,s:s,s:s,s:o,s:O?}",
		"id", i->id, "machine", r->machine->name, "status", status, "state", p->state->name,
		"kind", state_kind_name(p->state->kind), "seq", (json_int_t)p->seq, "attempt",
		p->attempt, "reason", *p->reason ? p->reason : NULL, "wake",
		instant(p->armed ? p->wake_us : 0), "holder", holder, "totals",
		totals_encode(&p->totals), "blackboard", p->blackboard, "started",
		instant(p->started_us), "updated", instant(p->updated_us), "pokes", pokes_count(i),
		"bundle", p->digest, "profile", p->profile, "question", question(i, who), "failure",
		p->failure);
}

json_t *status_run(const struct instance *i, const struct machine *machine, struct err *e)
{
	struct holder who;
	AUTO_FD int fd = instance_journal(i, e);
	if (fd < 0 || instance_holder(i, &who, e))
		return NULL;
	struct recovery r = {.instance = i,
		.machine = machine,
		.fd = fd,
		.snapshot_bytes = RECOVER_SNAPSHOT_BYTES,
		.patience_ms = who.pid ? JOURNAL_PATIENCE_MS : 0};
	json_t *status = recover(&r, e) == RECOVER_DONE ? encode(i, &r, &who) : NULL;
	position_done(&r.position);
	return status;
}
