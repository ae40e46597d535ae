/* Any bytes: no crash, and a longer prefix never takes back what a shorter one decided. */
#include "broker/parse/client_hello.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct client_hello whole = {.bytes = 0}, part = {.bytes = 0};
	enum hello_answer answer = client_hello_decode(data, len, &whole);
	enum hello_answer half = client_hello_decode(data, len / 2, &part);
	if (half == HELLO_WHOLE && (answer != HELLO_WHOLE || part.bytes != whole.bytes))
		abort();
	if (half == HELLO_BAD && answer != HELLO_BAD)
		abort();
	if (answer == HELLO_WHOLE && (whole.bytes == 0 || whole.bytes > len))
		abort();
	return 0;
}
