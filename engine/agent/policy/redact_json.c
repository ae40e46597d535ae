#include "agent/policy/redact_json.h"

#include <stdint.h>
#include <string.h>

struct hiding {
	redact_fn *how;
	const struct redact *r;
	struct redact_tally *tally;
	bool names;
};

static json_t *without(const struct hiding *hiding, const json_t *value);

static json_t *in_text(const struct hiding *hiding, const char *text, size_t len)
{
	AUTO_BUF plain = BUF_INIT(16 * len + 1024);
	hiding->how(hiding->r, text, len, &plain, hiding->tally);
	return plain.failed ? NULL : json_stringn(plain.data, plain.len);
}

/* Redacts an object. Names that redact to the same text become one member, with the last value. */
static json_t *in_object(const struct hiding *hiding, const json_t *value)
{
	const char *key;
	json_t *member;
	json_auto_t *copy = json_object();
	json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
		json_auto_t *name =
			hiding->names ? in_text(hiding, key, strlen(key)) : json_string(key);
		if (!name ||
			json_object_set_new(copy, json_string_value(name), without(hiding, member)))
			return NULL;
	}
	return json_incref(copy);
}

static json_t *in_array(const struct hiding *hiding, const json_t *value)
{
	size_t i;
	json_t *member;
	json_auto_t *copy = json_array();
	json_array_foreach (value, i, member)
		if (json_array_append_new(copy, without(hiding, member)))
			return NULL;
	return json_incref(copy);
}

static json_t *without(const struct hiding *hiding, const json_t *value)
{
	if (json_is_string(value))
		return in_text(hiding, json_string_value(value), json_string_length(value));
	if (json_is_object(value))
		return in_object(hiding, value);
	return json_is_array(value) ? in_array(hiding, value)
				    : json_copy((json_t *)(uintptr_t)value);
}

json_t *redact_json(redact_fn *how, const struct redact *redact, const json_t *value,
	struct redact_tally *tally)
{
	return without(&(struct hiding){how, redact, tally, true}, value);
}

json_t *redact_values(redact_fn *how, const struct redact *redact, const json_t *value)
{
	return without(&(struct hiding){how, redact, NULL, false}, value);
}
