#include "bundle/bundle.h"

#include "base/buf.h"
#include "base/io.h"
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <string.h>

enum { PACKED_BYTES_MAX = 2 * BUNDLE_BYTES_MAX };

/* libarchive's writer calls it with each finished block. */
static la_ssize_t keep(struct archive *a, void *out, const void *bytes, size_t len)
{
	if (!buf_add(out, bytes, len))
		return (la_ssize_t)len;
	archive_set_error(a, ENOMEM, "the packed bundle is too large");
	return -1;
}

static int put_member(
	struct archive *a, const struct bundle *b, const struct member *m, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (bundle_read(b, m->path, &text, &len, e))
		return -1;
	struct archive_entry *entry = archive_entry_new();
	archive_entry_update_pathname_utf8(entry, m->path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, m->mode);
	archive_entry_set_size(entry, (la_int64_t)len);
	archive_entry_set_mtime(entry, 0, 0);
	bool bad = archive_write_header(a, entry) != ARCHIVE_OK ||
		   archive_write_data(a, text, len) != (la_ssize_t)len;
	archive_entry_free(entry);
	return bad ? err_set(e, "cannot pack %s: %s", m->path, archive_error_string(a)) : 0;
}

/* The machine file comes first, so that a reader knows after a few bytes what it holds. */
static int put_members(struct archive *a, const struct bundle *b, struct err *e)
{
	if (put_member(a, b, b->machine, e))
		return -1;
	for (size_t i = 0; i < b->count; i++)
		if (&b->members[i] != b->machine && put_member(a, b, &b->members[i], e))
			return -1;
	return archive_write_close(a) ? err_set(e, "cannot pack: %s", archive_error_string(a)) : 0;
}

static int pack_into(const struct bundle *b, struct buf *out, struct err *e)
{
	struct archive *a = archive_write_new();
	int failed = archive_write_set_format_pax_restricted(a) ||
		     archive_write_add_filter_zstd(a) ||
		     archive_write_set_options(a, "zstd:compression-level=19,hdrcharset=UTF-8") ||
		     archive_write_set_bytes_in_last_block(a, 1) ||
		     archive_write_open(a, out, NULL, keep, NULL);
	if (failed)
		err_set(e, "cannot pack: %s", archive_error_string(a));
	else
		failed = put_members(a, b, e);
	archive_write_free(a);
	return failed ? -1 : 0;
}

int bundle_pack(const struct bundle *b, const char *path, struct err *e)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	AUTO_FD int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return err_errno(e, "cannot open %s", dir);
	AUTO_BUF packed;
	buf_init(&packed, PACKED_BYTES_MAX);
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		return err_errno(e, "the locale C.UTF-8 is missing");
	locale_t before = uselocale(utf8);
	int failed = pack_into(b, &packed, e);
	uselocale(before);
	freelocale(utf8);
	return failed ? -1 : io_replace_file(dir_fd, base, packed.data, packed.len, 0644, e);
}
