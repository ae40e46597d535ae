#include "bundle/bundle_private.h"

#include <limits.h>
#include <string.h>

/* A header; POSIX.1-2001, pax(1). */
enum {
	NAME_BYTES = 100,
	MODE_AT = 100,
	MODE_BYTES = 8,
	UID_AT = 108,
	GID_AT = 116,
	SIZE_AT = 124,
	SIZE_BYTES = 12,
	MTIME_AT = 136,
	SUM_AT = 148,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	DEVICE_AT = 329,
	PREFIX_AT = 345,
	PREFIX_BYTES = 155
};

/* Returns the number in `width` bytes at `field`: octal digits, then blanks or NULs. -1: there is
 * none. */
static int64_t field_number(const char *field, size_t width)
{
	int64_t value = 0;
	size_t digits = 0, end;
	for (; digits + 1 < width && field[digits] >= '0' && field[digits] <= '7'; digits++)
		value = 8 * value + field[digits] - '0';
	for (end = digits; end < width && (!field[end] || field[end] == ' ');)
		end++;
	return digits && end == width ? value : -1;
}

static int64_t header_size(const char *h)
{
	return field_number(h + SIZE_AT, SIZE_BYTES);
}

/* Returns where the header after the one at `at` begins. */
static size_t next_header(const struct tar *tar, size_t at)
{
	int64_t size = header_size(tar->bytes + at);
	return at + (size_t)(TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK);
}

/* "LENGTH KEY=VALUE\n" of an extended header; the length counts all of it. */
struct tar_record {
	const char *key, *value;
	size_t key_len, value_len;
};

/* Reads the record at the start of `text`, which has `len` bytes. Returns its length; 0: there is
 * none. */
static size_t read_record(const char *text, size_t len, struct tar_record *out)
{
	size_t total = 0, i = 0;
	for (; i < len && i < 9 && text[i] >= '0' && text[i] <= '9'; i++)
		total = 10 * total + (size_t)(text[i] - '0');
	if (!i || text[0] == '0' || total > len || total < i + 2 || text[i] != ' ' ||
		text[total - 1] != '\n')
		return 0;
	out->key = text + i + 1;
	out->value = memchr(out->key, '=', total - i - 2);
	if (!out->value)
		return 0;
	out->key_len = (size_t)(out->value++ - out->key);
	out->value_len = (size_t)(text + total - 1 - out->value);
	return total;
}

static bool is_key(const struct tar_record *record, const char *key)
{
	return record->key_len == strlen(key) && !memcmp(record->key, key, record->key_len);
}

/* Reports whether a record is about a name, an owner or times. Only some readers understand others,
 * such as a member's size, its holes or another name. */
static bool record_allowed(const struct tar_record *record)
{
	static const char *const keys[] = {"path", "uid", "gid", "uname", "gname", "atime", "ctime",
		"mtime", "comment", "LIBARCHIVE.creationtime"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (is_key(record, keys[i]))
			return !memchr(record->value, 0, record->value_len);
	return false;
}

/* Returns what is wrong with the `len` bytes of records; NULL: every reader takes them alike. */
static const char *records_problem(const char *records, size_t len)
{
	struct tar_record r;
	for (size_t at = 0, step; at < len; at += step) {
		step = read_record(records + at, len - at, &r);
		if (!step)
			return "the entry's extended header is damaged";
		if (!record_allowed(&r))
			return "the entry carries more than a name, an owner and times";
	}
	return NULL;
}

/* Returns what is wrong with a header of records at `at`; NULL: it belongs to the entry that begins
 * there. */
static const char *records_header_problem(const struct tar *tar, size_t entry, size_t at)
{
	uint64_t size = (uint64_t)header_size(tar->bytes + at), room = tar->len - at - TAR_BLOCK;
	if (at != entry)
		return "the entry has two extended headers";
	if (size > room)
		return "the archive is truncated";
	return records_problem(tar->bytes + at + TAR_BLOCK, (size_t)size);
}

/* Returns what is wrong with the header at `at`, of the entry that begins at `entry`; NULL: it is a
 * plain file, a directory or records. */
static const char *header_problem(
	struct arena *arena, const struct tar *tar, size_t entry, size_t at)
{
	const char *h = tar->bytes + at, *name;
	switch (h[TYPE_AT]) {
	case '\0':
	case '0':
	case '5': /* old tars mark a directory only by its name */
		name = tar_name(arena, tar, entry);
		return header_size(
			       h) && (h[TYPE_AT] == '5' || (*name && name[strlen(name) - 1] == '/'))
			       ? "the entry is a directory that holds bytes"
			       : NULL;
	case 'x': return records_header_problem(tar, entry, at);
	case '1': return "the entry is a hard link";
	case '2': return "the entry is a symbolic link";
	case '3':
	case '4':
	case '6': return "the entry is a device or a FIFO";
	default: return "the entry is neither a file nor a directory";
	}
}

bool tar_is_zeros(const struct tar *tar, size_t from, size_t to)
{
	while (from < to && !tar->bytes[from])
		from++;
	return from >= to;
}

/* Refuses an archive with more than `pack` and plain tars write: libarchive reads many dialects of
 * tar, and entry types it does not know as files, so other readers could see other members. */
bool tar_check(struct intake *in, const struct tar *tar)
{
	struct arena *a = &in->bundle->arena;
	size_t entry = 0, at = 0; /* the beginning of its headers, and the current one */
	bool plain = true, damaged = false;
	while (at + TAR_BLOCK <= tar->len && !tar_is_zeros(tar, at, at + TAR_BLOCK)) {
		const char *h = tar->bytes + at, *problem;
		damaged = header_size(h) < 0 || field_number(h + MODE_AT, MODE_BYTES) < 0;
		if (damaged)
			break;
		problem = header_problem(a, tar, entry, at);
		if (problem)
			intake_refuse(
				in, RULE_BUNDLE_ARCHIVE, tar_name(a, tar, entry), "%s", problem);
		plain = plain && !problem;
		if (problem && at != entry)
			break; /* naming each of many headers would take quadratic time */
		at = next_header(tar, at);
		entry = h[TYPE_AT] == 'x' ? entry : at;
	}
	if (damaged || (plain && entry != at))
		intake_refuse(in, RULE_BUNDLE_ARCHIVE, "", "the archive is damaged");
	plain = plain && !damaged && entry == at;
	in->full |= !plain;
	return plain;
}

/* Returns the value of the last `path` among the records; NULL: there is none. */
static const char *pax_path(const char *records, size_t len, size_t *path_len)
{
	const char *found = NULL;
	struct tar_record r;
	for (size_t at = 0, step; (step = read_record(records + at, len - at, &r)); at += step)
		if (is_key(&r, "path")) {
			found = r.value;
			*path_len = r.value_len;
		}
	return found;
}

static char *header_name(struct arena *arena, const char *h)
{
	char path[PREFIX_BYTES + NAME_BYTES + 2] = "";
	bool prefixed = !memcmp(h + MAGIC_AT, "ustar", 6) && h[PREFIX_AT];
	snprintf(path, sizeof(path), "%.*s%s%.*s", prefixed ? PREFIX_BYTES : 0, h + PREFIX_AT,
		prefixed ? "/" : "", NAME_BYTES, h);
	return arena_copy(arena, path, strlen(path));
}

char *tar_name(struct arena *arena, const struct tar *tar, size_t at)
{
	const char *found = NULL;
	size_t found_len = 0;
	while (at + TAR_BLOCK <= tar->len && tar->bytes[at + TYPE_AT] == 'x') {
		const char *h = tar->bytes + at;
		int64_t size = header_size(h);
		if (size < 0 || (uint64_t)size > tar->len - at - TAR_BLOCK)
			return arena_copy(arena, "", 0);
		size_t len;
		const char *path = pax_path(h + TAR_BLOCK, (size_t)size, &len);
		if (path) {
			found = path;
			found_len = len;
		}
		at = next_header(tar, at);
	}
	if (found)
		return arena_copy(arena, found, found_len);
	return at + TAR_BLOCK <= tar->len ? header_name(arena, tar->bytes + at)
					  : arena_copy(arena, "", 0);
}

/* --- writing ---------------------------------------------------------------------------------- */

static int put_padded(struct buf *out, const char *bytes, size_t len)
{
	static const char zeros[TAR_BLOCK];
	return buf_add(out, bytes, len) ||
	       buf_add(out, zeros, (TAR_BLOCK - len % TAR_BLOCK) % TAR_BLOCK);
}

static int put_header(struct buf *out, const char *name, unsigned mode, size_t size, char type)
{
	static const char magic[8] = {'u', 's', 't', 'a', 'r', '\0', '0', '0'};
	char h[TAR_BLOCK + 1] = "";
	unsigned sum = 0;
	memcpy(h, name, strnlen(name, NAME_BYTES));
	snprintf(h + MODE_AT, 8, "%06o ", mode);
	snprintf(h + UID_AT, 8, "%06o ", 0);
	snprintf(h + GID_AT, 8, "%06o ", 0);
	snprintf(h + SIZE_AT, SIZE_BYTES + 1, "%011zo ", size);
	snprintf(h + MTIME_AT, SIZE_BYTES + 1, "%011o ", 0);
	memset(h + SUM_AT, ' ', 8);
	h[TYPE_AT] = type;
	memcpy(h + MAGIC_AT, magic, sizeof(magic));
	snprintf(h + DEVICE_AT, 8, "%06o ", 0);
	snprintf(h + DEVICE_AT + 8, 8, "%06o ", 0);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + SUM_AT, 7, "%06o", sum);
	return buf_add(out, h, TAR_BLOCK);
}

/* Writes a long or non-ASCII name in a record, which every reader takes for UTF-8. */
static int put_name(struct buf *out, const char *path)
{
	char record[PATH_MAX + 32];
	size_t len = strlen(path), body = len + strlen(" path=\n"), digits = 1;
	bool plain = len <= NAME_BYTES;
	for (size_t i = 0; i < len; i++)
		plain = plain && !((unsigned char)path[i] & 0x80);
	if (plain)
		return 0;
	while ((size_t)snprintf(NULL, 0, "%zu", body + digits) > digits)
		digits++; /* a record's length counts its own digits */
	int n = snprintf(record, sizeof(record), "%zu path=%s\n", body + digits, path);
	return put_header(out, "PaxHeader", 0644, (size_t)n, 'x') ||
	       put_padded(out, record, (size_t)n);
}

int tar_put(struct buf *out, const struct member *member, const char *bytes, size_t len)
{
	return put_name(out, member->path) ||
	       put_header(out, member->path, member->mode, len, '0') || put_padded(out, bytes, len);
}

int tar_end(struct buf *out)
{
	static const char zeros[2 * TAR_BLOCK];
	return buf_add(out, zeros, sizeof(zeros));
}
