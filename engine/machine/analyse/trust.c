#include "machine/trust.h"
#include "machine/analyse/analyse.h"
#include "machine/kind.h"
#include "machine/site.h"

enum { WAY_SHOWN = 10 };

struct two {
	struct trust trust;
	struct findings *findings;
	/* By state, the source from which untrusted data arrives without a decision by a person: in
	 * variables, and in the workspace. */
	const struct state **told, **found;
};

static void show_way(
	struct trust *trust, const struct variable *variable, struct buf *out, int depth);

/* Shows the way from the source to the workspace. */
static void show_left(struct trust *trust, const struct state *state, struct buf *out, int depth)
{
	const struct variable *input = trust_input(trust, state);
	if (input && depth)
		show_way(trust, input, out, depth - 1);
	buf_addf(out, "%s%s%s -> the workspace -> ", input && !depth ? "... -> " : "", state->name,
		state_is(state, TRAIT_MODEL) ? " (a model)" : "");
}

/* Shows the way from the source to `variable`, through at most `depth` variables. */
static void show_way(
	struct trust *trust, const struct variable *variable, struct buf *out, int depth)
{
	const struct origin *o = trust_origin(trust, variable);
	bool source = kind_of(o->writer)->brings_untrusted(o->writer);
	if (o->because && depth)
		show_way(trust, o->because, out, depth - 1);
	else if (o->left && depth)
		show_left(trust, o->left, out, depth - 1);
	else if (!source && !o->failed)
		buf_adds(out, "... -> ");
	buf_addf(out, "%s%s -> %s -> ", o->writer->name,
		o->failed                          ? " (its failure)"
		: !source                          ? ""
		: state_is(o->writer, TRAIT_MODEL) ? " (a model)"
						   : " (the network)",
		variable->name);
}

static const struct state *source_of(const struct trust *trust, const struct variable *variable)
{
	while (trust_origin(trust, variable)->because)
		variable = trust_origin(trust, variable)->because;
	return trust_origin(trust, variable)->writer;
}

/* Marks the states that are reached from a source of untrusted data without a wait that only a poke
 * ends: no person has decided there. */
static void mark_ungated(struct two *two)
{
	const struct machine *m = two->trust.m;
	bool *tells = arena_array(&two->trust.arena, m->state_count, sizeof(bool));
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		bool brings = kind_of(s)->brings_untrusted(s) || trust_left(&two->trust, s);
		tells[i] = (s->capture.present && brings) || trust_fails_untrusted(&two->trust, s);
	}
	two->told = arena_array(&two->trust.arena, m->state_count, sizeof(*two->told));
	two->found = arena_array(&two->trust.arena, m->state_count, sizeof(*two->found));
	trust_reach(&two->trust, tells, false, two->told);
	trust_reach(&two->trust, two->trust.leaves, false, two->found);
}

/* Reports a state. `input`: the variable with untrusted data; NULL: it lies in the workspace, left
 * by `left`. */
static void report(struct two *two, const struct state *state, const struct variable *input,
	const struct state *left)
{
	AUTO_BUF way = BUF_INIT(4096);
	if (input)
		show_way(&two->trust, input, &way, WAY_SHOWN);
	else
		show_left(&two->trust, left, &way, WAY_SHOWN);
	struct site site = {.findings = two->findings,
		.doc = two->trust.m->doc,
		.node = state->key,
		.state = state->name};
	const bool networked = kind_of(state)->brings_untrusted(state);
	struct finding *f = site_report(&site, RULE_RULE_OF_TWO,
		"\"%s\" takes untrusted data, sees %s and can %s: %s%s", state->name,
		state->tool.workspace != WORKSPACE_NONE ? "the workspace" : "granted files",
		networked ? "reach the network" : "write outside the workspace",
		way.failed ? "" : way.data, state->name);
	if (!(input ? two->told : two->found)[state->index]) {
		f->severity = SEVERITY_NOTE;
		two->findings->warnings--;
		site_help(&site, f, "a person pokes it on every way here from \"%s\"",
			(input ? source_of(&two->trust, input) : left)->name);
	} else {
		site_help(&site, f,
			"take one of the three away: `workspace: none`, no network, or a wait "
			"without a timer before it, so that a person decides");
	}
}

static void check_state(struct two *two, const struct state *state)
{
	const struct tool_state *tool = &state->tool;
	const struct variable *input = trust_input(&two->trust, state);
	const struct state *left = trust_left(&two->trust, state);
	bool sees = tool->workspace != WORKSPACE_NONE || tool->read_count || tool->write_count;
	if (!kind_of(state)->brings_untrusted(state) && !tool->write_count)
		return;
	/* The way that no person has approved is reported first. */
	bool by_files = left && (!input || (two->found[state->index] && !two->told[state->index]));
	if (by_files || (input && sees))
		report(two, state, by_files ? NULL : input, left);
}

void analyse_trust(const struct machine *machine, struct findings *findings)
{
	struct two t = {.findings = findings};
	trust_init(&t.trust, machine);
	mark_ungated(&t);
	for (size_t i = 0; i < machine->state_count; i++)
		if (state_tool(&machine->states[i]))
			check_state(&t, &machine->states[i]);
	trust_done(&t.trust);
}
