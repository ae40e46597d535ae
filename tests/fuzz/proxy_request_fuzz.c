/* Any bytes: no crash, and a whole request is within what was given. */
#include "broker/parse/proxy_request.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct proxy_request r = {.bytes = 0};
	char reply[PROXY_REPLY_BYTES];
	enum proxy_step step = proxy_request_decode(&r, (const char *)data, len);
	if (step == PROXY_GREET) {
		size_t taken = r.bytes;
		if (taken > len)
			abort();
		step = proxy_request_decode(&r, (const char *)data + taken, len - taken);
		if (step == PROXY_CONNECT && r.bytes > len - taken)
			abort();
	} else if (step == PROXY_CONNECT && r.bytes > len) {
		abort();
	}
	if (step == PROXY_FORWARD) {
		static char head[PROXY_HEAD_BYTES + 1];
		size_t left = r.greeted ? len : r.bytes;
		size_t sent = proxy_request_forward((const char *)data, left, head);
		if (r.greeted || r.bytes > len ||
			sent > left + PROXY_HEAD_BYTES - PROXY_REQUEST_MAX_BYTES)
			abort();
		if (memmem(head, sent, "\r\n\r\n", 4) != head + sent - 4)
			abort();
	}
	for (const char *c = r.target; *c; c++)
		if (*c <= ' ' || *c > '~')
			abort();
	if (proxy_answer(&r, step == PROXY_BAD ? "host" : NULL, reply) > sizeof(reply))
		abort();
	return 0;
}
