#include "machine/trust.h"
#include "machine/analyse/analyse.h"
#include "machine/site.h"

enum { WAY_SHOWN = 10 };

struct two {
	struct trust trust;
	struct findings *findings;
	/* By state, from where untrusted data gets there in variables, and in the workspace,
	 * without a person having decided. */
	const struct state **told, **found;
};

static void show_way(struct trust *t, const struct variable *v, struct buf *out, int depth);

/* From the source to the workspace. */
static void show_left(struct trust *t, const struct state *s, struct buf *out, int depth)
{
	const struct variable *input = trust_input(t, s);
	if (input && depth)
		show_way(t, input, out, depth - 1);
	buf_addf(out, "%s%s%s -> the workspace -> ", input && !depth ? "... -> " : "", s->name,
		s->kind == KIND_AGENT ? " (a model)" : "");
}

/* From the source to `v`, at most so many variables back. */
static void show_way(struct trust *t, const struct variable *v, struct buf *out, int depth)
{
	const struct origin *o = trust_origin(t, v);
	bool source = o->writer->kind == KIND_AGENT || trust_networked(o->writer);
	if (o->because && depth)
		show_way(t, o->because, out, depth - 1);
	else if (o->left && depth)
		show_left(t, o->left, out, depth - 1);
	else if (!source)
		buf_adds(out, "... -> ");
	buf_addf(out, "%s%s -> %s -> ", o->writer->name,
		!source                         ? ""
		: o->writer->kind == KIND_AGENT ? " (a model)"
						: " (the network)",
		v->name);
}

static const struct state *source_of(const struct trust *t, const struct variable *v)
{
	while (trust_origin(t, v)->because)
		v = trust_origin(t, v)->because;
	return trust_origin(t, v)->writer;
}

/* Marks what is entered from a source of untrusted data without passing a wait that only a poke
 * ends: there, no person has decided. */
static void mark_ungated(struct two *t)
{
	const struct machine *m = t->trust.m;
	bool *tells = arena_array(&t->trust.arena, m->state_count, sizeof(bool));
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		tells[i] = s->capture.present && (s->kind == KIND_AGENT || trust_networked(s) ||
							 trust_left(&t->trust, s));
	}
	t->told = arena_array(&t->trust.arena, m->state_count, sizeof(*t->told));
	t->found = arena_array(&t->trust.arena, m->state_count, sizeof(*t->found));
	trust_reach(&t->trust, tells, false, t->told);
	trust_reach(&t->trust, t->trust.leaves, false, t->found);
}

/* `input`: in a variable; NULL: what `left` left in the workspace. */
static void report(struct two *t, const struct state *s, const struct variable *input,
	const struct state *left)
{
	AUTO_BUF way = BUF_INIT(4096);
	if (input)
		show_way(&t->trust, input, &way, WAY_SHOWN);
	else
		show_left(&t->trust, left, &way, WAY_SHOWN);
	struct site site = {
		.findings = t->findings, .doc = t->trust.m->doc, .node = s->key, .state = s->name};
	struct finding *f = site_report(&site, RULE_RULE_OF_TWO,
		"\"%s\" takes untrusted data, sees %s and can %s: %s%s", s->name,
		s->tool.workspace != WORKSPACE_NONE ? "the workspace" : "granted files",
		trust_networked(s) ? "reach the network" : "write outside the workspace",
		way.failed ? "" : way.data, s->name);
	if (!(input ? t->told : t->found)[s->index]) {
		f->severity = SEVERITY_NOTE;
		t->findings->warnings--;
		site_help(&site, f, "a person pokes it on every way here from \"%s\"",
			(input ? source_of(&t->trust, input) : left)->name);
	} else {
		site_help(&site, f,
			"take one of the three away: `workspace: none`, no network, or a wait "
			"without a timer before it, so that a person decides");
	}
}

static void check_state(struct two *t, const struct state *s)
{
	const struct tool_state *tool = &s->tool;
	const struct variable *input = trust_input(&t->trust, s);
	const struct state *left = trust_left(&t->trust, s);
	bool sees = tool->workspace != WORKSPACE_NONE || tool->read_count || tool->write_count;
	if (!trust_networked(s) && !tool->write_count)
		return;
	/* What no person has decided about comes first. */
	bool by_files = left && (!input || (t->found[s->index] && !t->told[s->index]));
	if (by_files || (input && sees))
		report(t, s, by_files ? NULL : input, left);
}

void analyse_trust(const struct machine *m, struct findings *findings)
{
	struct two t = {.findings = findings};
	trust_init(&t.trust, m);
	mark_ungated(&t);
	for (size_t i = 0; i < m->state_count; i++)
		if (m->states[i].kind == KIND_TOOL)
			check_state(&t, &m->states[i]);
	trust_done(&t.trust);
}
