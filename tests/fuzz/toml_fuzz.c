/* The TOML reader: whatever the bytes are, a tree or findings, and every position within the text.
 */
#include "schema_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_read("f.toml", data, len, NULL);
	return 0;
}
