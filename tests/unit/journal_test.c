/* The journal file: its chain, its torn tails, its padding, and damage that must not pass. */
#include "base/buf.h"
#include "base/io.h"
#include "journal/journal.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int dir_fd, patience_ms;

static bool unsynced; /* a disk that fails */

int fdatasync(int fd)
{
	errno = EIO;
	return unsynced ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static json_t *event(int seq)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:{s:i}}", "t", "step", "ts",
		"2026-11-21T10:00:00.000000Z", "seq", seq, "label", "caf\xc3\xa9\xe2\x80\xa8",
		"fact", "n", seq);
}

static void fresh(struct journal *journal)
{
	struct journal_mark start = journal_start();
	unlinkat(dir_fd, "journal.jsonl", 0);
	if (journal_open(dir_fd, journal, NULL) || journal_begin(journal, &start, NULL))
		bail("no journal");
}

static int append(struct journal *journal, int seq)
{
	json_auto_t *line = event(seq);
	return journal_commit(journal, line, NULL);
}

static void write_bytes(const char *bytes, size_t len)
{
	/* Without O_TRUNC, which makes file systems flush the file on close. */
	AUTO_FD int fd = openat(dir_fd, "journal.jsonl", O_WRONLY | O_CREAT, 0600);
	if (io_write(fd, bytes, len) || ftruncate(fd, (off_t)len))
		bail("cannot write");
}

struct seen {
	int result; /* of the last journal_next */
	struct journal_mark mark;
	int64_t torn;
	struct err e;
};

static struct seen read_all(void)
{
	struct journal_mark start = journal_start();
	struct journal_reader r;
	struct seen s = {.e = ERR_NONE};
	const char *line;
	size_t len;
	AUTO_FD int fd = openat(dir_fd, "journal.jsonl", O_RDONLY);
	journal_reader_init(&r, fd, &start);
	r.patience_ms = patience_ms;
	while ((s.result = journal_next(&r, &line, &len, &s.e)) > 0) {
		json_auto_t *decoded = journal_decode(line, len, &s.e);
		if (!decoded || json_object_get(decoded, "h"))
			s.torn = -1;
	}
	s.mark = r.mark;
	if (s.torn == 0)
		s.torn = r.torn_bytes;
	journal_reader_done(&r);
	return s;
}

static char *journal_bytes(int lines, size_t *len)
{
	struct journal j;
	char *bytes = NULL;
	fresh(&j);
	for (int i = 1; i <= lines; i++)
		append(&j, i);
	journal_close(&j);
	if (io_read_file(dir_fd, "journal.jsonl", 1 << 20, &bytes, len, NULL))
		bail("cannot read");
	return bytes;
}

static void test_line(void)
{
	size_t len;
	AUTO_FREE char *bytes = journal_bytes(1, &len);
	const char *body = "{\"t\":\"step\",\"ts\":\"2026-11-21T10:00:00.000000Z\",\"seq\":1,"
			   "\"fact\":{\"n\":1},\"label\":\"caf\xc3\xa9\xe2\x80\xa8\"}";
	struct sha256 hash;
	char hex[SHA256_HEX + 1], zeros[SHA256_HEX + 1] = "";
	memset(zeros, '0', SHA256_HEX);
	sha256_init(&hash);
	sha256_add(&hash, zeros, SHA256_HEX);
	sha256_add(&hash, body, strlen(body));
	sha256_end_hex(&hash, hex);
	AUTO_BUF want;
	buf_init(&want, 4096);
	buf_addf(&want, "%.*s,\"h\":\"%s\"}\n", (int)strlen(body) - 1, body, hex);
	is_mem(bytes, len, want.data, want.len, "a line is spelled and chained as documented");
	json_auto_t *bare = json_pack("{s:s,s:s,s:i}", "t", "x", "ts", "y", "seq", 0);
	struct journal_mark mark = journal_start();
	buf_clear(&want);
	ok(journal_encode(bare, mark.chain, &want, NULL) == 0, "a line without own keys");
	has_str(want.data, "{\"t\":\"x\",\"ts\":\"y\",\"seq\":0,\"h\":\"",
		"is spelled the same way");
}

/* Every cut of the last line is dropped, and the next append continues from the line before. */
static void test_torn(void)
{
	size_t len;
	AUTO_FREE char *bytes = journal_bytes(3, &len);
	size_t last = len - 1;
	while (bytes[last - 1] != '\n')
		last--;
	int wrong = 0;
	for (size_t cut = last; cut < len; cut++) {
		write_bytes(bytes, cut);
		struct seen s = read_all();
		wrong += s.result != 0 || s.mark.lines != 2 || s.torn != (int64_t)(cut - last);
		if (cut % 16 && cut + 1 != len)
			continue; /* reading is cheap, syncing is not */
		struct journal j;
		if (journal_open(dir_fd, &j, NULL) || journal_begin(&j, &s.mark, NULL) ||
			journal_cut(&j, NULL))
			bail("cannot heal");
		append(&j, 3);
		journal_close(&j);
		AUTO_FREE char *healed = NULL;
		size_t healed_len = 0;
		io_read_file(dir_fd, "journal.jsonl", 1 << 20, &healed, &healed_len, NULL);
		wrong += healed_len != len || memcmp(healed, bytes, len) != 0;
	}
	is(wrong, 0, "a last line cut at any of its %zu bytes is dropped and written again",
		len - last);
}

static void test_tampering(void)
{
	size_t len;
	AUTO_FREE char *bytes = journal_bytes(4, &len);
	int missed = 0;
	for (size_t at = 0; at < len; at++)
		for (int bit = 0; bit < 8; bit++) {
			bytes[at] = (char)(bytes[at] ^ 1 << bit);
			write_bytes(bytes, len);
			struct seen s = read_all();
			missed += s.result == 0 && s.torn == 0;
			missed +=
				s.result == 0 && at + 1 < len; /* only the last newline is a tear */
			bytes[at] = (char)(bytes[at] ^ 1 << bit);
		}
	is(missed, 0, "any flipped bit of %zu bytes is found", len);
	char *second = strchr(bytes, '\n') + 1, *third = strchr(second, '\n') + 1;
	AUTO_BUF moved;
	buf_init(&moved, 1 << 20);
	buf_add(&moved, bytes, (size_t)(second - bytes));
	buf_adds(&moved, third);
	write_bytes(moved.data, moved.len);
	struct seen s = read_all();
	is(s.result, -1, "a line taken out is damage");
	has_str(s.e.text, "line 2", "and the message has the line");
}

static void test_padding(void)
{
	struct journal j;
	struct stat st;
	fresh(&j);
	append(&j, 1);
	fstat(j.fd, &st);
	ok(st.st_size > j.end.offset, "a journal in use ends in padding");
	struct seen s = read_all();
	ok(s.result == 0 && s.mark.lines == 1 && s.torn == 0, "which readers stop at");
	json_auto_t *last = journal_last(j.fd, NULL);
	is(json_integer_value(json_object_get(last, "seq")), 1,
		"and the last line is found before");
	is(pwrite(j.fd, "{\"t\":\"st", 8, j.end.offset), 8, "half a line is written");
	s = read_all();
	ok(s.result == 0 && s.mark.lines == 1 && s.torn == 8, "a torn line within padding is torn");
	journal_close(&j);
	fstatat(dir_fd, "journal.jsonl", &st, 0);
	is(st.st_size, j.end.offset, "closing cuts the padding off");
}

/* After a power failure the sectors of one write may be missing in any combination. */
static void test_sectors(void)
{
	size_t len;
	struct journal j;
	fresh(&j);
	append(&j, 1);
	json_auto_t *big = event(2);
	AUTO_FREE char *filler = malloc(4001);
	memset(filler, 'x', 4000);
	filler[4000] = '\0';
	json_object_set_new(big, "filler", json_string(filler));
	journal_commit(&j, big, NULL);
	journal_close(&j);
	AUTO_FREE char *bytes = NULL;
	io_read_file(dir_fd, "journal.jsonl", 1 << 20, &bytes, &len, NULL);
	memset(bytes + 1024, ' ', 512);
	write_bytes(bytes, len);
	struct seen s = read_all();
	ok(s.result == 0 && s.mark.lines == 1 && s.torn > 0,
		"a last line without a sector is torn");
	AUTO_BUF more;
	buf_init(&more, 1 << 20);
	buf_add(&more, bytes, len);
	buf_adds(&more, "{}\n");
	write_bytes(more.data, more.len);
	s = read_all();
	is(s.result, -1, "a line before the last without a sector is damage");
}

/* Checks a journal too long to try every byte: at other places in every run. */
static void test_long(void)
{
	enum { LINES = 10000, PLACES = 40 };
	struct journal_mark mark = journal_start();
	AUTO_BUF text;
	buf_init(&text, 8 << 20);
	for (int i = 1; i <= LINES; i++) {
		json_auto_t *line = event(i);
		journal_encode(line, mark.chain, &text, NULL);
	}
	write_bytes(text.data, text.len);
	struct seen s = read_all();
	ok(s.result == 0 && s.mark.lines == LINES, "a journal of %d lines is whole", LINES);
	AUTO_FD int fd = openat(dir_fd, "journal.jsonl", O_RDWR);
	int missed = 0;
	for (int i = 0; i < PLACES; i++) {
		uint32_t noise[2];
		if (getrandom(noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
			bail("no randomness");
		size_t at = noise[0] % text.len;
		char flipped = (char)(text.data[at] ^ 1 << noise[1] % 8);
		missed += pwrite(fd, &flipped, 1, (off_t)at) != 1;
		s = read_all();
		missed += s.result == 0 && s.torn == 0;
		missed += pwrite(fd, &text.data[at], 1, (off_t)at) != 1;
	}
	is(missed, 0, "and a flipped bit anywhere in its %zu bytes is found", text.len);
}

static int lines_told;

static void count_line(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	lines_told += line[0] == '{' && line[len - 1] == '}';
}

static void test_ride(void)
{
	struct journal j;
	fresh(&j);
	j.committed = count_line;
	json_auto_t *first = event(1);
	ok(journal_queue(&j, first, NULL) == 0, "a line is queued");
	is(read_all().mark.lines, 0, "and not written");
	is(lines_told, 0, "nor told");
	append(&j, 2);
	is(read_all().mark.lines, 2, "the next commit takes it along");
	is(lines_told, 2, "and both are told");
	journal_queue(&j, first, NULL);
	journal_close(&j);
	is(read_all().mark.lines, 2, "a queued line is not written by closing");
}

/* Its pages read back as written. */
static void test_unsynced(void)
{
	struct journal j;
	fresh(&j);
	append(&j, 1);
	unsynced = true;
	is(append(&j, 2), -1, "a line that does not reach the disk is not committed");
	unsynced = false;
	is(read_all().mark.lines, 1, "and not there to be believed");
	is(append(&j, 3), -1, "nothing is behind it");
	journal_close(&j);
	is(read_all().mark.lines, 1, "what was there before still is");
	fresh(&j);
	append(&j, 1);
	journal_abandon(&j);
	is(append(&j, 2), -1, "nor in one that was abandoned");
	journal_close(&j);
}

/* Readers take no lock: what they see of a line that is being written is no damage. */
static void test_together(void)
{
	enum { LINES = 150, FILLER = 6000 };
	struct journal j;
	fresh(&j);
	pid_t writer = fork();
	if (writer == 0) {
		AUTO_FREE char *filler = calloc(1, FILLER + 1);
		memset(filler, 'x', FILLER);
		json_auto_t *line = event(1);
		json_object_set_new(line, "filler", json_string(filler));
		for (int i = 0; i < LINES; i++)
			if (journal_commit(&j, line, NULL))
				_exit(1);
		_exit(0);
	}
	int damage = 0, reads = 0, status = 0;
	patience_ms = JOURNAL_PATIENCE_MS;
	for (uint64_t lines = 0; lines < LINES && !waitpid(writer, &status, WNOHANG); reads++) {
		struct seen s = read_all();
		damage += s.result < 0;
		lines = s.mark.lines;
	}
	if (!WIFEXITED(status))
		waitpid(writer, &status, 0);
	is(read_all().mark.lines, LINES, "all lines of a busy writer are there");
	is(damage, 0, "and none of %d reads meanwhile took a line for damaged", reads);
	journal_close(&j);
}

static void test_has(void)
{
	struct journal j;
	fresh(&j);
	append(&j, 1);
	struct journal_mark one = j.end, start = journal_start();
	append(&j, 2);
	ok(journal_has(j.fd, &one) && journal_has(j.fd, &j.end) && journal_has(j.fd, &start),
		"marks are places between lines");
	one.offset++;
	ok(!journal_has(j.fd, &one), "and nowhere else");
	journal_close(&j);
}

/* Whoever follows a run comes to the room behind its last line after every one. */
static void test_room(void)
{
	enum { ROOM = 1024 * 1024, PEEK = 128 * 1024 };
	size_t len;
	AUTO_FREE char *one = journal_bytes(1, &len);
	AUTO_FREE char *padded = malloc(len + ROOM);
	struct journal_mark start = journal_start();
	struct journal_reader r;
	const char *line;
	memset(mempcpy(padded, one, len), ' ', ROOM);
	write_bytes(padded, len + ROOM);
	AUTO_FD int fd = openat(dir_fd, "journal.jsonl", O_RDONLY | O_CLOEXEC);
	journal_reader_init(&r, fd, &start);
	r.patience_ms = JOURNAL_PATIENCE_MS;
	is(journal_next(&r, &line, &len, NULL), 1, "a line in front of much room");
	is(journal_next(&r, &line, &len, NULL), 0, "is the last");
	ok(r.window.len <= PEEK, "of the room %zu bytes were read", r.window.len);
	is(r.torn_bytes, 0, "and nothing in it is torn");
	journal_reader_done(&r);
}

/* Nobody writes as much behind the last line; a hole of any size is made with one call. */
static void test_hole(void)
{
	struct journal j;
	struct err e = ERR_NONE;
	fresh(&j);
	append(&j, 1);
	journal_close(&j);
	AUTO_FD int fd = openat(dir_fd, "journal.jsonl", O_RDWR | O_CLOEXEC);
	ok(!ftruncate(fd, (off_t)4 * JOURNAL_LINE_MAX), "a journal that ends in a hole");
	json_auto_t *last = journal_last(fd, &e);
	ok(!last && strstr(e.text, "no line ends in its last"), "is damaged: %s", e.text);
}

/* The hash is cut off before the line is parsed; nothing else may pass for it. */
static void test_decode(void)
{
#define TAIL ",\"h\":\"0000000000000000000000000000000000000000000000000000000000000000\"}"
	static const struct {
		const char *line;
		bool whole;
	} rows[] = {
		{"{\"t\":\"x\",\"seq\":1" TAIL, true},
		{"{\"t\":\"x\",\"seq\":1}", true},
		{"{\"h\":\"x\",\"t\":\"x\"" TAIL, false},
		{"{\"t\":\"x\",\"t\":\"y\"" TAIL, false},
		{"{\"t\":\"x\",\"seq\":\"" TAIL, false},
		{"[{\"t\":\"x\"" TAIL, false},
		{"" TAIL, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = ERR_NONE;
		json_auto_t *event = journal_decode(rows[i].line, strlen(rows[i].line), &e);
		is(event != NULL, rows[i].whole, "%s: %s", rows[i].line, e.text);
		ok(!json_object_get(event, "h"), "it has no hash");
	}
#undef TAIL
}

/* A runner cuts the room off as it ends, and the next one makes some, while others look. */
static void test_last_meanwhile(void)
{
	enum { LOOKS = 20000 };
	struct journal j;
	struct err e = ERR_NONE;
	int missed = 0;
	fresh(&j);
	append(&j, 1);
	int64_t end = j.end.offset, room = j.room;
	pid_t writer = fork();
	while (!writer)
		if (ftruncate(j.fd, end) || ftruncate(j.fd, room))
			_exit(1);
	for (int n = 0; n < LOOKS; n++) {
		json_auto_t *last = journal_last(j.fd, &e);
		missed += !last;
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	is(missed, 0, "the last line is seen while the room behind it comes and goes: %s", e.text);
	journal_close(&j);
}

int main(void)
{
	dir_fd = open(tap_scratch(), O_RDONLY | O_DIRECTORY);
	test_line();
	test_torn();
	test_tampering();
	test_long();
	test_padding();
	test_sectors();
	test_ride();
	test_unsynced();
	test_together();
	test_has();
	test_hole();
	test_room();
	test_decode();
	test_last_meanwhile();
	return tap_done();
}
