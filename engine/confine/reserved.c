#include "confine/reserved.h"

#include "base/child.h"
#include "base/path.h"
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

static bool is_steered(
	const struct reserved *reserved, const char *path, int links, char at[PATH_MAX]);

/* Adds a path. One that is both protected and hidden has two entries. */
void reserved_add(struct reserved *reserved, enum reserved_as as, const char *path)
{
	char real[PATH_MAX];
	struct reserved_path **at = &reserved->paths;
	if (!realpath(path, real))
		return;
	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->path, real) &&
			((*at)->as == RESERVED_SECRET) == (as == RESERVED_SECRET))
			return;
	struct reserved_path *added = arena_alloc(reserved->arena, sizeof(*added));
	*added = (struct reserved_path){arena_copy(reserved->arena, real, strlen(real)), as, NULL};
	*at = added;
}

/* --- the way to a path ------------------------------------------------------------------------ */

/* Reports whether a reserved path around `dir` lies in `grant`: then the jail protects it, and with
 * it `dir`. */
static bool carved_out(const struct reserved *reserved, const char *dir, const char *grant)
{
	for (const struct reserved_path *p = reserved->paths; p; p = p->next)
		if (p->as != RESERVED_SECRET && path_is_within(dir, p->path) &&
			path_is_within(p->path, grant))
			return true;
	for (size_t i = 0; i < reserved->protect.count; i++)
		if (path_is_within(dir, reserved->protect.items[i]) &&
			path_is_within(reserved->protect.items[i], grant))
			return true;
	return false;
}

/* Reports whether a command may make and replace files in `dir`, a real path. */
static bool in_reach(const struct reserved *reserved, const char *dir)
{
	for (size_t l = 0; l < ARRAY_LEN(reserved->grants); l++)
		for (size_t i = 0; i < reserved->grants[l].count; i++)
			if (path_is_within(dir, reserved->grants[l].items[i]) &&
				!carved_out(reserved, dir, reserved->grants[l].items[i]))
				return true;
	return false;
}

/* Reports whether a command can redirect the link `at` in `dir`: the link itself, or a part of its
 * target's path, which is then written to `at`. */
static bool is_turned(
	const struct reserved *reserved, const char *dir, int links, char at[PATH_MAX])
{
	char target[PATH_MAX] = "", next[2 * PATH_MAX];
	if (in_reach(reserved, dir))
		return true;
	ssize_t len = readlink(at, target, sizeof(target) - 1);
	target[len < 0 ? 0 : len] = '\0';
	snprintf(next, sizeof(next), "%s%s%s", *target == '/' ? "" : dir, *target == '/' ? "" : "/",
		target);
	return is_steered(reserved, next, links + 1, at);
}

/* Moves `dir`, a real path, to its entry `name`. */
static bool enter(char dir[PATH_MAX], const char *name)
{
	size_t len = strlen(dir), room = PATH_MAX - len;
	return !strcmp(name, ".") ||
	       snprintf(dir + len, room, "%s%s", len > 1 ? "/" : "", name) < (int)room;
}

/* Reports whether a command can decide what is found at `path`, which is followed as the kernel
 * does. `at` is then the link that the command may redirect, the ".." of a directory that it may
 * replace, or the missing part that it may make. */
static bool is_steered(
	const struct reserved *reserved, const char *path, int links, char at[PATH_MAX])
{
	char dir[PATH_MAX]; /* the real path of the part that has been followed */
	size_t end = 0;
	bool known = realpath(*path == '/' ? "/" : ".", dir);
	while (known && links < LINKS_MAX && path[end += strspn(path + end, "/")]) {
		size_t from = end;
		struct stat st;
		end += strcspn(path + end, "/");
		if (snprintf(at, PATH_MAX, "%.*s", (int)end, path) >= PATH_MAX)
			return false;
		if (lstat(at, &st))
			return in_reach(reserved, dir);
		if (!strcmp(at + from, "..")) {
			bool reached = from && in_reach(reserved, dir);
			if (in_reach(reserved, dirname(dir)) && reached)
				return true;
		} else if (!S_ISLNK(st.st_mode)) {
			known = enter(dir, at + from);
		} else if (is_turned(reserved, dir, links, at)) {
			return true;
		} else {
			snprintf(at, PATH_MAX, "%.*s", (int)end, path);
			known = realpath(at, dir);
		}
	}
	return false;
}

static int check_way(
	const struct reserved *reserved, const char *what, const char *path, struct err *e)
{
	char at[PATH_MAX];
	struct stat st;
	if (!is_steered(reserved, path, 0, at))
		return 0;
	if (lstat(at, &st))
		return err_set(e,
			"%s: %s is not there, and a command could put it there: make it before the "
			"run begins, or name a place where commands may not write",
			what, path);
	return err_set(e,
		"%s: %s %s: name what it leads to, or put its directory into sandbox.protect", what,
		at,
		S_ISLNK(st.st_mode) ? "is a link that a command could turn"
				    : "leads out of a directory that a command could replace");
}

/* --- what is reserved ------------------------------------------------------------------------- */

/* Reserves the programs. The directory stays the same when a file in it is replaced on the host,
 * but it must not be the whole workspace. Each program is added too, since a state may name it
 * alone. */
static void reserve_programs(struct reserved *reserved)
{
	static const char *const programs[] = {
		"agent6", "agent6-agent", "agent6-broker", "agent6-cassette", "agent6-jail"};
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		AUTO_FREE char *path = child_sibling(programs[i], NULL);
		char *slash = path ? strrchr(path, '/') : NULL;
		if (!slash)
			continue;
		*slash = '\0';
		if (strcmp(path, reserved->workspace) != 0)
			reserved_add(reserved, RESERVED_PROGRAM, path);
		*slash = '/';
		reserved_add(reserved, RESERVED_PROGRAM, path);
	}
}

/* Reports whether a word is a path; other words of a command line may contain a "/" as well. */
static bool is_path(const char *word)
{
	return *word == '/' || !strncmp(word, "./", 2) || !strncmp(word, "../", 3);
}

/* Reserves the files of a command that the operator runs on the host. An argument may name a
 * script, or a file to write, which a command could turn into a link. */
static int reserve_command(
	struct reserved *reserved, const char *what, const struct config_list *argv, struct err *e)
{
	struct stat st;
	for (size_t i = 0; i < argv->count; i++) {
		const char *word = argv->items[i];
		bool file = !stat(word, &st) && S_ISREG(st.st_mode);
		bool named = i ? file || is_path(word) : strchr(word, '/') != NULL;
		if (named && check_way(reserved, what, word, e))
			return -1;
		if (file)
			reserved_add(reserved, RESERVED_SETTING, word);
	}
	return 0;
}

static int reserve_file(
	struct reserved *reserved, const char *what, const char *path, struct err *e)
{
	struct stat st;
	if (!path)
		return 0;
	if (check_way(reserved, what, path, e))
		return -1;
	if (!stat(path, &st) && S_ISREG(st.st_mode))
		reserved_add(reserved, RESERVED_SETTING, path);
	return 0;
}

/* Reserves each file as well: it may be a link to a directory where others keep theirs. */
static int reserve_files_in(struct reserved *reserved, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		snprintf(path, sizeof(path), "%s/config.%s", dir, config_suffixes[i]);
		if (!lstat(path, &st) && reserve_file(reserved, "the configuration", path, e))
			return -1;
		snprintf(path, sizeof(path), "%s/secrets.%s", dir, config_suffixes[i]);
		if (!lstat(path, &st))
			reserved_add(reserved, RESERVED_SECRET, path);
	}
	return 0;
}

static int reserve_configuration(
	struct reserved *reserved, const struct config_paths *paths, struct err *e)
{
	char path[PATH_MAX];
	if (paths->config_dir) {
		if (check_way(reserved, "the configuration directory", paths->config_dir, e))
			return -1;
		reserved_add(reserved, RESERVED_SETTING, paths->config_dir);
		if (reserve_files_in(reserved, paths->config_dir, e))
			return -1;
	}
	if (paths->repo_id) {
		snprintf(path, sizeof(path), "%s/%s", reserved->config->state_dir, paths->repo_id);
		if (reserve_files_in(reserved, path, e))
			return -1;
	}
	return reserve_file(reserved, "--config", paths->file, e);
}

/* Checks the way to the audit trail. Its files belong to the host and are rotated beside it, so a
 * grant cannot exclude them: none may contain the directory. */
static int check_audit(const struct reserved *reserved, struct err *e)
{
	const char *path = reserved->config->audit.path;
	char dir[PATH_MAX], real[PATH_MAX];
	if (!path || snprintf(dir, sizeof(dir), "%s", path) >= PATH_MAX || !strrchr(dir, '/'))
		return 0;
	strrchr(dir, '/')[1] = '\0';
	if (check_way(reserved, "audit.path", dir, e))
		return -1;
	return realpath(dir, real) && in_reach(reserved, real)
		       ? err_set(e,
				 "audit.path lies in %s, where commands can write; name a place "
				 "where they cannot",
				 real)
		       : 0;
}

int reserved_init(struct reserved *reserved, const struct config_paths *paths, struct err *e)
{
	const struct config *c = reserved->config;
	const struct config_list own = {&reserved->workspace, !reserved->only_read};
	reserved->grants[0] = confine_real(reserved->arena, &own);
	reserved->grants[1] = confine_real(reserved->arena, &c->sandbox.write);
	reserved->grants[2] = confine_real(reserved->arena, &reserved->writes);
	reserved->protect = confine_real(reserved->arena, &c->sandbox.protect);
	reserve_programs(reserved);
	if ((paths && reserve_configuration(reserved, paths, e)) ||
		reserve_command(reserved, "machine.notify.on_event", &c->machine.on_event, e) ||
		check_audit(reserved, e) ||
		check_way(reserved, "the state directory", c->state_dir, e) ||
		reserve_file(reserved, "machine.allowed_signers", c->machine.allowed_signers, e))
		return -1;
	for (size_t i = 0; i < c->provider_count; i++)
		if (reserve_file(reserved, "a provider's ca_file", c->providers[i].ca_file, e) ||
			reserve_command(reserved, "a provider's token_command",
				&c->providers[i].token_command, e))
			return -1;
	return 0;
}
