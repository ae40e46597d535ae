#include "contract/jail_policy.h"

#include "base/fields.h"
#include "base/json.h"
#include "contract/jail_policy_table.h"

#include <string.h>

#define LISTS(X) X(read) X(write) X(protect) X(hide) X(repositories)
/* A policy beside its lists as JSON, in which alone the rows find them. */
struct wire_policy {
	struct jail_policy policy;
	struct {
#define X(name) json_t *name;
		LISTS(X)
#undef X
	} lists;
};

#define IN_MEMBERS(member) offsetof(struct wire_policy, policy)
#define IN_OBJECT(member)  offsetof(struct wire_policy, policy.member)
#define IN_TEXT(member)    offsetof(struct wire_policy, policy.member)
#define IN_WORD(member)    offsetof(struct wire_policy, policy.member)
#define IN_NUMBER(member)  offsetof(struct wire_policy, policy.member)
#define IN_FLAG(member)    offsetof(struct wire_policy, policy.member)
#define IN_LIST(member)    offsetof(struct wire_policy, lists.member)
#define FIELD(kind, name, always, member, least, most, what)                                       \
	{name, FIELD_##kind, always, IN_##kind(member), least, most, what, NULL},
static const struct fields_row members[] = {JAIL_POLICY_MEMBERS(FIELD){.name = ""}};

struct jail_policy jail_policy_of(
	enum jail_profile profile, const char *workspace, enum jail_access access)
{
	return (struct jail_policy){.version = 1,
		.profile = profile,
		.cwd = workspace,
		.workspace = workspace,
		.access = access};
}

void jail_policy_done(struct jail_policy *policy)
{
#define X(name) path_list_done(&policy->name);
	LISTS(X)
#undef X
	json_decref(policy->env);
	json_decref(policy->held);
	*policy = (struct jail_policy){.cwd = NULL};
}

int jail_policy_decode(json_t *from, struct jail_policy *out, struct err *e)
{
	struct wire_policy wire = {.policy.cwd = NULL};
	*out = (struct jail_policy){.cwd = NULL};
	if (fields_read(members, from, &wire, e))
		return -1;
	*out = wire.policy;
#define X(name)                                                                                    \
	if (wire.lists.name)                                                                       \
		out->name = path_list_decode(wire.lists.name);
	LISTS(X)
#undef X
	json_incref(out->env);
	out->held = json_incref(from);
	return 0;
}

/* Returns the word at `index` among those quoted in `what`, a new reference; NULL: there are not so
 * many. */
static json_t *word_at(const char *what, int64_t index)
{
	const char *quote = strchr(what, '"');
	for (; quote && index > 0; index--)
		quote = strchr(strchr(quote + 1, '"') + 1, '"');
	return quote ? json_stringn(quote + 1, strcspn(quote + 1, "\"")) : NULL;
}

static bool has_value(const struct fields_row *row, const void *at)
{
	switch (row->kind) {
	case FIELD_MEMBERS: return false;
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_TEXT: return *(const void *const *)at;
	case FIELD_WORD:
	case FIELD_NUMBER: return *(const int64_t *)at;
	case FIELD_FLAG: return *(const bool *)at;
	}
	return false;
}

static json_t *value_of(const struct fields_row *row, const void *at)
{
	switch (row->kind) {
	case FIELD_MEMBERS: return NULL;
	case FIELD_OBJECT:
	case FIELD_LIST: return json_incref(*(json_t *const *)at);
	case FIELD_TEXT: return json_string(*(const char *const *)at);
	case FIELD_WORD: return word_at(row->what, *(const int64_t *)at);
	case FIELD_NUMBER: return json_integer(*(const int64_t *)at);
	case FIELD_FLAG: return json_true();
	}
	return NULL;
}

/* Sets the member that a row's name says, "NAME" or "OBJECT.NAME"; takes `value`. */
static int set_member(json_t *out, const char *name, json_t *value)
{
	const char *dot = strchr(name, '.');
	if (!dot)
		return json_object_set_new(out, name, value);
	char object[32];
	snprintf(object, sizeof(object), "%.*s", (int)(dot - name), name);
	if (!json_object_get(out, object))
		json_object_set_new(out, object, json_object());
	return json_object_set_new(json_object_get(out, object), dot + 1, value);
}

/* Returns an object of the members whose names begin with `prefix`, without it. */
static json_t *encode_members(const struct wire_policy *wire, const char *prefix)
{
	json_auto_t *out = json_object();
	size_t len = strlen(prefix);
	for (const struct fields_row *row = members; *row->name; row++) {
		const void *at = (const char *)wire + row->at;
		bool always = row->needed && row->kind != FIELD_NUMBER;
		if (strncmp(row->name, prefix, len) != 0 || row->kind == FIELD_MEMBERS ||
			(!always && !has_value(row, at)))
			continue;
		if (set_member(out, row->name + len, value_of(row, at)))
			return NULL;
	}
	return json_incref(out);
}

json_t *jail_policy_encode(const struct jail_policy *policy)
{
	struct wire_policy wire = {.policy = *policy};
	bool whole = true;
#define X(name)                                                                                    \
	wire.lists.name = path_list_encode(&policy->name);                                         \
	whole = whole && !wire.lists.name == !policy->name.items;
	LISTS(X)
#undef X
	json_t *out = whole ? encode_members(&wire, "") : NULL;
#define X(name) json_decref(wire.lists.name);
	LISTS(X)
#undef X
	return out;
}

json_t *jail_policy_limits(const struct jail_policy *policy)
{
	const struct wire_policy wire = {.policy = *policy};
	return encode_members(&wire, "limits.");
}

char *jail_policy_text(const struct jail_policy *policy, const struct jail_order *order)
{
	json_auto_t *argv = json_pack("[s]", "true");
	const struct jail_order none = {.argv = argv, .timeout_secs = 1};
	json_auto_t *whole = jail_policy_encode(policy);
	json_auto_t *more = jail_order_encode(order ? order : &none);
	return whole && more && !json_object_update(whole, more) ? json_text(whole) : NULL;
}
