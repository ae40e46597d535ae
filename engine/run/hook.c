#include "run/hook.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "confine/confine.h"
#include "launch/orphans.h"
#include "run/pump.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { HOOK_MS = 30 * 1000, EVENT_BYTES_MAX = 8 * 1024 * 1024 };

/* Removes from PATH the directories that commands may write, in the workspace and elsewhere: a
 * command could have put a program there, or a link to one. */
static void leave_writable_out(const struct config_list *grants)
{
	char here[PATH_MAX], real[PATH_MAX];
	AUTO_FREE char *list = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *save = NULL;
	AUTO_BUF kept = BUF_INIT(EVENT_BYTES_MAX);
	AUTO_ARENA arena;
	arena_init(&arena);
	const struct config_list granted = confine_real(&arena, grants);
	bool known = list && realpath(".", here);
	for (char *rest = list, *dir; known && (dir = strtok_r(rest, ":", &save)); rest = NULL)
		if (*dir == '/' && realpath(dir, real) && !path_is_within(dir, here) &&
			!path_is_within(real, here) && !confine_granted(real, &granted))
			buf_addf(&kept, "%s%s", kept.len ? ":" : "", dir);
	setenv("PATH", kept.len ? kept.data : "/usr/bin:/bin", 1);
}

/* Finds a program in PATH as a shell would. Heap; NULL: there is none. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/'))
		return strdup(name);
	AUTO_FREE char *list = strdup(path ? path : "/usr/bin:/bin");
	char *save = NULL;
	for (char *rest = list, *dir; list && (dir = strtok_r(rest, ":", &save)); rest = NULL) {
		char *full = NULL;
		if (asprintf(&full, "%s/%s", dir, name) >= 0 && !access(full, X_OK))
			return full;
		free(full);
	}
	return NULL;
}

char *hook_program(const struct config *config, const char *name)
{
	leave_writable_out(&config->sandbox.write);
	AUTO_FREE char *program = find_program(name);
	return program && !access(program, X_OK) ? TAKE_PTR(program) : NULL;
}

static int start(struct live *live, const char *program, const struct line *told,
	struct child *child, struct err *e)
{
	AUTO_BUF line = BUF_INIT(EVENT_BYTES_MAX);
	json_auto_t *whose =
		json_pack("{s:s, s:s}", "instance", live->instance->id, "machine", live->machine);
	json_auto_t *event = line_encode(told);
	if (json_object_update_missing(whose, event) || json_write(&line, whose) ||
		buf_addc(&line, '\n'))
		return err_set(e, "the event is larger than 8 MiB");
	AUTO_FD int in = io_memory_file("event", line.data, line.len, e);
	AUTO_FD int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (in < 0 || null < 0)
		return err_set(e, "it cannot be given its event");
	const struct config_list *argv = &live->config->machine.on_event;
	int fds[] = {in, null, STDERR_FILENO};
	struct child_spec spec = {
		program, (char *const *)(uintptr_t)argv->items, environ, fds, 3, true};
	return child_start(&spec, child, e);
}

void hook_run(struct live *live, const struct line *line)
{
	const struct config_list *argv = &live->config->machine.on_event;
	struct child child = {-1, -1};
	struct err e = ERR_NONE;
	if (!argv->count)
		return;
	interrupts_read(&live->interrupts);
	if (interrupts_kill(&live->interrupts)) {
		live_notice(live,
			"machine.notify.on_event: %s is not told of this %s: a second signal came",
			argv->items[0], line_type_name(line->type));
		return;
	}
	leave_writable_out(&live->config->sandbox.write);
	AUTO_FREE char *program = find_program(argv->items[0]);
	if (!program || start(live, program, line, &child, &e)) {
		live_notice(live, "machine.notify.on_event: %s cannot be run%s%s", argv->items[0],
			*e.text ? ": " : "", e.text);
		return;
	}
	struct pump pump = {.child = &child,
		.interrupts = &live->interrupts,
		.deadline_ms = clock_monotonic_ms() + HOOK_MS,
		.group = true};
	char how[256] = "";
	int lost = pump_run(&pump, &e);
	orphans_collect(); /* reaps processes that it left behind and that have ended */
	if (lost)
		snprintf(how, sizeof(how), "was lost: %.200s", e.text);
	else if (pump.late)
		snprintf(how, sizeof(how), "took longer than 30 s and was killed");
	else if (pump.interrupted)
		snprintf(how, sizeof(how), "was killed: a second signal came");
	else if (WIFSIGNALED(pump.status))
		snprintf(how, sizeof(how), "was killed by signal %d (%s)", WTERMSIG(pump.status),
			strsignal(WTERMSIG(pump.status)));
	else if (WEXITSTATUS(pump.status))
		snprintf(how, sizeof(how), "failed with exit status %d", WEXITSTATUS(pump.status));
	if (*how)
		live_notice(live, "machine.notify.on_event: %s %s", argv->items[0], how);
}
