/*
 * A bundle: one machine file and the helper files that its states name, opened and confined.
 *
 * It has three equivalent forms: a packed `NAME.asm`, a directory holding `machine.yaml` (`.yml`,
 * `.json`, `.toml`), and a loose `DIR/NAME.asm.yaml` with `scripts/`, `prompts/` and `rehearsal/`
 * beside it. Members have the same paths in all of them (the machine file is always `machine.EXT`),
 * so the digest is the same too. Opening reads and hashes every member through directory
 * descriptors (openat2 beneath the root). Later reads compare with those hashes, so a file that was
 * swapped meanwhile is an error and never runs.
 */
#ifndef BUNDLE_BUNDLE_H
#define BUNDLE_BUNDLE_H
#include "base/err.h"
#include "base/sha256.h"
#include "schema/finding.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	BUNDLE_MEMBERS_MAX = 4096,
	BUNDLE_MEMBER_BYTES_MAX = 16 * 1024 * 1024,
	BUNDLE_BYTES_MAX = 64 * 1024 * 1024,
	BUNDLE_DEPTH_MAX = 16,
	BUNDLE_DIGEST_BYTES = 7 + SHA256_HEX + 1
};

/* The folders of a bundle's members, and the possible names of its machine file. */
enum { BUNDLE_FOLDERS = 3, BUNDLE_MACHINES = 4 };
extern const char *const bundle_folders[BUNDLE_FOLDERS];
extern const char *const bundle_machines[BUNDLE_MACHINES];

/* An entry that is no member, because a finding reports a problem with it. */
struct refused {
	/* "scripts" stands for everything below it, "" for everything that was not read. */
	const char *path;
	const struct refused *next;
};

enum bundle_form { BUNDLE_PACKED, BUNDLE_DIRECTORY, BUNDLE_LOOSE };

struct member {
	const char *path;   /* "machine.yaml", "scripts/fetch.sh" */
	const char *source; /* its place below the root: differs for a loose machine file */
	mode_t mode;        /* 0644 or 0755 */
	size_t size;
	char sha256[SHA256_HEX + 1];
	/* Its content, if packed, or a machine file that nobody has taken yet; else NULL. */
	char *bytes;
};

struct bundle {
	enum bundle_form form;
	int root_fd;            /* the directory of the members; -1: packed */
	const char *named;      /* as the caller named it */
	const char *root;       /* absolute path of that directory, or of the packed file */
	struct member *members; /* sorted by path, bytewise */
	size_t count, room;
	uint64_t bytes;
	const struct refused *refused;
	const struct member *machine;
	const char *machine_label;        /* the machine file's name in findings */
	char digest[BUNDLE_DIGEST_BYTES]; /* "sha256:HEX" */
	struct arena arena;
};

/* Opens `path` (relative to the working directory). Every breach of the confinement rules becomes a
 * finding; returns -1 only if there is no bundle. A bundle with an error among the findings is
 * still returned, for reports, and must not be run. */
int bundle_open(const char *path, struct findings *findings, struct bundle **out, struct err *e);
void bundle_free(struct bundle *bundle);

const struct member *bundle_member(const struct bundle *bundle, const char *path);
/* Reads a member and compares it with its hash at opening. Returns 0 and NUL-terminated heap text
 * that the caller frees. Fails if there is no such member or it has changed. */
int bundle_read(
	const struct bundle *bundle, const char *path, char **text, size_t *len, struct err *e);
/* Does the same for the machine file, without reading and hashing it twice: the first call takes
 * over the bytes that were hashed at opening. */
int bundle_take_machine(struct bundle *bundle, char **text, size_t *len, struct err *e);
/* Implements struct member_files' `read` (machine/machine.h); ctx is the bundle. */
int bundle_read_member(void *bundle, const char *path, char **text, size_t *len, bool *executable);

/* Writes the members to the new directory `name` in `dir_fd`: files 0444 or 0555, directories 0755,
 * synced, then renamed into place, so that it exists whole or not at all. An existing `name` is an
 * error (EEXIST in e->number). */
int bundle_install(const struct bundle *bundle, int dir_fd, const char *name, struct err *e);

/* Writes the packed form to `path` (replaced in one step): a pax tar, zstd-compressed. The same
 * members and libzstd give the same bytes. */
int bundle_pack(const struct bundle *bundle, const char *path, struct err *e);

/* Checks that the bundle is as it was reviewed: a loose or directory bundle inside a git repository
 * must have no uncommitted or ignored file. Returns 0 if it is committed, not in a repository, or
 * packed; -1 if it is not committed, or git could not tell. The message names the first such files.
 * Runs git with everything that a poisoned repository could execute switched off, in jails of
 * `profile` (NULL: this host's). */
int bundle_check_committed(const struct bundle *bundle, const char *profile, struct err *e);
#endif
