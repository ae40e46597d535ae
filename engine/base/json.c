#include "base/json.h"

#include "base/num.h"
#include "base/utf8.h"
#include <string.h>

/* Memory of an empty list or object in jansson, in units of a number's. */
enum { CONTAINER_VALUES = 4 };

struct extent {
	size_t depth, deepest, values;
};

static void extend(struct extent *extent, char c)
{
	if (c == ',') {
		extent->values++;
	} else if (c == '[' || c == '{') {
		extent->values += CONTAINER_VALUES;
		if (++extent->depth > extent->deepest)
			extent->deepest = extent->depth;
	} else if ((c == ']' || c == '}') && extent->depth) {
		extent->depth--;
	}
}

/* Returns the end of the string whose opening quote is just before `at`. */
static size_t string_end(const char *text, size_t len, size_t at)
{
	while (at < len && text[at] != '"')
		at += text[at] == '\\' ? 2 : 1;
	return at;
}

/* Measures nesting and the number of values. jansson's own nesting limit is 2048: fine for its
 * stack, too deep for ours. Brackets inside strings are skipped; jansson refuses malformed text
 * later. */
static struct extent extent_of(const char *text, size_t len)
{
	struct extent x = {0};
	for (size_t i = 0; i < len; i++)
		if (text[i] == '"')
			i = string_end(text, len, i + 1);
		else
			extend(&x, text[i]);
	return x;
}

bool json_too_many(const char *text, size_t len)
{
	return extent_of(text, len).values > JSON_VALUES_MAX;
}

json_t *json_read(const char *text, size_t len, size_t cap_bytes, struct err *e)
{
	struct json_cap cap = {cap_bytes, JSON_DEPTH_MAX, JSON_VALUES_MAX};
	return json_read_nested(text, len, cap, e);
}

static int check_extent(const char *text, size_t len, struct json_cap cap, struct err *e)
{
	if (len > cap.bytes)
		return err_set(e, "the JSON text has %zu bytes, more than the limit of %zu", len,
			cap.bytes);
	struct extent x = extent_of(text, len);
	if (x.deepest > cap.depth)
		return err_set(e, "the JSON text nests deeper than %zu levels", cap.depth);
	if (x.values > cap.values)
		return err_set(e,
			"the JSON text holds more than %zu values (a list or an object counts as "
			"%d)",
			cap.values, CONTAINER_VALUES);
	return 0;
}

static const char *fault_text(const json_error_t *why)
{
	enum json_error_code code = json_error_code(why);
	bool nul = code == json_error_null_character || code == json_error_null_byte_in_key;
	return nul ? "a string holds the character NUL" : why->text;
}

json_t *json_read_nested(const char *text, size_t len, struct json_cap cap, struct err *e)
{
	if (check_extent(text, len, cap, e))
		return NULL;
	json_error_t why;
	json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	/* For a single line the caller knows the line number. */
	if (!value && !memchr(text, '\n', len))
		err_set(e, "not valid JSON at column %d: %s", why.column, fault_text(&why));
	else if (!value)
		err_set(e, "not valid JSON at line %d, column %d: %s", why.line, why.column,
			fault_text(&why));
	return value;
}

int json_write_string(struct buf *out, const char *text, size_t len)
{
	buf_addc(out, '"');
	for (size_t i = 0, run = 0; i <= len; i++) {
		unsigned char c = i < len ? (unsigned char)text[i] : '"';
		if (i < len && c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, text + run, i - run);
		run = i + 1;
		if (i == len)
			break;
		static const char named[] = {['\b'] = 'b',
			['\t'] = 't',
			['\n'] = 'n',
			['\f'] = 'f',
			['\r'] = 'r',
			['"'] = '"',
			['\\'] = '\\'};
		if (named[c])
			buf_add(out, (char[]){'\\', named[c]}, 2);
		else
			buf_addf(out, "\\u%04x", c);
	}
	return buf_addc(out, '"');
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_object(struct buf *out, const json_t *object)
{
	size_t n = json_object_size(object), i = 0;
	AUTO_FREE const char **keys = calloc(n ? n : 1, sizeof(*keys));
	if (!keys) {
		out->failed = true;
		return -1;
	}
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		keys[i++] = key;
	qsort(keys, n, sizeof(*keys), by_key);
	buf_addc(out, '{');
	for (i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		json_write_string(out, keys[i], strlen(keys[i]));
		buf_addc(out, ':');
		json_write(out, json_object_get(object, keys[i]));
	}
	return buf_addc(out, '}');
}

static int write_array(struct buf *out, const json_t *array)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			buf_addc(out, ',');
		json_write(out, json_array_get(array, i));
	}
	return buf_addc(out, ']');
}

int json_write(struct buf *out, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return write_object(out, value);
	case JSON_ARRAY: return write_array(out, value);
	case JSON_STRING:
		return json_write_string(out, json_string_value(value), json_string_length(value));
	case JSON_INTEGER: return buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	case JSON_REAL: {
		char text[NUM_FLOAT_BYTES];
		return buf_add(out, text, num_float_text(json_real_value(value), text));
	}
	case JSON_TRUE: return buf_adds(out, "true");
	case JSON_FALSE: return buf_adds(out, "false");
	case JSON_NULL: return buf_adds(out, "null");
	}
	return -1;
}

char *json_text(const json_t *value)
{
	AUTO_BUF b = BUF_INIT(SIZE_MAX / 4);
	return json_write(&b, value) ? NULL : buf_take(&b, NULL);
}

const char *json_get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

json_int_t json_get_int(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

void json_add_int(json_t *object, const char *key, json_int_t more)
{
	json_object_set_new(object, key, json_integer(num_add(json_get_int(object, key), more)));
}

int json_length(const json_t *value, int64_t *out)
{
	if (json_is_string(value))
		*out = (int64_t)utf8_count(json_string_value(value), json_string_length(value));
	else if (json_is_array(value))
		*out = (int64_t)json_array_size(value);
	else if (json_is_object(value))
		*out = (int64_t)json_object_size(value);
	else
		return -1;
	return 0;
}
