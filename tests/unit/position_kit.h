/*
 * Positions made line by line, for their tests.
 */
#ifndef TESTS_UNIT_POSITION_KIT_H
#define TESTS_UNIT_POSITION_KIT_H
#include "instance/position.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <string.h>

/* The number of the steps before the next line. */
static int seq;

static inline int try(
	struct position *position, const char *fields, const char *fact, struct err *e)
{
	json_auto_t *event = json_loads(fields, 0, NULL);
	if (!event)
		bail("not JSON: %s", fields);
	json_object_set_new(event, "seq", json_integer(seq));
	json_object_set_new(event, "ts", json_string("2026-11-21T00:00:00Z"));
	if (fact)
		json_object_set_new(event, "fact", json_loads(fact, 0, NULL));
	return position_apply_event(position, event, e);
}

static inline void apply(struct position *position, const char *fields, const char *fact)
{
	struct err e = ERR_NONE;
	if (try(position, fields, fact, &e))
		bail("%s", e.text);
}

/* {"label":L,"goto":G,"state":S} */
static inline void step(struct position *position, const char *fields, const char *fact)
{
	seq++;
	json_auto_t *event = json_loads(fields, 0, NULL);
	json_object_set_new(event, "t", json_string("step"));
	json_object_set_new(event, "attempt", json_integer(position->attempt));
	AUTO_FREE char *text = json_dumps(event, 0);
	apply(position, text, fact);
}

#define WORKED                                                                                     \
	"{\"exit\":0,\"signal\":null,\"timed_out\":false,\"stdout\":\"\",\"stderr_tail\":\"odd\"}"
#define BROKE                                                                                      \
	"{\"exit\":2,\"signal\":null,\"timed_out\":false,\"stdout\":\"\",\"stderr_tail\":"         \
	"\"a\\nb\"}"
#define ABOUT(type, state) "{\"t\":\"" type "\",\"state\":\"" state "\",\"attempt\":1"
#define UNTIL(instant)     ",\"delay_ms\":0,\"until\":\"" instant "\"}"
#define SOON               "2026-11-21T00:00:00Z"

#define PARK                                                                                       \
	"machine: m\nversion: 1\ninitial: park\nbudget: {max_transitions: 9}\n"                    \
	"states:\n  park: {kind: wait, on: {signal: done}}\n"                                      \
	"  done: {kind: terminal, status: ok, reason: done}\n"
#define ARMED                                                                                      \
	"{\"t\":\"wait.armed\",\"ts\":\"2026-11-21T00:00:00Z\",\"seq\":1,"                         \
	"\"state\":\"park\",\"wake\":null}"

#endif
