/*
 * A cassette (docs/rehearsing.md): recorded or hand-written exchanges, one JSON line each, played
 * in order.
 *
 * {"state":S,"match":{subset of the neutral request},"reply":{"text","tool_calls":[{"name",
 * "arguments"}],"thinking","usage":{"input_tokens","output_tokens","cached_tokens"},"stop",
 * "delay_ms","status","error","retry_after_secs"}}. A line {"state":S,"poke":{...}} is for a wait
 * and is only checked. Each state has its own queue. An attempt that starts over (its supervisor
 * was killed) is played again from its first exchange; a further attempt goes on behind the one
 * before.
 */
#ifndef REHEARSE_CASSETTE_H
#define REHEARSE_CASSETTE_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { CASSETTE_BYTES_MAX = 32 * 1024 * 1024, CASSETTE_LINES_MAX = 100000 };

struct exchange {
	const char *file; /* where it was read */
	size_t line;
	const char *state; /* belongs to `value` */
	const json_t *match, *reply;
	json_t *value;
	bool used;
};

struct cassette {
	struct exchange *items;
	size_t count, room;
	struct played *steps; /* the progress of each step */
	size_t step_count, step_room;
};

/* The step that asks. state NULL: unknown; the lines are then served in the order of the file. */
struct asker {
	uint64_t seq, attempt;
	const char *state;
	long turn; /* 0-based; 0 starts the conversation */
};

/* Decodes a line that is not blank, and checks it by schema/cassette.schema.json. Pure. New
 * reference; NULL: the error says what is wrong with it. */
json_t *cassette_line(const char *text, size_t len, struct err *e);

/* Appends a file's lines. `name` is kept and must outlive the cassette. The error names the line.
 */
int cassette_read(struct cassette *cassette, const char *name, struct err *e);
void cassette_done(struct cassette *cassette);

/* Returns the next exchange for `who`, whether or not the request matches it; NULL: none is left.
 * cassette_served then moves on. */
struct exchange *cassette_next(struct cassette *cassette, const struct asker *who);
void cassette_served(struct cassette *cassette, const struct asker *who, struct exchange *exchange);
/* Returns the last exchange served to `who`, if a client asks the same again after it: an error, or
 * a cut reply. NULL: it was neither. */
const struct exchange *cassette_unsettled(const struct cassette *cassette, const struct asker *who);
/* Forgets the clients so far: attempts start over, whatever they were served. */
void cassette_restart(struct cassette *cassette);
/* Returns the number of exchanges that nothing has asked for. */
size_t cassette_unused(const struct cassette *cassette);

/* Compares `request` with `match`: objects by key, lists as a subsequence in order, strings as
 * substrings, all else for equality. Returns an array of readable lines about the differences;
 * empty: it matches. */
json_t *cassette_differences(const json_t *match, const json_t *request);
#endif
