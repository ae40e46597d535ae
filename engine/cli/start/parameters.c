#include "cli/start/parameters.h"

#include "base/io.h"
#include "machine/blackboard.h"
#include "schema/read.h"
#include <fcntl.h>
#include <string.h>

/* The given values, and a blackboard for trying them. */
struct given {
	const struct machine *m;
	json_t *values, *trial;
};

static int give(struct given *given, const char *name, const json_t *value, struct err *e)
{
	if (blackboard_set_parameter(given->m, given->trial, name, value, VALUE_WHOLE, e))
		return -1;
	return json_object_set(given->values, name, (json_t *)(uintptr_t)value);
}

static int first_error(const char *path, const struct findings *findings, struct err *e)
{
	const struct finding *it = findings->items;
	if (!it->pos.line) /* about the file as a whole */
		return err_set(e, "%s: %s", path, it->message);
	return err_set(e, "%s:%u:%u: %s", path, it->pos.line, it->pos.column, it->message);
}

static int give_all(struct given *given, const char *path, const struct doc *doc, struct err *e)
{
	if (doc->root->kind != DOC_MAP)
		return err_set(e, "%s: parameters are a map NAME: VALUE", path);
	for (uint32_t i = 0; i < doc->root->count; i++) {
		const struct doc_pair *pair = &doc->root->pairs[i];
		json_auto_t *value = doc_json(&pair->value);
		if (give(given, pair->key.text, value, e))
			return err_wrap(
				e, "%s:%u:%u", path, pair->key.pos.line, pair->key.pos.column);
	}
	return 0;
}

/* Reads a file in any of the three syntaxes. */
static int read_file(struct given *given, const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct doc d;
	struct findings f;
	if (io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &len, e))
		return -1;
	findings_init(&f);
	doc_read(&d, path, text, len, &f);
	findings_sort(&f);
	int failed = f.count ? first_error(path, &f, e) : give_all(given, path, &d, e);
	doc_done(&d);
	findings_done(&f);
	return failed;
}

static int set_one(struct given *given, const char *text, struct err *e)
{
	char name[128];
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || equals - text >= (long)sizeof(name))
		return err_set(e, "--set takes NAME=VALUE, not '%s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	json_auto_t *value = blackboard_parse_parameter(given->m, name, equals + 1, e);
	return value && !give(given, name, value, e) ? 0 : err_wrap(e, "--set %s", name);
}

json_t *parameters_read(const struct call *call, const struct machine *machine, struct err *e)
{
	const char *file = call_value(call, "params"), *text;
	json_auto_t *trial = blackboard_new(machine), *values = json_object();
	struct given g = {machine, values, trial};
	int failed = file ? read_file(&g, file, e) : 0;
	for (size_t i = 0; !failed && (text = call_value_at(call, "set", i)); i++)
		failed = set_one(&g, text, e);
	return failed ? NULL : json_incref(values);
}
