#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/reader.h"

#include "base/clock.h"
#include <string.h>

/* Returns the declared value of a reference to an operator variable; NULL: it has another owner. */
static const json_t *operator_value(const struct ref *ref)
{
	bool constant = ref->root && ref->root->owner == OWNER_OPERATOR;
	return constant ? ref_within(ref, ref->root->initial) : NULL;
}

const char *wait_every_problem(const json_t *value)
{
	if (!json_is_integer(value))
		return NULL;
	json_int_t secs = json_integer_value(value);
	return secs < 1                  ? "every_secs must be at least 1"
	       : secs > MACHINE_SECS_MAX ? "every_secs is more than a hundred years"
					 : NULL;
}

const char *wait_until_problem(const json_t *value)
{
	int64_t instant;
	if (!json_is_string(value) ||
		clock_parse(json_string_value(value), json_string_length(value), &instant) == 0)
		return NULL;
	return "`until` must be an instant such as 2026-01-31T08:00:00Z";
}

/* Returns the lone reference that a timing may be; NULL: it is none, and that was reported. */
static const struct template *timing_ref(const struct reader *reader, const struct state *state,
	const struct doc_node *node, enum type_kind wanted)
{
	struct site site = reader_site(reader, node, state);
	const struct template *t = template_compile(&reader->scope, &site, TEMPLATE_ASSIGN);
	if (!t)
		return NULL;
	const struct ref *ref = template_lone(t);
	if (ref && ref->type.kind == wanted)
		return t;
	bool every = wanted == TYPE_INT;
	struct finding *f = NULL;
	int64_t secs;
	if (ref)
		site_report(&site, RULE_WAIT_TIMING, "\"%s\" is of type %s, but %s takes %s",
			ref->path, type_name(ref->type), every ? "every_secs" : "until",
			every ? "an int" : "a str");
	else
		f = site_report(&site, RULE_WAIT_TIMING,
			"%s takes %s or one reference, nothing else",
			every ? "every_secs" : "until",
			every ? "an integer without quotes" : "an instant");
	if (f && every && !clock_length(node->text, &secs) && secs >= 1 && secs <= MACHINE_SECS_MAX)
		site_help(&site, f, "write `every_secs: %jd`", (intmax_t)secs);
	else if (f && every)
		site_help(&site, f, "such as `every_secs: 60`, or `every_secs: \"{{ pause }}\"`");
	return NULL;
}

static void report_timing(const struct reader *reader, const struct state *state,
	const struct doc_node *node, const struct template *template, const char *problem)
{
	struct site site = reader_site(reader, node, state);
	const struct ref *ref = template ? template_lone(template) : NULL;
	const char *part = problem && !ref && node->kind == DOC_STR
				   ? clock_fault(node->text, node->count)
				   : NULL;
	if (part)
		site_help(&site, site_report(&site, RULE_WAIT_VALUE, "%s: %s", problem, part),
			"such as 2026-01-31T08:00:00Z or 2026-01-31T08:00:00+01:00");
	else if (problem && ref)
		site_report(&site, RULE_WAIT_VALUE, "%s, and operator variable \"%s\" is not",
			problem, ref->path);
	else if (problem)
		site_help(&site, site_report(&site, RULE_WAIT_VALUE, "%s", problem),
			"a time from now is `every_secs`; at a time of day, a timer or cron starts "
			"the machine");
}

static void read_every(struct reader *reader, struct state *state, const struct doc_node *node)
{
	const char *problem = NULL;
	if (node->kind == DOC_INT) {
		state->wait.every_secs = (struct opt_int){true, node->integer};
	} else if (node->kind == DOC_STR) {
		state->wait.every_ref = timing_ref(reader, state, node, TYPE_INT);
		const struct ref *ref =
			state->wait.every_ref ? template_lone(state->wait.every_ref) : NULL;
		if (ref)
			problem = wait_every_problem(operator_value(ref));
		if (ref && ref->root && ref->root->owner == OWNER_OPERATOR && !ref->field_count)
			fixed_note(reader, state, FIXED_EVERY_SECS, ref->root);
	}
	report_timing(reader, state, node, state->wait.every_ref, problem);
}

static void read_until(struct reader *reader, struct state *state, const struct doc_node *node)
{
	const char *problem = NULL;
	if (node->kind != DOC_STR)
		return;
	if (strstr(node->text, "{{")) {
		state->wait.until_ref = timing_ref(reader, state, node, TYPE_STR);
		if (state->wait.until_ref)
			problem = wait_until_problem(
				operator_value(template_lone(state->wait.until_ref)));
	} else {
		state->wait.until_literal = true;
		if (clock_parse(node->text, node->count, &state->wait.until_unix_us))
			problem = "`until` must be an instant such as 2026-01-31T08:00:00Z";
	}
	report_timing(reader, state, node, state->wait.until_ref, problem);
}

/* Checks the label `tick`, the only one that depends on more than the kind. The shape check has
 * reported other missing and foreign labels. */
static void check_tick(struct reader *reader, const struct state *state)
{
	const struct doc_pair *on = reader_pair(reader, state->node, "on");
	if (!on)
		return;
	const struct doc_pair *tick = doc_pair(&on->value, outcome_name(OUTCOME_TICK));
	if (on->value.kind != DOC_MAP || state->wait.timed == (tick != NULL) ||
		reader_value(reader, state->node, "cron"))
		return;
	if (!tick)
		reader->loose[state->index] = true;
	/* The only other labels. */
	uint32_t others = 0;
	others += doc_pair(&on->value, outcome_name(OUTCOME_SIGNAL)) != NULL;
	others += doc_pair(&on->value, outcome_name(OUTCOME_EXHAUSTED)) != NULL;
	if (tick ? reader_misspelt(state->node, "every_secs") ||
				reader_misspelt(state->node, "until")
		 : on->value.partial || on->value.count > others)
		return;
	struct site site = reader_site(reader, tick ? &tick->key : &on->key, state);
	struct finding *f =
		tick ? site_report(&site, RULE_TICK_WITHOUT_TIMER,
			       "a wait without a timer never has the outcome `tick`")
		     : site_report(&site, RULE_MISSING_TICK,
			       "a wait with a timer needs a state for the outcome `tick`");
	site_help(
		&site, f, tick ? "remove it, or add `every_secs` or `until`" : "add `tick: STATE`");
}

/* Reads the form of a poke and the variables that it writes. */
static void read_payload(struct reader *reader, struct state *state)
{
	const struct doc_pair *capture = reader_pair(reader, state->node, "capture");
	const struct doc_pair *schema = reader_pair(reader, state->node, "output_schema");
	read_output_schema(reader, state);
	read_capture(reader, state);
	if (schema)
		reader->m->journal_format = JOURNAL_FORMAT_LAST;
	if (!capture || schema || reader_misspelt(state->node, "output_schema"))
		return;
	struct site site = reader_site(reader, &capture->key, state);
	site_help(&site,
		site_report(&site, RULE_RESULT_NEEDS_SCHEMA,
			"the capture of a wait needs an output_schema, the form of the poke"),
		"add `output_schema: SCHEMA`");
}

static void read_wait(struct reader *reader, struct state *state)
{
	const struct doc_node *every = reader_value(reader, state->node, "every_secs");
	const struct doc_node *until = reader_value(reader, state->node, "until");
	state->wait.timed = every || until;
	if (every)
		read_every(reader, state, every);
	if (until)
		read_until(reader, state, until);
	check_tick(reader, state);
	read_payload(reader, state);
	read_edges(reader, state);
}

/* A `tick` without a timer still tells which state its author wants to reach. */
static unsigned wait_outcomes(const struct state *state)
{
	const struct doc_node *tick =
		doc_get(doc_get(state->node, "on"), outcome_name(OUTCOME_TICK));
	return 1u << OUTCOME_SIGNAL | (tick ? 1u << OUTCOME_TICK : 0);
}

static void wait_texts(const struct state *state, text_visitor *each, void *ctx)
{
	each(ctx, state->wait.every_ref, false);
	each(ctx, state->wait.until_ref, false);
}

static const char *wait_style(const struct state *state)
{
	(void)state;
	return "shape=hexagon, color=\"#7a8896\", fillcolor=\"#eef1f3\"";
}

static const struct kind_result wait_result = {
	.good = OUTCOME_SIGNAL,
	.owner = OWNER_CODE,
	.invalid = OUTCOME_COUNT, /* such a poke is refused, and the wait goes on */
};

const struct kind kind_wait = {
	"wait",
	TRAIT_RESTS,
	&wait_result,
	read_wait,
	wait_outcomes,
	wait_texts,
	kind_never, /* brings_untrusted */
	kind_never, /* takes_files */
	kind_writes_nothing,
	"{{\"",
	"\"}}",
	wait_style,
};
