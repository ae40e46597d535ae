#include "base/io.h"
#include "base/json.h"
#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include "dry/dry.h"
#include "report/text.h"
#include "schema/read.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	FIXTURE_BYTES_MAX = 8 * 1024 * 1024,
	LINE_BYTES_MAX = 1024 * 1024,
	LABEL_COLUMNS = 60,
	WIDTH = 24,
	HANG = 7
};

struct showing {
	const struct call *c;
	char state[80];  /* the state of the open line */
	struct buf line; /* the text of that line */
	json_t *events;  /* --json */
};

static void end_line(struct showing *showing, size_t indent)
{
	if (showing->line.len)
		text_print(showing->line.data, indent);
	buf_clear(&showing->line);
	showing->state[0] = '\0';
}

/* Shows one line for each state: "scan ok -> route, nonzero -> done". */
static void show_state(struct showing *showing, const json_t *event)
{
	const char *state = json_get_text(event, "state");
	if (strcmp(showing->state, state) != 0) {
		end_line(showing, WIDTH + 1);
		buf_addf(&showing->line, "%-*s ", WIDTH, state);
	} else {
		buf_adds(&showing->line, ", ");
	}
	buf_addf(&showing->line, "%s -> %s", json_get_text(event, "label"),
		json_get_text(event, "goto"));
	snprintf(showing->state, sizeof(showing->state), "%s", state);
}

static void show_branch(struct showing *showing, const json_t *event)
{
	size_t i;
	json_t *clause;
	const char *to = json_get_text(event, "goto");
	buf_addf(&showing->line, "%-*s %s%s", WIDTH, json_get_text(event, "state"),
		*to ? "-> " : "not decided yet", to);
	end_line(showing, WIDTH + 1);
	json_array_foreach (json_object_get(event, "clauses"), i, clause) {
		const json_t *value = json_object_get(clause, "value");
		buf_addf(&showing->line, "%-*s   ", WIDTH, "");
		text_clean(&showing->line, json_get_text(clause, "if"), LABEL_COLUMNS);
		buf_addf(&showing->line, ": %s",
			!json_is_boolean(value) ? json_get_text(clause, "why")
			: json_is_true(value)   ? "true"
						: "false");
		end_line(showing, WIDTH + 5);
	}
}

static void show_failure(struct showing *showing, const json_t *event)
{
	size_t i;
	json_t *name;
	const json_t *path = json_object_get(event, "path");
	buf_addf(&showing->line, "FAILED %s: %s", json_get_text(event, "state"),
		json_get_text(event, "why"));
	end_line(showing, HANG);
	if (json_array_size(path))
		buf_addf(&showing->line, "%*spath:", HANG, "");
	json_array_foreach ((json_t *)(uintptr_t)path, i, name)
		buf_addf(&showing->line, "%s %s", i ? " ->" : "", json_string_value(name));
	end_line(showing, HANG + 6);
}

static void show_missed(struct showing *showing, const json_t *event)
{
	buf_adds(&showing->line, "never taken: ");
	text_clean(&showing->line, json_get_text(event, "state"), LABEL_COLUMNS);
	buf_adds(&showing->line, " [");
	text_clean(&showing->line, json_get_text(event, "label"), LABEL_COLUMNS);
	buf_adds(&showing->line, "] -> ");
	text_clean(&showing->line, json_get_text(event, "goto"), LABEL_COLUMNS);
	end_line(showing, HANG + 6);
}

static void show(void *ctx, const json_t *event)
{
	struct showing *s = ctx;
	const char *type = json_get_text(event, "t");
	if (s->events) {
		json_array_append(s->events, (json_t *)(uintptr_t)event);
		return;
	}
	if (!strcmp(type, "state")) {
		show_state(s, event);
		return;
	}
	end_line(s, WIDTH + 1);
	if (!strcmp(type, "branch"))
		show_branch(s, event);
	else if (!strcmp(type, "failure"))
		show_failure(s, event);
	else
		show_missed(s, event);
}

/* Reads the fixture as JSON, whatever its syntax; problems are printed. */
static json_t *read_fixture(const char *path)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct err e = ERR_NONE;
	if (io_read_file(AT_FDCWD, path, FIXTURE_BYTES_MAX, &text, &len, &e)) {
		verb_fail(EXIT_REFUSED, &e);
		return NULL;
	}
	struct findings findings;
	struct doc doc;
	const struct doc *docs[] = {&doc};
	findings_init(&findings);
	doc_read(&doc, path, text, len, &findings);
	json_t *fixture = findings.errors || !doc.root ? NULL : doc_json(doc.root);
	text_findings(&findings, docs, 1);
	doc_done(&doc);
	findings_done(&findings);
	return fixture;
}

/* Returns the values to start with. NULL with *code EXIT_OK: the declared ones. */
static json_t *start_values(
	const struct call *call, const struct machine *machine, enum exit_code *code)
{
	const char *path = call_value(call, "blackboard");
	struct err e = ERR_NONE;
	*code = EXIT_OK;
	if (!path)
		return NULL;
	json_auto_t *fixture = read_fixture(path);
	json_t *blackboard = fixture ? dry_blackboard(machine, fixture, &e) : NULL;
	if (fixture && !blackboard) {
		err_wrap(&e, "%s", path);
		verb_fail(EXIT_REFUSED, &e);
	}
	*code = blackboard ? EXIT_OK : EXIT_REFUSED;
	return blackboard;
}

static void show_end(struct showing *showing, const struct dry_result *result)
{
	if (showing->events) {
		json_auto_t *out = json_pack("{s:O, s:I, s:I, s:I, s:I, s:b}", "events",
			showing->events, "failures", (json_int_t)result->failures, "edges",
			(json_int_t)result->edges, "taken", (json_int_t)result->taken, "visited",
			(json_int_t)result->visited, "bounded", result->bounded);
		text_json_line(out);
		return;
	}
	end_line(showing, WIDTH + 1);
	printf("%zu of %zu edges taken in %zu situations%s; %zu failure%s\n", result->taken,
		result->edges, result->visited, result->bounded ? " (there are more)" : "",
		result->failures, result->failures == 1 ? "" : "s");
}

static int test(void *ctx, const struct loaded *loaded)
{
	enum exit_code code;
	struct dry_result result;
	struct showing s = {.c = ctx};
	json_auto_t *blackboard = start_values(s.c, loaded->machine, &code);
	if (code)
		return (int)code;
	json_auto_t *events = call_has(s.c, "json") ? json_array() : NULL;
	s.events = events;
	buf_init(&s.line, LINE_BYTES_MAX);
	dry_run(loaded->machine, blackboard, show, &s, &result);
	show_end(&s, &result);
	buf_done(&s.line);
	return result.failures ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], test, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"blackboard", "FILE", "values to begin with: an object NAME: value", false},
	{"json", NULL, "print one JSON object", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_test = {.path = "machine test",
	.summary = "try a machine out without running anything",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "Facts are made up from the schemas, the weakest first, and go through the "
		   "same code that a run uses: every state must bind and route them. Branches "
		   "are decided from the declared values. Then the machine is explored from its "
		   "initial state within bounds; edges that no explored path takes are listed.\n"
		   "Exit status: 0 passed; 1 a state failed; 2 refused.",
	.options = options,
	.run = run};
