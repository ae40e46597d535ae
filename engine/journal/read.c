#include "base/json.h"
#include "journal/journal.h"

#include <string.h>
#include <sys/types.h>

enum {
	READ_BYTES = 64 * 1024,
	SECTOR_BYTES = 512,
	/* Spaces in a row that no line holds, unless a sector of it was never written. */
	BLANK_MIN = 32,
	/* Two lines of a write that was cut short, and the padding made for them. */
	UNENDED_MAX = 3 * JOURNAL_LINE_MAX,
	TAIL_BYTES = 6 + SHA256_HEX + 2, /* ,"h":"..."} */
};

struct journal_mark journal_start(void)
{
	struct journal_mark m = {0};
	memset(m.chain, '0', SHA256_HEX);
	return m;
}

void journal_reader_init(struct journal_reader *reader, int fd, const struct journal_mark *from)
{
	*reader = (struct journal_reader){.fd = fd, .mark = *from, .name = "journal.jsonl"};
	buf_init(&reader->window, JOURNAL_LINE_MAX + READ_BYTES);
}

void journal_reader_done(struct journal_reader *reader)
{
	buf_done(&reader->window);
}

static int fill(struct journal_reader *reader, struct err *e)
{
	buf_drop(&reader->window, reader->at);
	reader->at = 0;
	char chunk[READ_BYTES];
	int64_t from = reader->mark.offset + (int64_t)reader->window.len;
	ssize_t n;
	do
		n = pread(reader->fd, chunk, sizeof(chunk), from);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(e, "cannot read %s", reader->name);
	reader->at_eof = n == 0;
	return buf_add(&reader->window, chunk, (size_t)n)
		       ? err_set(e, "%s: out of memory", reader->name)
		       : 0;
}

static bool blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != ' ')
			return false;
	return true;
}

/* Reports whether a sector of the line was never written: a power failure may lose any sector of a
 * write, not only the last. */
static bool lacks_sector(const char *line, size_t len, int64_t offset)
{
	for (size_t i = 0; i < len;) {
		size_t part = SECTOR_BYTES - (size_t)((offset + (int64_t)i) % SECTOR_BYTES);
		if (part > len - i)
			part = len - i;
		if (part >= BLANK_MIN && blank(line + i, part))
			return true;
		i += part;
	}
	return false;
}

static void chain_step(
	const char *prev, const char *line, size_t body_len, char out[SHA256_HEX + 1])
{
	struct sha256 s;
	sha256_init(&s);
	sha256_add(&s, prev, SHA256_HEX);
	sha256_add(&s, line, body_len);
	sha256_add(&s, "}", 1);
	sha256_end_hex(&s, out);
}

static bool has_tail(const char *line, size_t len)
{
	return len >= TAIL_BYTES + 2 && !memcmp(line + len - TAIL_BYTES, ",\"h\":\"", 6) &&
	       !memcmp(line + len - 2, "\"}", 2);
}

/* Returns what is wrong with a line; NULL: it is whole and chained, and `chain` has been
 * updated. */
static const char *line_fault(const char *line, size_t len, char chain[SHA256_HEX + 1])
{
	if (!has_tail(line, len) || memcmp(line, "{\"t\":\"", 6))
		return "it is not a journal line";
	char want[SHA256_HEX + 1];
	chain_step(chain, line, len - TAIL_BYTES, want);
	if (memcmp(want, line + len - TAIL_BYTES + 6, SHA256_HEX) != 0)
		return "its hash does not continue the chain: the line, or one before it, was "
		       "changed, moved or removed";
	memcpy(chain, want, sizeof(want));
	return NULL;
}

/* Checks that everything after the window is padding. */
static int rest_blank(struct journal_reader *reader, size_t from, struct err *e)
{
	if (!blank(reader->window.data + reader->at + from, reader->window.len - reader->at - from))
		return 0;
	struct journal_reader ahead;
	struct journal_mark mark = reader->mark;
	mark.offset += (int64_t)(reader->window.len - reader->at);
	journal_reader_init(&ahead, reader->fd, &mark);
	int verdict = 1;
	while (verdict == 1 && !ahead.at_eof) {
		ahead.mark.offset += (int64_t)ahead.window.len;
		buf_clear(&ahead.window);
		if (fill(&ahead, e))
			verdict = -1;
		else if (!blank(ahead.window.data, ahead.window.len))
			verdict = 0;
	}
	journal_reader_done(&ahead);
	return verdict;
}

static int end_of_lines(struct journal_reader *reader)
{
	size_t len = reader->window.len - reader->at;
	const char *text = len ? reader->window.data + reader->at : "";
	while (len && text[len - 1] == ' ')
		len--;
	reader->torn_bytes = (int64_t)len;
	return 0;
}

/* Reports whether the window holds only padding. A long journal ends in a megabyte of it, and a
 * reader that follows a run comes to it after every line. */
static bool is_room(const struct journal_reader *reader, size_t have)
{
	return have >= READ_BYTES && blank(reader->window.data + reader->at, have);
}

/* Finds the newline of the next line. 0: the rest of the file has none. */
static int find_line(struct journal_reader *reader, size_t *len, struct err *e)
{
	size_t seen = 0;
	for (;;) {
		size_t have = reader->window.len - reader->at;
		const char *nl = have > seen ? memchr(reader->window.data + reader->at + seen, '\n',
						       have - seen)
					     : NULL;
		if (nl) {
			*len = (size_t)(nl - reader->window.data) - reader->at;
			return 1;
		}
		if (reader->at_eof || (reader->patience_ms && is_room(reader, have)))
			return 0;
		if (have > JOURNAL_LINE_MAX) {
			/* Padding may be longer than any line. */
			if (!blank(reader->window.data + reader->at, have))
				return err_set(e,
					"%s, line %llu: longer than the limit of %d bytes",
					reader->name, (unsigned long long)reader->mark.lines + 1,
					JOURNAL_LINE_MAX);
			return 0;
		}
		seen = have;
		if (fill(reader, e))
			return -1;
	}
}

/* Waits and reads a faulty line once more: the writer may be at work on it and on later lines, and
 * a reader has no lock. */
static bool look_again(struct journal_reader *reader)
{
	if (!reader->patience_ms || reader->looked_at == reader->mark.offset + 1)
		return false;
	reader->looked_at = reader->mark.offset + 1;
	nanosleep(&(struct timespec){0, reader->patience_ms * 1000000L}, NULL);
	buf_clear(&reader->window);
	reader->at = 0;
	reader->at_eof = false;
	return true;
}

static int faulty(struct journal_reader *reader, size_t len, const char *fault, struct err *e)
{
	const char *text = reader->window.data + reader->at;
	int last =
		lacks_sector(text, len, reader->mark.offset) ? rest_blank(reader, len + 1, e) : 0;
	if (last < 0)
		return -1;
	reader->torn_bytes = (int64_t)len + 1;
	if (last)
		return 0;
	return err_set(e, "%s, line %llu: %s", reader->name,
		(unsigned long long)reader->mark.lines + 1, fault);
}

int journal_next(struct journal_reader *reader, const char **line, size_t *len, struct err *e)
{
	size_t n = 0;
	int found = find_line(reader, &n, e);
	if (found < 0)
		return -1;
	if (!found)
		return end_of_lines(reader);
	const char *text = reader->window.data + reader->at;
	const char *fault = line_fault(text, n, reader->mark.chain);
	if (fault)
		return look_again(reader) ? journal_next(reader, line, len, e)
					  : faulty(reader, n, fault, e);
	*line = text;
	*len = n;
	reader->at += n + 1;
	reader->mark.offset += (int64_t)n + 1;
	reader->mark.lines++;
	return 1;
}

bool journal_has(int fd, const struct journal_mark *mark)
{
	char tail[SHA256_HEX + 3];
	struct journal_mark start = journal_start();
	if (mark->offset == 0)
		return mark->lines == 0 && !strcmp(mark->chain, start.chain);
	if (mark->offset < TAIL_BYTES || strlen(mark->chain) != SHA256_HEX)
		return false;
	ssize_t n = pread(fd, tail, sizeof(tail), mark->offset - (int64_t)sizeof(tail));
	return n == (ssize_t)sizeof(tail) && !memcmp(tail, mark->chain, SHA256_HEX) &&
	       !memcmp(tail + SHA256_HEX, "\"}\n", 3);
}

/* Parses the line without its hash, which is a third of a short line and which no caller needs. */
json_t *journal_decode(const char *line, size_t len, struct err *e)
{
	struct json_cap cap = {JOURNAL_LINE_MAX, JSON_DEPTH_MAX + 8, SIZE_MAX};
	AUTO_BUF bare = BUF_INIT(JOURNAL_LINE_MAX);
	bool hashed = has_tail(line, len);
	if (hashed && (buf_add(&bare, line, len - TAIL_BYTES) || buf_addc(&bare, '}')))
		return err_set(e, "out of memory"), NULL;
	json_auto_t *event = hashed ? json_read_nested(bare.data, bare.len, cap, e)
				    : json_read_nested(line, len, cap, e);
	if (!json_is_object(event) || (hashed && json_object_get(event, "h")))
		return err_set(e, "it is not a journal line"), NULL;
	json_object_del(event, "h");
	return json_incref(event);
}

/* Reads the line whose newline is just before `end`. -1: its start cannot be found. */
static int read_back(int fd, int64_t end, struct buf *out)
{
	for (int64_t span = 4096;; span *= 4) {
		int64_t from = end > span ? end - span : 0;
		buf_clear(out);
		AUTO_FREE char *bytes = malloc((size_t)(end - from));
		if (!bytes || pread(fd, bytes, (size_t)(end - from), from) != end - from)
			return -1;
		const char *nl = memrchr(bytes, '\n', (size_t)(end - from - 1));
		if (nl || from == 0) {
			const char *start = nl ? nl + 1 : bytes;
			return buf_add(out, start, (size_t)(bytes + (end - from) - start) - 1);
		}
		if (span > JOURNAL_LINE_MAX)
			return -1;
	}
}

static json_t *decode_last(const char *line, size_t len, struct err *e)
{
	json_t *event = journal_decode(line, len, e);
	if (!event)
		err_wrap(e, "journal.jsonl, its last line");
	return event;
}

json_t *journal_last(int fd, struct err *e)
{
	AUTO_BUF line = BUF_INIT(JOURNAL_LINE_MAX);
	char chunk[4096];
	int64_t end = lseek(fd, 0, SEEK_END), stop = end - UNENDED_MAX;
	while (end > 0) {
		if (end < stop)
			return err_set(e, "journal.jsonl: no line ends in its last %d MiB",
				       UNENDED_MAX >> 20),
			       NULL;
		int64_t from = end > (int64_t)sizeof(chunk) ? end - (int64_t)sizeof(chunk) : 0;
		ssize_t n = pread(fd, chunk, (size_t)(end - from), from);
		if (n < 0)
			return err_errno(e, "cannot read journal.jsonl"), NULL;
		/* A short read means that a runner has cut off the padding. */
		const char *nl = memrchr(chunk, '\n', (size_t)n);
		end = nl ? from + (nl - chunk) + 1 : from;
		if (!nl)
			continue;
		const char *before = memrchr(chunk, '\n', (size_t)(nl - chunk));
		const char *start = before ? before + 1 : chunk;
		if (before || !from)
			return decode_last(start, (size_t)(nl - start), e);
		if (read_back(fd, end, &line))
			return err_set(e, "cannot read the last line of journal.jsonl"), NULL;
		return decode_last(line.data, line.len, e);
	}
	return NULL;
}

int journal_each(int fd, struct journal_mark *at, void (*each)(void *ctx, const json_t *fields),
	void *ctx, struct err *e)
{
	struct journal_reader reader;
	const char *line;
	size_t len;
	int got;
	journal_reader_init(&reader, fd, at);
	reader.patience_ms = JOURNAL_PATIENCE_MS;
	while ((got = journal_next(&reader, &line, &len, e)) > 0) {
		json_auto_t *fields = journal_decode(line, len, e);
		if (fields)
			each(ctx, fields);
	}
	*at = reader.mark;
	journal_reader_done(&reader);
	return got;
}

static void encode_line(const json_t *event, json_t *own, struct buf *out)
{
	static const char *const first[] = {"t", "ts", "seq"};
	for (size_t i = 0; i < ARRAY_LEN(first); i++) {
		buf_addf(out, "%c\"%s\":", i ? ',' : '{', first[i]);
		json_write(out, json_object_get(event, first[i]));
		json_object_del(own, first[i]);
	}
	size_t brace = out->len;
	if (json_write(out, own) == 0)
		out->data[brace] = json_object_size(own) ? ',' : ' ';
}

int journal_encode(const json_t *event, char chain[SHA256_HEX + 1], struct buf *out, struct err *e)
{
	size_t start = out->len;
	json_auto_t *own = json_copy((json_t *)(uintptr_t)event);
	if (!json_object_get(own, "t") || !json_object_get(own, "ts") ||
		!json_object_get(own, "seq"))
		return err_set(e, "a journal line needs t, ts and seq");
	encode_line(event, own, out);
	if (!out->failed) { /* the chain value replaces the closing brace */
		size_t body = out->len - 1 - (json_object_size(own) ? 0 : 1);
		char next[SHA256_HEX + 1];
		chain_step(chain, out->data + start, body - start, next);
		out->len = body;
		if (buf_addf(out, ",\"h\":\"%s\"}\n", next) == 0) {
			memcpy(chain, next, sizeof(next));
			return 0;
		}
	}
	out->len = start;
	return err_set(e, "a journal line would cross the limit of %d bytes", JOURNAL_LINE_MAX);
}
