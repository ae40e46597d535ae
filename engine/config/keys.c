#include "config/keys.h"

#include "base/num.h"
#include <string.h>

#define SECTION(name)
#define KEY(kind, name, field) {KEY_##kind, name, offsetof(struct config, field)},
const struct key config_keys[] = {
#include "config/keys.def"
};
#undef KEY
#undef SECTION
const size_t config_key_count = ARRAY_LEN(config_keys);

/* clang-format off */
#define KEY(kind, name) {KEY_##kind, #name, offsetof(struct config_provider, name)},
const struct key config_provider_keys[] = {
	KEY(CHOICE, api_format)
	KEY(TEXT, base_url)
	KEY(TEXT, api_key_env)
	KEY(LIST, token_command)
	KEY(CHOICE, auth)
	KEY(TEXT, api_version)
	KEY(TEXT, ca_file)
	KEY(INT, connect_timeout_secs)
	KEY(INT, idle_timeout_secs)
	KEY(INT, timeout_secs)
	KEY(INT, max_retries)
	KEY(FLAG, private_network)
};
#undef KEY
/* clang-format on */
const size_t config_provider_key_count = ARRAY_LEN(config_provider_keys);

/* The words of a CHOICE key, indexed by its enum, NULL after the last. */
/* clang-format off */
static const struct {
	const char *name;
	const char *const words[4];
} choices[] = {
	{"api_format", {[API_ANTHROPIC] = "anthropic", [API_OPENAI] = "openai"}},
	{"auth", {[AUTH_X_API_KEY] = "x-api-key", [AUTH_BEARER] = "bearer", [AUTH_NONE] = "none"}},
	{"agent.summarise", {[SUMMARISE_DIGEST] = "digest", [SUMMARISE_MODEL] = "model"}},
	{"sandbox.profile", {
		[PROFILE_AUTO] = "auto", [PROFILE_STRICT] = "strict", [PROFILE_HARDENED] = "hardened"}},
	{"sandbox.agent_network", {
		[AGENT_NETWORK_PROVIDERS] = "providers",
		[AGENT_NETWORK_LOCAL] = "local",
		[AGENT_NETWORK_OPEN] = "open"}},
	{"sandbox.tool_network", {
		[TOOL_NETWORK_BLOCK] = "block",
		[TOOL_NETWORK_ONLY_EXPLICIT] = "only_explicit_states",
		[TOOL_NETWORK_ALLOW] = "allow"}},
	{"sandbox.limits.memory_by", {
		[MEMORY_BOUND_ANY] = "any",
		[MEMORY_BOUND_WATCH] = "watch",
		[MEMORY_BOUND_CGROUP] = "cgroup"}},
	{"sandbox.run_commands", {
		[RUN_COMMANDS_NO] = "no", [RUN_COMMANDS_ASK] = "ask", [RUN_COMMANDS_YES] = "yes"}},
	{"approval.default", {
		[APPROVAL_AUTO] = "auto", [APPROVAL_CONFIRM] = "confirm", [APPROVAL_STEP] = "step"}},
};
/* clang-format on */

static const char *const *key_choices(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		if (!strcmp(choices[i].name, name))
			return choices[i].words;
	return NULL;
}

const char *config_word(const char *key, unsigned value)
{
	return key_choices(key)[value];
}

static unsigned choice_of(const char *name, const char *text)
{
	const char *const *words = key_choices(name);
	unsigned i = 0;
	while (words && words[i] && strcmp(words[i], text))
		i++;
	return words && words[i] ? i : 0;
}

static struct config_list list_of(const struct config *config, const struct doc_node *node)
{
	struct config_list list = {NULL, 0};
	if (!node || node->kind != DOC_LIST || !node->count)
		return list;
	const char **items = arena_array(&config->store->arena, node->count + 1, sizeof(*items));
	for (uint32_t i = 0; i < node->count; i++)
		items[i] = node->items[i].text;
	list.items = items;
	list.count = node->count;
	return list;
}

static int64_t microusd_of(const struct doc_node *node)
{
	return num_microusd(node->kind == DOC_INT ? (double)node->integer : node->number);
}

void key_store(
	const struct config *config, const struct key *key, const struct doc_node *node, void *base)
{
	void *field = (char *)base + key->offset;
	switch (key->kind) {
	case KEY_TEXT: *(const char **)field = node ? node->text : NULL; return;
	case KEY_INT:
	case KEY_LIMIT: *(int64_t *)field = node ? node->integer : CONFIG_NONE; return;
	case KEY_USD: *(int64_t *)field = node ? microusd_of(node) : CONFIG_NONE; return;
	case KEY_FLAG: *(bool *)field = node && node->boolean; return;
	case KEY_CHOICE: *(unsigned *)field = node ? choice_of(key->name, node->text) : 0; return;
	case KEY_LIST: *(struct config_list *)field = list_of(config, node); return;
	case KEY_NEVER: return;
	}
}

static json_t *list_json(const struct config_list *list)
{
	json_t *array = json_array();
	for (size_t i = 0; array && i < list->count; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

json_t *key_json(const struct key *key, const void *base)
{
	const void *field = (const char *)base + key->offset;
	int64_t number = 0;
	if (key->kind == KEY_INT || key->kind == KEY_LIMIT || key->kind == KEY_USD)
		number = *(const int64_t *)field;
	if (number == CONFIG_NONE)
		return json_null();
	switch (key->kind) {
	case KEY_TEXT: {
		const char *text = *(const char *const *)field;
		return text ? json_string(text) : json_null();
	}
	case KEY_INT:
	case KEY_LIMIT: return json_integer(number);
	case KEY_USD: return json_real((double)number / 1e6);
	case KEY_FLAG: return json_boolean(*(const bool *)field);
	case KEY_CHOICE: return json_string(config_word(key->name, *(const unsigned *)field));
	case KEY_LIST: return list_json(field);
	case KEY_NEVER: return json_false();
	}
	return NULL;
}

/* Adds another setting that may be meant, below `section` if that is not part of its name. */
static void add_ending(struct buf *out, const char *section, const char *name)
{
	buf_addf(out, "%s'%s%s'", out->len ? " or " : "", section, name);
}

bool config_keys_ending(const char *part, struct buf *out)
{
	size_t len = strlen(part);
	for (size_t i = 0; i < config_key_count; i++) {
		const char *name = config_keys[i].name, *dot = strrchr(name, '.');
		if (!strncmp(name, part, len) && (!name[len] || name[len] == '.'))
			return false;
		if (dot && !strcmp(dot + 1, part))
			add_ending(out, "", name);
	}
	for (size_t i = 0; i < config_provider_key_count; i++)
		if (!strcmp(config_provider_keys[i].name, part))
			add_ending(out, "providers.NAME.", part);
	return out->len && !out->failed;
}
