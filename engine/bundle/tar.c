#include "bundle/inside.h"

#include <limits.h>
#include <string.h>

/* A header; POSIX.1-2001, pax(1). */
enum {
	NAME_BYTES = 100,
	MODE_AT = 100,
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

/* The size field of the header `h`: octal digits, then blanks or NULs. -1: not one. */
static int64_t header_size(const char *h)
{
	char field[SIZE_BYTES + 1] = "";
	memcpy(field, h + SIZE_AT, SIZE_BYTES);
	int64_t size = 0;
	size_t digits = strspn(field, "01234567");
	if (!digits || digits > 11 || (field[digits] && field[digits] != ' '))
		return -1;
	for (size_t i = 0; i < digits; i++)
		size = 8 * size + field[i] - '0';
	return size;
}

/* Where the header behind the one at `at` begins, whatever lies there. */
static size_t next_header(const struct tar *tar, size_t at)
{
	int64_t size = header_size(tar->bytes + at);
	return at + (size_t)(TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK);
}

/* NULL: the type of a plain file, a directory or an extended header. */
static const char *type_problem(char type)
{
	switch (type) {
	case '\0':
	case '0':
	case '5':
	case 'x': return NULL;
	case '1': return "the entry is a hard link";
	case '2': return "the entry is a symbolic link";
	case '3':
	case '4':
	case '6': return "the entry is a device or a FIFO";
	default: return "the entry is neither a file nor a directory";
	}
}

/* libarchive reads many dialects of tar, and entry types it does not know as files. Only the types
 * that `pack` and plain tars write may occur, so that every reader sees the same members. */
bool tar_check(struct intake *in, const struct tar *tar)
{
	size_t entry = 0; /* where the headers of the entry begin */
	bool plain = true;
	for (size_t at = 0; at + TAR_BLOCK <= tar->len && tar->bytes[at];) {
		const char *h = tar->bytes + at, *problem = type_problem(h[TYPE_AT]);
		if (header_size(h) < 0) {
			intake_refuse(in, RULE_BUNDLE_ARCHIVE, "", "the archive is damaged");
			in->full = true;
			return false;
		}
		if (problem)
			intake_refuse(in, RULE_BUNDLE_ARCHIVE,
				tar_name(&in->bundle->arena, tar, entry), "%s", problem);
		plain = plain && !problem;
		at = next_header(tar, at);
		entry = h[TYPE_AT] == 'x' ? entry : at;
	}
	in->full |= !plain;
	return plain;
}

/* The number at `text`, which has `len` bytes; 0: none that counts a record's bytes. */
static size_t record_length(const char *text, size_t len, size_t *digits)
{
	size_t value = 0, i = 0;
	for (; i < len && i < 9 && text[i] >= '0' && text[i] <= '9'; i++)
		value = 10 * value + (size_t)(text[i] - '0');
	*digits = i;
	return value > i && value <= len ? value : 0;
}

/* The value of the last `path` among the records "LENGTH KEY=VALUE\n"; NULL: none. */
static const char *pax_path(const char *records, size_t len, size_t *path_len)
{
	static const char key[] = " path=";
	const char *found = NULL;
	for (size_t at = 0, digits; at < len;) {
		const char *record = records + at;
		size_t total = record_length(record, len - at, &digits);
		size_t head = digits + strlen(key);
		if (!total)
			return NULL; /* libarchive refuses it, too */
		if (total > head && !memcmp(record + digits, key, strlen(key))) {
			found = record + head;
			*path_len = total - head - 1;
		}
		at += total;
	}
	return found;
}

static char *header_name(struct arena *a, const char *h)
{
	char path[PREFIX_BYTES + NAME_BYTES + 2] = "";
	bool prefixed = !memcmp(h + MAGIC_AT, "ustar", 6) && h[PREFIX_AT];
	snprintf(path, sizeof(path), "%.*s%s%.*s", prefixed ? PREFIX_BYTES : 0, h + PREFIX_AT,
		prefixed ? "/" : "", NAME_BYTES, h);
	return arena_copy(a, path, strlen(path));
}

char *tar_name(struct arena *a, const struct tar *tar, size_t at)
{
	const char *found = NULL;
	size_t found_len = 0;
	while (at + TAR_BLOCK <= tar->len && tar->bytes[at + TYPE_AT] == 'x') {
		const char *h = tar->bytes + at;
		int64_t size = header_size(h);
		if (size < 0 || (uint64_t)size > tar->len - at - TAR_BLOCK)
			return arena_copy(a, "", 0);
		size_t len;
		const char *path = pax_path(h + TAR_BLOCK, (size_t)size, &len);
		if (path) {
			found = path;
			found_len = len;
		}
		at = next_header(tar, at);
	}
	if (found) /* one that is cut short by a NUL is none */
		return arena_copy(a, found, memchr(found, 0, found_len) ? 0 : found_len);
	return at + TAR_BLOCK <= tar->len ? header_name(a, tar->bytes + at) : arena_copy(a, "", 0);
}

/* --- writing -----------------------------------------------------------------------------------
 */

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

/* A name that is long or not ASCII is carried by a record: that one is UTF-8 to every reader. */
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

int tar_put(struct buf *out, const struct member *m, const char *bytes, size_t len)
{
	return put_name(out, m->path) || put_header(out, m->path, m->mode, len, '0') ||
	       put_padded(out, bytes, len);
}

int tar_end(struct buf *out)
{
	static const char zeros[2 * TAR_BLOCK];
	return buf_add(out, zeros, sizeof(zeros));
}
