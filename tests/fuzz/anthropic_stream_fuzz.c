/* Streamed replies of Anthropic Messages. */
#include "tests/fuzz/stream_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	return fuzz_stream(&anthropic_format, data, len);
}
