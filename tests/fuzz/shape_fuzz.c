/* The shape walk and the display of findings, over whatever YAML can say. */
#include "schema_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_read("f.yaml", data, len, shape_machine);
	fuzz_read("f.yaml", data, len, shape_config);
	return 0;
}
