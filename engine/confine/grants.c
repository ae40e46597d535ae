#include "confine/grants.h"

#include "base/json.h"

#include <string.h>

static const struct config_secret *find(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->sandbox.secret_count; i++)
		if (!strcmp(config->sandbox.secrets[i].name, name))
			return &config->sandbox.secrets[i];
	return NULL;
}

static bool granted_to(const struct config_secret *secret, const char *machine)
{
	for (size_t i = 0; i < secret->machines.count; i++)
		if (!strcmp(secret->machines.items[i], machine))
			return true;
	return false;
}

int grants_check(
	const struct config *config, const char *machine, const char *secret, struct err *e)
{
	const struct config_secret *s = find(config, secret);
	if (s && !granted_to(s, machine))
		return err_set(e,
			"the secret %s is not granted to machine %s; add %s to "
			"sandbox.secrets.%s.machines in your configuration",
			secret, machine, machine, secret);
	if (!s)
		return err_set(e,
			"the secret %s is not granted to machine %s; grant it with "
			"sandbox.secrets.%s: "
			"{env: VARIABLE, machines: [%s]} in your configuration",
			secret, machine, secret, machine);
	const char *value = getenv(s->env);
	if (!value || strlen(value) < GRANT_BYTES_MIN)
		return err_set(e,
			"the secret %s comes from the variable %s, which is %s; set it where "
			"agent6 is "
			"started",
			secret, s->env, value ? "shorter than 8 bytes" : "not set");
	return 0;
}

static void wipe(json_t *env, const struct config *config, const struct tool_state *state)
{
	for (size_t i = 0; i < state->secret_count; i++) {
		json_t *value = json_object_get(env, find(config, state->secrets[i])->env);
		explicit_bzero(
			(char *)(uintptr_t)json_string_value(value), json_string_length(value));
	}
}

char *grants_order(const struct config *config, const struct tool_state *state,
	const struct jail_order *order, struct err *e)
{
	json_auto_t *env = order->env ? json_copy(order->env) : json_object();
	for (size_t i = 0; i < state->secret_count; i++) {
		const struct config_secret *secret = find(config, state->secrets[i]);
		const char *value = secret ? getenv(secret->env) : NULL;
		if (!value) {
			err_set(e, "the secret %s is gone", state->secrets[i]);
			return NULL;
		}
		json_object_set_new(env, secret->env, json_string(value));
	}
	const struct jail_order whole = {order->argv, env, order->timeout_secs};
	char *text = jail_order_text(&whole);
	wipe(env, config, state);
	if (!text)
		err_set(e, "the command cannot be written");
	return text;
}

void grants_redact(const struct config *config, const struct state *state, struct output *output)
{
	struct secrets secrets = {0};
	int failed = 0;
	for (size_t i = 0; i < state->tool.secret_count; i++) {
		const struct config_secret *secret = find(config, state->tool.secrets[i]);
		const char *value = secret ? getenv(secret->env) : NULL;
		failed |= value ? secrets_add(&secrets, value) : 0;
	}
	output_redact(output, failed ? NULL : &secrets);
	secrets_done(&secrets);
}
