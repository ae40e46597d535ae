#include "instance/snapshot.h"

#include "base/io.h"
#include "base/json.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	SNAPSHOT_VERSION = 3,
	SNAPSHOT_BYTES_MAX = 256 * 1024 * 1024,
	HEAD_BYTES_MAX = 1024,
	HEAD_COST = 4096 /* journal bytes that are read as fast as a head is decoded */
};

/* The head, before the position, with a checksum of its own: a reader that only wants the place and
 * the totals reads no more than this. */
struct head {
	struct journal_mark at;
	struct totals totals;
	char sum[SHA256_HEX + 1]; /* of the position's text, which begins after `len` bytes */
	size_t len;
};

/* Writes what follows the `len` bytes of a head without its closing brace. */
static size_t end_of_head(const char *head, size_t len, char out[HEAD_BYTES_MAX])
{
	char sum[SHA256_HEX + 1];
	sha256_hex(head, len, sum);
	return (size_t)snprintf(out, HEAD_BYTES_MAX, ",\"sha256\":\"%s\",\"position\":", sum);
}

static json_t *head_of(const struct journal_mark *at, const json_t *position, const char *sum)
{
	return json_pack("{s:i,s:{s:I,s:I,s:s},s:O,s:s}", "version", SNAPSHOT_VERSION, "journal",
		"offset", (json_int_t)at->offset, "lines", (json_int_t)at->lines, "chain",
		at->chain, "totals", json_object_get(position, "totals"), "position_sha256", sum);
}

/* Checksums protect the snapshot: a flipped bit would otherwise enter the journal with the next
 * step. */
int snapshot_write(const struct instance *instance, const struct position *p,
	const struct journal_mark *at, struct err *e)
{
	char sum[SHA256_HEX + 1], end[HEAD_BYTES_MAX];
	AUTO_BUF text = BUF_INIT(SNAPSHOT_BYTES_MAX), body = BUF_INIT(SNAPSHOT_BYTES_MAX);
	json_auto_t *position = position_encode(p);
	if (!position || json_write(&body, position))
		return err_set(e, "the snapshot is larger than 256 MiB");
	sha256_hex(body.data, body.len, sum);
	json_auto_t *head = head_of(at, position, sum);
	if (!head || json_write(&text, head))
		return err_set(e, "out of memory");
	buf_add(&text, end, end_of_head(text.data, --text.len, end));
	buf_add(&text, body.data, body.len);
	if (buf_adds(&text, "}\n"))
		return err_set(e, "the snapshot is larger than 256 MiB");
	return io_replace_file(instance->dir_fd, "snapshot.json", text.data, text.len, 0600, e)
		       ? err_wrap(e, "%s", instance->path)
		       : 0;
}

static bool head_members(const char *text, size_t len, struct head *out)
{
	const char *chain, *sum;
	json_int_t offset, lines;
	json_t *totals;
	int version;
	json_auto_t *all = json_read(text, len, HEAD_BYTES_MAX, NULL);
	if (!all ||
		json_unpack_ex(all, NULL, JSON_STRICT, "{s:i,s:{s:I,s:I,s:s},s:o,s:s}", "version",
			&version, "journal", "offset", &offset, "lines", &lines, "chain", &chain,
			"totals", &totals, "position_sha256", &sum) ||
		version != SNAPSHOT_VERSION || offset < 0 || lines < 0 ||
		strlen(chain) != SHA256_HEX || strlen(sum) != SHA256_HEX ||
		totals_decode(totals, &out->totals))
		return false;
	out->at = (struct journal_mark){.offset = offset, .lines = (uint64_t)lines};
	memcpy(out->at.chain, chain, sizeof(out->at.chain));
	memcpy(out->sum, sum, sizeof(out->sum));
	return true;
}

/* Decodes the head of the snapshot that begins with these `len` bytes. Returns false if it is
 * damaged. */
static bool head_decode(const char *text, size_t len, struct head *out)
{
	static const char key[] = ",\"sha256\":";
	char bare[HEAD_BYTES_MAX], end[HEAD_BYTES_MAX];
	size_t most = len < sizeof(bare) ? len : sizeof(bare);
	const char *cut = memmem(text, most, key, sizeof(key) - 1);
	if (!cut)
		return false;
	size_t head = (size_t)(cut - text), rest = end_of_head(text, head, end);
	if (rest > len - head || memcmp(cut, end, rest) != 0)
		return false;
	memcpy(bare, text, head);
	bare[head] = '}';
	out->len = head + rest;
	return head_members(bare, head + 1, out);
}

/* Reads the head. Returns false if it is damaged or there is no snapshot. */
static bool head_read(const struct instance *instance, struct head *out)
{
	char text[2 * HEAD_BYTES_MAX];
	AUTO_FD int fd = io_open_plain(instance->dir_fd, "snapshot.json", O_RDONLY, NULL);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);
	return n > 0 && head_decode(text, (size_t)n, out);
}

static json_t *body_decode(const char *text, size_t len, const struct head *head)
{
	static const char end[] = "}\n";
	char sum[SHA256_HEX + 1];
	struct json_cap cap = {SNAPSHOT_BYTES_MAX, JSON_DEPTH_MAX + 8, SIZE_MAX};
	size_t tail = sizeof(end) - 1;
	if (len < head->len + tail || memcmp(text + len - tail, end, tail) != 0)
		return NULL;
	sha256_hex(text + head->len, len - tail - head->len, sum);
	return strcmp(sum, head->sum)
		       ? NULL
		       : json_read_nested(text + head->len, len - tail - head->len, cap, NULL);
}

bool snapshot_read(const struct instance *instance, const struct machine *machine, int journal_fd,
	struct position *p, struct journal_mark *at)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	struct head h;
	if (io_read_plain(
		    instance->dir_fd, "snapshot.json", SNAPSHOT_BYTES_MAX, &text, &len, NULL) ||
		!head_decode(text, len, &h) || !journal_has(journal_fd, &h.at))
		return false;
	json_auto_t *position = body_decode(text, len, &h);
	if (!position || position_decode(machine, position, p, NULL))
		return false;
	*at = h.at;
	return true;
}

bool snapshot_totals(const struct instance *instance, int journal_fd, struct totals *totals,
	struct journal_mark *at)
{
	struct stat st;
	struct head h;
	if (fstat(journal_fd, &st) || st.st_size < HEAD_COST || !head_read(instance, &h) ||
		!journal_has(journal_fd, &h.at))
		return false;
	*totals = h.totals;
	*at = h.at;
	return true;
}

uint64_t snapshot_missed(const struct instance *instance, int journal_fd)
{
	struct head h;
	return head_read(instance, &h) && !journal_has(journal_fd, &h.at) ? h.at.lines : 0;
}
