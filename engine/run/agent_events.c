#include "run/agent_events.h"

#include "base/json.h"
#include "base/utf8.h"
#include "machine/kind.h"
#include "run/egress.h"

#include <string.h>

enum { REASON_BYTES = 2048 };

void agent_events_init(struct agent_events *events)
{
	*events = (struct agent_events){.egress = json_object()};
	buf_init(&events->line, AGENT_LINE_MAX);
}

void agent_events_done(struct agent_events *events)
{
	buf_done(&events->line);
	fact_done(&events->result);
	json_decref(events->egress);
}

static void garble(struct agent_events *events, const char *why)
{
	if (!events->garbled)
		utf8_copy(events->fault, sizeof(events->fault), why);
	events->garbled = true;
}

/* Returns the text of a member, cut at a character's end to at most `most` bytes. */
static json_t *bounded_text(const json_t *line, const char *key, size_t most)
{
	const char *text = json_get_text(line, key);
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

/* Raises the sums, never lowers them: a gateway may report less than before, or nonsense. */
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

static int take_usage(struct agent_events *events, const json_t *usage)
{
	const json_t *most = json_object_get(usage, "most");
	if (raise_spend(&events->spend, usage))
		return -1;
	events->most = events->spend;
	return most ? raise_spend(&events->most, most) : 0;
}

static void take_result(struct agent_events *events, const json_t *line)
{
	enum outcome outcome = outcome_find(json_string_value(json_object_get(line, "outcome")));
	json_t *payload = json_object_get(line, "payload");
	const json_t *usage = json_object_get(line, "usage");
	if ((int)outcome >= AGENT_END_COUNT) {
		garble(events, "its result has no known outcome");
		return;
	}
	if (usage && !json_is_null(usage)) {
		if (take_usage(events, usage))
			garble(events, "its usage is not a count");
		raise_to(&events->turns, count_of(usage, "turns"));
	}
	struct fact *result = &events->result;
	*result = (struct fact){.kind = FACT_AGENT, .agent = {.outcome = outcome}};
	result->reason =
		json_string_value(fact_hold(result, bounded_text(line, "reason", REASON_BYTES)));
	if (json_is_object(payload))
		result->agent.payload = fact_hold(result, json_incref(payload));
	events->ended = true;
}

static void take_event(struct agent_events *events, const json_t *line)
{
	const json_t *word = json_object_get(line, "event");
	enum agent_event event = agent_event_find(json_string_value(word));
	if (!json_is_string(word)) {
		garble(events, "a line is not an event");
		return;
	}
	if (event == EVENT_CONFINED)
		events->confined = true;
	else if (event == EVENT_EGRESS)
		egress_add(events->egress, line);
	else if (event == EVENT_RESULT)
		take_result(events, line);
	else if (event == EVENT_TURN || event == EVENT_SPENT) {
		if (take_usage(events, line))
			garble(events, "the usage of a turn is not a count");
		raise_to(&events->turns, count_of(line, "turn"));
	}
	if (!events->garbled && events->each)
		events->each(events->ctx, event, line);
}

static void take_line(struct agent_events *events)
{
	struct err e = ERR_NONE;
	struct json_cap cap = {AGENT_LINE_MAX, JSON_DEPTH_MAX + 4, JSON_VALUES_MAX};
	json_auto_t *line = json_read_nested(events->line.data, events->line.len, cap, &e);
	if (!line)
		garble(events, e.text);
	else if (!events->ended)
		take_event(events, line);
	buf_clear(&events->line);
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

static void no_result(enum outcome outcome, const char *reason, struct fact *out)
{
	*out = (struct fact){.kind = FACT_AGENT, .agent = {.outcome = outcome}};
	out->reason = fact_text(out, reason);
}

void agent_events_fact(const struct agent_events *events, bool late, struct fact *out)
{
	char why[320];
	if (events->garbled) {
		snprintf(why, sizeof(why), "the agent process broke the protocol: %s",
			events->fault);
		no_result(OUTCOME_FAILED, why, out);
	} else if (events->ended) {
		*out = events->result;
		json_incref(out->held);
	} else if (late) {
		no_result(OUTCOME_TIMEOUT, "the agent did not end in time and was killed", out);
	} else {
		no_result(OUTCOME_FAILED, "the agent process ended without a result", out);
	}
}
