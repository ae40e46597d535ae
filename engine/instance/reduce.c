#include "instance/reduce.h"

#include "base/json.h"
#include "base/utf8.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"

#include <string.h>

bool reduce_wants_output(const struct state *state)
{
	return state->output_schema || state->capture.reads_result;
}

static void first_line(char *out, const char *text)
{
	utf8_copy(out, REDUCE_REASON_BYTES, text);
	out[strcspn(out, "\n")] = '\0';
}

/* Copies the last line. A carriage return begins one too, as in a progress bar. */
static void last_line(char *out, const char *text)
{
	static const char breaks[] = "\r\n";
	size_t end = strlen(text), from;
	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (from = end; from && !strchr(breaks, text[from - 1]); from--)
		continue;
	utf8_copy(out, REDUCE_REASON_BYTES, text + from);
	if (end - from < REDUCE_REASON_BYTES)
		out[end - from] = '\0';
}

void reduce_words(const json_t *fact, char out[REDUCE_REASON_BYTES])
{
	static const char *const reasons[] = {"reason", "lost", "not_run", "planted", "not_kept"};
	const json_t *code = json_object_get(fact, "exit");
	const char *said = json_string_value(json_object_get(fact, "stderr_tail"));
	*out = '\0';
	for (size_t i = 0; !*out && i < ARRAY_LEN(reasons); i++) {
		const char *reason = json_string_value(json_object_get(fact, reasons[i]));
		first_line(out, reason ? reason : "");
	}
	if (!*out && said && !(json_is_integer(code) && !json_integer_value(code)))
		last_line(out, said);
}

static void not_ok(struct reduced *out, enum outcome outcome, const char *reason)
{
	out->outcome = outcome;
	first_line(out->reason, reason);
}

/* Joins up to ten problems, which come one per line, into one sentence. */
static void join_problems(char *out, const char *lines)
{
	enum { PROBLEMS_SHOWN = 10 };
	AUTO_BUF text = BUF_INIT(REDUCE_REASON_BYTES);
	size_t count = 0, shown = 0;
	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t len = strcspn(at, "\n");
		bool fits = text.len + len + sizeof("; and 50 more") < REDUCE_REASON_BYTES;
		count++;
		if (shown + 1 != count || shown == PROBLEMS_SHOWN || (shown && !fits))
			continue;
		buf_addf(&text, "%s%.*s", shown ? "; " : "",
			(int)(fits ? len : utf8_prefix(at, REDUCE_REASON_BYTES / 2)), at);
		shown++;
	}
	if (count > shown)
		buf_addf(&text, "; and %zu more", count - shown);
	first_line(out, text.len ? text.data : "the result does not conform");
}

/* Captures an ok result. If it does not conform or cannot be bound, the outcome is not ok. */
static void bind(const struct state *state, const json_t *result, json_t *blackboard,
	const char *path, struct reduced *out)
{
	enum outcome otherwise = state->kind == KIND_TOOL ? OUTCOME_NONZERO : OUTCOME_FAILED;
	AUTO_BUF problems = BUF_INIT(64 * 1024);
	struct type t = {TYPE_JSON, TYPE_STR, NULL};
	if (state->output_schema)
		t = (struct type){TYPE_RECORD, TYPE_STR, state->output_schema};
	if (result && value_check(t, result, VALUE_WHOLE, path, &problems)) {
		out->outcome = otherwise;
		join_problems(out->reason, problems.len ? problems.data : "");
		return;
	}
	struct err e = ERR_NONE;
	if (state->capture.present && blackboard_capture(state, result, blackboard, &e))
		not_ok(out, otherwise, e.text);
}

static json_t *parse_stdout(const json_t *fact, struct err *e)
{
	const json_t *text = json_object_get(fact, "stdout");
	if (json_object_get(fact, "stdout_dropped")) {
		err_set(e, "stdout is larger than %d bytes", REDUCE_STDOUT_MAX);
		return NULL;
	}
	if (json_is_true(json_object_get(fact, "not_utf8"))) {
		err_set(e, "stdout is not valid UTF-8, or holds the character NUL");
		return NULL;
	}
	if (json_is_true(json_object_get(fact, "too_many_values"))) {
		err_set(e, "stdout holds more than %d values", JSON_VALUES_MAX);
		return NULL;
	}
	const char *bytes = json_string_value(text);
	if (!bytes || !bytes[strspn(bytes, " \t\r\n")]) {
		err_set(e, "stdout is blank where JSON is expected");
		return NULL;
	}
	/* The number of values was checked when the fact was made. It is not limited here: a fact
	 * in a journal must mean the same for ever. */
	struct json_cap cap = {REDUCE_STDOUT_MAX, JSON_DEPTH_MAX, SIZE_MAX};
	json_t *value = json_read_nested(bytes, json_string_length(text), cap, e);
	if (!value)
		err_wrap(e, "stdout");
	return value;
}

static void reduce_output(
	const struct state *state, const json_t *fact, json_t *blackboard, struct reduced *out)
{
	struct err why = ERR_NONE;
	json_auto_t *result = NULL;
	if (reduce_wants_output(state)) {
		result = parse_stdout(fact, &why);
		if (!result) {
			not_ok(out, OUTCOME_NONZERO, why.text);
			return;
		}
	}
	bind(state, result, blackboard, "stdout", out);
}

static int reduce_tool(const struct state *state, const json_t *fact, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	const char *not_run = json_string_value(json_object_get(fact, "not_run"));
	const char *not_kept = json_string_value(json_object_get(fact, "not_kept"));
	const char *planted = json_string_value(json_object_get(fact, "planted"));
	const char *lost = json_string_value(json_object_get(fact, "lost"));
	if (not_run || lost) {
		not_ok(out, OUTCOME_NONZERO, not_run ? not_run : lost);
		return 0;
	}
	const json_t *code = json_object_get(fact, "exit"), *sig = json_object_get(fact, "signal");
	const json_t *timed_out = json_object_get(fact, "timed_out");
	if (!json_is_boolean(timed_out) || !json_is_string(json_object_get(fact, "stdout")) ||
		(!json_is_integer(code) && !json_is_integer(sig) && !json_is_true(timed_out)))
		return err_set(e, "the fact is not that of a tool");
	if (planted)
		not_ok(out, OUTCOME_NONZERO, planted);
	else if (json_is_true(timed_out))
		out->outcome = OUTCOME_TIMEOUT;
	else if (json_is_integer(sig) || json_integer_value(code) != 0)
		out->outcome = OUTCOME_NONZERO;
	else if (not_kept)
		not_ok(out, OUTCOME_NONZERO, not_kept);
	else
		reduce_output(state, fact, blackboard, out);
	return 0;
}

static int reduce_agent(const struct state *state, const json_t *fact, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	enum outcome outcome = outcome_find(json_string_value(json_object_get(fact, "outcome")));
	if (outcome == OUTCOME_COUNT || !state->on[outcome])
		return err_set(e, "the fact is not that of an agent");
	out->outcome = outcome;
	const json_t *payload = json_object_get(fact, "payload");
	bool expected = reduce_wants_output(state);
	if (outcome != OUTCOME_OK)
		return 0;
	if (expected && !json_is_object(payload))
		not_ok(out, OUTCOME_FAILED, "the agent finished without a result");
	else
		bind(state, json_is_null(payload) ? NULL : payload, blackboard, "result", out);
	return 0;
}

static int reduce_wait(
	const struct state *state, const json_t *fact, struct reduced *out, struct err *e)
{
	const char *by = json_string_value(json_object_get(fact, "woke_by"));
	if (by && !strcmp(by, "timer") && state->wait.timed)
		out->outcome = OUTCOME_TICK;
	else if (by && !strcmp(by, "poke"))
		out->outcome = OUTCOME_SIGNAL;
	else
		return err_set(e, "the fact is not that of this wait");
	return 0;
}

json_t *reduce_branch(const struct state *state, const json_t *blackboard, struct err *e)
{
	for (size_t i = 0; i < state->branch.clause_count; i++) {
		const struct clause *c = &state->branch.clauses[i];
		bool wins = !c->condition;
		if (!wins && predicate_eval(c->condition, blackboard, &wins, e)) {
			err_wrap(e, "state %s, clause `%s`", state->name, c->text);
			return NULL;
		}
		if (wins)
			return json_pack("{s:I}", "clause", (json_int_t)i);
	}
	err_set(e, "state %s: no clause wins", state->name);
	return NULL;
}

/* Recomputes the clause: a journal with another clause than the one that wins has diverged. */
static int reduce_clause(const struct state *state, const json_t *fact, const json_t *blackboard,
	struct reduced *out, struct err *e)
{
	json_auto_t *wins = reduce_branch(state, blackboard, e);
	if (!wins)
		return -1;
	json_int_t at = json_get_int(wins, "clause");
	const json_t *said = json_object_get(fact, "clause");
	if (!json_is_integer(said))
		return err_set(e, "the fact is not that of a branch");
	if (json_integer_value(said) != at)
		return err_set(e, "clause %lld is recorded, but clause %lld (\"%s\") wins",
			(long long)json_integer_value(said), (long long)at,
			state->branch.clauses[at].text);
	out->outcome = OUTCOME_COUNT;
	out->label = state->branch.clauses[at].text;
	out->target = state->branch.clauses[at].target;
	return 0;
}

int reduce(const struct state *state, const json_t *fact, json_t *blackboard, struct reduced *out,
	struct err *e)
{
	*out = (struct reduced){.outcome = OUTCOME_OK};
	int failed = -1;
	switch (state->kind) {
	case KIND_BRANCH: return reduce_clause(state, fact, blackboard, out, e);
	case KIND_TOOL: failed = reduce_tool(state, fact, blackboard, out, e); break;
	case KIND_AGENT: failed = reduce_agent(state, fact, blackboard, out, e); break;
	case KIND_WAIT: failed = reduce_wait(state, fact, out, e); break;
	case KIND_TERMINAL:
	case KIND_COUNT: return err_set(e, "state %s takes no step", state->name);
	}
	if (failed)
		return -1;
	out->label = outcome_name(out->outcome);
	out->target = state->on[out->outcome];
	return 0;
}
