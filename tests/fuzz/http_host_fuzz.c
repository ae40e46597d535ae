/* Any bytes: no crash, and the same answer however they are cut. */
#include "broker/parse/http_host.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* -1: refused; else how many bytes passed. */
static ssize_t feed(const char *text, size_t len, size_t piece)
{
	static struct endpoint endpoint;
	struct http_host h;
	size_t passed = 0, offered = 0, here;
	if (endpoint.port == 0 && endpoint_decode(&endpoint, "a.test:80", NULL) < 0)
		abort();
	http_host_init(&h);
	while (offered < len) {
		offered = offered + piece < len ? offered + piece : len;
		if (http_host_take(&h, &endpoint, text + passed, offered - passed, &here) < 0)
			return -1;
		if (here > offered - passed)
			abort();
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
