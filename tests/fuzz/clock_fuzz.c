/* Instants and lengths of time: what is read as an instant is written as one that reads the same.
 */
#include "base/clock.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int64_t at, again, secs;
	char instant[CLOCK_TEXT_BYTES], *text = strndup((const char *)data, len);
	if (!clock_parse((const char *)data, len, &at)) {
		clock_text(at, instant);
		if (clock_parse(instant, strlen(instant), &again) || again != at)
			abort();
	}
	if (!clock_length(text, &secs) && secs < 0)
		abort();
	free(text);
	return 0;
}
