#include "agent/evict.h"

#include <string.h>

enum { STUB_MIN_BYTES = 400 };

static int64_t tokens(size_t bytes)
{
	return (int64_t)(bytes * 2 / 7);
}

int64_t evict_estimate(const struct wire_talk *talk)
{
	size_t bytes = 0;
	for (size_t i = 0; i < talk->count; i++) {
		const struct wire_turn *t = &talk->turns[i];
		bytes += t->role == WIRE_USER ? strlen(t->text) : 0;
		bytes += t->raw ? strlen(t->raw) : 0;
		for (size_t k = 0; k < t->result_count; k++)
			bytes += strlen(t->results[k].text);
	}
	return tokens(bytes);
}

static int64_t drop(struct wire_result *r)
{
	size_t len = strlen(r->text);
	char *stub = NULL;
	if (len < STUB_MIN_BYTES ||
		asprintf(&stub,
			"[agent6: this result of %s (%zu bytes) was dropped to make room; "
			"call it again if it is still needed]",
			r->name, len) < 0)
		return 0;
	int64_t gained = tokens(len) - tokens(strlen(stub));
	free(r->text);
	r->text = stub;
	return gained;
}

int64_t evict_results(struct wire_talk *talk, int64_t free_tokens)
{
	size_t newest = talk->count;
	while (newest && talk->turns[newest - 1].role != WIRE_RESULTS)
		newest--;
	int64_t gained = 0;
	for (size_t i = 0; i + 1 < newest && gained < free_tokens; i++)
		for (size_t k = 0; k < talk->turns[i].result_count; k++)
			gained += drop(&talk->turns[i].results[k]);
	return gained;
}
