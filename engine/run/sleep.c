#include "run/sleep.h"

#include "base/clock.h"
#include "instance/pokes.h"
#include "instance/stop.h"
#include "run/shrink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

enum { SECOND_US = 1000000, LONG_US = 30 * SECOND_US, EVENT_BYTES = 4096 };

int sleep_look(struct sleep *s, struct err *e)
{
	s->woke = WOKE_NOT;
	if (instance_kept(s->instance, e))
		return -1;
	interrupts_read(s->interrupts);
	if (s->interrupts->count || stop_asked(s->instance)) {
		s->woke = WOKE_STOP;
		return 0;
	}
	int found = s->pokes ? pokes_first(s->instance, s->poke, &s->payload, s->bad_poke, e) : 0;
	if (found < 0)
		return -1;
	if (found)
		s->woke = WOKE_POKE;
	else if (s->until_us && clock_realtime_us() >= s->until_us)
		s->woke = WOKE_TIMER;
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

#define TOO_MANY_WAITS                                                                             \
	"cannot wait: so many runs of this user wait already that the limit fs.inotify.%s is "     \
	"reached; raise it, or let runs leave at their waits (--exit-on-wait)"

static int watch(int notify, const struct sleep *s, struct err *e)
{
	char pokes[PATH_MAX];
	snprintf(pokes, sizeof(pokes), "%s/pokes", s->instance->path);
	/* A request, or that nobody finds it here any more. */
	uint32_t events =
		IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF | IN_ONLYDIR;
	if (inotify_add_watch(notify, s->instance->path, events) >= 0 &&
		(!s->pokes || inotify_add_watch(notify, pokes, IN_MOVED_TO | IN_ONLYDIR) >= 0))
		return 0;
	int number = errno;
	if (instance_kept(s->instance, e))
		return -1;
	errno = number;
	/* It speaks of no disk. */
	return number == ENOSPC ? err_set(e, TOO_MANY_WAITS, "max_user_watches")
				: err_errno(e, "cannot watch %s for pokes", s->instance->path);
}

/* Empties a descriptor that woke us; what happened is looked up, not read from it. ECANCELED from
 * the timer means that the clock was set. */
static void swallow(int fd)
{
	char events[EVENT_BYTES];
	while (read(fd, events, sizeof(events)) > 0)
		continue;
}

/* A clock that was set back makes no delay longer. */
static void keep_below(struct sleep *s, int64_t end_ms)
{
	int64_t most_us = clock_realtime_us() + (end_ms - clock_monotonic_ms()) * 1000;
	if (s->most_ms && s->until_us > most_us)
		s->until_us = most_us;
}

/* EMFILE stands for two limits: where there is still a descriptor, it is inotify's. */
static int refuse(int timer, struct err *e)
{
	int number = errno;
	AUTO_FD int spare = timer < 0 ? -1 : fcntl(timer, F_DUPFD_CLOEXEC, 0);
	if (number == EMFILE && spare >= 0)
		return err_set(e, TOO_MANY_WAITS, "max_user_instances");
	errno = number;
	return err_errno(e, "cannot prepare a wait");
}

int sleep_wait(struct sleep *s, struct err *e)
{
	int64_t end_ms = clock_monotonic_ms() + s->most_ms;
	AUTO_FD int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	AUTO_FD int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (timer < 0 || notify < 0)
		return refuse(timer, e);
	if (watch(notify, s, e))
		return -1;
	for (;;) {
		struct pollfd fds[] = {
			{timer, POLLIN, 0}, {notify, POLLIN, 0}, {s->interrupts->fd, POLLIN, 0}};
		keep_below(s, end_ms);
		/* Armed before the look: a clock step in between is then noticed. */
		if (arm(timer, s->until_us, e) || sleep_look(s, e))
			return -1;
		if (s->woke != WOKE_NOT)
			return 0;
		if (!s->until_us || s->until_us - clock_realtime_us() > LONG_US)
			shrink();
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return err_errno(e, "cannot wait");
		swallow(timer);
		swallow(notify);
	}
}
