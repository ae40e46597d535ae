/*
 * Every ioctl on every descriptor that a command can come by (attacks/ioctls.c), outside as an
 * ordinary user and then in jails: what the table below names is refused on every descriptor, and
 * nothing succeeds inside that does not outside.
 */
#include "base/io.h"
#include "tests/kit/tap.h"
#include "tests/security/attacks/attack.h"
#include "tests/security/attacks/decoy_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { KIND_BYTES = 32, ANSWERS_MAX = 1000000 };

/* request, mask of the bits that count, what it would do */
#define REFUSED(X)                                                                                 \
	X(0x5412, ~0u, "TIOCSTI: type for the user")                                               \
	X(0x541c, ~0u, "TIOCLINUX: paste into the console")                                        \
	X(0x541d, ~0u, "TIOCCONS: take the console's messages")                                    \
	X(0x5423, ~0u, "TIOCSETD: load a line discipline")                                         \
	X(0x540e, ~0u, "TIOCSCTTY: take the terminal")                                             \
	X(0x540c, ~0u, "TIOCEXCL: lock others out of the terminal")                                \
	X(0x4b00, 0xffffff00, "KD*: change what the console's keys say")                           \
	X(0x5600, 0xffffff00, "VT_*: switch or lock consoles")                                     \
	X(0x40086602, ~0u, "FS_IOC_SETFLAGS: make a file immutable")                               \
	X(0x40046602, ~0u, "its 32-bit form")                                                      \
	X(0x401c5820, ~0u, "FS_IOC_FSSETXATTR: the same by another way")                           \
	X(0xc0506617, ~0u, "FS_IOC_ADD_ENCRYPTION_KEY: leave keys of the user's behind")           \
	X(0xc0406618, ~0u, "FS_IOC_REMOVE_ENCRYPTION_KEY: lock the user's encrypted files")        \
	X(0x50009400, 0xffffff00, "BTRFS_IOC_*: show in a snapshot what is hidden")                \
	X(0x4008941a, ~0u, "BTRFS_IOC_SUBVOL_SETFLAGS: make what cannot be removed")               \
	X(0x4020bc10, ~1u, "BCH_IOCTL_SUBVOLUME_*: a snapshot by another file system")             \
	X(0x400454ca, ~0u, "TUNSETIFF: make a network device")                                     \
	X(0x4c00, 0xffffff00, "LOOP_*: attach a file to a device")                                 \
	X(0x8940, ~1u, "SIOC[GS]IFBR: have the bridge module loaded")                              \
	X(0x89a0, ~3u, "SIOCBR*: change a bridge")                                                 \
	X(0x8982, ~1u, "SIOC[GS]IFVLAN: have the VLAN module loaded")

static const struct refused {
	unsigned request, mask;
	const char *what;
} refused[] = {
#define REFUSED_ROW(request, mask, what) {request, mask, what},
	REFUSED(REFUSED_ROW)};

struct answer {
	char kind[KIND_BYTES];
	unsigned long request;
	int number; /* errno, 0: success */
};

struct sweep {
	struct answer *answers;
	size_t count;
	int exit;
};

static struct sweep read_answers(const struct decoy *decoy, int code)
{
	struct sweep s = {.answers = calloc(ANSWERS_MAX, sizeof(*s.answers)), .exit = code};
	AUTO_FREE char *path = NULL, *text = NULL;
	if (!s.answers || asprintf(&path, "%s/ioctls", decoy->workspace) < 0)
		bail("out of memory");
	if (io_read_file(AT_FDCWD, path, 16 << 20, &text, NULL, NULL))
		return s;
	/* Line by line: sscanf measures all that it is given. */
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (s.count == ANSWERS_MAX)
			bail("there are more than %d answers", ANSWERS_MAX);
		struct answer *a = &s.answers[s.count];
		if (sscanf(line, "%31s %lx %d", a->kind, &a->request, &a->number) == 3)
			s.count++;
	}
	return s;
}

/* `profile` NULL: outside. */
static struct sweep run(struct decoy *decoy, const char *profile)
{
	decoy_fill(decoy);
	int code = profile ? decoy_run_inside(decoy, "ioctls", profile)
			   : decoy_run_outside(decoy, "ioctls");
	struct sweep s = read_answers(decoy, code);
	decoy_clear(decoy);
	return s;
}

static const struct answer *find(const struct sweep *sweep, const struct answer *like)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->answers[i].request == like->request &&
			!strcmp(sweep->answers[i].kind, like->kind))
			return &sweep->answers[i];
	return NULL;
}

static bool names(const struct refused *r, const struct answer *answer)
{
	return ((unsigned)answer->request & r->mask) == r->request;
}

static size_t count_kinds(const struct sweep *sweep)
{
	size_t kinds = 0;
	for (size_t i = 0; i < sweep->count; i++)
		kinds += !i || strcmp(sweep->answers[i].kind, sweep->answers[i - 1].kind) != 0;
	return kinds;
}

/* A refused number answers EPERM on every kind: even where nothing knows it. */
static void check_refused(const struct sweep *sweep, const struct refused *r, const char *where)
{
	size_t right = 0, wrong = 0, numbers = ~r->mask + 1ul;
	for (size_t i = 0; i < sweep->count; i++) {
		if (!names(r, &sweep->answers[i]))
			continue;
		right += sweep->answers[i].number == EPERM;
		wrong += sweep->answers[i].number != EPERM;
	}
	ok(!wrong && right >= count_kinds(sweep) * numbers, "%s: %s", where, r->what);
	if (wrong || !right)
		diag("%zu refused, %zu answered otherwise, of %zu", right, wrong,
			count_kinds(sweep) * numbers);
}

static void check_inside(
	const struct sweep *outside, struct decoy *decoy, const char *who, const char *profile)
{
	char where[64];
	snprintf(where, sizeof(where), "%s, %s", profile, who);
	struct sweep inside = run(decoy, profile);
	size_t more = 0, works = 0;
	if (!ok(!inside.exit && inside.count > 1000, "%s: the sweep ran to its end", where))
		diag("exit status %d, %zu answers", inside.exit, inside.count);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		check_refused(&inside, &refused[i], where);
	for (size_t i = 0; i < inside.count; i++) {
		const struct answer *a = &inside.answers[i], *o;
		works += !a->number;
		if (a->number || ((o = find(outside, a)) && !o->number))
			continue;
		diag("%s: %lx on %s works inside only", where, a->request, a->kind);
		more++;
	}
	ok(!more,
		"%s: of %zu answers %zu are a success, on %zu kinds of descriptors; none that is "
		"refused outside",
		where, inside.count, works, count_kinds(&inside));
	free(inside.answers);
}

int main(void)
{
	struct decoy user, root;
	decoy_init(&user, tap_scratch(), true);
	struct sweep outside = run(&user, NULL);
	if (!ok(!outside.exit && outside.count > 500, "the sweep runs outside"))
		diag("exit status %d, %zu answers", outside.exit, outside.count);
	check_inside(&outside, &user, "user", "strict");
	if (tap_can_harden("user"))
		check_inside(&outside, &user, "user", "hardened");
	decoy_done(&user);
	if (geteuid() == 0) {
		decoy_init(&root, tap_scratch(), false);
		check_inside(&outside, &root, "root", "strict");
		decoy_done(&root);
	}
	free(outside.answers);
	return tap_done();
}
