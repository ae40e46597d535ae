/* Where configuration and state live: the XDG Base Directory Specification, and sudo. */
#include "config/config.h"
#include <pwd.h>
#include <string.h>

static const char *join(struct arena *arena, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	char *out = arena_alloc(arena, n + m + 1);
	snprintf(out, n + m + 1, "%s%s", a, b);
	return out;
}

/* Relative values are to be ignored (XDG Base Directory Specification, section 2). */
static const char *absolute_variable(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] == '/' ? value : NULL;
}

/* sudo leaves HOME at root's or the user's depending on its policy; the user's is wanted. */
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
	home = home ? join(arena, home, "") : NULL;
	*paths = (struct config_paths){
		.config_dir = config ? join(arena, config, "/agent6")
				     : join(arena, home, "/.config/agent6"),
		.state_dir = state ? join(arena, state, "/agent6")
				   : join(arena, home, "/.local/state/agent6"),
		.state_home = state_home && *state_home ? join(arena, state_home, "") : NULL,
	};
	return 0;
}
