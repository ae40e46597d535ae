#include "bundle/bundle_private.h"
#include "bundle/libarchive.h"

#include <locale.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Unpacks in two stages. The first decompresses into memory up to a hard limit, so that a bomb
 * costs no more than the largest honest bundle. The second reads the tar from that memory and
 * checks that nothing follows its end: an archive that two readers could read differently is
 * refused.
 */
enum {
	/* The members, three header blocks and a padding block for each, and the end. */
	TAR_BYTES_MAX = BUNDLE_BYTES_MAX + BUNDLE_MEMBERS_MAX * 4 * TAR_BLOCK + 64 * 1024,
	PACKED_CHUNK = 65536
};

static void reader_free(struct archive **archive)
{
	libarchive.read_free(*archive);
}
#define AUTO_READER __attribute__((cleanup(reader_free))) struct archive

/* libarchive converts member names through the locale; UTF-8 must stay as it is. */
struct charset {
	locale_t utf8, before;
};

static void charset_done(struct charset *charset)
{
	if (charset->utf8) {
		uselocale(charset->before);
		freelocale(charset->utf8);
	}
}

static struct charset charset_utf8(void)
{
	struct charset c = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
	if (c.utf8)
		c.before = uselocale(c.utf8);
	return c;
}

static void refuse_archive(struct intake *in, struct archive *archive, const char *what)
{
	const char *cause = libarchive.error_string(archive);
	intake_refuse(in, RULE_BUNDLE_ARCHIVE, "", "%s%s%s", what, cause ? ": " : "",
		cause ? intake_shown(in, cause) : "");
	in->full = true;
}

/* Reads the raw stream to its end. Returns false if it was refused, with a finding. */
static bool inflate(struct intake *in, struct archive *archive, struct tar *out)
{
	for (size_t room = 0;;) {
		if (out->len == room) {
			room = room ? 2 * room : PACKED_CHUNK;
			char *grown = realloc(out->bytes, room);
			if (!grown)
				return intake_refuse(in, RULE_BUNDLE_ARCHIVE, "", "out of memory"),
				       false;
			out->bytes = grown;
		}
		ssize_t n = libarchive.read_data(archive, out->bytes + out->len, room - out->len);
		if (n < 0)
			return refuse_archive(in, archive, "the compressed data is damaged"), false;
		if (!n)
			return true;
		out->len += (size_t)n;
		if (out->len > TAR_BYTES_MAX) {
			intake_refuse(in, RULE_BUNDLE_LIMIT, "",
				"unpacked, the bundle is larger than 64 MiB, the most it may have");
			in->full = true;
			return false;
		}
	}
}

static bool decompress(struct intake *in, int fd, struct tar *out)
{
	struct archive_entry *entry;
	AUTO_READER *a = libarchive.read_new();
	libarchive.read_support_filter_zstd(a);
	libarchive.read_support_format_raw(a);
	if (libarchive.read_open_fd(a, fd, PACKED_CHUNK) || libarchive.read_next_header(a, &entry))
		return refuse_archive(in, a, "this is not a packed bundle"), false;
	if (libarchive.filter_count(a) != 2) /* libarchive's own, and the given one */
		return refuse_archive(in, a, "a packed bundle is compressed once, with zstd"),
		       false;
	return inflate(in, a, out);
}

/* Returns what is wrong with an entry; NULL: it is a plain member. */
static const char *entry_problem(struct archive_entry *entry)
{
	if (libarchive.entry_mode(entry) & (S_ISUID | S_ISGID | S_ISVTX))
		return "the entry has the setuid, setgid or sticky bit";
	return libarchive.entry_filetype(entry) == AE_IFREG ? NULL
							    : "no member lies in this directory";
}

static bool take_bytes(struct intake *in, struct archive *archive, struct member *member)
{
	member->bytes = malloc(member->size + 1);
	if (!member->bytes)
		return intake_refuse(in, RULE_BUNDLE_ARCHIVE, member->path, "out of memory"), false;
	size_t len = 0;
	while (len < member->size) {
		ssize_t n = libarchive.read_data(archive, member->bytes + len, member->size - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	member->bytes[len] = '\0';
	if (len < member->size) {
		free(member->bytes);
		return refuse_archive(in, archive, "the archive is truncated"), false;
	}
	sha256_hex(member->bytes, member->size, member->sha256);
	return true;
}

/* Reports whether this is "scripts" or "scripts/x/", which other tools write for directories:
 * harmless, no members. */
static bool is_member_directory(struct archive_entry *entry, const char *path)
{
	char below[32];
	snprintf(below, sizeof(below), "%.*s/x", (int)strcspn(path, "/"), path);
	return libarchive.entry_filetype(entry) == AE_IFDIR && member_path_allowed(below) &&
	       !(libarchive.entry_mode(entry) & (S_ISUID | S_ISGID | S_ISVTX));
}

/* Returns the path byte for byte: libarchive composes decomposed names, which would be another
 * member. A directory's trailing slash is not part of its name. */
static char *entry_path(
	struct intake *in, const struct tar *tar, struct archive *archive, bool directory)
{
	char *path =
		tar_name(&in->bundle->arena, tar, (size_t)libarchive.read_header_position(archive));
	size_t len = strlen(path);
	if (directory && len && path[len - 1] == '/')
		path[len - 1] = '\0';
	return path;
}

static void take_entry(
	struct intake *in, struct archive *archive, struct archive_entry *entry, const char *path)
{
	if (!intake_path(in, path) || is_member_directory(entry, path))
		return;
	const char *problem = entry_problem(entry);
	if (!problem && !member_path_allowed(path))
		problem =
			"this is no member of a bundle: machine.yaml, README*, LICENSE*, scripts/, "
			"prompts/ and rehearsal/ are";
	if (problem) {
		intake_refuse(in, RULE_BUNDLE_ARCHIVE, path, "%s", problem);
		return;
	}
	struct member m = {.path = path,
		.source = path,
		.mode = libarchive.entry_mode(entry) & S_IXUSR ? 0755 : 0644,
		.size = (size_t)libarchive.entry_size(entry)};
	if (intake_limits(in, path, (uint64_t)libarchive.entry_size(entry)) &&
		take_bytes(in, archive, &m))
		intake_add(in, &m);
}

/* Checks that after the last member come the end mark, two blocks of zeros, and padding of
 * zeros. */
static void check_end(struct intake *in, const struct tar *tar, int64_t at)
{
	size_t from = at < 0 ? tar->len : (size_t)at;
	if (from > tar->len || tar->len - from < 2 * TAR_BLOCK ||
		!tar_is_zeros(tar, from, tar->len))
		intake_refuse(in, RULE_BUNDLE_ARCHIVE, "",
			"the archive is truncated, or has data after its end");
}

static void read_tar(struct intake *in, const struct tar *tar)
{
	enum { ENTRIES_MAX = 2 * BUNDLE_MEMBERS_MAX };
	struct archive_entry *entry;
	int got = ARCHIVE_OK;
	AUTO_READER *a = libarchive.read_new();
	libarchive.read_support_format_tar(a);
	if (libarchive.read_set_options(a, "hdrcharset=UTF-8") ||
		libarchive.read_open_memory(a, tar->bytes, tar->len)) {
		refuse_archive(in, a, "this is not a packed bundle");
		return;
	}
	for (int entries = 0; !in->full; entries++) {
		got = libarchive.read_next_header(a, &entry);
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			break;
		const char *path =
			entry_path(in, tar, a, libarchive.entry_filetype(entry) == AE_IFDIR);
		if (entries < ENTRIES_MAX && got == ARCHIVE_OK)
			take_entry(in, a, entry, path);
		else if (entries == ENTRIES_MAX || intake_path(in, path))
			refuse_archive(in, a, "the archive is not one that `machine pack` writes");
	}
	if (in->full)
		return;
	if (got != ARCHIVE_EOF)
		refuse_archive(in, a, "the archive is damaged");
	else
		check_end(in, tar, libarchive.read_header_position(a));
}

int bundle_unpack(struct intake *in, int fd, struct err *e)
{
	__attribute__((cleanup(charset_done))) struct charset charset = charset_utf8();
	struct tar tar = {0};
	if (libarchive_load(e))
		return -1;
	if (!charset.utf8)
		return err_errno(e, "the locale C.UTF-8 is missing");
	if (decompress(in, fd, &tar) && tar_check(in, &tar))
		read_tar(in, &tar);
	free(tar.bytes);
	return 0;
}
