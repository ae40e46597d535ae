#include "git/environment.h"

#include <stdio.h>
#include <string.h>

struct setting {
	const char *key, *value;
};

static const struct setting fixed_env[] = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"},
	{"LC_ALL", "C"}, {"TZ", "UTC"}, {"GIT_CONFIG_NOSYSTEM", "1"},
	{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_ATTR_NOSYSTEM", "1"},
	{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_NO_LAZY_FETCH", "1"}, {"GIT_ALLOW_PROTOCOL", "none"},
	{"GIT_OPTIONAL_LOCKS", "0"}, {"GIT_NO_REPLACE_OBJECTS", "1"},
	{"GIT_LITERAL_PATHSPECS", "1"}, {"GIT_PAGER", "cat"}, {"GIT_EDITOR", "/bin/false"},
	{"GIT_SEQUENCE_EDITOR", "/bin/false"}, {"GIT_ASKPASS", "/bin/false"},
	{"SSH_ASKPASS", "/bin/false"}};

static const struct setting fixed_settings[] = {{"core.fsmonitor", "false"},
	{"core.hooksPath", "/dev/null"}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"},
	{"log.showSignature", "false"}, {"gpg.program", "/bin/false"},
	{"gpg.openpgp.program", "/bin/false"}, {"gpg.ssh.program", "/bin/false"},
	{"gpg.x509.program", "/bin/false"}, {"gpg.ssh.defaultKeyCommand", "/bin/false"},
	{"core.editor", "/bin/false"}, {"sequence.editor", "/bin/false"},
	{"core.sshCommand", "/bin/false"}, {"core.askPass", "/bin/false"},
	{"core.gitProxy", "/bin/false"}, {"core.alternateRefsCommand", "/bin/false"},
	{"core.pager", "cat"}, {"credential.helper", ""}, {"protocol.allow", "never"},
	{"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "all"},
	{"status.submoduleSummary", "false"}, {"diff.submodule", "short"}, {"gc.auto", "0"},
	{"maintenance.auto", "false"}, {"core.attributesFile", "/dev/null"},
	{"safe.bareRepository", "explicit"}, {"core.untrackedCache", "false"},
	{"core.quotePath", "false"},
	/* Compare files by their own attributes, without shortcuts from the index. */
	{"core.trustctime", "true"}, {"core.checkStat", "default"},
	/* A step is journaled only when the objects it refers to are on disk. */
	{"core.fsync", "all"}, {"core.fsyncMethod", "batch"}};

/* Settings that are overridden once for each name in the repository's configuration. */
static const struct {
	const char *section;
	struct setting last; /* key: the part after the name */
} per_name[] = {{"filter", {"clean", ""}}, {"filter", {"smudge", ""}}, {"filter", {"process", ""}},
	{"filter", {"required", "false"}}, {"merge", {"driver", "/bin/false"}},
	{"diff", {"command", "/bin/false"}}, {"diff", {"textconv", "/bin/false"}},
	{"remote", {"promisor", "false"}}, {"remote", {"uploadpack", "/bin/false"}},
	{"remote", {"receivepack", "/bin/false"}}, {"remote", {"vcs", "/bin/false"}},
	{"remote", {"proxy", "/bin/false"}}, {"trailer", {"cmd", "true"}},
	{"trailer", {"command", "true"}}, {"hook", {"enabled", "false"}},
	{"credential", {"helper", ""}}, {"submodule", {"update", "none"}}};

enum { SETTINGS_MAX = 2000 };

struct environment {
	json_t *all;
	int settings;
};

static int add(struct environment *env, const char *name, const char *value, struct err *e)
{
	return json_object_set_new(env->all, name, json_string(value))
		       ? err_set(e, "the repository's configuration holds a name that is not UTF-8")
		       : 0;
}

static int set(struct environment *env, const char *key, const char *value, struct err *e)
{
	char name[40];
	if (env->settings >= SETTINGS_MAX)
		return err_set(
			e, "the repository's configuration names too many drivers and remotes");
	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%d", env->settings);
	if (add(env, name, key, e))
		return -1;
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%d", env->settings++);
	return add(env, name, value, e);
}

/* Overrides `key`, as git lists it: "section.name with dots.last". */
static int override_name(struct environment *env, const char *key, struct err *e)
{
	char full[1024];
	size_t section = strcspn(key, ".");
	const char *last = strrchr(key, '.');
	if (!key[section] || last == key + section)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(per_name); i++) {
		if (strlen(per_name[i].section) != section ||
			strncmp(key, per_name[i].section, section))
			continue;
		int len = snprintf(full, sizeof(full), "%.*s.%s", (int)(last - key), key,
			per_name[i].last.key);
		if (len >= (int)sizeof(full))
			return err_set(
				e, "the repository's configuration holds a name over 1,000 bytes");
		if (set(env, full, per_name[i].last.value, e))
			return -1;
	}
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	const char *a_last = strrchr(a, '.'), *b_last = strrchr(b, '.');
	return a_last && b_last && a_last - a == b_last - b && !strncmp(a, b, (size_t)(a_last - a));
}

static int override_names(struct environment *env, const struct buf *names, struct err *e)
{
	const char *before = "";
	for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1) {
		const char *key = names->data + at;
		if (!same_name(before, key) && override_name(env, key, e))
			return -1;
		before = key;
	}
	return 0;
}

static int name_people(struct environment *env, const struct git_identity *as, struct err *e)
{
	return add(env, "GIT_AUTHOR_NAME", as->name, e) ||
			       add(env, "GIT_AUTHOR_EMAIL", as->email, e) ||
			       add(env, "GIT_COMMITTER_NAME", as->name, e) ||
			       add(env, "GIT_COMMITTER_EMAIL", as->email, e)
		       ? -1
		       : 0;
}

static int set_filters(struct environment *env, const struct buf *filters, struct err *e)
{
	for (size_t at = 0; at < filters->len; at += strlen(filters->data + at) + 1) {
		const char *entry = filters->data + at;
		AUTO_FREE char *key = strndup(entry, strcspn(entry, "\n"));
		if (!key || set(env, key, entry + strlen(key) + 1, e))
			return key ? -1 : err_set(e, "out of memory");
	}
	return 0;
}

static int fill_fixed(struct environment *env, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed_env); i++)
		if (add(env, fixed_env[i].key, fixed_env[i].value, e))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(fixed_settings); i++)
		if (set(env, fixed_settings[i].key, fixed_settings[i].value, e))
			return -1;
	return 0;
}

static int add_count(struct environment *env, struct err *e)
{
	char count[16];
	snprintf(count, sizeof(count), "%d", env->settings);
	return add(env, "GIT_CONFIG_COUNT", count, e);
}

/* Builds the environment. The last value of a key counts. */
json_t *environment_new(const struct buf *names, const struct buf *filters,
	const struct git_identity *as, struct err *e)
{
	struct environment env = {.all = json_object()};
	if (env.all && !fill_fixed(&env, e) && !override_names(&env, names, e) &&
		!set_filters(&env, filters, e) && (!as || !name_people(&env, as, e)) &&
		!add_count(&env, e))
		return env.all;
	json_decref(env.all);
	return NULL;
}
