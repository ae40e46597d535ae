#include "bundle/bundle_private.h"
#include "bundle/libarchive.h"

#include "base/io.h"
#include <string.h>

enum { PACKED_BYTES_MAX = 2 * BUNDLE_BYTES_MAX };

/* Takes a finished block from libarchive's writer. */
static la_ssize_t keep(struct archive *archive, void *out, const void *bytes, size_t len)
{
	if (!buf_add(out, bytes, len))
		return (la_ssize_t)len;
	libarchive.set_error(archive, ENOMEM, "the packed bundle is too large");
	return -1;
}

static int put_member(
	struct buf *tar, const struct bundle *bundle, const struct member *member, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (bundle_read(bundle, member->path, &text, &len, e))
		return -1;
	return tar_put(tar, member, text, len) ? err_set(e, "cannot pack %s", member->path) : 0;
}

/* Writes the machine file first, so that a reader knows it after a few bytes. */
static int put_members(struct buf *tar, const struct bundle *bundle, struct err *e)
{
	if (put_member(tar, bundle, bundle->machine, e))
		return -1;
	for (size_t i = 0; i < bundle->count; i++)
		if (&bundle->members[i] != bundle->machine &&
			put_member(tar, bundle, &bundle->members[i], e))
			return -1;
	return tar_end(tar) ? err_set(e, "cannot pack: the bundle is too large") : 0;
}

/* Compresses. zstd is not told the size: from level 10 on it takes about 50 MiB for any bundle, and
 * 90 at the highest level. */
static int compress(const struct buf *tar, struct buf *out, struct err *e)
{
	struct archive *a = libarchive.write_new();
	struct archive_entry *entry = libarchive.entry_new();
	libarchive.entry_set_filetype(entry, AE_IFREG);
	int failed = libarchive.write_set_format_raw(a) || libarchive.write_add_filter_zstd(a) ||
		     libarchive.write_set_options(a, "zstd:compression-level=9") ||
		     libarchive.write_set_bytes_in_last_block(a, 1) ||
		     libarchive.write_open(a, out, NULL, keep, NULL) ||
		     libarchive.write_header(a, entry) ||
		     libarchive.write_data(a, tar->data, tar->len) != (la_ssize_t)tar->len ||
		     libarchive.write_close(a);
	if (failed)
		err_set(e, "cannot pack: %s", libarchive.error_string(a));
	libarchive.entry_free(entry);
	libarchive.write_free(a);
	return failed ? -1 : 0;
}

int bundle_pack(const struct bundle *bundle, const char *path, struct err *e)
{
	AUTO_BUF tar = BUF_INIT(PACKED_BYTES_MAX), packed = BUF_INIT(PACKED_BYTES_MAX);
	if (libarchive_load(e) || put_members(&tar, bundle, e) || compress(&tar, &packed, e))
		return -1;
	return io_publish_file(path, packed.data, packed.len, e);
}
