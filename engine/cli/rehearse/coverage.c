#include "cli/rehearse/coverage.h"

#include "cli/rehearse/verdicts.h"
#include "report/text.h"
#include <string.h>

/* --- collecting ------------------------------------------------------------------------------- */

/* Returns the name of the edge that a step took: a clause's number, or a label. */
static void name_edge(const struct line *line, char name[80])
{
	if (line->fact.kind == FACT_BRANCH)
		snprintf(name, 80, "%jd", (intmax_t)line->fact.clause);
	else
		snprintf(name, 80, "%.70s", line->label);
}

void coverage_visit(json_t *visits, const struct line *line)
{
	char edge[80];
	bool step = line->type == LINE_STEP;
	json_t *state = json_object_get(visits, line->state);
	if (!step && line->type != LINE_END)
		return;
	if (!state) {
		state = json_object();
		json_object_set_new(visits, line->state, state);
	}
	name_edge(line, edge);
	if (step)
		json_object_set_new(state, edge, json_true());
}

int coverage_init(struct coverage *coverage, const struct machine *machine)
{
	size_t count = machine->state_count;
	*coverage = (struct coverage){.machine = machine,
		.entered = calloc(count + 1, sizeof(bool)),
		.taken = calloc(count + 1, sizeof(bool *))};
	if (!coverage->entered || !coverage->taken)
		return -1;
	for (size_t i = 0; i < count; i++) {
		coverage->taken[i] =
			calloc(state_edge_count(&machine->states[i]) + 1, sizeof(bool));
		if (!coverage->taken[i])
			return -1;
	}
	return 0;
}

void coverage_done(struct coverage *coverage)
{
	for (size_t i = 0; coverage->taken && i < coverage->machine->state_count; i++)
		free(coverage->taken[i]);
	free(coverage->taken);
	free(coverage->entered);
	*coverage = (struct coverage){0};
}

static void name_at(const struct state *state, size_t edge, char name[80])
{
	if (edge < state->clause_count)
		snprintf(name, 80, "%zu", edge);
	else
		snprintf(name, 80, "%.70s", state_edge_label(state, edge));
}

void coverage_add(struct coverage *coverage, const json_t *visits)
{
	for (size_t i = 0; i < coverage->machine->state_count; i++) {
		const struct state *state = &coverage->machine->states[i];
		const json_t *visit = json_object_get(visits, state->name);
		coverage->entered[i] |= visit != NULL;
		for (size_t edge = 0; visit && edge < state_edge_count(state); edge++) {
			char name[80];
			name_at(state, edge, name);
			coverage->taken[i][edge] |= json_object_get(visit, name) != NULL;
		}
	}
}

/* --- counting --------------------------------------------------------------------------------- */

/* Counts one thing; `missing` receives its name unless it is covered. */
static void count_one(json_t *sum, bool covered, const char *format, ...) PRINTF(3, 4);
static void count_one(json_t *sum, bool covered, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	json_add_int(sum, "total", 1);
	json_add_int(sum, "covered", covered);
	if (!covered)
		json_array_append_new(json_object_get(sum, "missing"), json_vsprintf(format, args));
	va_end(args);
}

static json_t *new_sum(void)
{
	return json_pack("{s:i, s:i, s:[]}", "covered", 0, "total", 0, "missing");
}

static void count_clause(const struct state *state, const bool *taken, size_t edge, json_t *clauses)
{
	const struct clause *clause = &state->clauses[edge];
	bool was_false = false;
	if (!clause->condition)
		return;
	for (size_t later = edge + 1; later < state->clause_count; later++)
		was_false |= taken[later];
	count_one(clauses, taken[edge], "%s: never true: %s", state->name, clause->text);
	count_one(clauses, was_false, "%s: never false: %s", state->name, clause->text);
}

json_t *coverage_json(const struct coverage *coverage)
{
	json_t *states = new_sum(), *edges = new_sum(), *clauses = new_sum(), *outcomes = new_sum();
	for (size_t i = 0; i < coverage->machine->state_count; i++) {
		const struct state *state = &coverage->machine->states[i];
		const bool *taken = coverage->taken[i];
		count_one(states, coverage->entered[i], "%s", state->name);
		for (size_t edge = 0; edge < state_edge_count(state); edge++) {
			const struct state *target = state_edge(state, edge);
			if (!target)
				continue;
			count_one(edges, taken[edge], "%s: %s -> %s", state->name,
				state_edge_label(state, edge), target->name);
			if (edge < state->clause_count)
				count_clause(state, taken, edge, clauses);
			else if (!state->clauses)
				count_one(outcomes, taken[edge], "%s: %s", state->name,
					state_edge_label(state, edge));
		}
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "states", states, "edges", edges, "clauses",
		clauses, "outcomes", outcomes);
}

static int percent_of(const json_t *sum)
{
	json_int_t total = json_get_int(sum, "total");
	return total ? (int)(100 * json_get_int(sum, "covered") / total) : 100;
}

int coverage_percent(const struct coverage *coverage)
{
	json_auto_t *sums = coverage_json(coverage);
	return percent_of(json_object_get(sums, "edges"));
}

/* --- showing ---------------------------------------------------------------------------------- */

void coverage_text(const struct coverage *coverage, struct buf *out)
{
	static const char *const names[] = {"states", "edges", "clauses", "outcomes"};
	json_auto_t *sums = coverage_json(coverage);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const json_t *sum = json_object_get(sums, names[i]), *missing;
		size_t number;
		if (!json_get_int(sum, "total"))
			continue;
		buf_addf(out, "%-10s%3d %%  %jd of %jd\n", names[i], percent_of(sum),
			(intmax_t)json_get_int(sum, "covered"),
			(intmax_t)json_get_int(sum, "total"));
		/* The edges name the same outcomes, and where they lead. */
		if (i == ARRAY_LEN(names) - 1)
			break;
		json_array_foreach (json_object_get(sum, "missing"), number, missing) {
			buf_adds(out, "    ");
			text_clean(out, json_string_value(missing), 1000);
			buf_addc(out, '\n');
		}
	}
}

/* Returns the line of an edge in the machine file, that of its state if it has none of its own. */
static uint32_t line_of(const struct state *state, size_t edge)
{
	const struct doc_pair *label =
		doc_pair(doc_get(state->node, "on"), state_edge_label(state, edge));
	if (edge < state->clause_count && state->clauses[edge].node)
		return state->clauses[edge].node->pos.line;
	return label ? label->key.pos.line : state->key->pos.line;
}

static void add_line(struct buf *out, uint32_t number, bool hit)
{
	buf_addf(out, "            <line number=\"%u\" hits=\"%d\" branch=\"false\"/>\n", number,
		hit);
}

static void add_lines(const struct coverage *coverage, struct buf *out)
{
	for (size_t i = 0; i < coverage->machine->state_count; i++) {
		const struct state *state = &coverage->machine->states[i];
		add_line(out, state->key->pos.line, coverage->entered[i]);
		for (size_t edge = 0; edge < state_edge_count(state); edge++)
			if (state_edge(state, edge))
				add_line(out, line_of(state, edge), coverage->taken[i][edge]);
	}
}

void coverage_cobertura(const struct coverage *coverage, const char *file, struct buf *out)
{
	json_auto_t *sums = coverage_json(coverage);
	const json_t *edges = json_object_get(sums, "edges"),
		     *states = json_object_get(sums, "states");
	json_int_t covered = json_get_int(edges, "covered") + json_get_int(states, "covered"),
		   total = json_get_int(edges, "total") + json_get_int(states, "total");
	char rate[32];
	snprintf(rate, sizeof(rate), "%.4f", total ? (double)covered / (double)total : 1.0);
	buf_addf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<coverage line-rate=\"%s\" branch-rate=\"0\" lines-covered=\"%jd\" "
		"lines-valid=\"%jd\" branches-covered=\"0\" branches-valid=\"0\" complexity=\"0\" "
		"version=\"" AGENT6_VERSION "\" timestamp=\"0\">\n"
		"  <sources><source>.</source></sources>\n  <packages>\n",
		rate, (intmax_t)covered, (intmax_t)total);
	buf_addf(out,
		"    <package name=\"machines\" line-rate=\"%s\" branch-rate=\"0\" "
		"complexity=\"0\">\n      <classes>\n        <class name=\"",
		rate);
	verdict_xml(out, coverage->machine->name);
	buf_adds(out, "\" filename=\"");
	verdict_xml(out, file);
	buf_addf(out,
		"\" line-rate=\"%s\" branch-rate=\"0\" complexity=\"0\">\n"
		"          <methods/>\n          <lines>\n",
		rate);
	add_lines(coverage, out);
	buf_adds(out, "          </lines>\n        </class>\n      </classes>\n    </package>\n"
		      "  </packages>\n</coverage>\n");
}
