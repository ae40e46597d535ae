/* Any bytes: no crash, and the same answer however they are cut. */
#include "broker/parse/pin.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* -1: refused; else how many bytes passed. */
static ssize_t feed(const char *text, size_t len, size_t piece)
{
	static struct endpoint endpoint;
	struct pin p;
	size_t passed = 0, offered = 0;
	if (endpoint.at.port == 0 && endpoint_decode(&endpoint, "a.test:80", false, NULL) < 0)
		abort();
	pin_init(&p, &endpoint);
	while (offered < len) {
		offered = offered + piece < len ? offered + piece : len;
		size_t here = pin_take(&p, text + passed, offered - passed);
		if (here > offered - passed)
			abort();
		if (p.refused)
			return -1;
		passed += here;
	}
	return (ssize_t)passed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	if (len > HTTP_HEAD_MAX_BYTES / 2)
		return 0;
	if (feed(text, len, len + 1) != feed(text, len, 1))
		abort();
	return 0;
}
