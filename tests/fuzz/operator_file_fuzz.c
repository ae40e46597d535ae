/*
 * One value set in a person's own YAML file: a key, a value and the file, a line each and the rest.
 * Either the file reads afterwards as before but for that value, with every line that was not the
 * value's own still in it, or it is untouched and the refusal says why.
 */
#include "base/cleanup.h"
#include "config/operator_file.h"
#include "schema/read.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool held)
{
	if (!held)
		abort();
}

/* NULL: it is no YAML; else what it says. */
static json_t *read_yaml(const char *text, size_t len)
{
	struct doc d;
	struct findings f;
	findings_init(&f);
	json_t *value = NULL;
	if (!doc_read_yaml(&d, "f.yaml", text, len, &f) && !f.errors)
		value = doc_json(d.root);
	findings_done(&f);
	doc_done(&d);
	return value;
}

/* The value that is written so wherever it stands; NULL: it depends on the place. */
static json_t *read_value(const char *value)
{
	AUTO_FREE char *block = NULL, *flow = NULL;
	int block_len = asprintf(&block, "k: %s\n", value);
	int flow_len = asprintf(&flow, "{k: %s}", value);
	json_auto_t *one = block_len < 0 ? NULL : read_yaml(block, (size_t)block_len);
	json_auto_t *other = flow_len < 0 ? NULL : read_yaml(flow, (size_t)flow_len);
	bool same = one && other && json_equal(one, other) && json_object_size(one) == 1;
	return same ? json_incref(json_object_get(one, "k")) : NULL;
}

/* Sets the same key in a map of our own, for comparison. */
static void set_in(json_t *map, const char *key, json_t *value)
{
	AUTO_FREE char *copy = strdup(key);
	char *rest = copy, *save = NULL;
	const char *part = strtok_r(rest, ".", &save);
	for (const char *next; (next = strtok_r(NULL, ".", &save)); part = next) {
		/* A key with nothing behind it is a group that is empty. */
		if (!json_is_object(json_object_get(map, part)))
			json_object_set_new(map, part, json_object());
		map = json_object_get(map, part);
	}
	json_object_set(map, part, value);
}

static void check(const char *key, const char *value, const char *text, size_t len)
{
	struct operator_file f = {.dir = "", .name = "f.yaml", .lock_fd = -1};
	struct err e = ERR_NONE;
	json_auto_t *before = read_yaml(text, len), *wanted = read_value(value);
	buf_init(&f.text, 1024 * 1024);
	buf_add(&f.text, text, len);
	if (operator_file_set(&f, key, value, &e)) {
		require(e.text[0] && f.text.len == len && !memcmp(f.text.data, text, len));
	} else if (before && wanted) {
		json_auto_t *after = read_yaml(f.text.data, f.text.len);
		set_in(before, key, wanted);
		require(after && json_equal(before, after));
	}
	operator_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_FREE char *text = malloc(len + 2);
	if (!text)
		abort();
	memcpy(text, data, len);
	text[len] = '\0';
	char *value = strchr(text, '\n'), *file = value ? strchr(value + 1, '\n') : NULL;
	if (!file || text + strspn(text, "abcdefghijklmnopqrstuvwxyz_.-") != value)
		return 0;
	*value++ = *file++ = '\0';
	size_t rest = len - (size_t)(file - text);
	/* An opened file ends in a line break. */
	if (rest && file[rest - 1] != '\n')
		file[rest++] = '\n';
	check(text, value, file, rest);
	return 0;
}
