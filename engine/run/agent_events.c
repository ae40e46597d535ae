#include "run/agent_events.h"

#include "base/json.h"
#include "base/utf8.h"
#include "run/egress.h"

#include <string.h>

enum { REASON_BYTES = 2048 };

void agent_events_init(struct agent_events *a)
{
	*a = (struct agent_events){.egress = json_object()};
	buf_init(&a->line, AGENT_LINE_MAX);
}

void agent_events_done(struct agent_events *a)
{
	buf_done(&a->line);
	json_decref(a->result);
	json_decref(a->egress);
}

static void garble(struct agent_events *a, const char *why)
{
	if (!a->garbled)
		utf8_copy(a->fault, sizeof(a->fault), why);
	a->garbled = true;
}

/* Texts that are kept: bounded at a character's end. */
static json_t *bounded_text(const json_t *line, const char *key, size_t most)
{
	const json_t *value = json_object_get(line, key);
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	size_t len = strlen(text);
	return json_stringn(text, len > most ? utf8_prefix(text, most) : len);
}

static int64_t count_of(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);
	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
									: -1;
}

static void raise_to(int64_t *held, int64_t said)
{
	if (said > *held)
		*held = said;
}

/* A gateway that reports less than before, or nonsense, must not lower the ledger. */
static int raise_spend(struct spend *held, const json_t *usage)
{
	int64_t input = count_of(usage, "input_tokens"), output = count_of(usage, "output_tokens");
	int64_t cached = count_of(usage, "cached_tokens"), microusd = count_of(usage, "microusd");
	if (input < 0 || output < 0 || cached < 0)
		return -1;
	raise_to(&held->input_tokens, input);
	raise_to(&held->output_tokens, output);
	raise_to(&held->cached_tokens, cached);
	raise_to(&held->microusd, microusd);
	held->unpriced = microusd < 0;
	held->unmetered |= json_is_true(json_object_get(usage, "unmetered"));
	return 0;
}

static int take_usage(struct agent_events *a, const json_t *usage)
{
	const json_t *most = json_object_get(usage, "most");
	if (raise_spend(&a->spend, usage))
		return -1;
	a->most = a->spend;
	return most ? raise_spend(&a->most, most) : 0;
}

static void take_result(struct agent_events *a, const json_t *line)
{
	const char *outcome = json_string_value(json_object_get(line, "outcome"));
	int label = outcome ? outcome_parse(outcome) : -1;
	json_t *payload = json_object_get(line, "payload");
	const json_t *usage = json_object_get(line, "usage");
	if (label < 0 || !(outcomes_of(KIND_AGENT, false) & 1u << label)) {
		garble(a, "its result has no known outcome");
		return;
	}
	if (usage && !json_is_null(usage)) {
		if (take_usage(a, usage))
			garble(a, "its usage is not a count");
		raise_to(&a->turns, count_of(usage, "turns"));
	}
	a->result = json_pack("{s:s,s:o,s:O}", "outcome", outcome, "reason",
		bounded_text(line, "reason", REASON_BYTES), "payload",
		json_is_object(payload) ? payload : json_null());
	a->ended = true;
}

static void take_event(struct agent_events *a, const json_t *line)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	if (!event) {
		garble(a, "a line is not an event");
		return;
	}
	if (!strcmp(event, "confined"))
		a->confined = true;
	else if (!strcmp(event, "egress"))
		egress_add(a->egress, line);
	else if (!strcmp(event, "result"))
		take_result(a, line);
	else if (!strcmp(event, "turn") || !strcmp(event, "spent")) {
		if (take_usage(a, line))
			garble(a, "the usage of a turn is not a count");
		raise_to(&a->turns, count_of(line, "turn"));
	}
	if (!a->garbled && a->each)
		a->each(a->ctx, event, line);
}

static void take_line(struct agent_events *a)
{
	struct err e = ERR_NONE;
	struct json_cap cap = {AGENT_LINE_MAX, JSON_DEPTH_MAX + 4, JSON_VALUES_MAX};
	json_auto_t *line = json_read_nested(a->line.data, a->line.len, cap, &e);
	if (!line)
		garble(a, e.text);
	else if (!a->ended)
		take_event(a, line);
	buf_clear(&a->line);
}

void agent_events_take(void *ctx, const char *bytes, size_t len)
{
	struct agent_events *a = ctx;
	while (len && !a->garbled) {
		const char *nl = memchr(bytes, '\n', len);
		size_t n = nl ? (size_t)(nl - bytes) : len;
		if (buf_add(&a->line, bytes, n)) {
			garble(a, "a line is longer than 4 MiB");
			return;
		}
		if (!nl)
			return;
		take_line(a);
		bytes += n + 1;
		len -= n + 1;
	}
}

static json_t *no_result(const char *outcome, const char *reason)
{
	return json_pack("{s:s,s:s,s:n}", "outcome", outcome, "reason", reason, "payload");
}

json_t *agent_events_fact(const struct agent_events *a, bool late)
{
	char why[320];
	if (a->garbled) {
		snprintf(why, sizeof(why), "the agent process broke the protocol: %s", a->fault);
		return no_result("failed", why);
	}
	if (a->ended)
		return json_deep_copy(a->result);
	if (late)
		return no_result("timeout", "the agent did not end in time and was killed");
	return no_result("failed", "the agent process ended without a result");
}
