#include "jail/jail.h"
#include <sys/mman.h>

enum { LAYERS_BYTES_MAX = 4096 };

struct jail_report *jail_report_new(void)
{
	void *page = mmap(NULL, sizeof(struct jail_report), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		_exit(125);
	return page;
}

int jail_report_fail(struct jail_report *report, const char *stage, const struct err *why)
{
	if (!report->stage) {
		report->stage = stage;
		report->why = *why;
	}
	return -1;
}

static void add_flag(struct buf *buf, bool value)
{
	buf_adds(buf, value ? "true" : "false");
}

static void add_number(struct buf *buf, int value)
{
	buf_addf(buf, "%d", value);
}

static void add_word(struct buf *buf, const char *value)
{
	buf_adds(buf, value ? "\"" : "null");
	buf_adds(buf, value ? value : "");
	buf_adds(buf, value ? "\"" : "");
}

/* Writes the layers as text: somebody waits for it, and a JSON object of all layers took ten times
 * as long. */
void jail_report_layers(const struct layers *layers, struct buf *buf)
{
	const char *before = "{\"";
#define ADD(type, name)                                                                              \
	buf_adds(buf, before);                                                                       \
	buf_adds(buf, #name "\":");                                                                  \
	_Generic(layers->name, bool : add_flag, int : add_number, const char * : add_word)(        \
		buf, layers->name); \
	before = ",\"";
	REPORT_LAYERS(ADD)
	buf_addc(buf, '}');
}

/* Checks that every layer that the policy requires is in force; else the command does not begin. */
int report_require(struct jail *jail, struct err *e)
{
	static const char *const bounds[] = {
		[MEMORY_BY_ANY] = "", [MEMORY_BY_WATCH] = "watch", [MEMORY_BY_CGROUP] = "cgroup"};
	const char *memory = jail->report->layers.memory;
	int64_t by = MEMORY_BY_CGROUP;
	while (by && strcmp(bounds[by], memory) != 0)
		by--;
	if (by < jail->policy.memory_by)
		return err_set(e, "limits.memory_by asks for %s, and this host gives %s",
			bounds[jail->policy.memory_by], memory);
	if (!jail->policy.require)
		return 0;
	AUTO_BUF text;
	buf_init(&text, LAYERS_BYTES_MAX);
	jail_report_layers(&jail->report->layers, &text);
	json_auto_t *have = text.failed ? NULL : json_loads(text.data, 0, NULL);
	const char *name;
	json_t *want;
	if (!have)
		return err_set(e, "out of memory");
	json_object_foreach ((json_t *)(uintptr_t)jail->policy.require, name, want) {
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
