/* The state directory's real path. No place that a jailed command may write may contain it. */
#include "base/path.h"
#include "config/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts `head` back to its existing part, and resolves that. Returns -1 with errno. */
static int follow_existing(char head[PATH_MAX], char real[PATH_MAX])
{
	while (!realpath(head, real)) {
		char *slash = strrchr(head, '/');
		if (errno != ENOENT || !slash[1])
			return -1;
		slash[slash == head] = '\0';
	}
	return 0;
}

static char *real_or_future(const char *path, struct err *e)
{
	char head[PATH_MAX], real[PATH_MAX], *out = NULL;
	snprintf(head, sizeof(head), "%s", path);
	if (follow_existing(head, real)) {
		err_errno(e, "cannot follow the state directory %s", path);
		return NULL;
	}
	/* For "/" only the slash exists. */
	const char *rest = path + (head[1] ? strlen(head) : 0);
	if (asprintf(&out, "%s%s", strcmp(real, "/") ? real : "", rest) < 0)
		return err_set(e, "out of memory"), NULL;
	return out;
}

char *config_state_dir(const char *state_dir, const char *workspace, struct err *e)
{
	if (!state_dir || (strcmp(state_dir, "/") && !path_is_normal(state_dir)))
		return err_set(e, "the state directory must be a plain absolute path, without `.`, "
				  "`..`, doubled or trailing slashes"),
		       NULL;
	AUTO_FREE char *real = workspace ? real_or_future(state_dir, e) : strdup(state_dir);
	if (!real || !workspace)
		return TAKE_PTR(real);
	/* Check the spelling, too: a link there could be redirected. */
	if (path_is_within(state_dir, workspace) || path_is_within(real, workspace)) {
		err_set(e,
			"the state directory %s lies in the workspace %s, where a jailed command "
			"could write it; start from a directory below, or set agent6.state_dir or "
			"AGENT6_STATE_HOME to a directory outside",
			state_dir, workspace);
		return NULL;
	}
	/* A state directory around the workspace would hold other instances, and some repository's
	 * configuration. */
	if (path_is_within(workspace, real)) {
		err_set(e,
			"the workspace %s lies in the state directory %s, which a jailed command "
			"must not write; start from a directory outside",
			workspace, state_dir);
		return NULL;
	}
	return TAKE_PTR(real);
}

/* Returns the path after `state_dir` in a text that no reader accepts. NULL: there is none on a
 * line of its own, or after other keys, outside of comments. */
static const char *find_in_text(struct arena *arena, const char *text)
{
	static const char key[] = "state_dir";
	for (const char *at = text; (at = strstr(at, key)); at++) {
		const char *line = at;
		while (line > text && line[-1] != '\n')
			line--;
		const char *from = at + sizeof(key) - 1;
		from += strspn(from, " \t\"':=");
		size_t len = strcspn(from, "\"',}#\r\n");
		while (len && strchr(" \t", from[len - 1]))
			len--;
		if (*from == '/' && !memchr(line, '#', (size_t)(at - line)))
			return arena_copy(arena, from, len);
	}
	return NULL;
}

static const char *find_in_layer(const struct config *config, const struct config_source *source)
{
	const struct doc_node *section =
		source->own.root ? doc_get(source->own.root, "agent6") : NULL;
	const struct doc_node *node = section ? doc_get(section, "state_dir") : NULL;
	if (source->own.root || !source->own.text)
		return node && node->kind == DOC_STR ? node->text : NULL;
	return find_in_text(&config->store->arena, source->own.text);
}

void config_salvage_state_dir(struct config *config)
{
	static const enum config_layer layers[] = {LAYER_FILE, LAYER_GLOBAL};
	for (size_t i = 0; i < ARRAY_LEN(layers) && !config->store->state_home; i++) {
		const char *found = find_in_layer(config, &config->store->layers[layers[i]]);
		if (!found)
			continue;
		config->state_dir = found;
		return;
	}
}
