/*
 * The parts of the bundle module that its files share: how a member is taken in, from any form.
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
	bool machine_refused; /* there is a machine file, and its error has been reported */
};

/* Adds a finding about the entry `path` of the bundle. */
void intake_refuse(struct intake *in, enum rule rule, const char *path, const char *format, ...)
	PRINTF(4, 5);
/* Returns a path as utf8_show writes it, in the arena. */
const char *intake_shown(const struct intake *in, const char *path);

/* Reports whether a bundle may hold `path` ("machine.yaml", "README.md", "scripts/x"). */
bool member_path_allowed(const char *path);
/* Reports whether this is "machine.yaml" or one of its other forms. */
bool member_path_is_machine(const char *path);
/* Checks every component of `path` by the rules; returns false with a finding for a breach. */
bool intake_path(struct intake *in, const char *path);
/* Checks that there is room for one more member of `bytes`. If not: a finding, once, sets `full`,
 * and returns false. */
bool intake_limits(struct intake *in, const char *path, uint64_t bytes);
/* Adds a member. `path` and `source` are copied; `member.bytes` is taken over. */
void intake_add(struct intake *in, const struct member *member);
/* Returns the name of a loose bundle's machine file in the bundle's directory, in the arena. NULL:
 * there is none. */
const char *bundle_loose_name(const struct intake *in);
/* Ends the intake: sorts, finds clashes of names and the machine file, and computes the digest. */
void intake_end(struct intake *in);

/* Reads the directory `root_fd`. `loose` is the name of a loose bundle's machine file, else
 * NULL. */
int bundle_walk(struct intake *in, const char *loose, struct err *e);
/* An uncompressed archive. */
enum { TAR_BLOCK = 512 };
struct tar {
	char *bytes;
	size_t len;
};
/* Checks the archive. Every entry that is not a plain file or directory is a finding; so is a
 * record that changes more than a name, an owner or times, and a damaged header. */
bool tar_check(struct intake *in, const struct tar *tar);
/* Returns the name of the entry whose headers begin at `at`, byte for byte; "" if there can be
 * none. */
char *tar_name(struct arena *arena, const struct tar *tar, size_t at);
/* Reports whether the bytes from `from` up to `to` are zeros. */
bool tar_is_zeros(const struct tar *tar, size_t from, size_t to);
/* Append a member, and the end of the archive; -1: the buffer is full. libarchive's writer is not
 * used: it composes decomposed names, or, under hdrcharset=BINARY, writes a record before every
 * member of which GNU tar warns; and its bytes depend on its version. */
int tar_put(struct buf *out, const struct member *member, const char *bytes, size_t len);
int tar_end(struct buf *out);
/* Reads the packed file `fd`. */
int bundle_unpack(struct intake *in, int fd, struct err *e);
#endif
