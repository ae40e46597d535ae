#include "machine/analyse.h"
#include "machine/site.h"
#include "machine/trust.h"

enum { WAY_SHOWN = 10 };

struct two {
	struct trust trust;
	struct findings *findings;
	bool *ungated; /* by state: untrusted data gets there without a person having decided */
};

/* From the source to `v`, at most so many variables back. */
static void show_way(const struct trust *t, const struct variable *v, struct buf *out, int depth)
{
	const struct origin *o = trust_origin(t, v);
	if (o->because && depth)
		show_way(t, o->because, out, depth - 1);
	if (o->because)
		buf_addf(out, "%s%s -> ", depth ? "" : "... -> ", o->writer->name);
	else
		buf_addf(out, "%s (%s) -> ", o->writer->name,
			o->writer->kind == KIND_AGENT ? "a model" : "the network");
	buf_addf(out, "%s -> ", v->name);
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
	size_t count = 0;
	bool *seen = arena_array(&t->trust.arena, m->state_count, sizeof(bool));
	const struct state **queue =
		arena_array(&t->trust.arena, m->state_count, sizeof(struct state *));
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		seen[i] = s->capture.present && (s->kind == KIND_AGENT || trust_networked(s));
		if (seen[i])
			queue[count++] = s;
	}
	for (size_t at = 0; at < count; at++)
		for (size_t e = 0; e < state_edge_count(queue[at]); e++) {
			const struct state *next = state_edge(queue[at], e);
			if (!next || (next->kind == KIND_WAIT && !next->wait.timed))
				continue;
			t->ungated[next->index] = true;
			if (!seen[next->index])
				queue[count++] = next;
			seen[next->index] = true;
		}
}

static void report(struct two *t, const struct state *s, const struct variable *input)
{
	AUTO_BUF way;
	buf_init(&way, 4096);
	show_way(&t->trust, input, &way, WAY_SHOWN);
	struct site site = {
		.findings = t->findings, .doc = t->trust.m->doc, .node = s->key, .state = s->name};
	struct finding *f = site_report(&site, RULE_RULE_OF_TWO,
		"\"%s\" takes untrusted data, sees %s and can %s: %s%s", s->name,
		s->tool.workspace != WORKSPACE_NONE ? "the workspace" : "granted files",
		trust_networked(s) ? "reach the network" : "write outside the workspace",
		way.failed ? "" : way.data, s->name);
	if (!t->ungated[s->index]) {
		f->severity = SEVERITY_NOTE;
		t->findings->warnings--;
		site_help(&site, f, "a person pokes it on every way here from \"%s\"",
			source_of(&t->trust, input)->name);
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
	bool sees = tool->workspace != WORKSPACE_NONE || tool->read_count || tool->write_count;
	if (input && sees && (trust_networked(s) || tool->write_count))
		report(t, s, input);
}

void analyse_trust(const struct machine *m, struct findings *findings)
{
	struct two t = {.findings = findings};
	trust_init(&t.trust, m);
	t.ungated = arena_array(&t.trust.arena, m->state_count, sizeof(bool));
	mark_ungated(&t);
	for (size_t i = 0; i < m->state_count; i++)
		if (m->states[i].kind == KIND_TOOL)
			check_state(&t, &m->states[i]);
	trust_done(&t.trust);
}
