/*
 * A streamed reply in one wire format: no input crashes the decoder, and an accepted one yields a
 * turn whose own message is valid JSON again, or none at all where nothing was said.
 */
#ifndef TESTS_FUZZ_STREAM_FUZZ_H
#define TESTS_FUZZ_STREAM_FUZZ_H
#include "base/json.h"
#include "provider/wire.h"
#include <stdint.h>

static inline int fuzz_stream(const struct wire_format *format, const uint8_t *data, size_t len)
{
	struct wire_stream *s = wire_stream_new(format, 1);
	struct fault f = FAULT_INIT;
	struct wire_reply reply;
	if (s && wire_stream_feed(s, (const char *)data, len, &f) >= 0 &&
		!wire_stream_end(s, &reply, &f)) {
		json_t *raw =
			json_loads(reply.turn.raw, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
		if (!raw && (*reply.turn.raw || reply.turn.call_count))
			abort();
		json_decref(raw);
		wire_turn_done(&reply.turn);
	}
	wire_stream_free(s);
	return 0;
}
#endif
