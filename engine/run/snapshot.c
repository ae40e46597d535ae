#include "run/snapshot.h"

#include "base/io.h"
#include "base/json.h"
#include "base/sha256.h"

#include <string.h>
#include <sys/stat.h>

/* To decode a byte of it costs as much as to read so many of the journal's. */
enum { SNAPSHOT_BYTES_MAX = 256 * 1024 * 1024, SNAPSHOT_COST = 16 };

/* Of the place in the journal and what stood there: a bit that fell over would go into the journal
 * with the next step. */
static void seal(const struct journal_mark *at, const json_t *position, char out[SHA256_HEX + 1])
{
	AUTO_BUF text;
	struct sha256 hash;
	buf_init(&text, SNAPSHOT_BYTES_MAX);
	json_write(&text, position);
	sha256_init(&hash);
	sha256_add(&hash, at->chain, SHA256_HEX);
	sha256_add(&hash, text.data, text.len);
	sha256_end_hex(&hash, out);
}

int snapshot_write(const struct instance *i, const struct position *p,
	const struct journal_mark *at, struct err *e)
{
	json_auto_t *position = position_encode(p);
	char sum[SHA256_HEX + 1];
	seal(at, position, sum);
	json_auto_t *all = json_pack("{s:i,s:{s:I,s:I,s:s},s:O,s:s}", "version", 2, "journal",
		"offset", (json_int_t)at->offset, "lines", (json_int_t)at->lines, "chain",
		at->chain, "position", position, "sha256", sum);
	AUTO_BUF text;
	buf_init(&text, SNAPSHOT_BYTES_MAX);
	if (!all || json_write(&text, all) || buf_addc(&text, '\n'))
		return err_set(e, "the snapshot is larger than 256 MiB");
	return io_replace_file(i->dir_fd, "snapshot.json", text.data, text.len, 0600, e);
}

/* The whole document, which owns `*position`; NULL: it is missing, damaged or larger than
 * `bytes_max`. */
static json_t *load(
	const struct instance *i, size_t bytes_max, struct journal_mark *at, json_t **position)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	if (io_read_file(i->dir_fd, "snapshot.json", bytes_max, &text, &len, NULL))
		return NULL;
	struct json_cap cap = {SNAPSHOT_BYTES_MAX, JSON_DEPTH_MAX + 8, SIZE_MAX};
	json_t *all = json_read_nested(text, len, cap, NULL);
	const char *chain, *sum;
	char wanted[SHA256_HEX + 1];
	json_int_t offset, lines;
	int version;
	if (!all ||
		json_unpack_ex(all, NULL, JSON_STRICT, "{s:i,s:{s:I,s:I,s:s},s:o,s:s}", "version",
			&version, "journal", "offset", &offset, "lines", &lines, "chain", &chain,
			"position", position, "sha256", &sum) ||
		version != 2 || offset < 0 || lines < 0 || strlen(chain) != SHA256_HEX) {
		json_decref(all);
		return NULL;
	}
	*at = (struct journal_mark){.offset = offset, .lines = (uint64_t)lines};
	memcpy(at->chain, chain, sizeof(at->chain));
	seal(at, *position, wanted);
	if (!strcmp(sum, wanted))
		return all;
	json_decref(all);
	return NULL;
}

bool snapshot_read(const struct instance *i, const struct machine *m, int journal_fd,
	struct position *p, struct journal_mark *at)
{
	struct journal_mark mark;
	json_t *position;
	json_auto_t *all = load(i, SNAPSHOT_BYTES_MAX, &mark, &position);
	if (!all || !journal_has(journal_fd, &mark) || position_decode(m, position, p, NULL))
		return false;
	*at = mark;
	return true;
}

bool snapshot_totals(
	const struct instance *i, int journal_fd, struct totals *totals, struct journal_mark *at)
{
	struct journal_mark mark;
	struct stat st;
	json_t *position;
	if (fstat(journal_fd, &st))
		return false;
	json_auto_t *all = load(i, (size_t)st.st_size / SNAPSHOT_COST, &mark, &position);
	if (!all || !journal_has(journal_fd, &mark) ||
		totals_decode(json_object_get(position, "totals"), totals))
		return false;
	*at = mark;
	return true;
}

uint64_t snapshot_missed(const struct instance *i, int journal_fd)
{
	struct journal_mark mark;
	json_t *position;
	json_auto_t *all = load(i, SNAPSHOT_BYTES_MAX, &mark, &position);
	return all && !journal_has(journal_fd, &mark) ? mark.lines : 0;
}
