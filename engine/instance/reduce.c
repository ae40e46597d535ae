#include "instance/reduce.h"

#include "base/json.h"
#include "base/utf8.h"
#include "machine/blackboard.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/predicate.h"
#include "machine/template.h"

#include <signal.h>
#include <string.h>

bool reduce_wants_output(const struct state *state)
{
	return state->output_schema || state->capture.reads_result;
}

bool reduce_wants_json(const struct state *state)
{
	return reduce_wants_output(state) && !state->capture.as_text;
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

/* Returns the first reason that the fact records; "": it records none. */
static const char *recorded_reason(const struct fact *fact)
{
	bool tool = fact->kind == FACT_TOOL;
	const struct tool_fact *t = &fact->tool;
	const char *const reasons[] = {fact->reason, tool ? t->lost : NULL,
		fact->kind == FACT_NOT_RUN ? fact->not_run : NULL, tool ? t->planted : NULL,
		tool ? t->not_kept : NULL};
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i] && reasons[i][0] && reasons[i][0] != '\n')
			return reasons[i];
	return "";
}

void reduce_words(const struct fact *fact, char out[REDUCE_REASON_BYTES])
{
	bool tool = fact->kind == FACT_TOOL;
	const struct tool_fact *t = &fact->tool;
	*out = '\0';
	if (fact->kind == FACT_VISITS)
		snprintf(out, REDUCE_REASON_BYTES, "visited %lld time%s before",
			(long long)fact->visits, fact->visits == 1 ? "" : "s");
	if (!*out)
		first_line(out, recorded_reason(fact));
	if (!*out && tool && t->stderr_tail && !(t->exit.known && !t->exit.value))
		last_line(out, t->stderr_tail);
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
static void bind(const struct state *state, const struct captured *captured, json_t *blackboard,
	const char *path, struct reduced *out)
{
	const json_t *result = captured->result;
	enum outcome otherwise = state_result(state)->invalid;
	AUTO_BUF problems = BUF_INIT(64 * 1024);
	struct type t = {TYPE_JSON, TYPE_STR, NULL};
	if (state->output_schema)
		t = (struct type){TYPE_RECORD, TYPE_STR, state->output_schema};
	if (state->capture.as_text)
		t = (struct type){TYPE_STR, TYPE_STR, NULL};
	if (result && value_check(t, result, VALUE_WHOLE, path, &problems)) {
		out->outcome = otherwise;
		join_problems(out->reason, problems.len ? problems.data : "");
		return;
	}
	struct err e = ERR_NONE;
	if (state->capture.present && blackboard_capture(state, captured, blackboard, &e))
		not_ok(out, otherwise, e.text);
}

/* Returns the output without one newline at its end. */
static json_t *stdout_text(const char *bytes)
{
	size_t len = strlen(bytes);
	return json_stringn(bytes, len && bytes[len - 1] == '\n' ? len - 1 : len);
}

static json_t *parse_stdout(const struct state *state, const struct tool_fact *fact, struct err *e)
{
	if (fact->output_dropped) {
		err_set(e, "stdout is larger than %d bytes", REDUCE_STDOUT_MAX);
		return NULL;
	}
	if (fact->not_utf8) {
		err_set(e, "stdout is not valid UTF-8, or holds the character NUL");
		return NULL;
	}
	if (state->capture.as_text)
		return stdout_text(fact->output);
	if (fact->too_many_values) {
		err_set(e, "stdout holds more than %d values", JSON_VALUES_MAX);
		return NULL;
	}
	const char *bytes = fact->output;
	if (!bytes[strspn(bytes, " \t\r\n")]) {
		err_set(e, "stdout is blank where JSON is expected");
		return NULL;
	}
	/* The number of values was checked when the fact was made. It is not limited here: a fact
	 * in a journal must mean the same for ever. */
	struct json_cap cap = {REDUCE_STDOUT_MAX, JSON_DEPTH_MAX, SIZE_MAX};
	json_t *value = json_read_nested(bytes, strlen(bytes), cap, e);
	if (!value)
		err_wrap(e, "stdout");
	return value;
}

static void reduce_output(const struct state *state, const struct tool_fact *fact,
	json_t *blackboard, struct reduced *out)
{
	struct err why = ERR_NONE;
	json_auto_t *result = NULL;
	if (reduce_wants_output(state)) {
		result = parse_stdout(state, fact, &why);
		if (!result) {
			not_ok(out, OUTCOME_NONZERO, why.text);
			return;
		}
	}
	json_auto_t *status = json_integer(fact->exit.value);
	struct captured captured = {.result = result, .exit = status, .keeps = out->format > 1};
	bind(state, &captured, blackboard, "stdout", out);
}

/* Returns the last FAILURE_OUTPUT_BYTES of an output. */
static json_t *end_of(const char *output, size_t most)
{
	size_t len = output ? strlen(output) : 0;
	most = most < FAILURE_OUTPUT_BYTES ? most : FAILURE_OUTPUT_BYTES;
	size_t at = len > most ? utf8_cut_start(output, len, len - most) : 0;
	return json_stringn(len ? output + at : "", len - at);
}

static json_t *signal_name(const struct fact_number *signal)
{
	const char *name = signal->known && signal->value > 0 && signal->value < NSIG
				   ? sigabbrev_np((int)signal->value)
				   : NULL;
	if (!signal->known)
		return json_string("");
	return name ? json_sprintf("SIG%s", name)
		    : json_sprintf("SIG%lld", (long long)signal->value);
}

static void tool_failure(const struct fact *fact, json_t *failure)
{
	static const struct tool_fact nothing;
	const struct tool_fact *t = fact->kind == FACT_TOOL ? &fact->tool : &nothing;
	const struct fact_number *tail = &t->output_tail_bytes;
	bool cut = t->output_dropped && tail->known && tail->value >= 0;
	json_object_set_new(failure, "exit", json_integer(t->exit.known ? t->exit.value : -1));
	json_object_set_new(failure, "signal", signal_name(&t->signal));
	json_object_set_new(
		failure, "stdout", end_of(t->output, cut ? (size_t)tail->value : SIZE_MAX));
	json_object_set_new(failure, "stderr", end_of(t->stderr_tail, SIZE_MAX));
}

static int reduce_tool_fact(const struct state *state, const struct fact *fact, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	const struct tool_fact *t = &fact->tool;
	if (fact->kind == FACT_NOT_RUN) {
		not_ok(out, OUTCOME_NONZERO, fact->not_run);
		return 0;
	}
	bool ended = fact->kind == FACT_TOOL &&
		     (t->exit.known || t->signal.known || t->timed_out || t->lost);
	if (!ended)
		return err_set(e, "the fact is not that of a tool");
	if (t->output_tail_bytes.known && out->format < JOURNAL_FORMAT_LAST)
		return err_set(
			e, "a journal of format 1 does not say where the end of stdout begins");
	if (t->lost || t->planted)
		not_ok(out, OUTCOME_NONZERO, t->lost ? t->lost : t->planted);
	else if (t->timed_out)
		out->outcome = OUTCOME_TIMEOUT;
	else if (t->signal.known || !tool_exit_ok(&state->tool, t->exit.value))
		not_ok(out, OUTCOME_NONZERO,
			t->signal.known || t->exit.value ? "" : "exit status 0 is none of ok_exit");
	else if (t->not_kept)
		not_ok(out, OUTCOME_NONZERO, t->not_kept);
	else
		reduce_output(state, t, blackboard, out);
	return 0;
}

static int reduce_agent_fact(const struct state *state, const struct fact *fact, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	if (fact->kind != FACT_AGENT || !state->on[fact->agent.outcome])
		return err_set(e, "the fact is not that of an agent");
	out->outcome = fact->agent.outcome;
	if (out->outcome != OUTCOME_OK)
		return 0;
	struct captured captured = {.result = fact->agent.payload, .keeps = out->format > 1};
	if (reduce_wants_output(state) && !captured.result)
		not_ok(out, OUTCOME_FAILED, "the agent finished without a result");
	else
		bind(state, &captured, blackboard, "result", out);
	return 0;
}

/* Returns the poke's data, if it has the form that the wait takes. */
static const json_t *poke_data(const struct state *state, const json_t *poke, struct err *e)
{
	const json_t *data = json_object_get(poke, "data");
	AUTO_BUF problems = BUF_INIT(64 * 1024);
	char joined[REDUCE_REASON_BYTES];
	struct type t = {TYPE_RECORD, TYPE_STR, state->output_schema};
	if (!data) {
		err_set(e, "it hands over no data");
		return NULL;
	}
	if (!value_check(t, data, VALUE_WHOLE, "data", &problems))
		return data;
	join_problems(joined, problems.len ? problems.data : "");
	err_set(e, "%s", joined);
	return NULL;
}

static int bind_poke(
	const struct state *state, const json_t *poke, json_t *blackboard, struct err *e)
{
	const json_t *data = poke_data(state, poke, e);
	struct captured captured = {.result = data, .keeps = true};
	if (!data)
		return -1;
	return state->capture.present ? blackboard_capture(state, &captured, blackboard, e) : 0;
}

int reduce_poke(
	const struct state *state, const json_t *poke, const json_t *blackboard, struct err *e)
{
	json_auto_t *trial = json_copy((json_t *)(uintptr_t)blackboard);
	if (!state->output_schema)
		return 0;
	if (blackboard)
		return bind_poke(state, poke, trial, e);
	return poke_data(state, poke, e) ? 0 : -1;
}

static int reduce_wait_fact(const struct state *state, const struct fact *fact, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	bool poked = fact->wait.woke_by == WOKEN_BY_POKE;
	if (fact->kind != FACT_WAIT || (!poked && !state->wait.timed))
		return err_set(e, "the fact is not that of this wait");
	if (poked && state->output_schema && bind_poke(state, fact->wait.payload, blackboard, e))
		return err_wrap(e, "the poke does not have the form that the wait takes");
	out->outcome = poked ? OUTCOME_SIGNAL : OUTCOME_TICK;
	return 0;
}

int reduce_branch(
	const struct state *state, const json_t *blackboard, struct fact *out, struct err *e)
{
	for (size_t i = 0; i < state->clause_count; i++) {
		const struct clause *c = &state->clauses[i];
		bool wins = !c->condition;
		if (!wins && predicate_eval(c->condition, blackboard, &wins, e))
			return err_wrap(e, "state %s, clause `%s`", state->name, c->text);
		if (wins) {
			*out = (struct fact){.kind = FACT_BRANCH, .clause = (int64_t)i};
			return 0;
		}
	}
	return err_set(e, "state %s: no clause wins", state->name);
}

static int check_returns(const struct record *record, const json_t *result, struct err *e)
{
	AUTO_BUF problems = BUF_INIT(64 * 1024), text = BUF_INIT(REDUCE_RETURNS_MAX);
	char joined[REDUCE_REASON_BYTES];
	struct type t = {TYPE_RECORD, TYPE_STR, record};
	if (json_write(&text, result))
		return err_set(e, "the result is larger than %d bytes", REDUCE_RETURNS_MAX);
	if (!value_check(t, result, VALUE_WHOLE, "returns", &problems))
		return 0;
	join_problems(joined, problems.len ? problems.data : "");
	return err_set(e, "%s", joined);
}

int reduce_returns(const struct state *state, const json_t *blackboard, json_t **out, struct err *e)
{
	const struct terminal_state *end = state_terminal(state);
	*out = NULL;
	if (!end || !end->result)
		return 0;
	json_auto_t *result = json_object();
	for (size_t i = 0; i < end->return_count; i++) {
		const struct assignment *r = &end->returns[i];
		json_t *value = template_value(r->value, blackboard, NULL, e);
		if (!value)
			return err_wrap(e, "returns.%s", r->field->name);
		json_object_set_new(result, r->field->name, value);
	}
	if (check_returns(end->result, result, e))
		return -1;
	*out = TAKE_PTR(result);
	return 0;
}

/* Recomputes the clause: a journal with another clause than the one that wins has diverged. */
static int reduce_branch_fact(const struct state *state, const struct fact *fact,
	json_t *blackboard, struct reduced *out, struct err *e)
{
	struct fact wins;
	if (reduce_branch(state, blackboard, &wins, e))
		return -1;
	const struct clause *clause = &state->clauses[wins.clause];
	if (fact->kind != FACT_BRANCH)
		return err_set(e, "the fact is not that of a branch");
	if (fact->clause != wins.clause)
		return err_set(e, "clause %lld is recorded, but clause %lld (\"%s\") wins",
			(long long)fact->clause, (long long)wins.clause, clause->text);
	out->outcome = OUTCOME_COUNT;
	out->label = clause->text;
	out->target = clause->target;
	return 0;
}

static int reduce_terminal_fact(const struct state *state, const struct fact *fact,
	json_t *blackboard, struct reduced *out, struct err *e)
{
	(void)fact, (void)blackboard, (void)out;
	return err_set(e, "state %s takes no step", state->name);
}

struct reducer {
	int (*reduce)(const struct state *state, const struct fact *fact, json_t *blackboard,
		struct reduced *out, struct err *e);
	/* Sets the fields of `failure` that not every kind has; NULL: there are none. */
	void (*fail)(const struct fact *fact, json_t *failure);
};
static const struct reducer reducer_agent = {reduce_agent_fact, NULL},
			    reducer_tool = {reduce_tool_fact, tool_failure},
			    reducer_wait = {reduce_wait_fact, NULL},
			    reducer_branch = {reduce_branch_fact, NULL},
			    reducer_terminal = {reduce_terminal_fact, NULL};

#define X(NAME, name) [KIND_##NAME] = &reducer_##name,
static const struct reducer *const reducers[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

/* The reason is the recorded one if there is one: a replay must find the same. */
void reduce_failure(const struct state *state, const struct fact *fact,
	const struct reduced *reduced, json_t *blackboard)
{
	char words[REDUCE_REASON_BYTES];
	const char *reason = recorded_reason(fact);
	if (!state->failure.present || fact->kind == FACT_VISITS ||
		reduced->outcome == OUTCOME_OK || reduced->outcome == OUTCOME_COUNT)
		return;
	if (!*reason)
		reason = reduced->reason;
	if (!*reason) {
		reduce_words(fact, words);
		reason = words;
	}
	json_auto_t *failure = json_pack("{s:s, s:s}", "label", reduced->label, "reason", reason);
	if (reducers[state->kind]->fail)
		reducers[state->kind]->fail(fact, failure);
	blackboard_capture_failure(state, failure, blackboard);
}

int reduce(const struct state *state, const struct fact *fact, int format, json_t *blackboard,
	struct reduced *out, struct err *e)
{
	*out = (struct reduced){.outcome = OUTCOME_OK, .format = format};
	int64_t most_visits = fixed_max_visits(state, blackboard);
	if (fact->kind == FACT_VISITS && (!most_visits || fact->visits != most_visits))
		return err_set(e, "%lld visits are recorded, and %lld are allowed",
			(long long)fact->visits, (long long)most_visits);
	if (fact->kind == FACT_VISITS)
		out->outcome = OUTCOME_EXHAUSTED;
	else if (reducers[state->kind]->reduce(state, fact, blackboard, out, e))
		return -1;
	if (out->outcome != OUTCOME_COUNT) {
		out->label = outcome_name(out->outcome);
		out->target = state->on[out->outcome];
	}
	return 0;
}
