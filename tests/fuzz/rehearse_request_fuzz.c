/*
 * Any bytes as a request to the loopback provider: no crash, and what it says of a request is the
 * same wherever the bytes are cut.
 */
#include "rehearse/serve.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct player player = {.report_fd = -1, .positions_fd = -1};

/* Parses the first `len` bytes; with `serve` also renders the answer. */
static long parse(const uint8_t *data, size_t len, bool serve)
{
	char *copy = malloc(len + 1);
	struct http_request q;
	struct rendered out;
	int status = 0;
	bool expects;
	if (!copy)
		abort();
	memcpy(copy, data, len);
	copy[len] = '\0';
	long used = http_message_parse(copy, len, &q, &status, &expects);
	if (used > (long)len || (used < 0 && status < 400))
		abort();
	if (used > 0 && serve) {
		player_serve(&player, &q, &out);
		if (out.status < 200 || out.body.failed)
			abort();
		buf_done(&out.body);
	}
	free(copy);
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	long used = parse(data, len, true);
	if (used > 0 && parse(data, (size_t)used, false) != used)
		abort();
	if (used > 0 && parse(data, (size_t)used - 1, false) != 0)
		abort();
	return 0;
}
