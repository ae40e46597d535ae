#include "base/json.h"
#include "cli/verb/opened_instance.h"
#include "instance/pokes.h"
#include "report/text.h"
#include <string.h>

/* Returns the payload; NULL with the reason. */
static json_t *payload_of(const struct call *call, struct err *e)
{
	const char *data = call_value(call, "data"), *message = call_value(call, "message");
	if (data && message) {
		err_set(e, "--data and --message exclude each other");
		return NULL;
	}
	if (data) {
		/* A tool gets the payload one level deeper, and may print it. */
		struct json_cap cap = {POKE_BYTES_MAX, JSON_DEPTH_MAX - 1, JSON_VALUES_MAX};
		json_t *value = json_read_nested(data, strlen(data), cap, e);
		if (!value)
			err_wrap(e, "--data takes JSON, --message a text");
		return value ? json_pack("{s:o}", "data", value) : NULL;
	}
	json_t *text = json_string(message ? message : "");
	if (!text)
		err_set(e, "--message is not valid UTF-8");
	return text ? json_pack("{s:o}", "message", text) : NULL;
}

static int poke(const struct opened_instance *opened, const struct call *call, struct err *e)
{
	struct holder who;
	json_auto_t *payload = payload_of(call, e);
	if (!payload || pokes_add(&opened->instance, payload, e))
		return -1;
	if (!instance_holder(&opened->instance, &who, NULL) && !who.pid)
		text_complain("nobody runs it at the moment: it hears this when `agent6 machine "
			      "run` continues it");
	return 0;
}

static int run(const struct call *call)
{
	if (call->argument_count > 1)
		return verb_refuse("what to do with '%s'? A text is handed over as --message TEXT",
			call->arguments[1]);
	return opened_instance_tell(call, poke);
}

static const struct verb_option options[] = {
	{"data", "JSON", "hand a JSON value to the next tool, in data/poke.json", false},
	{"message", "TEXT", "hand a text to the next tool", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_poke = {.path = "machine poke",
	.summary = "wake an instance's wait, now or when it comes to one",
	.arguments = "ID",
	.min_arguments = 1,
	.max_arguments = 2, /* the second one is refused with advice */
	.acts = true,
	.details =
		"Pokes are a durable queue, first in first out, 64 deep; each wakes one wait. An "
		"instance that nobody runs hears them when `machine run` continues it.",
	.options = options,
	.run = run};
