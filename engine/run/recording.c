#include "run/recording.h"

#include "base/io.h"
#include "base/json.h"
#include "base/sha256.h"
#include "run/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { NOTE_BYTES_MAX = 1024 };

/* Opens the cassette as a plain file: the directory may be writable for commands, and a link or
 * pipe in its place would send our writing elsewhere. */
static int open_cassette(const struct live *live, const char *name, int flags, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = io_open_plain(live->record_fd, name, O_RDWR | O_APPEND | flags, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || st.st_nlink != 1)
		return err_set(e, "%s has other names, too", name);
	return TAKE_FD(fd);
}

/* Reports whether the last line of the cassette is unfinished: its writer was killed, or a person
 * left it so. */
static bool ends_torn(int fd)
{
	char last;
	off_t end = lseek(fd, 0, SEEK_END);
	return end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n';
}

/* Removes the `n` bytes just written, unless another instance has recorded something after them. */
static int take_back(int fd, ssize_t n, struct err *e)
{
	struct stat st;
	off_t end = lseek(fd, 0, SEEK_CUR);
	return fstat(fd, &st) || st.st_size != end || ftruncate(fd, end - n)
		       ? err_wrap(e, "half of it is there")
		       : -1;
}

/* --- exchanges that were never committed
 * ------------------------------------------------------- */

/* An attempt that records exchanges. It may be killed before it is committed, and is then run
 * again. */
struct taker {
	int dir_fd, attempt;
};

/* Reports whether the cassette's last `bytes` are still those of the note. */
static bool is_still_there(int fd, const json_t *note, int64_t from, int64_t bytes)
{
	char hex[SHA256_HEX + 1];
	AUTO_FREE char *text = malloc((size_t)bytes + 1);
	if (!text || pread(fd, text, (size_t)bytes, from) != bytes)
		return false;
	sha256_hex(text, (size_t)bytes, hex);
	return !strcmp(hex, json_get_text(note, "sha256"));
}

/* Removes the exchanges of an earlier execution of the same attempt, which a kill kept from being
 * committed. If another instance has recorded something after them, or a person has changed them,
 * they stay. */
static int take_uncommitted(int fd, const struct taker *taker, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct stat st;
	if (io_read_plain(taker->dir_fd, "taped", NOTE_BYTES_MAX, &text, &len, NULL))
		return 0;
	json_auto_t *note = json_read(text, len, NOTE_BYTES_MAX, NULL);
	int64_t from = json_get_int(note, "from"), bytes = json_get_int(note, "bytes");
	if (!note || json_get_int(note, "attempt") != taker->attempt || from < 0 || bytes < 0 ||
		bytes > TAPE_BYTES_MAX || fstat(fd, &st) || st.st_size - bytes != from ||
		!is_still_there(fd, note, from, bytes))
		return 0;
	return ftruncate(fd, from) ? err_errno(e, "cannot take back what was not committed") : 0;
}

static int note_place(
	const struct taker *taker, int64_t from, const struct buf *lines, struct err *e)
{
	char hex[SHA256_HEX + 1];
	sha256_hex(lines->data, lines->len, hex);
	json_auto_t *note = json_pack("{s:i,s:I,s:I,s:s}", "attempt", taker->attempt, "from",
		(json_int_t)from, "bytes", (json_int_t)lines->len, "sha256", hex);
	AUTO_FREE char *text = json_text(note);
	return text ? io_replace_file(taker->dir_fd, "taped", text, strlen(text), 0600, e)
		    : err_set(e, "out of memory");
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* Appends all lines, or none if there is no room: half a line would spoil the next one. */
static int append(
	const struct live *live, const struct taker *taker, const struct buf *lines, struct err *e)
{
	char name[DRIVE_NAME_BYTES + 8];
	if (lines->failed)
		return err_set(
			e, "out of memory, or it is larger than %d MiB", TAPE_BYTES_MAX >> 20);
	snprintf(name, sizeof(name), "%s.jsonl", live->machine);
	struct err why = ERR_NONE;
	AUTO_FD int fd = open_cassette(live, name, lines->len ? O_CREAT : 0, &why);
	if (fd < 0 && !lines->len && why.number == ENOENT)
		return 0; /* an agent that asked nothing has no cassette */
	if (fd < 0)
		return err_set(e, "%s", why.text);
	if (taker && take_uncommitted(fd, taker, e))
		return -1;
	if (!lines->len)
		return 0;
	bool torn = ends_torn(fd);
	if (taker && note_place(taker, lseek(fd, 0, SEEK_END) + torn, lines, e))
		return -1;
	struct iovec parts[] = {{(char *)(uintptr_t) "\n", torn}, {lines->data, lines->len}};
	ssize_t n = writev(fd, parts, ARRAY_LEN(parts));
	if (n == (ssize_t)(parts[0].iov_len + lines->len))
		return 0;
	errno = n < 0 ? errno : ENOSPC;
	err_errno(e, "cannot write %s", name);
	return n > 0 ? take_back(fd, n, e) : -1;
}

/* Adds a line; takes `line`. */
static void add(struct buf *lines, json_t *line)
{
	lines->failed = lines->failed || !line || json_write(lines, line);
	buf_addc(lines, '\n');
	json_decref(line);
}

/* Returns the members of a request that a rehearsal compares, and nothing else that an agent
 * process may have sent. */
static json_t *recorded_match(const json_t *request)
{
	static const char *const kept[] = {"prompt", "last", "turn", "tools"};
	json_t *match = json_object();
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_object_get(request, kept[i]))
			json_object_set(match, kept[i], json_object_get(request, kept[i]));
	return match;
}

void recording_exchange(struct buf *lines, const char *state, const json_t *exchange)
{
	add(lines, json_pack("{s:s,s:o,s:O*}", "state", state, "match",
			   recorded_match(json_object_get(exchange, "request")), "reply",
			   json_object_get(exchange, "reply")));
}

void recording_keep(
	const struct live *live, const struct step *step, int dir_fd, const struct buf *lines)
{
	struct err e = ERR_NONE;
	struct taker t = {dir_fd, step->attempt};
	if (live->record_fd >= 0 && append(live, &t, lines, &e))
		live_notice(live, "the answers to state %s are not recorded in %s: %s",
			step->state->name, live->record_dir, e.text);
}

struct poke {
	const struct live *live;
	const char *state;
	const json_t *payload;
};

static int add_poke(void *ctx, const json_t *secrets, struct err *e)
{
	const struct poke *p = ctx;
	AUTO_BUF line = BUF_INIT(TAPE_BYTES_MAX);
	add(&line, json_pack("{s:s,s:o}", "state", p->state, "poke",
			   p->live->without_secrets(secrets, p->payload)));
	return append(p->live, NULL, &line, e);
}

void recording_poke(const struct live *live, const char *state, const json_t *payload)
{
	struct err e = ERR_NONE;
	struct poke poke = {live, state, payload};
	if (live->record_fd >= 0 && secret_apart(&live->keys, add_poke, &poke, live->record_fd, &e))
		live_notice(live, "the poke of state %s is not recorded in %s: %s", state,
			live->record_dir, e.text);
}
