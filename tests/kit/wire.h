/*
 * Requests in both wire formats.
 */
#ifndef KIT_WIRE_H
#define KIT_WIRE_H
#include "provider/wire.h"
#include "tests/kit/tap.h"

static const struct wire_format *const formats[] = {&anthropic_format, &openai_format};

static char *encode(const struct wire_format *format, const struct wire_request *request)
{
	struct buf out;
	buf_init(&out, 1 << 20);
	if (format->encode(request, &out))
		bail("a request cannot be written");
	return buf_take(&out, NULL);
}

static void say(struct wire_talk *wire_talk, const char *text)
{
	wire_talk_add(wire_talk, WIRE_USER)->text = strdup(text);
}

#endif
