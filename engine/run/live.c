#include "run/live.h"

#include "instance/stop.h"

#include <stdarg.h>
#include <stdio.h>

void live_notice(const struct live *w, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (w->listener->notice)
		w->listener->notice(w->listener->ctx, text);
}

void live_tick(void *ctx)
{
	struct live *w = ctx;
	if (w->interrupts.count == 1 && !w->told_stop) {
		w->told_stop = true;
		stop_ask(w->instance, NULL); /* so that `machine status` says so, too */
		live_notice(w, "stopping as soon as state %s has ended; once more kills it now",
			w->now.state);
	}
	if (w->listener->activity && !w->asking)
		w->listener->activity(w->listener->ctx, &w->now);
}
