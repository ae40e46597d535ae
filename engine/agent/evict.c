#include "agent/evict.h"

#include <string.h>

enum { STUB_MIN_BYTES = 400 };

static int64_t tokens(size_t bytes)
{
	return (int64_t)(bytes * 2 / 7);
}

static int64_t turn_tokens(const struct wire_turn *wire_turn)
{
	size_t bytes = wire_turn->role == WIRE_USER ? strlen(wire_turn->text) : 0;
	bytes += wire_turn->raw ? strlen(wire_turn->raw) : 0;
	for (size_t k = 0; k < wire_turn->result_count; k++)
		bytes += strlen(wire_turn->results[k].text);
	return tokens(bytes);
}

int64_t evict_estimate(const struct wire_talk *talk)
{
	int64_t sum = 0;
	for (size_t i = 0; i < talk->count; i++)
		sum += turn_tokens(&talk->turns[i]);
	return sum;
}

static const char no_room[] = "dropped to make room; call it again if it is still needed";
static const char too_long[] = "too long for the model; ask for less at a time";

static int64_t drop(struct wire_result *result, const char *why)
{
	size_t len = strlen(result->text);
	char *stub = NULL;
	if (result->pinned || len < STUB_MIN_BYTES ||
		asprintf(&stub, "[agent6: this result of %s (%zu bytes) was %s]", result->name, len,
			why) < 0)
		return 0;
	int64_t gained = tokens(len) - tokens(strlen(stub));
	free(result->text);
	result->text = stub;
	return gained;
}

/* Marks the turns after a change as stale: the model wrote them about another text. */
static void mark_stale(struct wire_talk *talk, size_t changed)
{
	for (size_t i = changed + 1; i < talk->count; i++)
		talk->turns[i].stale = true;
}

static int64_t drop_turn(struct wire_talk *talk, size_t at, const char *why)
{
	struct wire_turn *t = &talk->turns[at];
	int64_t gained = 0;
	for (size_t k = 0; k < t->result_count; k++)
		gained += drop(&t->results[k], why);
	if (gained)
		mark_stale(talk, at);
	return gained;
}

/* Returns the number of turns up to the newest results; 0: there are none. */
static size_t newest_results(const struct wire_talk *talk)
{
	size_t newest = talk->count;
	while (newest && talk->turns[newest - 1].role != WIRE_RESULTS)
		newest--;
	return newest;
}

int64_t evict_results(struct wire_talk *talk, int64_t free_tokens)
{
	size_t newest = newest_results(talk);
	int64_t gained = 0;
	for (size_t i = 0; i + 1 < newest && gained < free_tokens; i++)
		gained += drop_turn(talk, i, no_room);
	return gained;
}

int64_t evict_newest(struct wire_talk *talk)
{
	size_t newest = newest_results(talk);
	return newest ? drop_turn(talk, newest - 1, too_long) : 0;
}

/* Finds whole exchanges: the rest begins with an answer of the model, and no call loses its
 * result. */
struct evict_range evict_range(const struct wire_talk *talk, int64_t keep_tokens)
{
	struct evict_range r = {0, 0};
	int64_t kept = 0;
	while (r.from < talk->count && talk->turns[r.from].role != WIRE_RESULTS)
		r.from++;
	r.to = ++r.from;
	for (size_t i = talk->count; i > r.from; i--) {
		kept += turn_tokens(&talk->turns[i - 1]);
		if (talk->turns[i - 1].role != WIRE_ASSISTANT)
			continue;
		if (kept > keep_tokens && r.to > r.from)
			break;
		r.to = i - 1;
	}
	return r;
}

void evict_turns(struct wire_talk *talk, struct evict_range r, char *digest)
{
	struct wire_turn *first = &talk->turns[r.from - 1];
	for (size_t k = 0; k < first->result_count; k++)
		drop(&first->results[k], no_room);
	free(first->results[0].text);
	first->results[0].text = digest;
	first->results[0].pinned = true;
	for (size_t i = r.from; i < r.to; i++)
		wire_turn_done(&talk->turns[i]);
	memmove(&talk->turns[r.from], &talk->turns[r.to],
		(talk->count - r.to) * sizeof(*talk->turns));
	talk->count -= r.to - r.from;
	mark_stale(talk, r.from - 1);
}
