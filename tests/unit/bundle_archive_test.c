/*
 * Hostile archives: every packed bundle here is built byte by byte, refused with a finding, and
 * leaves nothing behind. What is honest, built the same way, is accepted.
 */
#include "base/buf.h"
#include "base/io.h"
#include "bundle/bundle.h"
#include "tests/kit/tap.h"
#include "tests/kit/tar.h"
#include "tests/kit/tree.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

static void add_machine(struct buf *tar)
{
	add(tar, &(struct entry){.name = "machine.yaml", .data = "machine: demo\n"});
}

/* --- the file */

static void write_asm(const struct buf *bytes)
{
	const char *path = tree_path(tap_scratch(), "case.asm");
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, bytes->data, bytes->len))
		bail("cannot write %s", path);
}

static enum rule first_rule;
static char first_file[600];

/* The number of errors; `first` receives the first one's text. */
static size_t open_asm(struct bundle **out, char first[600])
{
	struct findings f;
	struct err e = ERR_NONE;
	findings_init(&f);
	*out = NULL;
	if (bundle_open(tree_path(tap_scratch(), "case.asm"), &f, out, &e))
		bail("cannot open: %s", e.text);
	snprintf(first, 600, "%s", f.count ? f.items[0].message : "");
	first_rule = f.count ? f.items[0].rule : RULE_COUNT;
	snprintf(first_file, sizeof(first_file), "%s", f.count ? f.items[0].file : "");
	size_t errors = f.errors;
	findings_done(&f);
	return errors;
}

/* Counts the files beside the archive, and the archive. */
static int count_entries(void)
{
	DIR *dir = opendir(tap_scratch());
	int n = -2; /* . and .. */
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void expect_refused(const char *name)
{
	char first[600];
	struct bundle *b;
	size_t errors = open_asm(&b, first);
	bool known = first_rule == RULE_BUNDLE_ARCHIVE || first_rule == RULE_BUNDLE_NAME ||
		     first_rule == RULE_BUNDLE_LIMIT || first_rule == RULE_BUNDLE_MACHINE;
	ok(errors > 0 && known, "refused: %s (%s)", name, first);
	bundle_free(b);
	is(count_entries(), 1, "nothing is left: %s", name);
}

static void refused_tar(const char *name, struct buf *tar)
{
	AUTO_BUF packed;
	buf_init(&packed, TAR_MAX);
	compress_into(tar, &packed);
	write_asm(&packed);
	expect_refused(name);
}

static void accepted_tar(const char *name, struct buf *tar, size_t members)
{
	char first[600];
	struct bundle *b;
	AUTO_BUF packed;
	buf_init(&packed, TAR_MAX);
	compress_into(tar, &packed);
	write_asm(&packed);
	is(open_asm(&b, first), 0, "accepted: %s (%s)", name, first);
	is(b ? b->count : 0, members, "with its members: %s", name);
	bundle_free(b);
}

/* --- one bad entry beside an honest machine file */

static const struct {
	const char *why;
	struct entry entry;
} bad_entries[] = {
	{"traversal", {.name = "../x", .data = "x"}},
	{"traversal inside a folder", {.name = "scripts/../../x", .data = "x"}},
	{"traversal that comes back", {.name = "scripts/../scripts/x", .data = "x"}},
	{"an absolute path", {.name = "/etc/passwd", .data = "x"}},
	{"an absolute path into a folder", {.name = "/scripts/x", .data = "x"}},
	{"an empty component", {.name = "scripts//x", .data = "x"}},
	{"a dot component", {.name = "./scripts/x", .data = "x"}},
	{"bytes of a directory", {.name = "scripts/", .type = '5', .data = "x"}},
	{"a mode that is no number", {.name = "scripts/x", .data = "x", .mode_text = "064x"}},
	{"a trailing slash on a file", {.name = "scripts/x/", .type = '0', .data = "x"}},
	{"no name", {.name = "", .data = "x"}},
	{"an absolute symbolic link", {.name = "scripts/x", .type = '2', .link = "/etc/passwd"}},
	{"a relative symbolic link", {.name = "scripts/x", .type = '2', .link = "../machine.yaml"}},
	{"a hard link to a member", {.name = "scripts/x", .type = '1', .link = "machine.yaml"}},
	{"a hard link to the outside", {.name = "scripts/x", .type = '1', .link = "/etc/shadow"}},
	{"a hard link with data",
		{.name = "scripts/x", .type = '1', .link = "machine.yaml", .data = "x"}},
	{"a character device", {.name = "scripts/x", .type = '3'}},
	{"a block device", {.name = "scripts/x", .type = '4'}},
	{"a FIFO", {.name = "scripts/x", .type = '6'}},
	{"setuid", {.name = "scripts/x", .mode = 04755, .data = "x"}},
	{"setgid", {.name = "scripts/x", .mode = 02755, .data = "x"}},
	{"sticky", {.name = "scripts/x", .mode = 01755, .data = "x"}},
	{"a setgid directory", {.name = "scripts/d/", .type = '5', .mode = 02755}},
	{"a directory that is no member's", {.name = "README/", .type = '5', .mode = 0755}},
	{"a second machine file", {.name = "machine.json", .data = "{}"}},
	{"the same machine file again", {.name = "machine.yaml", .data = "machine: other\n"}},
	{"a broken UTF-8 name", {.name = "scripts/caf\xe9", .data = "x"}},
	{"an overlong UTF-8 name", {.name = "scripts/\xc0\xaf", .data = "x"}},
	{"a surrogate in a name", {.name = "scripts/\xed\xa0\x80", .data = "x"}},
	{"a newline in a name", {.name = "scripts/a\nb", .data = "x"}},
	{"an escape in a name", {.name = "scripts/\033[31m", .data = "x"}},
	{"a C1 control in a name", {.name = "scripts/\xc2\x9b", .data = "x"}},
	{"a backslash in a name", {.name = "scripts\\x", .data = "x"}},
	{"a backslash in a folder", {.name = "scripts/a\\..\\b", .data = "x"}},
	{"a stranger at the top", {.name = "passwd", .data = "x"}},
	{"a stranger in a folder", {.name = "etc/passwd", .data = "x"}},
	{"a repository", {.name = ".git/config", .data = "x"}},
	{"a hidden file", {.name = ".bashrc", .data = "x"}},
	{"a folder's name as a file", {.name = "scripts", .data = "x"}},
	{"README as a folder", {.name = "README/x", .data = "x"}},
	{"a machine file in a folder", {.name = "sub/machine.yaml", .data = "x"}},
	{"an old GNU sparse file", {.name = "rehearsal/x", .type = 'S', .data = "x"}},
	{"an unknown entry type", {.name = "scripts/x", .type = 'Z', .link = "y"}},
	{"a volume header", {.name = "volume", .type = 'V'}},
	{"a continued volume", {.name = "scripts/x", .type = 'M', .data = "x"}},
	{"a wrong checksum", {.name = "scripts/x", .data = "x", .bad_checksum = true}},
	{"a size that is no number", {.name = "scripts/x", .data = "x", .size = "zzzzzzzzzzz"}},
	{"a negative size", {.name = "scripts/x",
				    .data = "x",
				    .size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}},
	{"a size of two words", {.name = "scripts/x", .data = "x", .size = "1 7\0\0\0\0\0\0\0\0"}},
	{"a size beyond the end", {.name = "scripts/x", .data = "x", .size = "00000100000"}},
	{"a size of 8 GiB", {.name = "scripts/x", .data = "x", .size = "77777777777"}},
	{"a member of 16 MiB and one byte",
		{.name = "rehearsal/x", .zeros = BUNDLE_MEMBER_BYTES_MAX + 1}},
};

static void refused_entries(const char *why, const struct entry *entries, size_t count)
{
	AUTO_BUF tar;
	buf_init(&tar, TAR_MAX);
	add_machine(&tar);
	for (size_t i = 0; i < count; i++)
		add(&tar, &entries[i]);
	end(&tar);
	refused_tar(why, &tar);
}

static void test_bad_entries(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad_entries); i++)
		refused_entries(bad_entries[i].why, &bad_entries[i].entry, 1);
}

/* --- several entries */

static const struct {
	const char *why;
	struct entry entries[2];
} bad_pairs[] = {
	{"a link, then a file through it", {{.name = "scripts", .type = '2', .link = "/tmp"},
						   {.name = "scripts/x", .data = "x"}}},
	{"a file, then the same name",
		{{.name = "scripts/x", .data = "a"}, {.name = "scripts/x", .data = "b"}}},
	{"names that differ by case",
		{{.name = "scripts/X", .data = "a"}, {.name = "scripts/x", .data = "b"}}},
	{"directories that differ by case",
		{{.name = "scripts/Lib/a", .data = "a"}, {.name = "scripts/lib/b", .data = "b"}}},
	{"names that differ by case beyond ASCII",
		{{.name = "scripts/\xce\xa9", .data = "a"},
			{.name = "scripts/\xcf\x89", .data = "b"}}},
	{"a file that is a directory too",
		{{.name = "scripts/a", .data = "a"}, {.name = "scripts/a/b", .data = "b"}}},
	{"notices that differ by case",
		{{.name = "README", .data = "a"}, {.name = "READMe", .data = "b"}}},
};

static void test_bad_pairs(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad_pairs); i++)
		refused_entries(bad_pairs[i].why, bad_pairs[i].entries, 2);
}

static void test_pax(void)
{
	static const struct {
		const char *why, *key, *value;
		size_t len;
	} records[] = {{"traversal in a pax path", "path", "../x", 4},
		{"an absolute pax path", "path", "/etc/passwd", 11},
		{"a NUL in a pax path", "path", "etc/x\0y", 7},
		{"a link in a pax header", "linkpath", "/etc/passwd", 11},
		{"a sparse file", "GNU.sparse.size", "1099511627776", 13},
		{"a sparse file, version 1", "GNU.sparse.major", "1", 1},
		{"extended attributes", "SCHILY.xattr.security.capability", "x", 1},
		{"an access control list", "SCHILY.acl.access", "user::rwx,user:root:rwx", 23},
		{"a size of its own", "size", "1099511627776", 13},
		{"another reader's name", "GNU.sparse.name", "scripts/other", 13},
		{"another character set", "hdrcharset", "BINARY", 6},
		{"a record that nobody knows", "COM.example.path", "y", 1},
		{"a size that is no number", "size", "-5", 2}};
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		bool link = !strcmp(records[i].key, "linkpath");
		AUTO_BUF tar;
		buf_init(&tar, TAR_MAX);
		add_machine(&tar);
		add_pax(&tar, 'x', records[i].key, records[i].value, records[i].len);
		add(&tar, &(struct entry){.name = "scripts/x",
				  .type = link ? '2' : '0',
				  .link = "y",
				  .data = "x"});
		end(&tar);
		refused_tar(records[i].why, &tar);
	}
}

/* One finding for a row of extended headers: each is told by its entry's name, which all those
 * before it belong to, so that a file of some KiB would be told for minutes. */
static void test_row(void)
{
	enum { ROW = 1000 };
	char first[600];
	struct bundle *b;
	AUTO_BUF tar, packed;
	buf_init(&tar, TAR_MAX);
	buf_init(&packed, TAR_MAX);
	add_machine(&tar);
	for (int i = 0; i < ROW; i++)
		add(&tar, &(struct entry){.name = "PaxHeader", .type = 'x', .data = ""});
	add(&tar, &(struct entry){.name = "scripts/x", .data = "x"});
	end(&tar);
	compress_into(&tar, &packed);
	write_asm(&packed);
	is(open_asm(&b, first), 1, "%d extended headers of one entry are one error (%s)", ROW,
		first);
	bundle_free(b);
}

/* Checks hidden entries: after a header without a name of its own, or in bytes that a record
 * excludes from the member; with an unknown type, or a name that only some readers use. */
static void test_hidden(void)
{
	static const struct entry behind[] = {{.name = "scripts/x", .type = 'Z', .data = "x"},
		{.name = "scripts/x", .type = 'L', .data = "scripts/other"},
		{.name = "scripts/x", .type = 'g', .data = "22 path=scripts/other\n"}};
	AUTO_BUF old;
	buf_init(&old, TAR_MAX);
	add_machine(&old);
	add_header(&old, &(struct entry){.name = "scripts/", .type = '0'}, BLOCK + 2);
	add(&old, &(struct entry){.name = "scripts/x", .data = "x"});
	end(&old);
	refused_tar("an entry in the bytes of an old tar's directory", &old);
	for (size_t i = 0; i < 2 * ARRAY_LEN(behind); i++) {
		AUTO_BUF tar;
		buf_init(&tar, TAR_MAX);
		add_machine(&tar);
		add_pax(&tar, 'x', i % 2 ? "size" : "path", i % 2 ? "0" : "README", i % 2 ? 1 : 6);
		if (i % 2)
			add_header(&tar, &(struct entry){.name = "README"}, 2 * BLOCK);
		else
			add(&tar, &(struct entry){.name = "", .data = "x"});
		add(&tar, &behind[i / 2]);
		add(&tar, &(struct entry){.name = "scripts/y", .data = "y"});
		end(&tar);
		refused_tar(i % 2 ? "something in the bytes of another"
				  : "something behind a header without a name",
			&tar);
	}
}

/* Records that are not counted right, or not ended. */
static void test_records(void)
{
	static const char *const records[] = {"18 path=scripts/abc", "19 path=scripts/a\n",
		"020 path=scripts/ab\n", "18 path-scripts/a\n", "18 path=scripts/a\n0",
		"18 path=scripts/a\n9 path=x\n", " 18 path=scripts/a\n", "path=scripts/a\n"};
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		const struct entry entries[2] = {
			{.name = "PaxHeader", .type = 'x', .data = records[i]},
			{.name = "scripts/x", .data = "x"}};
		refused_entries(records[i], entries, 2);
	}
	static const struct entry twice[] = {
		{.name = "PaxHeader", .type = 'x', .data = "18 path=scripts/a\n"},
		{.name = "PaxHeader", .type = 'x', .data = "10 uid=12\n"},
		{.name = "scripts/x", .data = "x"}};
	refused_entries("two extended headers, of which some readers take one", twice, 3);
	refused_entries("an extended header of nothing", twice, 1);
}

static void test_long_names(void)
{
	char path[BLOCK] = "scripts/";
	AUTO_BUF tar, huge;
	buf_init(&tar, TAR_MAX);
	buf_init(&huge, TAR_MAX);
	memset(path + 8, 'n', 256);
	add_machine(&tar);
	add_pax(&tar, 'x', "path", path, 264);
	add(&tar, &(struct entry){.name = "short", .data = "x"});
	end(&tar);
	refused_tar("a name of 256 bytes", &tar);

	refused_entries("17 levels",
		&(struct entry){
			.name = "scripts/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", .data = "x"},
		1);
	const struct entry gnu[] = {
		{.name = "././@LongLink", .type = 'L', .data = "../../etc/passwd"},
		{.name = "scripts/x", .data = "x"}};
	refused_entries("traversal in a GNU long name", gnu, 2);

	AUTO_FREE char *value = calloc(1, 3 << 20);
	memset(value, 'a', 3 << 20);
	add_machine(&huge);
	add_pax(&huge, 'x', "comment", value, 3 << 20);
	add(&huge, &(struct entry){.name = "scripts/x", .data = "x"});
	end(&huge);
	refused_tar("a pax header of 3 MiB", &huge);
}

/* --- limits */

static void test_sums(void)
{
	AUTO_BUF many, large, bomb, packed;
	buf_init(&many, TAR_MAX);
	buf_init(&large, TAR_MAX);
	buf_init(&bomb, TAR_MAX);
	buf_init(&packed, TAR_MAX);
	add_machine(&many);
	for (int i = 0; i < 5000; i++) {
		char name[40];
		snprintf(name, sizeof(name), "rehearsal/f%d", i);
		add(&many, &(struct entry){.name = name});
	}
	end(&many);
	refused_tar("5,000 members", &many);

	add_machine(&large);
	for (int i = 0; i < 4; i++) {
		char name[40];
		snprintf(name, sizeof(name), "rehearsal/f%d", i);
		add(&large, &(struct entry){.name = name, .zeros = BUNDLE_MEMBER_BYTES_MAX});
	}
	end(&large);
	refused_tar("more than 64 MiB", &large);

	add_zeros(&bomb, 256 * 1024 * 1024);
	compress_into(&bomb, &packed);
	ok(packed.len < 1024 * 1024, "the bomb is small: %zu bytes", packed.len);
	write_asm(&packed);
	expect_refused("a compression bomb");
}

/* --- what is not one tar in one zstd frame */

static void honest(struct buf *tar)
{
	add_machine(tar);
	add(tar, &(struct entry){.name = "scripts/", .type = '5', .mode = 0755});
	add(tar, &(struct entry){.name = "scripts/go.sh", .mode = 0755, .data = "#!/bin/sh\n"});
	add(tar, &(struct entry){.name = "rehearsal/inner.asm",
			 .data = "an archive in an archive is bytes"});
	end(tar);
}

static void test_honest(void)
{
	AUTO_BUF tar, prefixed;
	buf_init(&tar, TAR_MAX);
	buf_init(&prefixed, TAR_MAX);
	honest(&tar);
	add_zeros(&tar, 8 * BLOCK);
	accepted_tar("an honest archive", &tar, 3);
	add_machine(&prefixed);
	add_pax(&prefixed, 'x', "path", "prompts/\xe6\x97\xa5\xe6\x9c\xac.md", 17);
	add(&prefixed, &(struct entry){.name = "short", .data = "x"});
	end(&prefixed);
	accepted_tar("a name from a pax header", &prefixed, 2);
}

/* Names come out byte for byte, wherever they stand: e and a combining acute accent is not the
 * letter that looks like it. */
static void test_names(void)
{
	static const char records[] = "20 path=scripts/e\xcc\x81\n11 mtime=1\n";
	static const char *const want[] = {"machine.yaml", "prompts/\xe2\x84\xab",
		"scripts/e\xcc\x81", "scripts/long/x", "scripts/\xc3\xa9"};
	char first[600];
	struct bundle *b;
	AUTO_BUF tar, packed;
	buf_init(&tar, TAR_MAX);
	buf_init(&packed, TAR_MAX);
	add_machine(&tar);
	add(&tar, &(struct entry){.name = "x", .type = 'x', .data = records});
	add(&tar, &(struct entry){.name = "short", .data = "a"});
	add(&tar, &(struct entry){.name = "scripts/\xc3\xa9", .data = "b"});
	add(&tar, &(struct entry){.name = "prompts/\xe2\x84\xab", .data = "c"});
	add(&tar, &(struct entry){.name = "x", .prefix = "scripts/long", .data = "d"});
	end(&tar);
	compress_into(&tar, &packed);
	write_asm(&packed);
	is(open_asm(&b, first), 0, "names beyond ASCII are accepted (%s)", first);
	is(b->count, ARRAY_LEN(want), "all of them");
	for (size_t i = 0; i < b->count && i < ARRAY_LEN(want); i++)
		is_str(b->members[i].path, want[i], "as it was written");
	bundle_free(b);
}

/* Checks that a non-member is reported by its name, and nothing else about the archive. */
static void test_named(void)
{
	static const struct {
		char type;
		const char *says;
	} rows[] = {{'1', "hard link"}, {'2', "symbolic link"}, {'3', "device"}, {'6', "FIFO"},
		{'L', "neither a file nor a directory"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char first[600];
		struct bundle *b;
		AUTO_BUF tar, packed;
		buf_init(&tar, TAR_MAX);
		buf_init(&packed, TAR_MAX);
		add_machine(&tar);
		add_pax(&tar, 'x', "path", "scripts/odd", 11);
		add(&tar, &(struct entry){.name = "y", .type = rows[i].type, .link = "z"});
		end(&tar);
		compress_into(&tar, &packed);
		write_asm(&packed);
		is(open_asm(&b, first), 1, "type %c: one finding", rows[i].type);
		ok(strstr(first, rows[i].says), "it says %s: %s", rows[i].says, first);
		ok(strstr(first_file, "case.asm/scripts/odd"), "by name: %s", first_file);
		bundle_free(b);
	}
}

static void test_twice(void)
{
	char first[600];
	struct bundle *b;
	AUTO_BUF tar, packed;
	buf_init(&tar, TAR_MAX);
	buf_init(&packed, TAR_MAX);
	add_machine(&tar);
	add_machine(&tar);
	end(&tar);
	compress_into(&tar, &packed);
	write_asm(&packed);
	is(open_asm(&b, first), 1, "a machine file that is there twice is one mistake");
	is_str(first, "the member is there twice", "and said as it is");
	bundle_free(b);
}

static void refused_bytes(const char *why, const void *bytes, size_t len)
{
	AUTO_BUF copy;
	buf_init(&copy, TAR_MAX);
	buf_add(&copy, bytes, len);
	write_asm(&copy);
	expect_refused(why);
}

static void test_cut(const struct buf *tar, const struct buf *packed)
{
	AUTO_BUF cut;
	buf_init(&cut, TAR_MAX);
	buf_add(&cut, tar->data, tar->len - 2 * BLOCK);
	refused_tar("no end mark", &cut);
	buf_add(&cut, tar->data + tar->len - BLOCK, BLOCK);
	refused_tar("half an end mark", &cut);
	buf_clear(&cut);
	buf_add(&cut, tar->data, 3 * BLOCK + 5);
	refused_tar("cut in a member", &cut);
	buf_clear(&cut);
	buf_add(&cut, tar->data, 3 * BLOCK - 100);
	refused_tar("cut in a header", &cut);
	refused_bytes("half of the compressed file", packed->data, packed->len / 2);
	refused_bytes("all but its last byte", packed->data, packed->len - 1);
	refused_bytes("nothing at all", "", 0);
}

static void test_added(const struct buf *tar, const struct buf *packed)
{
	AUTO_BUF more, other;
	buf_init(&more, TAR_MAX);
	buf_init(&other, TAR_MAX);
	buf_add(&more, tar->data, tar->len);
	buf_adds(&more, "behind the end");
	refused_tar("something behind the end mark", &more);
	buf_clear(&more);
	buf_add(&more, tar->data, tar->len);
	add(&more, &(struct entry){.name = "scripts/late.sh", .data = "x"});
	end(&more);
	refused_tar("a second archive behind the end mark", &more);
	buf_clear(&more);
	buf_add(&more, packed->data, packed->len);
	buf_adds(&more, "garbage");
	refused_bytes("garbage behind the compressed data", more.data, more.len);
	buf_clear(&more);
	buf_add(&more, packed->data, packed->len);
	compress_into(tar, &other);
	buf_add(&more, other.data, other.len);
	refused_bytes("a second compressed archive", more.data, more.len);
}

static void test_other_formats(const struct buf *tar, const struct buf *packed)
{
	static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
	static const char zip[] = "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	AUTO_BUF cpio, twice;
	buf_init(&cpio, TAR_MAX);
	buf_init(&twice, TAR_MAX);
	refused_bytes("a tar that is not compressed", tar->data, tar->len);
	refused_bytes("gzip", gzip, sizeof(gzip) - 1);
	refused_bytes("zip", zip, sizeof(zip) - 1);
	refused_bytes("text", "machine: demo\n", 14);
	buf_adds(&cpio,
		"070707000000000000100644000000000000000001000000000000000000000000130000000000"
		"0TRAILER!!!");
	buf_addc(&cpio, '\0');
	add_zeros(&cpio, 512);
	refused_tar("cpio", &cpio);
	refused_tar("compressed twice", (struct buf *)(uintptr_t)packed);
	add_zeros(&twice, 1024);
	refused_tar("an archive of nothing", &twice);
}

static void test_flipped_bytes(const struct buf *packed)
{
	size_t accepted = 0;
	AUTO_BUF copy;
	buf_init(&copy, TAR_MAX);
	char digest[BUNDLE_DIGEST_BYTES] = "", first[600];
	struct bundle *b;
	write_asm(packed);
	open_asm(&b, first);
	snprintf(digest, sizeof(digest), "%s", b->digest);
	bundle_free(b);
	for (size_t i = 0; i < packed->len; i++) {
		buf_clear(&copy);
		buf_add(&copy, packed->data, packed->len);
		copy.data[i] ^= 0x10;
		write_asm(&copy);
		size_t errors = open_asm(&b, first);
		accepted += !errors && strcmp(b->digest, digest) == 0 && b->count != 3;
		bundle_free(b);
	}
	is(accepted, 0, "no flipped byte gives another bundle with the same digest");
}

int main(void)
{
	AUTO_BUF tar, packed;
	buf_init(&tar, TAR_MAX);
	buf_init(&packed, TAR_MAX);
	honest(&tar);
	compress_into(&tar, &packed);
	test_honest();
	test_names();
	test_named();
	test_twice();
	test_bad_entries();
	test_bad_pairs();
	test_pax();
	test_row();
	test_hidden();
	test_records();
	test_long_names();
	test_sums();
	test_cut(&tar, &packed);
	test_added(&tar, &packed);
	test_other_formats(&tar, &packed);
	test_flipped_bytes(&packed);
	return tap_done();
}
