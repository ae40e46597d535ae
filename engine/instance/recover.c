#include "instance/recover.h"

#include "base/json.h"
#include "instance/snapshot.h"

#include <string.h>
#include <sys/stat.h>

static enum recover_end apply_lines(
	struct recovery *r, struct journal_reader *reader, struct err *e)
{
	for (;;) {
		const char *line;
		size_t len;
		struct err why = ERR_NONE;
		int got = journal_next(reader, &line, &len, &why);
		if (got < 0) {
			err_set(e, "%s%s", why.text, why.number ? "" : RECOVER_HOW_ON);
			return why.number ? RECOVER_BROKEN : RECOVER_DAMAGED;
		}
		if (got == 0)
			return RECOVER_DONE;
		json_auto_t *event = journal_decode(line, len, &why);
		if (!event || position_apply(&r->position, event, &why)) {
			err_set(e, "journal.jsonl, line %llu: %s%s",
				(unsigned long long)reader->mark.lines, why.text,
				r->foreign ? "" : RECOVER_HOW_ON);
			return RECOVER_DAMAGED;
		}
		if (r->each && r->each(r->ctx, event, &r->position))
			return RECOVER_DONE;
	}
}

static bool from_snapshot(struct recovery *r)
{
	struct stat st;
	return r->snapshot_bytes >= 0 && !fstat(r->fd, &st) && st.st_size >= r->snapshot_bytes &&
	       snapshot_read(r->instance, r->machine, r->fd, &r->position, &r->at);
}

int recover_whole(const struct instance *i, int fd, uint64_t lines, struct err *e)
{
	uint64_t had = snapshot_missed(i, fd);
	return had <= lines ? 0
			    : err_set(e,
				      "journal.jsonl ends at line %llu, and had %llu when "
				      "snapshot.json was written: what is missing was committed; "
				      "bring it back from a copy, or remove snapshot.json to have "
				      "those steps done again",
				      (unsigned long long)lines, (unsigned long long)had);
}

enum recover_end recover(struct recovery *r, struct err *e)
{
	r->at = journal_start();
	bool resumed = from_snapshot(r); /* whose place the journal has, then */
	if (!resumed)
		position_init(&r->position, r->machine);
	r->position.foreign = r->foreign;
	struct journal_reader reader;
	journal_reader_init(&reader, r->fd, &r->at);
	reader.patience_ms = r->patience_ms;
	enum recover_end end = apply_lines(r, &reader, e);
	/* A torn last line is dropped, counted or not: the snapshot is only an optimisation. */
	uint64_t lines = reader.mark.lines + (reader.torn_bytes > 0);
	if (end == RECOVER_DONE && !resumed && recover_whole(r->instance, r->fd, lines, e))
		end = RECOVER_DAMAGED;
	r->read_bytes = reader.mark.offset - r->at.offset;
	r->at = reader.mark;
	r->torn_bytes = reader.torn_bytes;
	journal_reader_done(&reader);
	if (end != RECOVER_DONE && !r->foreign)
		err_wrap(e, "%s", r->instance->path);
	return end;
}

int recover_begun(const struct instance *i, struct begun *out, struct err *e)
{
	struct err why = ERR_NONE;
	struct journal_mark start = journal_start();
	struct journal_reader reader;
	*out = (struct begun){0};
	AUTO_FD int fd = instance_journal(i, &why);
	if (fd < 0)
		return why.number == ENOENT ? recover_whole(i, fd, 0, e)
					    : err_set(e, "%s", why.text);
	journal_reader_init(&reader, fd, &start);
	const char *line;
	size_t len;
	int got = journal_next(&reader, &line, &len, e);
	json_auto_t *event = got > 0 ? journal_decode(line, len, e) : NULL;
	uint64_t torn = reader.torn_bytes > 0;
	journal_reader_done(&reader);
	const char *text = json_string_value(json_object_get(event, "bundle"));
	if (got && !text)
		err_set(e, "journal.jsonl, line 1: it is not a begin");
	if ((got && !text) || (!got && recover_whole(i, fd, torn, e)))
		return err_wrap(e, "%s", i->path);
	if (!got)
		return 0;
	snprintf(out->digest, sizeof(out->digest), "%s", text);
	snprintf(out->workspace, sizeof(out->workspace), "%s", json_get_text(event, "workspace"));
	out->begun = true;
	return 0;
}
