/* Waiting while the clock is set, forwards and backwards, and while the machine is suspended.
 *
 * Nobody sets this machine's clock: the calls that ask it are this program's own, on a calendar
 * that can be moved. poll moves it, according to a script, once the sleeper sleeps. */
#include "base/clock.h"
#include "instance/pokes.h"
#include "instance/stop.h"
#include "run/sleep.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

enum { SECOND = 1000000, HOUR = 3600, ASLEEP_MS = 60, PATIENCE = 50, ACTIONS_MAX = 4 };

static struct {
	int64_t offset_us; /* of the calendar from the kernel's */
	int fd, clock, flags, polls;
	struct itimerspec at;
	bool cancelled, stuck, moved;
	void (*actions[ACTIONS_MAX])(void);
	size_t next;
} world;

static char *dir;

/* --- the calendar ---------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *out)
{
	long failed = syscall(SYS_clock_gettime, clock, out);
	if (clock == CLOCK_REALTIME)
		out->tv_sec += world.offset_us / SECOND;
	return (int)failed;
}

static void set_timer(int64_t after_us)
{
	struct itimerspec at = {.it_value = {after_us / SECOND, after_us % SECOND * 1000 + 1}};
	syscall(SYS_timerfd_settime, world.fd, 0, &at, NULL);
}

/* The first thing that a sleeper does. */
int timerfd_create(int clock, int flags)
{
	if (world.moved && rename(dir, tree_path(dir, "../elsewhere")))
		bail("cannot move the instance");
	world.clock = clock;
	world.fd = (int)syscall(SYS_timerfd_create, CLOCK_MONOTONIC, flags);
	return world.fd;
}

/* Arms a timer like the kernel: an absolute one follows the calendar, others do not. */
static void arm(void)
{
	const struct timespec *at = &world.at.it_value;
	int64_t us = at->tv_sec * SECOND + at->tv_nsec / 1000;
	if (!us)
		return;
	if (world.flags & TFD_TIMER_ABSTIME && world.clock == CLOCK_REALTIME)
		us -= clock_realtime_us();
	set_timer(us > 0 ? us : 0);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *old)
{
	(void)fd;
	(void)old;
	world.flags = flags;
	world.at = *at;
	world.cancelled = false;
	arm();
	return 0;
}

ssize_t read(int fd, void *out, size_t len)
{
	ssize_t n = syscall(SYS_read, fd, out, len);
	if (fd != world.fd || n < 0 || !world.cancelled)
		return n;
	world.cancelled = false;
	errno = ECANCELED;
	return -1;
}

/* Sleeps until it is woken; whenever it has slept for a moment the next thing happens. When nothing
 * is left to happen, it would sleep for ever. */
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	world.polls++;
	if (timeout >= 0)
		bail("it polls with a time-out");
	for (int moments = 0;; moments++) {
		const struct timespec moment = {0, ASLEEP_MS * 1000000L};
		int woken = (int)syscall(SYS_ppoll, fds, count, &moment, NULL, 0);
		if (woken)
			return woken;
		if (world.next < ACTIONS_MAX && world.actions[world.next]) {
			world.actions[world.next++]();
			continue;
		}
		if (moments < PATIENCE)
			continue;
		world.stuck = true;
		world.offset_us += (int64_t)1000 * HOUR * SECOND;
		return 0;
	}
}

static void set_clock(int64_t secs)
{
	world.offset_us += secs * SECOND;
	arm();
	if (world.flags & TFD_TIMER_CANCEL_ON_SET) {
		world.cancelled = true;
		set_timer(0);
	}
}

/* --- what happens ---------------------------------------------------------------------------- */

static void forwards(void)
{
	set_clock(2 * HOUR);
}

static void backwards(void)
{
	set_clock(-HOUR);
}

/* The calendar went on, nobody set it, and what is due has expired. */
static void suspend(void)
{
	world.offset_us += (int64_t)2 * HOUR * SECOND;
	arm();
}

static void touch(void)
{
	unlink(tree_path(dir, "somebody-elses"));
	tree_file(dir, "somebody-elses", "", 0600);
}

static void ask_stop(void)
{
	tree_file(dir, "stop", "", 0600);
}

/* --- the trials ------------------------------------------------------------------------------ */

struct trial {
	const char *name;
	int64_t until_secs; /* from now; 0: no timer */
	void (*actions[ACTIONS_MAX])(void);
	enum woke woke;
	int polls;
	bool retry; /* of a state: no poke wakes it */
	int64_t most_ms;
};

static struct instance begin(struct interrupts *interrupts)
{
	struct err e = ERR_NONE;
	static char id[] = "one";
	struct instance i = {.id = id, .path = dir, .lock_fd = -1};
	i.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	i.lock_fd = openat(i.dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	memset(&world, 0, sizeof(world));
	if (i.dir_fd < 0 || pokes_init(&i, &e) || stop_clear(&i, &e) ||
		interrupts_init(interrupts, &e))
		bail("%s", e.text);
	return i;
}

static void end(const struct instance *instance, struct interrupts *interrupts)
{
	interrupts_done(interrupts);
	close(instance->lock_fd);
	close(instance->dir_fd);
}

static void run_trial(const struct trial *trial)
{
	struct err e = ERR_NONE;
	struct interrupts interrupts;
	struct instance i = begin(&interrupts);
	memcpy(world.actions, trial->actions, sizeof(world.actions));
	int64_t until = trial->until_secs ? clock_realtime_us() + trial->until_secs * SECOND : 0;
	struct sleep s = {.instance = &i,
		.interrupts = &interrupts,
		.until_us = until,
		.most_ms = trial->most_ms,
		.pokes = !trial->retry};
	is(sleep_wait(&s, &e), 0, "%s", trial->name);
	ok(!world.stuck, "it wakes");
	is(s.woke, trial->woke, "for the right reason");
	is(world.polls, trial->polls, "after sleeping as often as something happened");
	if (s.woke == WOKE_TIMER && !trial->most_ms)
		ok(clock_realtime_us() >= until, "not before it is due");
	if (until)
		is(world.flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			"the timer is absolute and told when the clock is set");
	end(&i, &interrupts);
}

/* Between its last look and the watch. */
static void run_moved(void)
{
	struct err e = ERR_NONE;
	struct interrupts interrupts;
	struct instance i = begin(&interrupts);
	struct sleep s = {.instance = &i, .interrupts = &interrupts, .pokes = true};
	world.moved = true;
	is(sleep_wait(&s, &e), -1, "a run whose directory is moved just before it sleeps ends");
	has_str(e.text, " was moved or removed while instance one was running", "and says why");
	end(&i, &interrupts);
}

int main(void)
{
	static const struct trial trials[] = {
		{"due in the past", -5, {NULL}, WOKE_TIMER, 0, false, 0},
		{"due in a second", 1, {NULL}, WOKE_TIMER, 1, false, 0},
		{"due after something else happened", HOUR, {touch, suspend}, WOKE_TIMER, 2, false,
			0},
		{"the clock is set past it", HOUR, {forwards}, WOKE_TIMER, 1, false, 0},
		{"the clock is set back, and on again", HOUR / 2, {backwards, touch, forwards},
			WOKE_TIMER, 3, false, 0},
		{"suspended until behind it", HOUR, {suspend}, WOKE_TIMER, 1, false, 0},
		{"a retry, with the clock set back and on", HOUR / 2, {backwards, forwards},
			WOKE_TIMER, 2, true, 0},
		{"a retry, with the clock set back", 2, {backwards}, WOKE_TIMER, 2, true, 2000},
		{"a retry after the clock was set back", HOUR, {NULL}, WOKE_TIMER, 1, true, 500},
		{"a stop behind a clock step", HOUR, {backwards, ask_stop}, WOKE_STOP, 2, false, 0},
		{"no timer, the clock is set, then a stop", 0, {forwards, ask_stop}, WOKE_STOP, 1,
			false, 0},
	};
	tree_dir(tap_scratch(), "one");
	dir = strdup(tree_path(tap_scratch(), "one"));
	for (size_t i = 0; i < ARRAY_LEN(trials); i++)
		run_trial(&trials[i]);
	run_moved();
	free(dir);
	return tap_done();
}
