#include "base/json.h"
#include "cli/verb/opened_instance.h"
#include "instance/pokes.h"
#include "instance/recover.h"
#include "instance/reduce.h"
#include "machine/kind.h"
#include "report/interface.h"
#include "report/text.h"
#include <limits.h>
#include <stdio.h>
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

/* Finds a wait that takes the poke. Returns one that refuses it if none does, with the reason;
 * NULL: one takes it, or the machine has no wait. */
static const struct state *refusing_wait(
	const struct machine *machine, const json_t *payload, struct err *e)
{
	const struct state *refusing = NULL;
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *state = &machine->states[i];
		if (!state_wait(state))
			continue;
		if (!reduce_poke(state, payload, NULL, e)) /* keeps the first reason */
			return NULL;
		refusing = refusing ? refusing : state;
	}
	return refusing;
}

/* Says in one message what misfits and what the wait takes. */
static int refuse(const struct opened_instance *opened, const struct machine *machine,
	const struct state *wait, const struct err *why, struct err *e)
{
	json_auto_t *form = interface_poke(machine, wait->name);
	AUTO_BUF text = BUF_INIT(sizeof(e->text));
	interface_poke_fields(form, "  ", &text);
	buf_adds(&text, "\nsuch as: ");
	interface_poke_command(form, opened->instance.id, &text);
	return err_set(e, "state %s does not take this poke: %.400s; it takes:%s", wait->name,
		why->text, text.data);
}

/* Checks the poke against the wait that takes it. If the run has to come to a wait first, or has
 * other pokes to take, some wait of the machine has to take it. Returns the wait that refuses it.
 */
static const struct state *check_at(const struct opened_instance *opened, struct recovery *recovery,
	const json_t *payload, struct err *e)
{
	struct position *p = &recovery->position;
	if (recover(recovery, NULL) != RECOVER_DONE || p->ended)
		return NULL;
	position_pass_branches(p);
	if (!state_wait(p->state) || pokes_count(&opened->instance))
		return refusing_wait(recovery->machine, payload, e);
	return reduce_poke(p->state, payload, p->blackboard, e) ? p->state : NULL;
}

/* Refuses a poke that would wake nothing. A run checks each again when it takes it, so that a copy
 * of the bundle or a journal that cannot be read keeps nobody from poking. */
static int check_form(const struct opened_instance *opened, const json_t *payload, struct err *e)
{
	struct findings ignored;
	struct loaded copy = {0};
	struct err why = ERR_NONE;
	char path[PATH_MAX];
	int failed = 0;
	findings_init(&ignored);
	snprintf(path, sizeof(path), "%s/bundle", opened->instance.path);
	AUTO_FD int fd = instance_journal(&opened->instance, NULL);
	if (fd >= 0 && !loaded_open(&copy, path, &ignored, NULL) && copy.machine) {
		struct recovery r = {.instance = &opened->instance,
			.machine = copy.machine,
			.fd = fd,
			.snapshot_bytes = RECOVER_SNAPSHOT_BYTES,
			.patience_ms = JOURNAL_PATIENCE_MS};
		const struct state *wait = check_at(opened, &r, payload, &why);
		failed = wait ? refuse(opened, copy.machine, wait, &why, e) : 0;
		position_done(&r.position);
	}
	loaded_done(&copy);
	findings_done(&ignored);
	return failed;
}

static int poke(const struct opened_instance *opened, const struct call *call, struct err *e)
{
	struct holder who;
	json_auto_t *payload = payload_of(call, e);
	if (!payload || check_form(opened, payload, e) || pokes_add(&opened->instance, payload, e))
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
		"instance that nobody runs hears them when `machine run` continues it.\n"
		"A wait with an output_schema takes only --data of that form: any other poke is "
		"refused here, or set aside when the run comes to it. `machine status` lists the "
		"fields.",
	.options = options,
	.run = run};
