/*
 * A provider's error: status (two bytes), then a body or a retry-after value. What is shown is
 * clean, and no wish of a server makes a wait that is longer than the ceiling.
 */
#include "base/utf8.h"
#include "provider/fault.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(const struct fault *fault)
{
	size_t n = strnlen(fault->text, sizeof(fault->text));
	if (n == sizeof(fault->text) || utf8_prefix(fault->text, n) != n ||
		strpbrk(fault->text, "\n\r\x1b"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 2)
		return 0;
	long status = (data[0] << 8 | data[1]) % 600;
	char *text = strndup((const char *)data + 2, len - 2);
	uint64_t seed = 1 + len;
	for (int should_retry = -1; should_retry <= 1; should_retry++) {
		struct fault f = FAULT_INIT;
		if (fault_reply(&f, status, (const char *)data + 2, len - 2, should_retry) != -1 ||
			f.kind == FAULT_NONE)
			abort();
		check_text(&f);
		f.retry_after_ms = fault_retry_after(text, should_retry > 0, 1700000000);
		if (f.retry_after_ms < -1)
			abort();
		int64_t wait_ms = fault_delay_ms(&f, (int)(len % 9), &seed);
		if (wait_ms < -1 || wait_ms > 120000)
			abort();
	}
	free(text);
	return 0;
}
