#include "cli/parameters.h"

#include "base/io.h"
#include "machine/blackboard.h"
#include "schema/read.h"
#include <fcntl.h>
#include <string.h>

/* The file as JSON; any of the three syntaxes. */
static json_t *read_file(const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct doc d;
	struct findings f;
	if (io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &len, e))
		return NULL;
	findings_init(&f);
	json_t *values = doc_read(&d, path, text, len, &f) ? NULL : doc_json(d.root);
	if (!values)
		err_set(e, "%s:%u:%u: %s", path, f.count ? f.items[0].pos.line : 0,
			f.count ? f.items[0].pos.column : 0,
			f.count ? f.items[0].message : "cannot be read");
	else if (!json_is_object(values))
		err_set(e, "%s: parameters are a map NAME: VALUE", path);
	doc_done(&d);
	findings_done(&f);
	if (json_is_object(values))
		return values;
	json_decref(values);
	return NULL;
}

static int set_one(json_t *values, const struct machine *m, const char *text, struct err *e)
{
	char name[128];
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || equals - text >= (long)sizeof(name))
		return err_set(e, "--set takes NAME=VALUE, not '%s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	json_t *value = blackboard_parse_parameter(m, name, equals + 1, e);
	if (!value)
		return err_wrap(e, "--set %s", name);
	json_object_set_new(values, name, value);
	return 0;
}

json_t *parameters_read(const struct call *c, const struct machine *m, struct err *e)
{
	const char *file = call_value(c, "params"), *text, *name;
	json_t *values = file ? read_file(file, e) : json_object(), *value;
	json_auto_t *trial = blackboard_new(m);
	int failed = values ? 0 : -1;
	for (size_t i = 0; !failed && (text = call_value_at(c, "set", i)); i++)
		failed = set_one(values, m, text, e);
	json_object_foreach (values, name, value)
		failed = failed || blackboard_set_parameter(m, trial, name, value, e);
	if (!failed)
		return values;
	json_decref(values);
	return NULL;
}
