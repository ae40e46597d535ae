#include "jail/policy.h"

#include "base/json.h"
#include "base/path.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum kind { MEMBERS, WORD, NUMBER, FLAG, PATH, HOST, OBJECT, PATHS, ARGV, ENV };

static const struct field {
	const char *name;
	enum kind kind;
	bool needed;
	size_t at; /* in the policy */
	int64_t least, most;
	const char *what; /* it should have been */
} fields[] = {
#define FIELD(name, kind, needed, member, least, most, what)                                       \
	{name, kind, needed, offsetof(struct policy, member), least, most, what},
#define POLICY_LIMIT_FIELD(name, initial, largest)                                                 \
	FIELD("limits." #name, NUMBER, false, name, 1, largest, NULL)
	POLICY_FIELDS(FIELD){.name = ""}};

/* Letters and digits, and what `more` has. */
static bool is_word(const char *text, const char *more)
{
	for (; isalnum((unsigned char)*text) || (*text && strchr(more, *text)); text++)
		;
	return !*text;
}

/* The place of `text` among the words that `what` quotes; -1: it is none of them. */
static int64_t find_word(const char *what, const char *text)
{
	int64_t at = 0;
	size_t len = strlen(text);
	for (const char *quote = what; !strchr(text, '"') && (quote = strchr(quote, '"')); at++) {
		if (!strncmp(quote + 1, text, len) && quote[1 + len] == '"')
			return at;
		quote = strchr(quote + 1, '"') + 1;
	}
	return -1;
}

static bool is_list(const struct field *f, const json_t *list)
{
	size_t i, count = json_array_size(list);
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)list, i, item) {
		const char *text = json_string_value(item);
		if (!text || (f->kind == PATHS && !path_is_normal(text)) || (!i && !*text))
			return false;
	}
	return json_is_array(list) && count >= (size_t)f->least && count <= (size_t)f->most;
}

static bool is_env(const struct field *f, const json_t *env, struct err *e)
{
	const char *name;
	json_t *text;
	json_object_foreach ((json_t *)(uintptr_t)env, name, text)
		if (!*name || isdigit((unsigned char)*name) || !is_word(name, "_") ||
			!json_is_string(text))
			return !err_set(e,
				"\"env\": %s must be a string named by letters, digits and _",
				name);
	return json_is_object(env) && json_object_size(env) <= (size_t)f->most;
}

/* Whether it could be read; the caller says what it should have been. */
static bool read_value(const struct field *f, const json_t *value, struct policy *p, struct err *e)
{
	void *at = (char *)p + f->at;
	const char *text = json_string_value(value);
	int64_t number;
	switch (f->kind) {
	case MEMBERS: return false; /* it is no object */
	case WORD: return text && (*(int64_t *)at = find_word(f->what, text)) >= 0;
	case NUMBER:
		number = json_integer_value(value);
		if (!json_is_integer(value) || number < f->least || number > f->most)
			return false;
		*(int64_t *)at = number;
		return true;
	case FLAG: *(bool *)at = json_is_true(value); return json_is_boolean(value);
	case PATH: *(const char **)at = text; return text && path_is_normal(text);
	case HOST:
		*(const char **)at = text;
		return text && *text && strlen(text) <= (size_t)f->most && is_word(text, "-.");
	case OBJECT: *(const json_t **)at = value; return json_is_object(value);
	case PATHS:
	case ARGV: *(const json_t **)at = value; return is_list(f, value);
	case ENV:
		return is_env(f, value, e) &&
		       !json_object_update(*(json_t **)at, (json_t *)(uintptr_t)value);
	}
	return false;
}

static const struct field *find(const char *object, const char *member)
{
	size_t len = strlen(object);
	for (const struct field *f = fields; *f->name; f++)
		if (!strncmp(f->name, object, len) && !strcmp(f->name + len, member))
			return f;
	return NULL;
}

static int read_members(struct policy *p, json_t *from, const char *object, struct err *e);

static int read_field(struct policy *p, const struct field *f, json_t *value, struct err *e)
{
	char object[64];
	int len = snprintf(object, sizeof(object), "%s.", f->name);
	/* Members stand behind their object. */
	if (json_is_object(value) && !strncmp(f[1].name, object, (size_t)len))
		return read_members(p, value, object, e);
	if (read_value(f, value, p, e))
		return 0;
	return f->what ? err_set(e, "\"%s\" must be %s", f->name, f->what)
		       : err_set(e, "\"%s\" must be an integer from %lld to %lld", f->name,
				 (long long)f->least, (long long)f->most);
}

/* `object` is the beginning of its members' names in the table. */
static int read_members(struct policy *p, json_t *from, const char *object, struct err *e)
{
	const char *name;
	json_t *value;
	size_t len = strlen(object);
	json_object_foreach (from, name, value)
		if (strchr(name, '.') || !find(object, name))
			return err_set(e, "there is no field \"%s%s\"", object, name);
	for (const struct field *f = fields; *f->name; f++) {
		if (strncmp(f->name, object, len) != 0 || strchr(f->name + len, '.'))
			continue;
		value = json_object_get(from, f->name + len);
		if (!value && f->needed)
			return err_set(e, "the field \"%s\" is missing", f->name);
		if (value && read_field(p, f, value, e))
			return -1;
	}
	return 0;
}

int policy_decode(const char *text, size_t len, struct policy *p, struct err *e)
{
	*p = (struct policy){.proxy_fd = -1, .hostname = "jail"};
#define LIMIT(name, initial, largest) p->name = initial;
	POLICY_LIMITS(LIMIT)
#undef LIMIT
	p->env = json_pack("{s:s, s:s, s:s}", "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME",
		"/tmp/home", "LANG", "C.UTF-8");
	p->json = json_read(text, len, POLICY_BYTES_MAX, e);
	int failed = !p->json || !p->env;
	if (!failed && !json_is_object(p->json))
		failed = err_set(e, "must be one JSON object");
	if (failed || read_members(p, p->json, "", e)) {
		policy_done(p);
		return err_set(e, "out of memory");
	}
	p->network = p->proxy_fd < 0 ? p->network : NETWORK_PROXY;
	return 0;
}

int policy_order(struct policy *p, const char *text, size_t len, struct err *e)
{
	const char *name;
	json_t *value;
	p->order = json_read(text, len, POLICY_BYTES_MAX, e);
	if (!json_object_get(p->order, "argv"))
		return err_set(e, "an order is an object with \"argv\"");
	json_object_foreach (p->order, name, value) {
		if (strcmp(name, "argv") != 0 && strcmp(name, "env") != 0 &&
			strcmp(name, "timeout_secs") != 0)
			return err_set(e, "an order has no \"%s\"", name);
		if (read_field(p, find("", name), value, e))
			return -1;
	}
	return 0;
}

void policy_done(struct policy *p)
{
	json_decref(p->json);
	json_decref(p->order);
	json_decref(p->env);
	*p = (struct policy){.proxy_fd = -1};
}

int policy_setenv(struct policy *p, const char *name, const char *value, struct err *e)
{
	return json_object_set_new(p->env, name, json_string(value)) ? err_set(e, "out of memory")
								     : 0;
}
