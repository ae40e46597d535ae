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
	struct played *steps; /* what each step has been served */
	size_t step_count, step_room;
};

/* Which step asks. state NULL: nobody said; the lines are then served in order of the file. */
struct asker {
	uint64_t seq, attempt;
	const char *state;
	long turn; /* 0-based; 0 starts the conversation */
};

/* Appends a file's lines. `name` is kept and must outlive the cassette. The error names the line.
 */
int cassette_read(struct cassette *cassette, const char *name, struct err *e);
void cassette_done(struct cassette *cassette);

/* The next exchange for `who`, whether or not the request matches it; NULL: none is left. Nothing
 * changes before cassette_served. */
struct exchange *cassette_next(struct cassette *cassette, const struct asker *who);
void cassette_served(struct cassette *cassette, const struct asker *who, struct exchange *exchange);
/* What `who` was served last, where a client asks the same again: an error, or a reply that was
 * cut. NULL: it was neither. */
const struct exchange *cassette_unsettled(const struct cassette *cassette, const struct asker *who);
/* Whoever was served so far has gone: attempts start over, whatever they were told last. */
void cassette_restart(struct cassette *cassette);
/* Exchanges that nothing asked for. */
size_t cassette_unused(const struct cassette *cassette);

/* Where `request` does not hold what `match` asks for: objects by key, lists as a subsequence in
 * order, strings as substrings, all else equal. An array of readable lines, empty: it matches. */
json_t *cassette_differences(const json_t *match, const json_t *request);
#endif
