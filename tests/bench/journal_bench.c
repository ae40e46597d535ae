/*
 * Measures the journal.
 *
 *   journal_bench rate DIR            durable transitions a second through journal_commit, and
 * through a plain append and fdatasync of the same bytes, turn by turn journal_bench long DIGEST
 * DIR N   writes a journal of N steps of that machine (states `a`, a tool, and `b`, a branch back
 * to it) into DIR, chained, not synced
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 100, PER_ROUND = 50, CHUNK_BYTES = 1 << 20 };

static json_t *step(int64_t seq)
{
	char ts[CLOCK_TEXT_BYTES];
	clock_text(clock_realtime_us(), ts);
	if (seq % 2 == 0)
		return json_pack("{s:s,s:s,s:I,s:s,s:i,s:s,s:s,s:{s:i}}", "t", "step", "ts", ts,
			"seq", (json_int_t)seq, "state", "b", "attempt", 1, "goto", "a", "label",
			"else", "fact", "clause", 0);
	return json_pack("{s:s,s:s,s:I,s:s,s:i,s:s,s:s,s:{s:i,s:n,s:b,s:s,s:s,s:i,s:i}}", "t",
		"step", "ts", ts, "seq", (json_int_t)seq, "state", "a", "attempt", 1, "goto", "b",
		"label", "ok", "fact", "exit", 0, "signal", "timed_out", 0, "stdout", "{\"n\":1}\n",
		"stderr_tail", "", "wall_ms", 3, "max_rss_kib", 1800);
}

static int64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Returns the lines per second of the median round: other work of the disk slows some rounds, but
 * not that one. */
static double per_second(int64_t us[ROUNDS])
{
	qsort(us, ROUNDS, sizeof(*us), by_size);
	return PER_ROUND * 1e6 / (double)us[ROUNDS / 2];
}

static int ours(struct journal *journal, int64_t *seq, struct err *e)
{
	for (int i = 0; i < PER_ROUND; i++) {
		json_auto_t *line = step(++*seq * 2 - 1);
		if (journal_commit(journal, line, e))
			return fprintf(stderr, "%s\n", e->text), -1;
	}
	return 0;
}

static int plain(int fd, char chain[SHA256_HEX + 1], int64_t seq, struct err *e)
{
	for (int i = 0; i < PER_ROUND; i++) {
		AUTO_BUF line;
		buf_init(&line, CHUNK_BYTES);
		json_auto_t *event = step((seq - PER_ROUND + i) * 2 + 1);
		journal_encode(event, chain, &line, e);
		if (io_write(fd, line.data, line.len) || fdatasync(fd))
			return -1;
	}
	return 0;
}

/* Both alternate in short rounds, so that a busy disk slows both. */
static int rate(const char *dir)
{
	struct journal j;
	struct journal_mark start = journal_start();
	struct err e = ERR_NONE;
	char chain[SHA256_HEX + 1];
	int64_t ours_us[ROUNDS], plain_us[ROUNDS], seq = 0;
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	int fd = openat(at, "plain", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (journal_open(at, &j, &e) || journal_begin(&j, &start, &e) || fsync(at))
		return fprintf(stderr, "%s\n", e.text), 1;
	memcpy(chain, start.chain, sizeof(chain));
	for (int round = 0; round < ROUNDS; round++) {
		int64_t from = now_us();
		if (ours(&j, &seq, &e))
			return 1;
		ours_us[round] = now_us() - from;
		from = now_us();
		if (plain(fd, chain, seq, &e))
			return 1;
		plain_us[round] = now_us() - from;
	}
	journal_close(&j);
	printf("%.0f %.0f\n", per_second(ours_us), per_second(plain_us));
	return 0;
}

static int put(int fd, struct buf *out, bool all)
{
	if (out->len < CHUNK_BYTES && !all)
		return 0;
	int failed = io_write(fd, out->data, out->len);
	buf_clear(out);
	return failed;
}

static int write_long(const char *digest, const char *dir, int64_t steps)
{
	struct journal_mark mark = journal_start();
	AUTO_BUF out;
	buf_init(&out, 4 * CHUNK_BYTES);
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	int fd = openat(at, "journal.jsonl", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	json_auto_t *begin = json_pack("{s:s,s:s,s:i,s:s,s:i,s:s,s:{},s:s,s:s,s:[]}", "t", "begin",
		"ts", "2026-11-21T10:00:00.000000Z", "seq", 0, "machine", "long", "format", 1,
		"bundle", digest, "parameters", "profile", "strict", "agent6", AGENT6_VERSION,
		"overrides");
	journal_encode(begin, mark.chain, &out, NULL);
	for (int64_t seq = 1; seq <= steps; seq++) {
		json_auto_t *event = step(seq);
		if (journal_encode(event, mark.chain, &out, NULL) || put(fd, &out, false))
			return 1;
	}
	return put(fd, &out, true);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "rate"))
		return rate(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "long"))
		return write_long(argv[2], argv[3], strtoll(argv[4], NULL, 10));
	fprintf(stderr, "usage: journal_bench rate DIR | long DIGEST DIR N\n");
	return 2;
}
