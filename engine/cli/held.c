#include "cli/held.h"

#include "base/child.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void hold_configuration(struct held *h, const char *dir)
{
	char path[PATH_MAX];
	held_protect(h, dir);
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		snprintf(path, sizeof(path), "%s/secrets.%s", dir, config_suffixes[i]);
		add(h, h->hide, &h->hide_count, path);
	}
}

void held_init(struct held *h, struct arena *arena, const struct config_paths *paths,
	const char *workspace)
{
	*h = (struct held){.arena = arena};
	protect_programs(h, workspace);
	if (paths && paths->file)
		held_protect(h, paths->file);
	if (paths && paths->config_dir)
		hold_configuration(h, paths->config_dir);
}
