#include "agent/dispatch.h"

#include "agent/emit.h"
#include "agent/finish.h"
#include "agent/policy/filter.h"
#include "agent/policy/redact_json.h"
#include "agent/tools/permit.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

/* A placeholder may be longer than the secret it replaces. */
enum { RESULT_CAP_BYTES = 2 * TOOL_TEXT_CAP_BYTES, RESULT_MIN_BYTES = 2000 };

static void report_filtered(const char *name, const struct redact_tally *tally, size_t markers)
{
	for (size_t i = 0; i < REDACT_KIND_COUNT; i++) {
		const char *kind = redact_kind_name((enum redact_kind)i);
		if (!tally->of[i])
			continue;
		emit_notice("%zu of kind %s redacted in a result of %s", tally->of[i], kind, name);
		emit(EVENT_AUDIT, json_pack("{s:s, s:s, s:s, s:I}", "type",
					  audit_type_name(AUDIT_SECRET_FILTERED), "kind", kind,
					  "tool", name, "count", (json_int_t)tally->of[i]));
	}
	if (!markers)
		return;
	emit_notice("possible injection markers in a result of %s: %zu", name, markers);
	emit(EVENT_AUDIT,
		json_pack("{s:s, s:s, s:I}", "type", audit_type_name(AUDIT_INJECTION_DETECTED),
			"tool", name, "count", (json_int_t)markers));
}

/* Ends the run with a payload. It is journaled as it leaves here, so secrets are removed first: a
 * model could assemble one from parts that it was shown. */
static bool finish(struct dispatch *dispatch, const json_t *arguments, struct buf *out)
{
	AUTO_BUF problems = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	struct redact_tally tally = {{0}};
	json_auto_t *read = finish_read(dispatch->record, arguments);
	json_auto_t *safe = redact_json(redact_known, dispatch->tools->redact, read, &tally);
	json_auto_t *payload = finish_check(dispatch->record, safe, &problems);
	if (payload && !emit_check(payload, &problems)) {
		dispatch->payload = json_incref(payload);
		report_filtered(FINISH_NAME, &tally, 0);
		buf_adds(out, "Accepted.");
		return true;
	}
	utf8_copy(dispatch->problems, sizeof(dispatch->problems), problems.data);
	char *last = strrchr(dispatch->problems, '\n');
	if (last && !last[1])
		*last = '\0';
	dispatch->gave_up = dispatch->repairs++ >= FINISH_REPAIRS_MAX;
	buf_addf(out, "Not accepted. Call %s again with these problems repaired:\n%s", FINISH_NAME,
		problems.data);
	return false;
}

static void add_data(
	struct dispatch *dispatch, const struct tool *tool, const struct buf *said, struct buf *out)
{
	struct filter f = {dispatch->tools->redact, tool->is_command};
	struct filtered seen;
	buf_adds(out, TOOL_DATA_MARK);
	filter_text(&f, said->data, said->len, out, &seen);
	report_filtered(tool->name, &seen.tally, seen.markers);
}

static bool run_tool(
	struct dispatch *dispatch, const char *name, const json_t *said, struct buf *out)
{
	const struct tool *tool = tool_find(name, dispatch->mode);
	if (!tool) {
		buf_addf(out, "There is no tool %s here. There are ", name);
		tool_names(dispatch->mode, out);
		buf_adds(out, " and " FINISH_NAME ".");
		return false;
	}
	json_auto_t *arguments = tool_coerce(tool, said);
	if (tool_check(tool, arguments, out))
		return false;
	AUTO_BUF result = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	int rc = tool->run(dispatch->tools, arguments, &result);
	bool ok = !rc;
	if (rc == TOOL_ENDS)
		utf8_copy(dispatch->ended, sizeof(dispatch->ended), result.data);
	if (ok && tool->changes)
		guard_progress(&dispatch->guard, tool->is_command);
	if (result.failed) {
		out->failed = true;
		return false;
	}
	size_t begin = out->len + strlen(TOOL_DATA_MARK);
	add_data(dispatch, tool, &result, out);
	if (!out->failed)
		digest_note(&dispatch->digest, tool->name, arguments, ok, out->data + begin);
	return ok;
}

static bool run_call(struct dispatch *dispatch, const struct wire_call *call, struct buf *out)
{
	struct err e = ERR_NONE;
	json_auto_t *arguments = wire_arguments(call->arguments, &e);
	if (!arguments) {
		buf_addf(out, "The arguments of this call are not usable: %s.", e.text);
		utf8_copy(dispatch->problems, sizeof(dispatch->problems), e.text);
		return false;
	}
	bool ok = !finish_named(call->name) ? run_tool(dispatch, call->name, arguments, out)
					    : finish(dispatch, arguments, out);
	if (out->failed) {
		buf_clear(out);
		buf_adds(out, "The result was too long to be passed on.");
		return false;
	}
	return ok;
}

/* Returns why the call must not run; NULL: run it. */
static const char *refusal(const struct dispatch *dispatch, size_t at)
{
	if (dispatch->payload)
		return "Ignored: finish_run has already ended this step.";
	if (*dispatch->ended)
		return "Not executed: the call before it has ended this step.";
	if (at >= dispatch->max_calls)
		return "Not executed: too many calls in one turn; call it again.";
	if (clock_monotonic_ms() >= dispatch->deadline_ms)
		return "Not executed: time ran out.";
	return NULL;
}

/* Returns a text for the model as valid UTF-8. Every text passes here, since a message that cut a
 * name inside a character would make a request that no provider can read. */
static char *clean_text(const struct buf *text)
{
	AUTO_BUF clean = BUF_INIT(3 * (size_t)RESULT_CAP_BYTES);
	utf8_add(&clean, text->data, text->len);
	return buf_take(&clean, NULL);
}

/* Cuts a result to the turn's remaining room: the beginning and the end stay, and a line between
 * them tells how much is missing. */
static char *fit_text(struct dispatch *dispatch, char *text)
{
	size_t len = strlen(text), room = dispatch->turn_bytes > RESULT_MIN_BYTES
						  ? dispatch->turn_bytes
						  : RESULT_MIN_BYTES;
	char *cut = NULL;
	if (len > room) {
		size_t head = utf8_cut_end(text, room / 2),
		       tail = utf8_cut_start(text, len, len - room / 2);
		if (asprintf(&cut,
			    "%.*s\n[agent6: %zu bytes left out here: the results of this turn are "
			    "too long together; ask for less at a time]\n%s",
			    (int)head, text, tail - head, text + tail) < 0)
			cut = NULL;
		free(text);
		text = cut;
		len = text ? strlen(text) : 0;
	}
	dispatch->turn_bytes -= len < dispatch->turn_bytes ? len : dispatch->turn_bytes;
	return text;
}

static void report(const struct wire_call *call, bool ok, int64_t ms)
{
	emit(EVENT_TOOL,
		json_pack("{s:s, s:b, s:I}", "name", call->name, "ok", ok, "ms", (json_int_t)ms));
}

static int answer(struct dispatch *dispatch, const struct wire_call *call, size_t at,
	struct wire_result *result)
{
	AUTO_BUF text = BUF_INIT(RESULT_CAP_BYTES);
	const char *refused = refusal(dispatch, at);
	int64_t begun_ms = clock_monotonic_ms();
	bool ok = false;
	if (refused)
		buf_adds(&text, refused);
	else
		ok = run_call(dispatch, call, &text);
	report(call, ok, clock_monotonic_ms() - begun_ms);
	if (!refused && !dispatch->payload && text.data) {
		enum guard_verdict v =
			guard_call(&dispatch->guard, call->name, call->arguments, text.data);
		dispatch->verdict = v > dispatch->verdict ? v : dispatch->verdict;
	}
	*result = (struct wire_result){.id = strdup(call->id),
		.name = strdup(call->name),
		.text = clean_text(&text),
		.failed = !ok};
	if (result->text)
		result->text = fit_text(dispatch, result->text);
	return result->id && result->name && result->text ? 0 : -1;
}

/* Returns the argv of a call that proposes a command; NULL: it is another call, or a faulty one.
 * New reference. */
static json_t *proposed_argv(const struct dispatch *dispatch, const struct wire_call *call)
{
	const struct tool *tool = tool_find(call->name, dispatch->mode);
	if (!tool || strcmp(tool->name, "run_command") != 0)
		return NULL;
	json_auto_t *said = wire_arguments(call->arguments, NULL);
	json_auto_t *arguments = tool_coerce(tool, said);
	json_t *argv = json_object_get(arguments, "argv");
	AUTO_BUF unused = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	return arguments && !tool_check(tool, arguments, &unused) && permit_is_argv(argv)
		       ? json_incref(argv)
		       : NULL;
}

/* Proposes the commands of a turn as one question. If the operator is asked step by step, each
 * command is a question of its own later. */
static void propose_batch(struct dispatch *dispatch, const struct wire_turn *turn)
{
	const struct tool_commands *c = dispatch->tools->commands;
	if (!c)
		return;
	permit_forget(c->permits);
	json_auto_t *argvs = json_array();
	for (size_t i = 0; i < turn->call_count && i < dispatch->max_calls; i++) {
		json_t *argv = proposed_argv(dispatch, &turn->calls[i]);
		if (argv)
			json_array_append_new(argvs, argv);
	}
	if (json_array_size(argvs) > 1 && !c->one_by_one)
		permit_batch(dispatch->tools, argvs);
}

int dispatch_turn(
	struct dispatch *dispatch, const struct wire_turn *turn, struct wire_turn *results)
{
	results->results = calloc(turn->call_count, sizeof(*results->results));
	if (!results->results)
		return -1;
	bool told = dispatch->guard.warned;
	dispatch->verdict = GUARD_GO_ON;
	dispatch->problems[0] = '\0';
	dispatch->turn_bytes = dispatch->results_bytes;
	propose_batch(dispatch, turn);
	for (size_t i = 0; i < turn->call_count; i++) {
		results->result_count = i + 1;
		if (answer(dispatch, &turn->calls[i], i, &results->results[i]))
			return -1;
	}
	/* These calls were made before the model could read the notice, so they count as one
	 * warning. */
	if (dispatch->verdict == GUARD_STOP && !told)
		dispatch->verdict = GUARD_WARN;
	return 0;
}
