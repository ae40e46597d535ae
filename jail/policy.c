#include "jail/policy.h"

#include "base/fields.h"
#include "base/json.h"
#include "base/path.h"
#include <ctype.h>
#include <string.h>

static bool is_variable(const char *name)
{
	const char *c = name;
	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	return c > name && !*c && !isdigit((unsigned char)*name);
}

#define FIELD(kind, name, needed, member, least, most, what, is)                                   \
	{name, FIELD_##kind, needed, offsetof(struct policy, member), least, most, what, is},
#define LIMIT_FIELD(name, initial, largest)                                                        \
	FIELD(NUMBER, "limits." #name, false, name, 1, largest, NULL, NULL)
static const struct fields_row fields[] = {
	POLICY_FIELDS(FIELD) POLICY_LIMITS(LIMIT_FIELD) POLICY_COMMAND(FIELD, true){.name = ""}};
static const struct fields_row order_fields[] = {POLICY_COMMAND(FIELD, false){.name = ""}};

static int take_env(struct policy *policy, struct err *e)
{
	const char *name;
	json_t *value, *given = (json_t *)(uintptr_t)policy->given_env;
	json_object_foreach (given, name, value)
		if (!is_variable(name) || !json_is_string(value))
			return err_set(e,
				"\"env\": %s must be a string named by letters, digits and _",
				name);
	return given ? policy_add_env(policy, json_incref(given), e) : 0;
}

int policy_decode(const char *text, size_t len, struct policy *policy, struct err *e)
{
	*policy = (struct policy){.proxy_fd = -1};
#define LIMIT_INITIAL(name, initial, largest) policy->name = initial;
	POLICY_LIMITS(LIMIT_INITIAL)
	policy->env = json_pack("{s:s, s:s, s:s}", "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME",
		"/tmp/home", "LANG", "C.UTF-8");
	policy->json = json_read(text, len, POLICY_BYTES_MAX, e);
	if (!policy->json || !policy->env || fields_read(fields, policy->json, policy, e) ||
		take_env(policy, e)) {
		policy_done(policy);
		return err_set(e, "out of memory");
	}
	policy->network = policy->proxy_fd < 0 ? policy->network : NETWORK_PROXY;
	return 0;
}

int policy_order(struct policy *policy, const char *text, size_t len, struct err *e)
{
	policy->given_env = NULL;
	json_decref(policy->order);
	policy->order = json_read(text, len, POLICY_BYTES_MAX, e);
	if (!policy->order || fields_read(order_fields, policy->order, policy, e) ||
		take_env(policy, e))
		return err_wrap(e, "the order");
	return 0;
}

void policy_done(struct policy *policy)
{
	json_decref(policy->json);
	json_decref(policy->order);
	json_decref(policy->env);
	*policy = (struct policy){.proxy_fd = -1};
}

bool policy_frees(const struct policy *policy, const char *path)
{
	size_t i;
	json_t *free_path;
	json_array_foreach ((json_t *)(uintptr_t)policy->repositories, i, free_path)
		if (path_is_within(path, json_string_value(free_path)))
			return true;
	return false;
}

int policy_add_env(struct policy *policy, json_t *more, struct err *e)
{
	json_auto_t *owned = more;
	return json_object_update(policy->env, owned) ? err_set(e, "out of memory") : 0;
}
