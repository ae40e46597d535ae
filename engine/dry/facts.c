#include "base/json.h"
#include "base/utf8.h"
#include "dry/dry.h"
#include "instance/reduce.h"
#include "machine/kind.h"

#include <signal.h>

static json_t *any_number(unsigned variant, const json_t *hints, bool whole)
{
	size_t n = json_array_size(hints);
	for (size_t i = 0; variant > 1 && i < n; i++) {
		const json_t *hint = json_array_get(hints, (variant + i) % n);
		if (json_is_integer(hint) || (!whole && json_is_real(hint)))
			return json_copy((json_t *)(uintptr_t)hint);
	}
	return whole ? json_integer(variant) : json_real(variant / 2.0);
}

static json_t *any_text(unsigned variant, const json_t *hints)
{
	size_t n = json_array_size(hints);
	for (size_t i = 0; variant > 1 && i < n; i++) {
		const json_t *hint = json_array_get(hints, (variant + i) % n);
		if (json_is_string(hint))
			return json_copy((json_t *)(uintptr_t)hint);
	}
	return json_string(variant ? "text" : "");
}

static json_t *any_record(const struct record *record, unsigned variant, const json_t *hints)
{
	json_t *out = json_object();
	for (size_t i = 0; i < record->field_count; i++) {
		const struct field *f = &record->fields[i];
		/* Fields take different values of one variant, so that they can differ. */
		unsigned own = variant < 2 ? variant : 2 + (variant + (unsigned)i) % 16;
		bool there = !f->optional || variant == 1 || (variant > 1 && own % 2);
		/* An optional field is present in odd variants only; without this step it would
		 * never take the values of even ones. */
		if (f->optional && variant > 1)
			own = 2 + own / 2;
		if (there)
			json_object_set_new(out, f->name,
				dry_value_within(f->type, &f->constraint, own, hints));
	}
	return out;
}

json_t *dry_value(struct type t, unsigned variant, const json_t *hints)
{
	switch (t.kind) {
	case TYPE_STR: return any_text(variant, hints);
	case TYPE_INT: return any_number(variant, hints, true);
	case TYPE_FLOAT: return any_number(variant, hints, false);
	case TYPE_BOOL: return json_boolean(variant % 2);
	case TYPE_RECORD: return any_record(t.record, variant, hints);
	case TYPE_JSON: return json_object();
	case TYPE_LIST: break;
	}
	json_t *list = json_array();
	if (variant % 2)
		json_array_append_new(list, dry_value(type_item(t), variant, hints));
	return list;
}

/* Returns the number, or the end of the range that it lies beyond. */
static json_t *fit_number(const struct constraint *constraint, json_t *number)
{
	const struct range_end *min = &constraint->min, *max = &constraint->max, *end = NULL;
	if (min->present && json_number_value(number) < min->number)
		end = min;
	else if (max->present && json_number_value(number) > max->number)
		end = max;
	if (!end)
		return number;
	json_decref(number);
	return range_end_json(end);
}

static json_t *fit_text(int64_t max_len, json_t *text)
{
	size_t at = 0, len = json_string_length(text);
	for (int64_t i = 0; max_len && i < max_len && at < len; i++)
		at += utf8_step(json_string_value(text) + at, len - at, NULL);
	if (!max_len || at == len)
		return text;
	json_t *cut = json_stringn(json_string_value(text), at);
	json_decref(text);
	return cut;
}

json_t *dry_value_within(
	struct type t, const struct constraint *constraint, unsigned variant, const json_t *hints)
{
	json_t *word = constraint->values
			       ? json_string(constraint->values[variant % constraint->value_count])
			       : NULL;
	if (word && t.kind == TYPE_STR)
		return word;
	json_t *value = dry_value(t, variant, hints);
	if (word && json_array_size(value))
		json_array_set_new(value, 0, word);
	else
		json_decref(word);
	if (t.kind == TYPE_STR)
		return fit_text(constraint->max_len, value);
	return json_is_number(value) ? fit_number(constraint, value) : value;
}

static json_t *result_of(const struct state *state, unsigned variant, const json_t *hints)
{
	if (!reduce_wants_output(state))
		return NULL;
	struct type t = {.kind = TYPE_JSON};
	if (state->output_schema)
		t = (struct type){.kind = TYPE_RECORD, .record = state->output_schema};
	if (state->capture.as_text)
		t = (struct type){.kind = TYPE_STR};
	return dry_value(t, variant, hints);
}

/* One of many facts with the same label. */
struct variation {
	unsigned variant;
	const json_t *hints;
};

/* Returns the variant's exit status that counts as ok. */
static struct fact_number good_exit(const struct tool_state *tool, unsigned variant)
{
	int64_t status = tool->ok_exit_count ? tool->ok_exits[variant % tool->ok_exit_count] : 0;
	return (struct fact_number){true, status};
}

/* Returns an exit status that does not count as ok; not known: all do, and only a signal does
 * not. */
static struct fact_number bad_exit(const struct tool_state *tool)
{
	int64_t status = 1;
	while (status < 256 && tool_exit_ok(tool, status))
		status++;
	if (status == 256 && !tool_exit_ok(tool, 0))
		status = 0;
	return (struct fact_number){status < 256, status};
}

/* Returns how a command of another variant ends badly: by a signal in the first, else with a
 * status that the machine compares with. */
static struct fact_number other_bad_exit(
	const struct tool_state *tool, unsigned variant, const json_t *hints)
{
	json_auto_t *hint = any_number(variant, hints, true);
	int64_t status = json_integer_value(hint);
	if (variant == 1)
		return (struct fact_number){false, 0};
	return status >= 0 && status < 256 && !tool_exit_ok(tool, status)
		       ? (struct fact_number){true, status}
		       : bad_exit(tool);
}

static void tool_fact(const struct state *state, enum outcome label, const struct variation *of,
	const json_t *result, struct fact *out)
{
	AUTO_FREE char *json = result ? json_text(result) : NULL;
	const char *text = state->capture.as_text ? json_string_value(result) : json;
	json_auto_t *words = label == OUTCOME_OK ? NULL : any_text(of->variant, of->hints);
	struct fact_number status = {false, 0};
	if (label == OUTCOME_OK)
		status = good_exit(&state->tool, of->variant);
	else if (label == OUTCOME_NONZERO)
		status = of->variant ? other_bad_exit(&state->tool, of->variant, of->hints)
				     : bad_exit(&state->tool);
	*out = (struct fact){.kind = FACT_TOOL,
		.tool = {.exit = status,
			.signal = {label != OUTCOME_TIMEOUT && !status.known, SIGKILL},
			.timed_out = label == OUTCOME_TIMEOUT,
			.stderr_tail = ""}};
	if (words)
		text = json_string_value(words);
	out->tool.output = fact_text(out, text ? text : "");
	if (words)
		out->tool.stderr_tail = out->tool.output;
}

static void agent_fact(const struct state *state, enum outcome label, const struct variation *of,
	const json_t *result, struct fact *out)
{
	(void)state;
	*out = (struct fact){.kind = FACT_AGENT, .agent = {.outcome = label}};
	if (result)
		out->agent.payload = fact_hold(out, json_incref((json_t *)(uintptr_t)result));
	if (label != OUTCOME_OK)
		out->reason = json_string_value(fact_hold(out, any_text(of->variant, of->hints)));
}

static void wait_fact(const struct state *state, enum outcome label, const struct variation *of,
	const json_t *result, struct fact *out)
{
	(void)state, (void)of;
	*out = (struct fact){.kind = FACT_WAIT,
		.wait = {.woke_by = label == OUTCOME_TICK ? WOKEN_BY_TIMER : WOKEN_BY_POKE}};
	if (result)
		out->wait.payload =
			fact_hold(out, json_pack("{s:O}", "data", (json_t *)(uintptr_t)result));
}

/* NULL: the kind has no outcomes. */
struct fact_maker {
	void (*make)(const struct state *state, enum outcome label, const struct variation *of,
		const json_t *result, struct fact *out);
};
static const struct fact_maker make_agent = {agent_fact}, make_tool = {tool_fact},
			       make_wait = {wait_fact}, make_branch = {NULL},
			       make_terminal = {NULL};

#define X(NAME, name) [KIND_##NAME] = &make_##name,
static const struct fact_maker *const makers[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

void dry_fact(const struct state *state, enum outcome label, unsigned variant, const json_t *hints,
	struct fact *out)
{
	if (label == OUTCOME_EXHAUSTED) {
		*out = (struct fact){.kind = FACT_VISITS, .visits = state->max_visits};
		return;
	}
	const struct kind_result *good = state_result(state);
	json_auto_t *result = good && label == good->good ? result_of(state, variant, hints) : NULL;
	struct variation of = {variant, hints};
	makers[state->kind]->make(state, label, &of, result, out);
}
