#include "jail/report.h"

#include <string.h>
#include <sys/mman.h>

struct report *report_new(void)
{
	void *page = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

int report_fail(struct report *r, const char *stage, const struct err *why)
{
	if (!r->stage) {
		r->stage = stage;
		r->why = *why;
	}
	return -1;
}

json_t *report_layers(const struct layers *layers)
{
	json_t *object = json_object();
#define REPORT_NUMBER(name) json_integer(layers->name)
#define REPORT_FLAG(name)   json_boolean(layers->name)
#define REPORT_WORD(name)   layers->name ? json_string(layers->name) : json_null()
#define REPORT_ADD(type, name)                                                                     \
	if (object && json_object_set_new(object, #name, REPORT_##type(name))) {                   \
		json_decref(object);                                                               \
		return NULL;                                                                       \
	}
	REPORT_LAYERS(REPORT_ADD)
#undef REPORT_ADD
	return object;
}

static bool is_met(const json_t *have, const json_t *want)
{
	if (json_is_integer(have) && json_is_integer(want))
		return json_integer_value(have) >= json_integer_value(want);
	return json_is_false(want) ||
	       json_equal((json_t *)(uintptr_t)have, (json_t *)(uintptr_t)want);
}

int report_require(const struct layers *layers, const json_t *require, struct err *e)
{
	json_auto_t *have = report_layers(layers);
	const char *name;
	json_t *want;
	json_object_foreach ((json_t *)(uintptr_t)require, name, want) {
		const json_t *layer = json_object_get(have, name);
		if (!layer)
			return err_set(e, "\"require\" names \"%s\", which is not a layer", name);
		if (is_met(layer, want))
			continue;
		AUTO_FREE char *got = json_dumps(layer, JSON_ENCODE_ANY | JSON_COMPACT);
		AUTO_FREE char *need = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
		return err_set(
			e, "the policy requires %s %s, and this host gives %s", name, need, got);
	}
	return 0;
}
