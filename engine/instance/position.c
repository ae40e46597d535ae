#include "instance/position.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "instance/budget.h"
#include "machine/blackboard.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/template.h"

#include <string.h>

static void count_visit(struct position *position)
{
	const struct state *state = position->state;
	if (!state->max_visits)
		return;
	if (!position->visits)
		position->visits = json_object();
	json_object_set_new(position->visits, state->name,
		json_integer(json_get_int(position->visits, state->name) + 1));
}

bool position_exhausted(const struct position *position)
{
	int64_t most = fixed_max_visits(position->state, position->blackboard);
	return most && json_get_int(position->visits, position->state->name) > most;
}

void position_init(struct position *position, const struct machine *machine)
{
	*position = (struct position){.machine = machine,
		.state = machine->initial,
		.attempt = 1,
		.format = JOURNAL_FORMAT_FIRST};
	position->blackboard = blackboard_new(machine);
	count_visit(position);
}

void position_done(struct position *position)
{
	json_decref(position->blackboard);
	json_decref(position->poke);
	json_decref(position->visits);
	json_decref(position->failure);
	json_decref(position->autorun);
	json_decref(TAKE_PTR(position->returns));
	position->blackboard = position->visits = position->poke = position->failure =
		position->autorun = NULL;
}

void position_copy(struct position *to, const struct position *from)
{
	*to = *from;
	to->blackboard = json_copy(from->blackboard);
	to->visits = json_copy(from->visits);
	to->poke = json_incref(from->poke);
	to->failure = json_incref(from->failure);
	to->autorun = json_incref(from->autorun);
	to->returns = json_incref(from->returns);
}

static void book(struct position *position, const struct spend *spend)
{
	struct spend *step = &position->step;
	totals_add(&position->totals, spend);
	step->input_tokens = num_add(step->input_tokens, spend->input_tokens);
	step->output_tokens = num_add(step->output_tokens, spend->output_tokens);
	step->microusd = num_add(step->microusd, spend->microusd);
}

static int apply_begin(struct position *position, const struct line *line, struct err *e)
{
	const struct line_begin *begin = &line->begin;
	if (position->begun)
		return err_set(e, "a second begin");
	if (!position->foreign && strcmp(begin->machine, position->machine->name) != 0)
		return err_set(e, "it is a journal of machine %s, not of %s", begin->machine,
			position->machine->name);
	if (begin->format < JOURNAL_FORMAT_FIRST || begin->format > JOURNAL_FORMAT_LAST)
		return err_set(
			e, "its format is neither 1 nor 2: it was written by another version");
	const char *name;
	json_t *value;
	json_object_foreach (begin->parameters, name, value)
		if (blackboard_set_parameter(
			    position->machine, position->blackboard, name, value, VALUE_PARTIAL, e))
			return -1;
	snprintf(position->digest, sizeof(position->digest), "%s", begin->bundle);
	snprintf(position->profile, sizeof(position->profile), "%s", begin->profile);
	position->begun = true;
	position->format = (int)begin->format;
	position->started_us = position->updated_us;
	return 0;
}

/* Checks that the line is about the active state and attempt. */
static int same_place(
	const struct position *position, const struct line *line, bool attempted, struct err *e)
{
	if (strcmp(line->state, position->state->name) != 0)
		return err_set(e, "it is about state %s while the machine is in %s", line->state,
			position->state->name);
	if (attempted && line->attempt != position->attempt)
		return err_set(e, "it is attempt %lld of state %s where attempt %d was due",
			(long long)line->attempt, position->state->name, position->attempt);
	return 0;
}

/* Checks that the active state may do work. */
static int may_work(const struct position *position, struct err *e)
{
	return position_exhausted(position)
		       ? err_set(e, "state %s has been visited %lld times and does no work",
				 position->state->name,
				 (long long)fixed_max_visits(position->state, position->blackboard))
		       : 0;
}

/* Checks that a step of `exhausted` is where the visits are used up, and only there. */
static int check_visits(const struct position *position, const struct fact *fact, struct err *e)
{
	if (fact->kind != FACT_VISITS)
		return may_work(position, e);
	if (position->format < JOURNAL_FORMAT_LAST)
		return err_set(e, "a journal of format 1 counts no visits");
	return position_exhausted(position)
		       ? 0
		       : err_set(e, "state %s may still be visited", position->state->name);
}

static int same_label(const struct line *line, const struct reduced *reduced, struct err *e)
{
	if (strcmp(line->label, reduced->label) != 0)
		return err_set(e, "label %s is recorded, but the fact means %s%s%s", line->label,
			reduced->label, *reduced->reason ? ": " : "", reduced->reason);
	return 0;
}

static int note_wake(struct position *position, const struct fact *fact, struct err *e)
{
	const struct wait_fact *woken = &fact->wait;
	int64_t at = 0;
	if (!position->armed)
		return err_set(e, "state %s woke before its wait was armed", position->state->name);
	if (woken->wake && clock_parse(woken->wake, strlen(woken->wake), &at))
		return err_set(e, "wake is not an instant");
	if (at != position->wake_us)
		return err_set(e, "the wait was armed for another instant");
	if (woken->woke_by != WOKEN_BY_POKE)
		return 0;
	json_decref(position->poke);
	position->poke = json_incref(woken->payload);
	snprintf(position->poke_name, sizeof(position->poke_name), "%s",
		woken->poke ? woken->poke : "");
	return 0;
}

static json_t *number_or_null(const struct fact *fact, const struct fact_number *number)
{
	return fact->kind == FACT_TOOL && number->known ? json_integer(number->value) : json_null();
}

static int book_fact(struct position *position, const struct fact *fact, struct err *e)
{
	(void)e;
	book(position, &fact->agent.spend);
	return 0;
}

static int book_spend(struct position *position, const struct spend *spend, struct err *e)
{
	(void)e;
	position->executions++;
	book(position, spend);
	return 0;
}

static int refuse_spend(struct position *position, const struct spend *spend, struct err *e)
{
	(void)spend;
	return err_set(e, "state %s spends nothing", position->state->name);
}

/* Forgets the poke: this tool has been given it. */
static int use_poke(struct position *position, const struct fact *fact, struct err *e)
{
	(void)fact, (void)e;
	json_decref(TAKE_PTR(position->poke));
	return 0;
}

static int change_nothing(struct position *position, const struct fact *fact, struct err *e)
{
	(void)position, (void)fact, (void)e;
	return 0;
}

/* The changes that the lines of a kind make besides those of every kind. */
struct side_effects {
	int (*step)(struct position *position, const struct fact *fact, struct err *e);
	int (*retry)(struct position *position, const struct fact *fact, struct err *e);
	int (*spend)(struct position *position, const struct spend *spend, struct err *e);
};
static const struct side_effects effect_agent = {book_fact, book_fact, book_spend};
static const struct side_effects effect_tool = {use_poke, change_nothing, refuse_spend};
static const struct side_effects effect_wait = {note_wake, change_nothing, refuse_spend};
static const struct side_effects effect_branch = {change_nothing, change_nothing, refuse_spend};
static const struct side_effects effect_terminal = {change_nothing, change_nothing, refuse_spend};

#define X(NAME, name) [KIND_##NAME] = &effect_##name,
static const struct side_effects *const side_effects[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

/* Keeps the last failure of a state that may fail. */
static void note_failure(
	struct position *position, const struct fact *fact, const struct reduced *reduced)
{
	char words[REDUCE_REASON_BYTES];
	const char *name = position->state->name;
	bool same = !strcmp(json_get_text(position->failure, "state"), name);
	if (!state_may_fail(position->state))
		return;
	if (reduced->outcome == OUTCOME_OK && !same)
		return;
	json_decref(TAKE_PTR(position->failure));
	if (reduced->outcome == OUTCOME_OK)
		return;
	reduce_words(fact, words);
	position->failure = json_pack("{s:s,s:I,s:i,s:s,s:s,s:o,s:o}", "state", name, "seq",
		(json_int_t)position->seq + 1, "attempt", position->attempt, "label",
		reduced->label, "words", *reduced->reason ? reduced->reason : words, "exit",
		number_or_null(fact, &fact->tool.exit), "signal",
		number_or_null(fact, &fact->tool.signal));
}

static void enter(struct position *position, const struct state *state)
{
	position->state = state;
	position->seq++;
	position->totals.transitions = num_add(position->totals.transitions, 1);
	position->attempt = 1;
	position->executions = 0;
	position->notified = position->armed = false;
	position->wake_us = position->retry_at_us = 0;
	position->step = (struct spend){0};
	count_visit(position);
}

/* Checks a foreign machine's budget: it may be smaller, and its run would have ended before this
 * line. */
static int may_go_on(const struct position *position, struct err *e)
{
	char why[POSITION_REASON_BYTES];
	return position->foreign && budget_exhausted(
					    position, NULL, position->before_us, why, sizeof(why))
		       ? err_set(e, "%s", why)
		       : 0;
}

bool position_retries(const struct position *position, const struct reduced *reduced)
{
	const struct retry *r = &position->state->retry;
	return reduced->outcome != OUTCOME_COUNT && r->on & 1u << reduced->outcome &&
	       position->attempt <= r->max;
}

static int apply_step(struct position *position, const struct line *line, struct err *e)
{
	const struct state *s = position->state;
	struct reduced v;
	struct fact branch;
	const struct fact *fact = &line->fact;
	if (same_place(position, line, true, e) || may_go_on(position, e) ||
		check_visits(position, fact, e))
		return -1;
	/* A branch of a foreign machine is computed anew: its clauses have other numbers. */
	if (position->foreign && s->clauses && fact->kind != FACT_VISITS) {
		fact = &branch;
		if (reduce_branch(s, position->blackboard, &branch, e))
			return -1;
	}
	if (reduce(s, fact, position->format, position->blackboard, &v, e) ||
		(!position->foreign && same_label(line, &v, e)))
		return -1;
	if (position_retries(position, &v))
		return err_set(e, "edge %s -> %s is recorded, but it would have tried again",
			v.label, line->go_to);
	if (strcmp(line->go_to, v.target->name) != 0)
		return err_set(e, "edge %s -> %s is recorded, but %s leads to %s", line->label,
			line->go_to, v.label, v.target->name);
	if (fact->kind != FACT_VISITS) {
		if (side_effects[s->kind]->step(position, fact, e))
			return -1;
		note_failure(position, fact, &v);
		reduce_failure(s, fact, &v, position->blackboard);
	}
	enter(position, v.target);
	return 0;
}

void position_pass_branches(struct position *position)
{
	for (size_t i = 0; i < position->machine->state_count; i++) {
		const struct state *s = position->state;
		bool exhausted = position_exhausted(position);
		bool goes_on = position->begun && !position->ended && (s->clauses || exhausted);
		struct reduced v;
		struct fact fact;
		if (goes_on && exhausted) {
			enter(position, s->on[OUTCOME_EXHAUSTED]);
			continue;
		}
		if (!goes_on || (s->notify && !position->notified))
			return;
		if (reduce_branch(s, position->blackboard, &fact, NULL) ||
			reduce(s, &fact, position->format, position->blackboard, &v, NULL))
			return;
		enter(position, v.target);
	}
}

static int apply_retry(struct position *position, const struct line *line, struct err *e)
{
	const char *until = line->retry.until;
	struct reduced v;
	if (same_place(position, line, true, e) || may_go_on(position, e) ||
		may_work(position, e) ||
		reduce(position->state, &line->fact, position->format, position->blackboard, &v,
			e) ||
		same_label(line, &v, e))
		return -1;
	if (!position_retries(position, &v))
		return err_set(e, "state %s does not retry on %s after attempt %d",
			position->state->name, v.label, position->attempt);
	if (clock_parse(until, strlen(until), &position->retry_at_us))
		return err_set(e, "until is not an instant");
	if (side_effects[position->state->kind]->retry(position, &line->fact, e))
		return -1;
	note_failure(position, &line->fact, &v);
	position->totals.transitions = num_add(position->totals.transitions, 1);
	position->attempt++;
	position->executions++;
	return 0;
}

static int check_totals(
	const struct position *position, const struct line_totals *recorded, struct err *e)
{
	return recorded->given && totals_equal(&position->totals, &recorded->sum)
		       ? 0
		       : err_set(e, "its totals are not the sum of the steps");
}

static int apply_armed(struct position *position, const struct line *line, struct err *e)
{
	const char *wake = line->armed.wake;
	int64_t at = 0;
	if (same_place(position, line, false, e) || may_work(position, e))
		return -1;
	const struct wait_state *wait = state_wait(position->state);
	if (!wait || wait->timed != (wake != NULL))
		return err_set(e, "state %s cannot be armed so", position->state->name);
	if (wake && clock_parse(wake, strlen(wake), &at))
		return err_set(e, "wake is not an instant");
	/* A stopped run goes on with the same instant. */
	if (position->armed && at != position->wake_us)
		return err_set(e, "the wait was armed for another instant");
	if (line->armed.totals.given && check_totals(position, &line->armed.totals, e))
		return -1;
	position->wake_us = at;
	position->armed = true;
	return 0;
}

static int apply_refused(struct position *position, const struct line *line, struct err *e)
{
	const struct line_refused *refused = &line->refused;
	if (same_place(position, line, false, e) || may_work(position, e))
		return -1;
	if (position->format < JOURNAL_FORMAT_LAST)
		return err_set(e, "a journal of format 1 refuses no poke");
	if (!position->armed || (!position->foreign && !position->state->output_schema))
		return err_set(e, "state %s refuses no poke", position->state->name);
	if (check_totals(position, &refused->totals, e))
		return -1;
	snprintf(position->refused_poke, sizeof(position->refused_poke), "%s", refused->poke);
	return 0;
}

static int apply_notify(struct position *position, const struct line *line, struct err *e)
{
	if (same_place(position, line, false, e) || may_work(position, e))
		return -1;
	if (position->notified || !position->state->notify)
		return err_set(e, "state %s has nothing to notify", position->state->name);
	position->notified = true;
	return 0;
}

static int apply_spend(struct position *position, const struct line *line, struct err *e)
{
	if (same_place(position, line, true, e) || may_work(position, e))
		return -1;
	return side_effects[position->state->kind]->spend(position, &line->spend, e);
}

static int apply_note(struct position *position, const struct line *line, struct err *e)
{
	return same_place(position, line, false, e);
}

/* Adds a file to those of earlier lines, or updates the entry with its path. */
static void add_file(json_t *files, json_t *file)
{
	size_t i;
	json_t *known;
	json_array_foreach (files, i, known)
		if (!strcmp(json_get_text(known, "path"), json_get_text(file, "path"))) {
			json_array_set(files, i, file);
			return;
		}
	json_array_append(files, file);
}

/* Adds the files of a line. A line about a branch lists all of its commits' files; one about a
 * workspace lists those changed since the line before. */
json_t *position_add_autorun(const json_t *known, const struct line_autorun *line)
{
	enum { FILES_MAX = 1000 };
	json_t *file;
	size_t i;
	const json_t *before = line->branch ? NULL : known;
	json_t *files = json_copy(json_object_get(before, "files"));
	json_int_t more = json_get_int(before, "more") + line->more;
	bool cut = json_is_true(json_object_get(before, "cut")) || line->cut;
	files = files ? files : json_array();
	json_array_foreach (line->files, i, file) {
		if (json_array_size(files) < FILES_MAX)
			add_file(files, file);
		else
			more++;
	}
	return json_pack("{s:o,s:I,s:b}", "files", files, "more", more, "cut", cut);
}

static int apply_autorun(struct position *position, const struct line *line, struct err *e)
{
	if (same_place(position, line, false, e))
		return -1;
	json_t *before = position->autorun;
	position->autorun = position_add_autorun(before, &line->autorun);
	json_decref(before);
	return position->autorun ? 0 : err_set(e, "out of memory");
}

/* Recomputes a terminal's result and compares it. A foreign machine only has to have one. */
static int check_returns(const struct position *position, const struct line_end *end, struct err *e)
{
	json_auto_t *returns = NULL;
	if (reduce_returns(position->state, position->blackboard, &returns, e))
		return -1;
	bool same = returns ? json_equal(returns, end->returns) : !end->returns;
	return same || position->foreign
		       ? 0
		       : err_set(e, "terminal %s returns something else", position->state->name);
}

/* Recomputes a terminal's status and reason and compares them. The reason of a foreign machine may
 * differ. */
static int check_terminal(
	const struct position *position, const struct line_end *end, struct err *e)
{
	AUTO_BUF reason = BUF_INIT(POSITION_REASON_RENDERED);
	const struct terminal_state *terminal = state_terminal(position->state);
	if (!terminal)
		return err_set(e, "state %s is not terminal", position->state->name);
	if (may_go_on(position, e))
		return -1;
	if (template_render(terminal->reason, position->blackboard, NULL, &reason, e))
		return -1;
	if (end->status != (terminal->ok ? OUTCOME_OK : OUTCOME_FAILED) ||
		(!position->foreign && strcmp(end->reason, reason.data) != 0))
		return err_set(e, "terminal %s says something else", position->state->name);
	return check_returns(position, end, e);
}

/* Checks an end by the machine's own budget against this machine. The operator's budget is not
 * known here. */
static int check_budget(const struct position *position, const char *reason, struct err *e)
{
	char why[POSITION_REASON_BYTES];
	if (!position->foreign || !budget_is_machine(reason) ||
		budget_exhausted(position, NULL, position->updated_us, why, sizeof(why)))
		return 0;
	return err_set(e, "%s, and this machine would have gone on", reason);
}

static int apply_end(struct position *position, const struct line *line, struct err *e)
{
	const struct line_end *end = &line->end;
	if (same_place(position, line, false, e))
		return -1;
	if (end->cause == END_CAUSE_COUNT)
		return err_set(e, "it has no known cause");
	if (end->cause != END_TERMINAL && end->returns)
		return err_set(e, "only a terminal returns a result");
	if (end->returns && position->format < JOURNAL_FORMAT_LAST)
		return err_set(e, "a journal of format 1 has no result");
	if ((end->cause == END_TERMINAL && check_terminal(position, end, e)) ||
		(end->cause == END_BUDGET && check_budget(position, end->reason, e)))
		return -1;
	char digest[POSITION_DIGEST_BYTES];
	position_blackboard_digest(position, digest);
	if (!position->foreign && strcmp(end->blackboard, digest) != 0)
		return err_set(e, "its blackboard is another one: %s is recorded, %s was rebuilt",
			end->blackboard, digest);
	if (check_totals(position, &end->totals, e))
		return -1;
	position->ended = true;
	position->ended_ok = end->status == OUTCOME_OK;
	position->cause = end->cause;
	position->returns = json_incref(end->returns);
	utf8_copy(position->reason, sizeof(position->reason), end->reason);
	return 0;
}

typedef int applier(struct position *position, const struct line *line, struct err *e);
static applier *const appliers[LINE_TYPE_COUNT] = {[LINE_BEGIN] = apply_begin,
	[LINE_STEP] = apply_step,
	[LINE_RETRY] = apply_retry,
	[LINE_ARMED] = apply_armed,
	[LINE_REFUSED] = apply_refused,
	[LINE_NOTIFY] = apply_notify,
	[LINE_EGRESS] = apply_note,
	[LINE_AUTORUN] = apply_autorun,
	[LINE_SPEND] = apply_spend,
	[LINE_STOP] = apply_note,
	[LINE_END] = apply_end};

int position_apply(struct position *position, const struct line *line, struct err *e)
{
	if (line->type == LINE_TYPE_COUNT)
		return err_set(e,
			"no line has the type \"%s\"; a newer version of agent6 may have written "
			"it",
			line->type_text);
	const char *type = line_type_name(line->type);
	/* Lines about the active step carry its number, which is one more than the steps
	 * committed. */
	int64_t due = (int64_t)position->seq + (line->type != LINE_BEGIN);
	if (position->ended)
		return err_set(e, "%s after the end", type);
	if (position->begun != (line->type != LINE_BEGIN))
		return err_set(e, position->begun ? "a second %s" : "%s where begin belongs", type);
	if (line->seq != due)
		return err_set(e, "%s: seq is not %lld", type, (long long)due);
	position->before_us = position->updated_us;
	if (clock_parse(line->ts, strlen(line->ts), &position->updated_us))
		return err_set(e, "%s, seq %lld: ts is not an instant", type, (long long)due);
	return appliers[line->type](position, line, e)
		       ? err_wrap(e, "%s, seq %lld", type, (long long)due)
		       : 0;
}

int position_apply_event(struct position *position, const json_t *event, struct err *e)
{
	AUTO_LINE line;
	return line_decode(event, &line, e) || position_apply(position, &line, e) ? -1 : 0;
}

void position_blackboard_digest(const struct position *position, char out[POSITION_DIGEST_BYTES])
{
	AUTO_BUF text = BUF_INIT(SIZE_MAX / 4);
	json_write(&text, position->blackboard);
	char hex[SHA256_HEX + 1];
	sha256_hex(text.data, text.len, hex);
	snprintf(out, POSITION_DIGEST_BYTES, "sha256:%s", hex);
}
