#include "jail/policy.h"

#include "base/json.h"
#include "jail/path.h"
#include <stdio.h>
#include <string.h>

enum { ARGV_MAX = 4096, ENV_MAX = 1024, TIMEOUT_SECS_MAX = 366 * 24 * 3600 };

static int wrong(const char *name, const char *expected, struct err *e)
{
	return err_set(e, "\"%s\" must be %s", name, expected);
}

static int decode_choice(const json_t *value, const char *name, const char *const words[],
	unsigned *out, struct err *e)
{
	const char *text = json_string_value(value);
	for (unsigned i = 0; text && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*out = i;
			return 0;
		}
	}
	char expected[128] = "";
	for (size_t i = 0, used = 0; words[i] && used < sizeof(expected); i++)
		used += (size_t)snprintf(expected + used, sizeof(expected) - used, "%s\"%s\"",
			i ? " or " : "", words[i]);
	return wrong(name, expected, e);
}

static int decode_integer(const json_t *value, const char *name, int64_t least, int64_t largest,
	int64_t *out, struct err *e)
{
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < least || number > largest)
		return least == largest ? err_set(e, "\"%s\" must be %lld", name, (long long)least)
					: err_set(e, "\"%s\" must be an integer from %lld to %lld",
						  name, (long long)least, (long long)largest);
	*out = number;
	return 0;
}

static int decode_path(const json_t *value, const char *name, const char **out, struct err *e)
{
	const char *text = json_string_value(value);
	if (!text || !path_is_normal(text))
		return err_set(e,
			"\"%s\" must be an absolute path without \"//\", \".\", \"..\" or a "
			"trailing \"/\"%s%s",
			name, text ? ", not " : "", text ? text : "");
	*out = text;
	return 0;
}

static int decode_paths(const json_t *value, const char *name, struct paths *out, struct err *e)
{
	if (!json_is_array(value) || json_array_size(value) > POLICY_PATHS_MAX)
		return wrong(name, "a list of at most 256 paths", e);
	for (out->count = 0; out->count < json_array_size(value); out->count++)
		if (decode_path(json_array_get(value, out->count), name, &out->path[out->count], e))
			return -1;
	return 0;
}

static int decode_object(const json_t *value, const char *name, const json_t **out, struct err *e)
{
	*out = value;
	return json_is_object(value) ? 0 : wrong(name, "an object", e);
}

static int decode_flag(const json_t *value, const char *name, bool *out, struct err *e)
{
	*out = json_is_true(value);
	return json_is_boolean(value) ? 0 : wrong(name, "true or false", e);
}

static int decode_argv(const json_t *value, const char *name, struct policy *p, struct err *e)
{
	size_t count = json_array_size(value);
	if (!json_is_array(value) || !count || count > ARGV_MAX)
		return wrong(name, "a list of 1 to 4096 strings", e);
	p->argv = calloc(count + 1, sizeof(*p->argv));
	for (size_t i = 0; p->argv && i < count; i++) {
		p->argv[i] = json_string_value(json_array_get(value, i));
		if (!p->argv[i])
			return wrong(name, "a list of strings", e);
	}
	if (!p->argv)
		return err_set(e, "out of memory");
	return p->argv[0][0] ? 0 : wrong(name, "begun with a program", e);
}

static bool is_env_name(const char *name)
{
	static const char rest[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	return *name && (*name < '0' || *name > '9') && !name[strspn(name, rest)];
}

static int decode_env(const json_t *value, const char *name, struct policy *p, struct err *e)
{
	if (!json_is_object(value) || json_object_size(value) > ENV_MAX)
		return wrong(name, "an object of at most 1024 strings", e);
	const char *key;
	json_t *text;
	json_object_foreach ((json_t *)(uintptr_t)value, key, text) {
		if (!is_env_name(key) || !json_is_string(text))
			return err_set(e,
				"\"env\": %s must be a string named by letters, digits and _", key);
		if (policy_setenv(p, key, json_string_value(text), e))
			return -1;
	}
	return 0;
}

static int decode_network(const json_t *value, const char *name, struct policy *p, struct err *e)
{
	static const char *const words[] = {"none", "host", NULL};
	int64_t fd = -1;
	if (!json_is_object(value))
		return decode_choice(value, name, words, &p->network, e);
	if (json_object_size(value) != 1 || !json_object_get(value, "proxy_fd"))
		return wrong(name, "\"none\", \"host\" or {\"proxy_fd\": N}", e);
	if (decode_integer(json_object_get(value, "proxy_fd"), "proxy_fd", 3, 1 << 20, &fd, e))
		return -1;
	p->proxy_fd = (int)fd;
	p->network = NETWORK_PROXY;
	return 0;
}

static int decode_workspace(const json_t *value, const char *name, struct policy *p, struct err *e)
{
	static const char *const words[] = {"none", "read", "write", NULL};
	const json_t *path = json_object_get(value, "path"),
		     *access = json_object_get(value, "access");
	if (json_object_size(value) != 2 || !access || !path)
		return wrong(name, "an object with \"path\" and \"access\"", e);
	return decode_path(path, "workspace.path", &p->workspace, e) ||
			       decode_choice(access, "workspace.access", words, &p->access, e)
		       ? -1
		       : 0;
}

static int decode_limits(const json_t *value, const char *name, struct policy *p, struct err *e)
{
	const char *key;
	json_t *number;
	if (!json_is_object(value))
		return wrong(name, "an object", e);
	json_object_foreach ((json_t *)(uintptr_t)value, key, number) {
#define LIMIT_DECODE(field, initial, largest)                                                      \
	if (!strcmp(key, #field)) {                                                                \
		if (decode_integer(number, "limits." #field, 1, largest, &p->limits.field, e))     \
			return -1;                                                                 \
		continue;                                                                          \
	}
		POLICY_LIMITS(LIMIT_DECODE)
#undef LIMIT_DECODE
		return err_set(e, "\"limits\" has no field \"%s\"", key);
	}
	return 0;
}

static int decode_hostname(const json_t *value, const char *name, const char **out, struct err *e)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
	const char *text = json_string_value(value);
	if (!text || !*text || strlen(text) > 64 || text[strspn(text, letters)])
		return wrong(name, "a host name of at most 64 letters, digits, - and .", e);
	*out = text;
	return 0;
}

/* One line per field: its name, whether it is needed, and how `value` becomes part of `p`. */
#define POLICY_FIELDS(X)                                                                           \
	X("version", true, decode_integer(value, name, 1, 1, &version, e))                         \
	X("profile", true, decode_choice(value, name, profiles, &p->profile, e))                   \
	X("argv", true, decode_argv(value, name, p, e))                                            \
	X("cwd", true, decode_path(value, name, &p->cwd, e))                                       \
	X("workspace", true, decode_workspace(value, name, p, e))                                  \
	X("timeout_secs", true,                                                                    \
		decode_integer(value, name, 1, TIMEOUT_SECS_MAX, &p->timeout_secs, e))             \
	X("env", false, decode_env(value, name, p, e))                                             \
	X("network", false, decode_network(value, name, p, e))                                     \
	X("read", false, decode_paths(value, name, &p->read, e))                                   \
	X("write", false, decode_paths(value, name, &p->write, e))                                 \
	X("protect", false, decode_paths(value, name, &p->protect, e))                             \
	X("hide", false, decode_paths(value, name, &p->hide, e))                                   \
	X("limits", false, decode_limits(value, name, p, e))                                       \
	X("bundle", false, decode_path(value, name, &p->bundle, e))                                \
	X("hostname", false, decode_hostname(value, name, &p->hostname, e))                        \
	X("require", false, decode_object(value, name, &p->require, e))                            \
	X("allow_root_jail", false, decode_flag(value, name, &p->allow_root_jail, e))

static int refuse_unknown(const json_t *object, struct err *e)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		bool known = false;
#define FIELD_KNOWN(name, needed, decode) known = known || !strcmp(name, key);
		POLICY_FIELDS(FIELD_KNOWN)
#undef FIELD_KNOWN
		if (!known)
			return err_set(e, "there is no field \"%s\"", key);
	}
	return 0;
}

static int decode_fields(struct policy *p, struct err *e)
{
	static const char *const profiles[] = {"strict", "hardened", NULL};
	int64_t version;
	const char *name;
	const json_t *value;
	if (!json_is_object(p->json))
		return err_set(e, "must be one JSON object");
	if (refuse_unknown(p->json, e))
		return -1;
#define FIELD_DECODE(field, needed, decode)                                                        \
	name = field;                                                                              \
	value = json_object_get(p->json, name);                                                    \
	if (!value && (needed))                                                                    \
		return err_set(e, "the field \"%s\" is missing", name);                            \
	if (value && (decode))                                                                     \
		return -1;
	POLICY_FIELDS(FIELD_DECODE)
#undef FIELD_DECODE
	return 0;
}

int policy_decode(const char *text, size_t len, struct policy *p, struct err *e)
{
	memset(p, 0, sizeof(*p));
	p->proxy_fd = -1;
	p->hostname = "jail";
#define LIMIT_DEFAULT(field, initial, largest) p->limits.field = initial;
	POLICY_LIMITS(LIMIT_DEFAULT)
#undef LIMIT_DEFAULT
	p->json = json_read(text, len, POLICY_BYTES_MAX, e);
	int failed = p->json ? 0 : -1;
	failed = failed || policy_setenv(p, "PATH", "/usr/local/bin:/usr/bin:/bin", e) ||
		 policy_setenv(p, "HOME", "/tmp/home", e) ||
		 policy_setenv(p, "LANG", "C.UTF-8", e) || decode_fields(p, e);
	if (!failed)
		return 0;
	policy_done(p);
	return -1;
}

int policy_order(struct policy *p, const char *text, size_t len, struct err *e)
{
	const json_t *argv, *env, *secs;
	p->order = json_read(text, len, POLICY_BYTES_MAX, e);
	argv = json_object_get(p->order, "argv");
	env = json_object_get(p->order, "env");
	secs = json_object_get(p->order, "timeout_secs");
	if (!p->order)
		return -1;
	if (!argv || json_object_size(p->order) != 1u + !!env + !!secs)
		return err_set(
			e, "an order has \"argv\" and may have \"env\" and \"timeout_secs\"");
	free(TAKE_PTR(p->argv));
	if (decode_argv(argv, "argv", p, e) || (env && decode_env(env, "env", p, e)))
		return -1;
	return secs ? decode_integer(secs, "timeout_secs", 1, TIMEOUT_SECS_MAX, &p->timeout_secs, e)
		    : 0;
}

void policy_done(struct policy *p)
{
	for (size_t i = 0; p->env && p->env[i]; i++)
		free(p->env[i]);
	free(p->env);
	free(p->argv);
	json_decref(p->json);
	json_decref(p->order);
	memset(p, 0, sizeof(*p));
	p->proxy_fd = -1;
}

int policy_setenv(struct policy *p, const char *name, const char *value, struct err *e)
{
	size_t count = 0, len = strlen(name);
	char *entry = NULL;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return err_set(e, "out of memory");
	for (; p->env && p->env[count]; count++) {
		if (!strncmp(p->env[count], entry, len + 1)) {
			free(p->env[count]);
			p->env[count] = entry;
			return 0;
		}
	}
	char **grown = realloc(p->env, (count + 2) * sizeof(*grown));
	if (!grown) {
		free(entry);
		return err_set(e, "out of memory");
	}
	grown[count] = entry;
	grown[count + 1] = NULL;
	p->env = grown;
	return 0;
}
