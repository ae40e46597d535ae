#include "run/live.h"

#include "base/json.h"
#include "instance/stop.h"
#include "launch/planted.h"
#include "run/trail.h"

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

json_t *live_planted(struct live *w, const struct step *s, const json_t *status)
{
	json_t *planted = json_object_get(status, "planted"), *one;
	const char *left = planted_stuck(status);
	size_t i;
	if (left && !*w->left)
		snprintf(w->left, sizeof(w->left), "%s", left);
	json_array_foreach (planted, i, one) {
		AUTO_BUF back = BUF_INIT(64 * 1024);
		const char *path = json_get_text(one, "path"), *to = json_get_text(one, "to");
		planted_restore(path, to, &back);
		live_notice(w,
			"state %s made the repository %s, which was moved aside; back with: %s",
			s->state->name, path, back.failed ? to : back.data);
	}
	trail_planted(w, s, planted);
	return json_array_size(planted) ? json_incref(planted) : NULL;
}

int live_check_left(const struct live *w, struct err *e)
{
	return *w->left
		       ? err_set(e, "no command begins where a repository may be left: %s", w->left)
		       : 0;
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
