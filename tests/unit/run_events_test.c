/* Tests an agent's untrusted events: garbage, oversize lines, lies about money. */
#include "run/agent_events.h"
#include "run/egress.h"
#include "tests/kit/tap.h"

#include <string.h>

static void say(struct agent_events *events, const char *text)
{
	AUTO_FREE char *json = strdup(text);
	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	agent_events_take(events, json, strlen(json));
}

static json_t *fact_of(const struct agent_events *events, bool late)
{
	AUTO_FACT fact;
	agent_events_fact(events, late, &fact);
	return fact_encode(&fact);
}

static void outcome_is(
	const struct agent_events *events, bool late, const char *want, const char *reason)
{
	json_auto_t *fact = fact_of(events, late);
	is_str(json_string_value(json_object_get(fact, "outcome")), want, "the outcome is %s",
		want);
	has_str(json_string_value(json_object_get(fact, "reason")), reason, "because %s", reason);
}

static void test_spent(void)
{
	struct agent_events a;
	agent_events_init(&a);
	say(&a, "{'event':'spent','input_tokens':5,'output_tokens':1,'cached_tokens':0,"
		"'microusd':3}\n");
	ok(!a.garbled && a.spend.input_tokens == 5 && a.spend.microusd == 3,
		"what a call costs counts before it is over");
	is(a.turns, 0, "and is no turn");
	say(&a, "{'event':'spent','input_tokens':4,'output_tokens':9,'cached_tokens':0,"
		"'microusd':2}\n");
	ok(a.spend.input_tokens == 5 && a.spend.output_tokens == 9 && a.spend.microusd == 3,
		"and never goes down");
	agent_events_done(&a);
}

static void test_result(void)
{
	struct agent_events a;
	agent_events_init(&a);
	outcome_is(&a, false, "failed", "without a result");
	outcome_is(&a, true, "timeout", "killed");
	say(&a, "{'event':'confined','layers':{}}\n{'event':'res");
	ok(a.confined && !a.ended, "half a line says nothing yet");
	say(&a, "ult','outcome':'ok','reason':'r','payload':{'x':[1]},'usage':{'input_tokens':5,"
		"'output_tokens':6,'cached_tokens':1,'microusd':7,'turns':2}}\n");
	ok(a.ended, "the rest does");
	outcome_is(&a, false, "ok", "r");
	json_auto_t *fact = fact_of(&a, false);
	is(json_array_size(json_object_get(json_object_get(fact, "payload"), "x")), 1,
		"the payload is kept");
	is(a.spend.microusd, 7, "and the spend");
	is(a.turns, 2, "and the turns");
	say(&a, "{'event':'result','outcome':'failed','reason':'again'}\n");
	outcome_is(&a, true, "ok", "r");
	agent_events_done(&a);
}

static void test_garbage(void)
{
	static const char *const lines[] = {"nonsense\n", "[]\n", "{'event':5}\n", "{}\n", "\n",
		"{'event':'turn','input_tokens':-1,'output_tokens':0,'cached_tokens':0}\n",
		"{'event':'turn','input_tokens':0,'output_tokens':-1,'cached_tokens':0}\n",
		"{'event':'turn','input_tokens':0,'output_tokens':0,'cached_tokens':-1}\n",
		"{'event':'turn','input_tokens':1.5,'output_tokens':0,'cached_tokens':0}\n",
		"{'event':'turn'}\n", "{'event':'result','outcome':'nonzero'}\n",
		"{'event':'result','outcome':7}\n", "{'event':'result'}\n",
		"{'event':'a','event':'b'}\n", "{'event':'\xff'}\n", "{'event':'\\ud800'}\n"};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct agent_events a;
		agent_events_init(&a);
		say(&a, lines[i]);
		ok(a.garbled, "refused: %.60s", lines[i]);
		json_auto_t *fact = fact_of(&a, false);
		is_str(json_string_value(json_object_get(fact, "outcome")), "failed",
			"so it failed");
		agent_events_done(&a);
	}
}

static void test_long_line(void)
{
	struct agent_events a;
	agent_events_init(&a);
	AUTO_FREE char *chunk = malloc(1 << 20);
	memset(chunk, 'x', 1 << 20);
	for (int i = 0; i < 4; i++)
		agent_events_take(&a, chunk, 1 << 20);
	ok(!a.garbled, "4 MiB are a line");
	agent_events_take(&a, chunk, 1);
	ok(a.garbled, "one byte more is not");
	agent_events_done(&a);
}

static void test_many_values(void)
{
	struct agent_events a;
	agent_events_init(&a);
	say(&a, "{'event':'result','outcome':'ok','reason':'','payload':{'x':[0");
	for (int i = 0; i < 110000; i++)
		agent_events_take(&a, ",{}", 3);
	say(&a, "]}}\n");
	ok(a.garbled, "a line that would fill the memory is not read");
	has_str(a.fault, "values", "and says so");
	agent_events_done(&a);
}

static void test_money(void)
{
	struct agent_events a;
	agent_events_init(&a);
	say(&a, "{'event':'turn','turn':1,'input_tokens':10,'output_tokens':5,'cached_tokens':0,"
		"'microusd':100}\n");
	say(&a, "{'event':'turn','turn':2,'input_tokens':3,'output_tokens':9,'cached_tokens':0,"
		"'microusd':50}\n");
	is(a.spend.input_tokens, 10, "a count never goes down");
	is(a.spend.output_tokens, 9, "while another goes up");
	is(a.spend.microusd, 100, "and money stays spent");
	say(&a, "{'event':'turn','turn':3,'input_tokens':11,'output_tokens':9,'cached_tokens':0,"
		"'microusd':null}\n");
	ok(a.spend.unpriced, "a turn without a price makes the sum a lower bound");
	agent_events_done(&a);
	agent_events_init(&a);
	say(&a, "{'event':'turn','turn':1,'input_tokens':0,'output_tokens':0,'cached_tokens':0,"
		"'microusd':null}\n");
	ok(a.spend.unpriced, "one without usage did not cost nothing");
	agent_events_done(&a);
}

static void test_under_way(void)
{
	struct agent_events a;
	agent_events_init(&a);
	say(&a, "{'event':'spent','input_tokens':5,'output_tokens':1,'cached_tokens':0,"
		"'microusd':3,'most':{'input_tokens':500,'output_tokens':9000,'cached_tokens':0,"
		"'microusd':700}}\n");
	is(a.spend.input_tokens, 5, "what is spent");
	is(a.most.output_tokens, 9000, "and what it may be when the agent is killed now");
	is(a.most.microusd, 700, "in money, too");
	say(&a, "{'event':'spent','input_tokens':450,'output_tokens':20,'cached_tokens':0,"
		"'microusd':90}\n");
	ok(a.most.input_tokens == 450 && a.most.output_tokens == 20 && a.most.microusd == 90,
		"the bill takes its place");
	say(&a, "{'event':'turn','turn':1,'input_tokens':450,'output_tokens':20,"
		"'cached_tokens':0,'microusd':90,'unmetered':true}\n");
	ok(a.most.unmetered && !a.most.unpriced && a.most.microusd == 90,
		"a reply without usage leaves a lower bound");
	say(&a, "{'event':'spent','input_tokens':450,'output_tokens':20,'cached_tokens':0,"
		"'microusd':90,'most':7}\n");
	ok(a.garbled, "no usage at all is refused");
	agent_events_done(&a);
}

static void test_egress(void)
{
	struct agent_events a;
	agent_events_init(&a);
	for (int i = 0; i < 3; i++)
		say(&a, "{'event':'egress','endpoint':'h:1','up':2,'down':3,'refused':'sni'}\n");
	say(&a, "{'event':'egress','endpoint':'h:1','up':-2,'down':3,'refused':'made up'}\n");
	say(&a, "{'event':'egress','endpoint':'h:1','refused':'dial','proxy':407}\n");
	say(&a, "{'event':'egress','endpoint':'h:1','refused':'dial','proxy':23}\n");
	say(&a, "{'event':'egress','endpoint':'h:1','refused':'dial','proxy':77777}\n");
	const json_t *sum = json_object_get(a.egress, "h:1");
	is(json_integer_value(json_object_get(sum, "connections")), 7, "connections are counted");
	is(json_integer_value(json_object_get(sum, "up")), 6, "bytes are added, negative ones not");
	AUTO_FREE char *text =
		json_dumps(json_object_get(sum, "refusals"), JSON_COMPACT | JSON_SORT_KEYS);
	is_str(text,
		"{\"dial\":1,\"sandbox.upstream_proxy answers 407\":1,"
		"\"sandbox.upstream_proxy answers with a SOCKS error\":1,\"sni\":3}",
		"refusals by known reasons, and by what the operator's proxy answers");
	char line[512];
	say(&a, "{'event':'egress','up':1}\n");
	is(json_object_size(a.egress), 1, "what names no endpoint is no connection");
	snprintf(line, sizeof(line), "{'event':'egress','endpoint':'%0299d\xc3\xa9'}\n", 0);
	say(&a, line);
	snprintf(line, sizeof(line), "%0299d", 0);
	ok(json_object_get(a.egress, line), "a long endpoint is cut at a character's end");
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "{'event':'egress','endpoint':'h:%d','up':1}\n", i);
		say(&a, line);
	}
	is(json_object_size(a.egress), EGRESS_ENDPOINTS_MAX, "endpoints are bounded");
	say(&a, "{'event':'egress','endpoint':'h:1'}\n");
	is(json_integer_value(json_object_get(sum, "connections")), 9,
		"those that are known count on");
	agent_events_done(&a);
}

int main(void)
{
	test_spent();
	test_result();
	test_garbage();
	test_long_line();
	test_many_values();
	test_money();
	test_under_way();
	test_egress();
	return tap_done();
}
