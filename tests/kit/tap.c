#include "tests/kit/tap.h"

#include "base/landlock.h"
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct {
	int ran, failed;
	pid_t owner; /* a forked child must not remove the parent's scratch */
	char scratch[512];
} tap;

static void print_safe(const char *text)
{
	/* One result is one line, and # starts a directive. */
	for (; *text; text++)
		putchar(*text == '\n' || *text == '#' ? ' ' : *text);
}

static bool PRINTF(4, 0)
	result(const char *file, int line, bool held, const char *name, va_list args)
{
	char text[512];
	vsnprintf(text, sizeof text, name, args);
	printf("%sok %d - ", held ? "" : "not ", ++tap.ran);
	print_safe(text);
	putchar('\n');
	if (!held) {
		tap.failed++;
		diag("failed at %s:%d", file, line);
	}
	fflush(stdout);
	return held;
}

#define RESULT(held)                                                                               \
	__extension__({                                                                            \
		va_list args_;                                                                     \
		va_start(args_, name);                                                             \
		bool held_ = result(file, line, (held), name, args_);                              \
		va_end(args_);                                                                     \
		held_;                                                                             \
	})

bool tap_ok(const char *file, int line, bool held, const char *name, ...)
{
	return RESULT(held);
}

bool tap_is(const char *file, int line, int64_t got, int64_t want, const char *name, ...)
{
	if (RESULT(got == want))
		return true;
	diag("  got %" PRId64 ", want %" PRId64, got, want);
	return false;
}

static void diag_str(const char *label, const char *text)
{
	diag("%s%s%s%s", label, text ? "\"" : "", text ? text : "NULL", text ? "\"" : "");
}

bool tap_is_str(
	const char *file, int line, const char *got, const char *want, const char *name, ...)
{
	if (RESULT(got && want ? strcmp(got, want) == 0 : got == want))
		return true;
	diag_str("  got  ", got);
	diag_str("  want ", want);
	return false;
}

/* Shows the bytes around `at`, with unprintable ones as \\xHH. */
static void diag_around(const char *label, struct tap_bytes b, size_t at)
{
	const unsigned char *bytes = b.at;
	size_t from = at > 30 ? at - 30 : 0;
	char text[4 * 100 + 1] = "";
	size_t used = 0;
	for (size_t i = from; i < b.len && i < from + 100; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			bytes[i] >= ' ' && bytes[i] < 0x7f ? "%c" : "\\x%02x", bytes[i]);
	diag("%s%zu bytes, from %zu: %s", label, b.len, from, text);
}

static size_t first_difference(struct tap_bytes a, struct tap_bytes b)
{
	const unsigned char *x = a.at, *y = b.at;
	size_t at = 0;
	while (at < a.len && at < b.len && x[at] == y[at])
		at++;
	return at;
}

bool tap_is_mem(const char *file, int line, struct tap_bytes got, struct tap_bytes want,
	const char *name, ...)
{
	bool same = got.len == want.len && (got.len == 0 || memcmp(got.at, want.at, got.len) == 0);
	if (RESULT(same))
		return true;
	size_t at = first_difference(got, want);
	diag("  they differ at byte %zu", at);
	diag_around("  got  ", got, at);
	diag_around("  want ", want, at);
	return false;
}

bool tap_has_str(
	const char *file, int line, const char *text, const char *part, const char *name, ...)
{
	if (RESULT(text && strstr(text, part)))
		return true;
	diag_str("  text ", text);
	diag_str("  lacks ", part);
	return false;
}

bool tap_ends(const char *file, int line, bool (*work)(void), const char *name, ...)
{
	int status = -1;
	pid_t pid = fork();
	if (!pid) {
		const struct rlimit secs = {5, 5};
		setrlimit(RLIMIT_CPU, &secs);
		_exit(!work());
	}
	waitpid(pid, &status, 0);
	return RESULT(status == 0);
}

void diag(const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	char *rest = text;
	for (char *one = strsep(&rest, "\n"); one; one = strsep(&rest, "\n"))
		printf("# %s\n", one);
	fflush(stdout);
	free(text);
}

static void PRINTF(2, 0) directive(const char *lead, const char *reason, va_list args)
{
	char text[512];
	vsnprintf(text, sizeof text, reason, args);
	printf("%s # SKIP ", lead);
	print_safe(text);
	putchar('\n');
	fflush(stdout);
}

void skip(const char *reason, ...)
{
	char lead[32];
	snprintf(lead, sizeof lead, "ok %d", ++tap.ran);
	va_list args;
	va_start(args, reason);
	directive(lead, reason, args);
	va_end(args);
}

void skip_all(const char *reason, ...)
{
	va_list args;
	va_start(args, reason);
	directive("1..0", reason, args);
	va_end(args);
	exit(0);
}

void bail(const char *reason, ...)
{
	char text[512];
	va_list args;
	va_start(args, reason);
	vsnprintf(text, sizeof text, reason, args);
	va_end(args);
	printf("not ok %d - ", ++tap.ran);
	print_safe(text);
	putchar('\n');
	exit(1);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	remove(path); /* best effort: a leftover is visible to the runner */
	return 0;
}

static void remove_scratch(void)
{
	if (getpid() == tap.owner)
		nftw(tap.scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *tap_scratch(void)
{
	if (tap.scratch[0])
		return tap.scratch;
	const char *base = getenv("TMPDIR");
	snprintf(tap.scratch, sizeof tap.scratch, "%s/tap.XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(tap.scratch))
		bail("no scratch directory at %s", tap.scratch);
	tap.owner = getpid();
	atexit(remove_scratch);
	return tap.scratch;
}

int tap_done(void)
{
	printf("1..%d\n", tap.ran);
	fflush(stdout);
	return tap.failed || tap.ran == 0;
}

bool tap_can_harden(const char *name)
{
	enum { HARDENED_ABI = 3 };
	if (ll_abi() >= HARDENED_ABI)
		return true;
	skip("%s: hardened needs Landlock ABI %d", name, HARDENED_ABI);
	return false;
}
