/*
 * A test program in TAP (testanything.org, version 13): numbered results, a plan at the end.
 *
 * Every check prints one line and returns whether it held, so that `if (ok(...))` guards what
 * follows; none of them leaves the program, so cleanup attributes run. main ends with
 * `return tap_done();`: a program that dies earlier has no plan and fails.
 */
#ifndef TESTS_KIT_TAP_H
#define TESTS_KIT_TAP_H
#include "base/cleanup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ok(condition, "name %d", n): the plain check. */
#define ok(condition, ...) tap_ok(__FILE__, __LINE__, (condition), __VA_ARGS__)
/* is(got, want, "name"): integers; both are shown when they differ. */
#define is(got, want, ...) tap_is(__FILE__, __LINE__, (int64_t)(got), (int64_t)(want), __VA_ARGS__)
/* is_str(got, want, "name"): strings, NULL allowed. */
#define is_str(got, want, ...) tap_is_str(__FILE__, __LINE__, (got), (want), __VA_ARGS__)
/* is_mem(got, got_len, want, want_len, "name"): bytes. */
#define is_mem(got, gl, want, wl, ...)                                                             \
	tap_is_mem(__FILE__, __LINE__, (struct tap_bytes){(got), (gl)},                            \
		(struct tap_bytes){(want), (wl)}, __VA_ARGS__)
/* has_str(text, part, "name"): `part` occurs in `text`. */
#define has_str(text, part, ...) tap_has_str(__FILE__, __LINE__, (text), (part), __VA_ARGS__)

struct tap_bytes {
	const void *at;
	size_t len;
};

bool tap_ok(const char *file, int line, bool held, const char *name, ...) PRINTF(4, 5);
bool tap_is(const char *file, int line, int64_t got, int64_t want, const char *name, ...)
	PRINTF(5, 6);
bool tap_is_str(const char *file, int line, const char *got, const char *want, const char *name,
	...) PRINTF(5, 6);
bool tap_is_mem(const char *file, int line, struct tap_bytes got, struct tap_bytes want,
	const char *name, ...) PRINTF(5, 6);
bool tap_has_str(const char *file, int line, const char *text, const char *part, const char *name,
	...) PRINTF(5, 6);

/* ends(work, "name"): `work`, in a child, holds within five seconds of its own processor time,
 * however busy the machine is: for what takes a hundredth of that, and minutes once it is not
 * linear. */
#define ends(work, ...) tap_ends(__FILE__, __LINE__, (work), __VA_ARGS__)
bool tap_ends(const char *file, int line, bool (*work)(void), const char *name, ...) PRINTF(4, 5);

/* A comment line for whoever reads a failure. */
void diag(const char *format, ...) PRINTF(1, 2);
/* One check that cannot run on this machine, and why. A skip is a failure on CI. */
void skip(const char *reason, ...) PRINTF(1, 2);
/* The whole program cannot run on this machine: prints the reason and exits 0. */
void skip_all(const char *reason, ...) PRINTF(1, 2) __attribute__((noreturn));
/* Nothing further makes sense: ends the program as failed. */
void bail(const char *reason, ...) PRINTF(1, 2) __attribute__((noreturn));

/* Reports whether this kernel supports the hardened profile; if not, `name` is skipped. */
bool tap_can_harden(const char *name);
/* An empty directory below $TMPDIR that is removed with the program; bails when it cannot be made.
 * The string lives as long as the program. */
const char *tap_scratch(void);
/* Prints the plan. The exit status for main: 0 when every check held. */
int tap_done(void);
#endif
