#include "cli/held.h"

#include "base/child.h"
#include "base/path.h"
#include "run/confine.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add(struct held *h, const char *list[HELD_MAX], size_t *count, const char *path)
{
	char real[PATH_MAX];
	if (!realpath(path, real))
		return;
	for (size_t i = 0; i < *count; i++)
		if (!strcmp(list[i], real))
			return;
	if (*count < HELD_MAX)
		list[(*count)++] = arena_copy(h->arena, real, strlen(real));
}

void held_protect(struct held *h, const char *path)
{
	add(h, h->protect, &h->protect_count, path);
}

/* The directory, which stays what it is when a file in it is replaced on the host; but not all of
 * the workspace. */
static void protect_programs(struct held *h, const char *workspace)
{
	static const char *const programs[] = {
		"agent6", "agent6-agent", "agent6-broker", "agent6-cassette", "agent6-jail"};
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		AUTO_FREE char *path = child_sibling(programs[i], NULL);
		char *slash = path ? strrchr(path, '/') : NULL;
		if (!slash)
			continue;
		*slash = '\0';
		if (!strcmp(path, workspace))
			*slash = '/';
		held_protect(h, path);
	}
}

/* What the operator has run on the host may be a script that an argument names. */
static void protect_file(struct held *h, const char *path)
{
	struct stat st;
	if (path && !stat(path, &st) && S_ISREG(st.st_mode))
		held_protect(h, path);
}

static void hold_configuration(struct held *h, const char *dir)
{
	char path[PATH_MAX];
	held_protect(h, dir);
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		snprintf(path, sizeof(path), "%s/secrets.%s", dir, config_suffixes[i]);
		add(h, h->hide, &h->hide_count, path);
	}
}

/* Whether a command may turn what lies on the way to `path`, or put something there. */
static bool in_reach(const struct config *config, const char *path, const char *workspace)
{
	char above[PATH_MAX], real[PATH_MAX], *slash;
	snprintf(above, sizeof(above), "%s", path);
	while ((slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if ((realpath(above, real) && path_is_within(real, workspace)) ||
			confine_granted(above, &config->sandbox.write))
			return true;
	}
	return *path != '/';
}

int held_settle(struct arena *arena, struct config *config, const char *workspace, struct err *e)
{
	const struct config_list *argv = &config->machine.on_event;
	const char **settled = arena_array(arena, argv->count + 1, sizeof(*settled));
	for (size_t i = 0; i < argv->count; i++) {
		char real[PATH_MAX];
		struct stat st;
		const char *word = settled[i] = argv->items[i];
		if ((i == 0 && !strchr(word, '/')) || !in_reach(config, word, workspace))
			continue;
		if (realpath(word, real) && !stat(real, &st) && S_ISREG(st.st_mode))
			settled[i] = arena_copy(arena, real, strlen(real));
		else if (i == 0)
			return err_set(e,
				"machine.notify.on_event: %s is not there, and a command could put "
				"it there: make it before the run begins, or name a program "
				"outside the workspace",
				word);
	}
	config->machine.on_event.items = settled;
	return 0;
}

void held_init(struct held *h, struct arena *arena, const struct config *config,
	const struct config_paths *paths, const char *workspace)
{
	const struct config_list *argv = &config->machine.on_event;
	*h = (struct held){.arena = arena};
	protect_programs(h, workspace);
	h->program_count = h->protect_count;
	for (size_t i = 0; i < argv->count; i++)
		protect_file(h, argv->items[i]);
	protect_file(h, config->machine.allowed_signers);
	if (paths && paths->file)
		held_protect(h, paths->file);
	if (paths && paths->config_dir)
		hold_configuration(h, paths->config_dir);
}
