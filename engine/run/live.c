#include "run/live.h"

#include "base/json.h"
#include "instance/stop.h"
#include "launch/planted.h"
#include "run/run_audit.h"

#include <stdarg.h>
#include <stdio.h>

void live_notice(const struct live *live, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (live->listener->notice)
		live->listener->notice(live->listener->ctx, text);
}

json_t *live_planted(struct live *live, const struct step *step, const struct jail_status *status)
{
	json_t *planted = status->planted, *one;
	const char *left = planted_stuck(status);
	size_t i;
	if (left && !*live->left)
		snprintf(live->left, sizeof(live->left), "%s", left);
	json_array_foreach (planted, i, one) {
		AUTO_BUF back = BUF_INIT(64 * 1024);
		const char *path = json_get_text(one, "path"), *to = json_get_text(one, "to");
		planted_restore(path, to, &back);
		live_notice(live,
			"state %s made the repository %s, which was moved aside; back with: %s",
			step->state->name, path, back.failed ? to : back.data);
	}
	run_audit_planted(live, step, planted);
	return json_array_size(planted) ? json_incref(planted) : NULL;
}

int live_check_left(const struct live *live, struct err *e)
{
	return *live->left ? err_set(e, "no command begins where a repository may be left: %s",
				     live->left)
			   : 0;
}

void live_tick(void *ctx)
{
	struct live *w = ctx;
	if (w->interrupts.count == 1 && !w->told_stop) {
		w->told_stop = true;
		stop_ask(w->instance, NULL); /* for `machine status` */
		live_notice(w, "stopping as soon as state %s has ended; once more kills it now",
			w->now.state);
	}
	if (w->listener->activity && !w->asking)
		w->listener->activity(w->listener->ctx, &w->now);
}
