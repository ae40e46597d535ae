#include "provider/stream.h"

#include "base/json.h"

/* The arguments of a call: JSON that is sent back as the model wrote it, and values that a tool
 * takes. These differ: NUL in a string, integers beyond 64 bits and repeated keys are valid JSON,
 * but no tool takes them. */

static bool nests_deeper(const json_t *value, size_t levels)
{
	size_t i;
	const char *key;
	json_t *item;
	bool deeper = false;
	if (!json_is_array(value) && !json_is_object(value))
		return false;
	if (!levels)
		return true;
	json_array_foreach ((json_t *)(uintptr_t)value, i, item)
		deeper = deeper || nests_deeper(item, levels - 1);
	json_object_foreach ((json_t *)(uintptr_t)value, key, item)
		deeper = deeper || nests_deeper(item, levels - 1);
	return deeper;
}

/* Reports whether a text is one valid JSON object, of a depth and size that servers accept back. */
static bool is_object(const char *text, size_t len)
{
	if (len > WIRE_CONTENT_CAP_BYTES || json_too_many(text, len))
		return false;
	json_auto_t *value = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
	return json_is_object(value) && !nests_deeper(value, JSON_DEPTH_MAX);
}

/* Returns the object that a string holds, since some models encode their arguments twice. NULL: it
 * holds none. */
static json_t *unwrap(const json_t *value)
{
	json_t *inner = json_is_string(value)
				? json_read(json_string_value(value), json_string_length(value),
					  WIRE_CONTENT_CAP_BYTES, NULL)
				: NULL;
	if (json_is_object(inner))
		return inner;
	json_decref(inner);
	return NULL;
}

const char *stream_arguments(const struct block *block, char **made)
{
	const char *text = block->text.len ? block->text.data : "{}";
	size_t len = strlen(text);
	*made = NULL;
	if (is_object(text, len))
		return text;
	json_auto_t *whole = json_read(text, len, WIRE_CONTENT_CAP_BYTES, NULL);
	json_auto_t *inner = unwrap(whole);
	AUTO_BUF out = BUF_INIT(2 * WIRE_CONTENT_CAP_BYTES);
	if (inner) {
		json_write(&out, inner);
	} else {
		buf_adds(&out, "{\"malformed_arguments\":");
		stream_quote(&out, text);
		buf_addc(&out, '}');
	}
	*made = out.failed ? NULL : buf_take(&out, NULL);
	return *made ? *made : "{}";
}

/* Sets the reason why a valid object is not accepted. */
static int refuse(const char *text, size_t len, struct err *e)
{
	json_error_t why;
	json_auto_t *nul = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &why);
	if (!nul)
		return err_set(e,
			"a string in them holds the character NUL (\\u0000), which nothing "
			"here takes");
	json_auto_t *big = json_loadb(text, len, 0, &why);
	return big ? err_set(e, "a key stands in one object of them twice")
		   : err_set(e, "an integer in them has more than 64 bits");
}

json_t *wire_arguments(const char *text, struct err *e)
{
	size_t len = strlen(text);
	struct err why = ERR_NONE;
	json_t *value = json_read(text, len, WIRE_CONTENT_CAP_BYTES, &why);
	json_t *inner = unwrap(value);
	if (inner)
		json_decref(value);
	if (value)
		return inner ? inner : value;
	if (is_object(text, len))
		refuse(text, len, e);
	else
		err_set(e, "%s. Give one JSON object and nothing beside it", why.text);
	return NULL;
}
