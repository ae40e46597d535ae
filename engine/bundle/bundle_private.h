/*
 * What the parts of the bundle module share: how a member gets in, whatever form it came from.
 */
#ifndef BUNDLE_BUNDLE_PRIVATE_H
#define BUNDLE_BUNDLE_PRIVATE_H
#include "base/buf.h"
#include "bundle/bundle.h"

/* A bundle while it is being read. */
struct intake {
	struct bundle *bundle;
	struct findings *findings;
	bool full;            /* a limit was crossed: nothing more is read */
	bool machine_refused; /* there is a machine file, and what is wrong with it has been said */
};

/* A finding about the entry `path` of the bundle. */
void intake_refuse(struct intake *in, enum rule rule, const char *path, const char *format, ...)
	PRINTF(4, 5);
/* A path as utf8_show has it. Lives in the arena. */
const char *intake_shown(const struct intake *in, const char *path);

/* Whether `path` ("machine.yaml", "README.md", "scripts/x") is one a bundle may hold. */
bool member_path_allowed(const char *path);
/* "machine.yaml" and its like. */
bool member_path_is_machine(const char *path);
/* The rules for every component of `path`; a breach is a finding and false. */
bool intake_path(struct intake *in, const char *path);
/* Room for one more member of `bytes`; else a finding, once, `full`, and false. */
bool intake_limits(struct intake *in, const char *path, uint64_t bytes);
/* Files it. `path` and `source` are copied; `member.bytes` is taken over. */
void intake_add(struct intake *in, const struct member *member);
/* The name of a loose bundle's machine file in the bundle's directory; lives in the arena. NULL:
 * there is none. */
const char *bundle_loose_name(const struct intake *in);
/* Sorts, finds clashes of names and the machine file, and computes the digest. */
void intake_end(struct intake *in);

/* Reads the directory `root_fd`: for a loose bundle its machine file is called `loose`, else NULL.
 */
int bundle_walk(struct intake *in, const char *loose, struct err *e);
/* An uncompressed archive. */
enum { TAR_BLOCK = 512 };
struct tar {
	char *bytes;
	size_t len;
};
/* Only plain files and directories, and of their records those that change nothing but a name, an
 * owner or times: each other entry is a finding, and so is a damaged header. */
bool tar_check(struct intake *in, const struct tar *tar);
/* The name of the entry whose headers begin at `at`, byte for byte; "" where none can be. */
char *tar_name(struct arena *arena, const struct tar *tar, size_t at);
/* Whether the bytes from `from` up to `to` are zeros. */
bool tar_is_zeros(const struct tar *tar, size_t from, size_t to);
/* Appends a member, and the end of the archive; -1: the buffer is full. Not libarchive's writer: it
 * composes names that are decomposed, or under hdrcharset=BINARY puts a record before every member
 * that GNU tar warns of; and which bytes a tree gives would hang on its version. */
int tar_put(struct buf *out, const struct member *member, const char *bytes, size_t len);
int tar_end(struct buf *out);
/* Reads the packed file `fd`. */
int bundle_unpack(struct intake *in, int fd, struct err *e);
#endif
