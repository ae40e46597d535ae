#include "agent/exchange.h"

#include "agent/policy/redact_json.h"
#include "agent/transcript.h"
#include "base/json.h"

static json_t *kept_text(const char *text, const struct redact *kept)
{
	return text ? transcript_text(kept, text) : json_string("");
}

/* Returns the arguments of a call. Their names come from the model, unlike all others in an
 * event. */
static json_t *arguments_of(
	const struct wire_call *wire_call, const struct redact *redact, bool kept)
{
	size_t cap = kept ? TRANSCRIPT_END_BYTES : WIRE_CONTENT_CAP_BYTES;
	json_auto_t *parsed =
		json_read(wire_call->arguments, strlen(wire_call->arguments), cap, NULL);
	if (!parsed)
		return kept ? transcript_text(redact, wire_call->arguments)
			    : json_string(wire_call->arguments);
	return redact_json(kept ? redact_text : redact_known, redact, parsed, NULL);
}

static json_t *calls_of(const struct wire_turn *wire_turn, const struct redact *redact, bool kept)
{
	json_t *list = json_array();
	for (size_t i = 0; i < wire_turn->call_count; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o}", "name", wire_turn->calls[i].name, "arguments",
				      arguments_of(&wire_turn->calls[i], redact, kept)));
	return list;
}

static json_t *results_of(const struct wire_turn *wire_turn, const struct redact *kept)
{
	json_t *list = json_array();
	for (size_t i = 0; i < wire_turn->result_count; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:b}", "name", wire_turn->results[i].name,
				      "text", kept_text(wire_turn->results[i].text, kept), "failed",
				      wire_turn->results[i].failed));
	return list;
}

json_t *exchange_message(const struct wire_turn *wire_turn, const struct redact *kept)
{
	static const char *const roles[] = {
		[WIRE_USER] = "user", [WIRE_ASSISTANT] = "assistant", [WIRE_RESULTS] = "tool"};
	json_t *m = json_pack("{s:s}", "role", roles[wire_turn->role]);
	if (wire_turn->role == WIRE_RESULTS)
		json_object_set_new(m, "tool_results", results_of(wire_turn, kept));
	else
		json_object_set_new(m, "text", kept_text(wire_turn->text, kept));
	if (wire_turn->role == WIRE_ASSISTANT)
		json_object_set_new(m, "tool_calls", calls_of(wire_turn, kept, true));
	return m;
}

static const char *newest_text(const struct wire_talk *talk)
{
	for (size_t i = talk->count; i > 0; i--) {
		const struct wire_turn *t = &talk->turns[i - 1];
		if (t->role == WIRE_USER)
			return t->text;
		if (t->role == WIRE_RESULTS && t->result_count)
			return t->results[t->result_count - 1].text;
	}
	return "";
}

json_t *exchange_request(const struct wire_request *request)
{
	json_t *tools = json_array();
	size_t turn = 0;
	for (size_t i = 0; i < json_array_size(request->tools); i++)
		json_array_append(
			tools, json_object_get(json_array_get(request->tools, i), "name"));
	for (size_t i = 0; i < request->talk->count; i++)
		turn += request->talk->turns[i].role == WIRE_ASSISTANT;
	const char *prompt = request->talk->count ? request->talk->turns[0].text : "";
	return json_pack("{s:s, s:s, s:I, s:o}", "prompt", prompt, "last",
		newest_text(request->talk), "turn", (json_int_t)turn, "tools", tools);
}

json_t *exchange_reply(
	const struct wire_turn *turn, const struct usage *usage, const struct redact *known)
{
	return json_pack("{s:s, s:o, s:{s:I, s:I, s:I}}", "text", turn->text, "tool_calls",
		calls_of(turn, known, false), "usage", "input_tokens", (json_int_t)usage->input,
		"output_tokens", (json_int_t)usage->output, "cached_tokens",
		(json_int_t)usage->cache_read);
}
