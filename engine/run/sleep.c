#include "run/sleep.h"

#include "base/clock.h"
#include "instance/pokes.h"
#include "instance/stop.h"
#include "run/release_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>

enum { SECOND_US = 1000000, LONG_US = 30 * SECOND_US, EVENT_BYTES = 4096 };

int sleep_look(struct sleep *sleep, struct err *e)
{
	sleep->woke = WOKE_NOT;
	if (instance_kept(sleep->instance, e))
		return -1;
	interrupts_read(sleep->interrupts);
	if (sleep->interrupts->count || stop_asked(sleep->instance)) {
		sleep->woke = WOKE_STOP;
		return 0;
	}
	int found = sleep->pokes ? pokes_first(sleep->instance, sleep->poke, &sleep->payload,
					   sleep->bad_poke, e)
				 : 0;
	if (found < 0)
		return -1;
	if (found)
		sleep->woke = WOKE_POKE;
	else if (sleep->until_us && clock_realtime_us() >= sleep->until_us)
		sleep->woke = WOKE_TIMER;
	return 0;
}

static int arm(int timer, int64_t until_us, struct err *e)
{
	struct itimerspec at = {.it_value = {until_us / SECOND_US, until_us % SECOND_US * 1000}};
	if (until_us &&
		timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL))
		return err_errno(e, "cannot set the timer of a wait");
	return 0;
}

/* The directories to watch: stop requests and pokes arrive there, and a change above the instance
 * shows that it has been removed. */
static const struct {
	const char *name;
	unsigned changes;
} places[] = {{".", DN_CREATE | DN_DELETE | DN_RENAME}, {"..", DN_DELETE}, {"pokes", DN_CREATE}};

enum { PLACES = ARRAY_LEN(places), LOOK_AGAIN_MS = 1000 };

/* Asks for SIGIO when one of the directories changes. Uses dnotify, because a user has only 128
 * inotify instances for all programs. Returns how long to sleep at most: -1 for ever, LOOK_AGAIN_MS
 * if the kernel cannot report changes. */
static int ask_for_changes(const struct sleep *sleep, int fds[PLACES])
{
	for (size_t i = 0; i < PLACES; i++) {
		fds[i] = openat(sleep->instance->dir_fd, places[i].name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fds[i] < 0 || fcntl(fds[i], F_NOTIFY, places[i].changes | DN_MULTISHOT))
			return LOOK_AGAIN_MS;
	}
	return -1;
}

/* Empties a descriptor that woke us; the cause is looked up elsewhere. ECANCELED from the timer
 * means that the clock was set. */
static void swallow(int fd)
{
	char events[EVENT_BYTES];
	while (read(fd, events, sizeof(events)) > 0)
		continue;
}

/* Keeps a delay from growing when the clock is set back. */
static void keep_below(struct sleep *sleep, int64_t end_ms)
{
	int64_t most_us = clock_realtime_us() + (end_ms - clock_monotonic_ms()) * 1000;
	if (sleep->most_ms && sleep->until_us > most_us)
		sleep->until_us = most_us;
}

static int sleep_on(struct sleep *sleep, int timer, int most_ms, struct err *e)
{
	int64_t end_ms = clock_monotonic_ms() + sleep->most_ms;
	for (;;) {
		struct pollfd fds[] = {{timer, POLLIN, 0}, {sleep->interrupts->fd, POLLIN, 0}};
		keep_below(sleep, end_ms);
		/* Arm the timer before the look, so that a clock step in between is noticed. */
		if (arm(timer, sleep->until_us, e) || sleep_look(sleep, e))
			return -1;
		if (sleep->woke != WOKE_NOT)
			return 0;
		if (most_ms < 0 &&
			(!sleep->until_us || sleep->until_us - clock_realtime_us() > LONG_US))
			release_memory();
		if (poll(fds, ARRAY_LEN(fds), most_ms) < 0 && errno != EINTR)
			return err_errno(e, "cannot wait");
		swallow(timer);
	}
}

int sleep_wait(struct sleep *sleep, struct err *e)
{
	AUTO_FD int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	int fds[PLACES] = {-1, -1, -1};
	if (timer < 0)
		return err_errno(e, "cannot prepare a wait");
	int failed = sleep_on(sleep, timer, ask_for_changes(sleep, fds), e);
	for (size_t i = 0; i < PLACES; i++)
		own_close(&fds[i]);
	return failed;
}
