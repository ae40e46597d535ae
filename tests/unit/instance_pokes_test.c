/* The queue of pokes as files: what is a poke, what is none, and what only cannot be read now. */
#include "base/cleanup.h"
#include "instance/pokes.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define FORMER "00000000000000000000-00000000.json"
#define FIRST  "00000000000000000001-00000000.json"
#define SECOND "00000000000000000002-00000000.json"

static int refusal; /* what each read fails with; 0: none does */

ssize_t read(int fd, void *into, size_t len)
{
	errno = refusal;
	return refusal ? -1 : syscall(SYS_read, fd, into, len);
}

static bool taken; /* somebody is quicker each time a file is renamed */

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (taken)
		unlinkat(from_fd, from, 0);
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

static bool cut_short; /* a listing ends in an error */

struct dirent *readdir(DIR *dir)
{
	const struct dirent64 *next = readdir64(dir);
	errno = cut_short ? EIO : errno;
	return cut_short ? NULL : (struct dirent *)(uintptr_t)next;
}

static char name[POSITION_NAME_BYTES], bad[POSITION_NAME_BYTES];
static struct err e;

static int first(const struct instance *instance)
{
	json_t *payload = NULL;
	e = ERR_NONE;
	int found = pokes_first(instance, name, &payload, bad, &e);
	json_decref(payload);
	return found;
}

static void set_aside(const struct instance *instance)
{
	tree_file(instance->path, "pokes/" FIRST, "{\"mess", 0600);
	tree_file(instance->path, "pokes/" SECOND, "{\"message\":\"x\"}", 0600);
	is(first(instance), 1, "behind what is no poke comes one");
	is_str(name, SECOND, "which is named");
	is_str(bad, FIRST, "as is the other");
	ok(!faccessat(instance->dir_fd, "pokes/" FIRST ".bad", F_OK, 0),
		"which is kept under its name");
	tree_link(instance->path, "pokes/" FIRST, "nowhere");
	is(first(instance), 1, "nor is a link that leads nowhere");
	is_str(bad, FIRST, "and named");
	tree_link(instance->path, "pokes/" FIRST, FIRST);
	is(first(instance), 1, "nor one that leads to itself");
	is(mkdirat(instance->dir_fd, "pokes/" FORMER, 0700), 0, "a directory of that name");
	is(first(instance), 1, "is none");
	is_str(bad, FORMER, "and set aside");
	is(unlinkat(instance->dir_fd, "pokes/" FORMER ".bad", AT_REMOVEDIR), 0, "as it is");
	is(mknodat(instance->dir_fd, "pokes/" FORMER, S_IFSOCK | 0600, 0), 0, "a socket");
	is(first(instance), 1, "is none");
	is_str(bad, FORMER, "and set aside");
}

/* A disk that fails, or a host that is short of something, makes no poke a bad one. */
static void unread(const struct instance *instance)
{
	refusal = EIO;
	is(first(instance), -1, "a poke that cannot be read is an error");
	has_str(e.text, SECOND, "which names it");
	refusal = 0;
	is(first(instance), 1, "and it is still there");
	is_str(name, SECOND, "as it was");
	is_str(bad, "", "and none was set aside");
	tree_file(instance->path, "pokes/" FORMER, "{}", 0600);
	refusal = EACCES;
	first(instance);
	refusal = 0;
	ok(!faccessat(instance->dir_fd, "pokes/" FORMER ".bad", F_OK, 0),
		"what nobody may read is");
	tree_file(instance->path, "pokes/" SECOND, "{\"message\":\"x\"}", 0600);
}

static void listed(const struct instance *instance)
{
	cut_short = true;
	is(first(instance), -1, "a listing that breaks off is no empty queue");
	has_str(e.text, "cannot list", "which is said");
	cut_short = false;
	tree_file(instance->path, "pokes/" FIRST, "{\"mess", 0600);
	taken = true;
	is(first(instance), 1, "what somebody takes away meanwhile is none, and no error");
	is_str(name, SECOND, "and the next one comes");
	taken = false;
}

/* A journal says which one is to go, and may have come from elsewhere. */
static void removed(const struct instance *instance)
{
	tree_file(instance->path, "kept", "x", 0600);
	is(pokes_remove(instance, "../kept", &e), 0, "what is no poke's name is of none");
	ok(!faccessat(instance->dir_fd, "kept", F_OK, 0), "and nothing is removed for it");
	mkdirat(instance->dir_fd, "pokes/00000000000000000001-", 0700);
	tree_file(instance->path, "pokes/00000000000000000001-/1234567.json", "x", 0600);
	is(pokes_remove(instance, "00000000000000000001-/1234567.json", &e), 0,
		"nor is one with a slash");
	ok(!faccessat(instance->dir_fd, "pokes/00000000000000000001-/1234567.json", F_OK, 0),
		"nothing is removed for that either");
	is(pokes_remove(instance, SECOND, &e), 0, "a poke");
	ok(faccessat(instance->dir_fd, "pokes/" SECOND, F_OK, 0), "is removed");
}

int main(void)
{
	AUTO_FREE char *dir = strdup(tap_scratch());
	struct instance i = {.path = dir,
		.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.lock_fd = -1};
	if (pokes_init(&i, &e))
		bail("%s", e.text);
	set_aside(&i);
	unread(&i);
	listed(&i);
	removed(&i);
	own_close(&i.dir_fd);
	return tap_done();
}
