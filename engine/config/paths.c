/* The places of configuration and state, by the XDG Base Directory Specification, and under
 * sudo. */
#include "config/config.h"
#include <pwd.h>
#include <string.h>

const char *const config_suffixes[CONFIG_SUFFIXES] = {"yaml", "yml", "toml", "json"};

/* Joins `a` and a path below it, in the one spelling that comparisons rely on: variables often have
 * a trailing slash. A ".." stays, and is refused where it matters. */
static const char *join(struct arena *arena, const char *a, const char *b)
{
	char *out = arena_alloc(arena, strlen(a) + strlen(b) + 1);
	size_t n = 0;
	for (a += strspn(a, "/"); *a; a += strspn(a, "/")) {
		size_t len = strcspn(a, "/");
		if (len != 1 || *a != '.') {
			out[n++] = '/';
			memcpy(out + n, a, len);
			n += len;
		}
		a += len;
	}
	memcpy(out + n, b, strlen(b) + 1);
	return n || *b ? out : "/";
}

/* Returns a variable's value unless it is relative, which is to be ignored (XDG Base Directory
 * Specification, section 2). */
static const char *absolute_variable(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] == '/' ? value : NULL;
}

/* Returns the user's home directory: depending on its policy, sudo leaves HOME at root's or the
 * user's. */
static const char *home_directory(void)
{
	const char *sudo = getenv("SUDO_UID");
	if (!geteuid() && sudo && *sudo) {
		const struct passwd *user = getpwuid((uid_t)strtoul(sudo, NULL, 10));
		return user && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
	}
	const char *home = absolute_variable("HOME");
	if (home)
		return home;
	const struct passwd *user = getpwuid(geteuid());
	return user && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}

int config_paths_init(struct config_paths *paths, struct arena *arena, struct err *e)
{
	const char *home = home_directory();
	const char *config = absolute_variable("XDG_CONFIG_HOME");
	const char *state = absolute_variable("XDG_STATE_HOME");
	const char *state_home = getenv("AGENT6_STATE_HOME");
	if (!home && (!config || !state))
		return err_set(e, "there is no home directory: set HOME, or XDG_CONFIG_HOME and "
				  "XDG_STATE_HOME");
	if (state_home && *state_home && *state_home != '/')
		return err_set(e, "AGENT6_STATE_HOME must be an absolute path");
	*paths = (struct config_paths){
		.config_dir = config ? join(arena, config, "/agent6")
				     : join(arena, home, "/.config/agent6"),
		.state_dir = state ? join(arena, state, "/agent6")
				   : join(arena, home, "/.local/state/agent6"),
		.state_home = state_home && *state_home ? join(arena, state_home, "") : NULL,
	};
	return 0;
}
