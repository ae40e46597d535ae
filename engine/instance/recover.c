#include "instance/recover.h"

#include "instance/snapshot.h"

#include <string.h>
#include <sys/stat.h>

static enum recover_end apply_lines(
	struct recovery *recovery, struct journal_reader *reader, struct err *e)
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
		AUTO_LINE decoded;
		if (line_decode(event, &decoded, &why) || !event ||
			position_apply(&recovery->position, &decoded, &why)) {
			err_set(e, "journal.jsonl, line %llu: %s%s",
				(unsigned long long)reader->mark.lines, why.text,
				recovery->foreign ? "" : RECOVER_HOW_ON);
			return RECOVER_DAMAGED;
		}
		if (recovery->each && recovery->each(recovery->ctx, &decoded, &recovery->position))
			return RECOVER_DONE;
	}
}

static bool from_snapshot(struct recovery *recovery)
{
	struct stat st;
	return recovery->snapshot_bytes >= 0 && !fstat(recovery->fd, &st) &&
	       st.st_size >= recovery->snapshot_bytes &&
	       snapshot_read(recovery->instance, recovery->machine, recovery->fd,
		       &recovery->position, &recovery->at);
}

int recover_whole(const struct instance *instance, int fd, uint64_t lines, struct err *e)
{
	uint64_t had = snapshot_missed(instance, fd);
	return had <= lines ? 0
			    : err_set(e,
				      "journal.jsonl ends at line %llu, and had %llu when "
				      "snapshot.json was written: what is missing was committed; "
				      "bring it back from a copy, or remove snapshot.json to have "
				      "those steps done again",
				      (unsigned long long)lines, (unsigned long long)had);
}

enum recover_end recover(struct recovery *recovery, struct err *e)
{
	recovery->at = journal_start();
	bool resumed = from_snapshot(recovery); /* the snapshot's place is then in the journal */
	if (!resumed)
		position_init(&recovery->position, recovery->machine);
	recovery->position.foreign = recovery->foreign;
	struct journal_reader reader;
	journal_reader_init(&reader, recovery->fd, &recovery->at);
	reader.patience_ms = recovery->patience_ms;
	enum recover_end end = apply_lines(recovery, &reader, e);
	/* Count a torn last line, which is dropped, as the snapshot may have: it is only an
	 * optimisation. */
	uint64_t lines = reader.mark.lines + (reader.torn_bytes > 0);
	if (end == RECOVER_DONE && !resumed &&
		recover_whole(recovery->instance, recovery->fd, lines, e))
		end = RECOVER_DAMAGED;
	recovery->read_bytes = reader.mark.offset - recovery->at.offset;
	recovery->at = reader.mark;
	recovery->torn_bytes = reader.torn_bytes;
	journal_reader_done(&reader);
	if (end != RECOVER_DONE && !recovery->foreign)
		err_wrap(e, "%s", recovery->instance->path);
	return end;
}

bool recover_last(int fd, struct line *out, struct err *e)
{
	json_auto_t *last = fd < 0 ? NULL : journal_last(fd, e);
	line_decode(last, out, NULL);
	return last;
}

int recover_begun(const struct instance *instance, struct begun *out, struct err *e)
{
	struct err why = ERR_NONE;
	struct journal_mark start = journal_start();
	struct journal_reader reader;
	*out = (struct begun){0};
	AUTO_FD int fd = instance_journal(instance, &why);
	if (fd < 0)
		return why.number == ENOENT ? recover_whole(instance, fd, 0, e)
					    : err_set(e, "%s", why.text);
	journal_reader_init(&reader, fd, &start);
	const char *line;
	size_t len;
	int got = journal_next(&reader, &line, &len, e);
	json_auto_t *event = got > 0 ? journal_decode(line, len, e) : NULL;
	AUTO_LINE first;
	line_decode(event, &first, NULL);
	uint64_t torn = reader.torn_bytes > 0;
	journal_reader_done(&reader);
	bool begins = first.type == LINE_BEGIN && *first.begin.bundle;
	if (got && !begins)
		err_set(e, "journal.jsonl, line 1: it is not a begin");
	if ((got && !begins) || (!got && recover_whole(instance, fd, torn, e)))
		return err_wrap(e, "%s", instance->path);
	if (!got)
		return 0;
	snprintf(out->digest, sizeof(out->digest), "%s", first.begin.bundle);
	snprintf(out->workspace, sizeof(out->workspace), "%s",
		first.begin.workspace ? first.begin.workspace : "");
	out->begun = true;
	return 0;
}
