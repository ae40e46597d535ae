#include "cli/bundle/recorded_steps.h"

#include "base/cleanup.h"
#include "machine/kind.h"
#include "rehearse/json_lines.h"
#include "schema/read.h"
#include "schema/shape.h"
#include <string.h>

enum { STEPS_MAX = 100000, SEEN_MAX = 20 };

/* The file that is being read. */
struct steps_reading {
	struct recorded_steps *steps;
	const struct machine *machine;
	const char *file;
	struct findings *findings;
	size_t seen; /* lines with faults */
};

/* Reports a fault of a line, at its place there. */
static void report(
	struct steps_reading *reading, uint32_t number, uint32_t column, const char *text)
{
	struct doc doc = {.file = arena_copy(
				  &reading->findings->arena, reading->file, strlen(reading->file))};
	struct doc_pos pos = {number, column, number, column + 1};
	finding_at(reading->findings, RULE_REHEARSAL_CASE, &doc, pos, "%s", text);
	reading->seen++;
}

static struct fact_number number_at(const struct doc_node *map, const char *key)
{
	const struct doc_node *node = doc_get(map, key);
	return node ? (struct fact_number){true, node->integer} : (struct fact_number){false, 0};
}

static const char *text_at(struct fact *fact, const struct doc_node *map, const char *key)
{
	const struct doc_node *node = doc_get(map, key);
	return fact_text(fact, node ? node->text : "");
}

static void read_fact(const struct doc_node *map, struct fact *out)
{
	const struct doc_node *timed_out = doc_get(map, "timed_out");
	*out = (struct fact){.kind = FACT_TOOL};
	struct tool_fact *tool = &out->tool;
	tool->exit = number_at(map, "exit");
	tool->signal = number_at(map, "signal");
	tool->timed_out = timed_out && timed_out->boolean;
	if (!tool->exit.known && !tool->signal.known && !tool->timed_out)
		tool->exit.known = true;
	tool->output = text_at(out, map, "stdout");
	tool->stderr_tail = text_at(out, map, "stderr");
}

/* Returns what is wrong with a line of the right shape; NULL: nothing. */
static const char *fault_of(const struct steps_reading *reading, const struct doc_node *root)
{
	const struct doc_node *fact = doc_get(root, "fact"),
			      *timed_out = doc_get(fact, "timed_out");
	const struct state *state =
		reading->machine ? machine_state(reading->machine, doc_get(root, "state")->text)
				 : NULL;
	int ways = (doc_get(fact, "exit") != NULL) + (doc_get(fact, "signal") != NULL) +
		   (timed_out && timed_out->boolean);
	if (reading->machine && !state)
		return "the machine has no such state";
	if (state && !state_tool(state))
		return "only a tool state can be recorded here; cassette.jsonl answers for agents";
	return ways > 1 ? "a command ends in one way: by exit, signal or timed_out" : NULL;
}

static void keep(struct steps_reading *reading, const struct doc_node *root, uint32_t number)
{
	struct recorded_steps *steps = reading->steps;
	const struct doc_node *match = doc_get(root, "match");
	steps->items = own_room(steps->items, steps->count, &steps->room, sizeof(*steps->items));
	struct recorded_step *step = &steps->items[steps->count++];
	*step = (struct recorded_step){.match = match ? doc_json(match) : NULL, .line = number};
	read_fact(doc_get(root, "fact"), &step->fact);
	step->state = fact_text(&step->fact, doc_get(root, "state")->text);
	json_t *queue = json_object_get(steps->queues, step->state);
	if (!queue) {
		queue = json_array();
		json_object_set_new(steps->queues, step->state, queue);
	}
	json_array_append_new(queue, json_integer((json_int_t)steps->count - 1));
}

static void read_line(struct steps_reading *reading, const char *text, size_t len, uint32_t number)
{
	struct doc doc;
	struct findings own;
	findings_init(&own);
	int failed = doc_read_json(&doc, reading->file, text, len, &own) ||
		     shape_check(shape_tools, &doc, doc.root, &own);
	const char *fault = failed ? NULL : fault_of(reading, doc.root);
	if (failed && own.count)
		report(reading, number, own.items[0].pos.column, own.items[0].message);
	else if (fault)
		report(reading, number, 1, fault);
	else
		keep(reading, doc.root, number);
	doc_done(&doc);
	findings_done(&own);
}

void recorded_steps_read(struct recorded_steps *steps, const struct machine *machine,
	const struct steps_file *file, struct findings *findings)
{
	struct steps_reading reading = {
		.steps = steps, .machine = machine, .file = file->name, .findings = findings};
	struct json_lines lines = {.text = file->text, .len = file->len};
	*steps = (struct recorded_steps){.queues = json_object()};
	while (reading.seen < SEEN_MAX && json_lines_next(&lines)) {
		if (steps->count == STEPS_MAX) {
			report(&reading, lines.number, 1, "a case has at most 100,000 such lines");
			return;
		}
		read_line(&reading, lines.line, lines.line_len, lines.number);
	}
}

void recorded_steps_done(struct recorded_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		json_decref(steps->items[i].match);
		fact_done(&steps->items[i].fact);
	}
	free(steps->items);
	json_decref(steps->queues);
	*steps = (struct recorded_steps){0};
}

const struct recorded_step *recorded_steps_of(
	const struct recorded_steps *steps, const char *state, size_t at)
{
	const json_t *number = json_array_get(json_object_get(steps->queues, state), at);
	return number ? &steps->items[json_integer_value(number)] : NULL;
}
