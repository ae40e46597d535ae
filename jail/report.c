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
	int failed = 0;
#define FORMAT(value) _Generic((value), bool : "b", int : "i", const char * : "s?")
#define ADD(type, name)                                                                            \
	failed |= json_object_set_new(object, #name, json_pack(FORMAT(layers->name), layers->name));
	REPORT_LAYERS(ADD)
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int report_require(const struct layers *layers, const json_t *require, struct err *e)
{
	json_auto_t *have = require ? report_layers(layers) : NULL;
	const char *name;
	json_t *want;
	if (require && !have)
		return err_set(e, "out of memory");
	json_object_foreach ((json_t *)(uintptr_t)require, name, want) {
		json_t *layer = json_object_get(have, name);
		if (!layer)
			return err_set(e, "\"require\" names \"%s\", which is not a layer", name);
		bool numbers = json_is_integer(layer) && json_is_integer(want);
		if (numbers ? json_integer_value(layer) >= json_integer_value(want)
			    : json_is_false(want) || json_equal(layer, want))
			continue;
		AUTO_FREE char *got = json_dumps(layer, JSON_ENCODE_ANY | JSON_COMPACT);
		AUTO_FREE char *need = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
		return err_set(
			e, "the policy requires %s %s, and this host gives %s", name, need, got);
	}
	return 0;
}
