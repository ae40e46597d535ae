/* Snapshots: any JSON is a position of this machine, and then a whole one, or it is refused. */
#include "base/json.h"
#include "instance/position.h"
#include "tests/fuzz/run_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct machine *m = run_fuzz_machine();
	struct position p, again;
	json_auto_t *json = json_read((const char *)data, size, 1 << 20, NULL);
	if (!json || position_decode(m, json, &p, NULL))
		return 0;
	json_auto_t *spelled = position_encode(&p);
	if (!spelled || position_decode(m, spelled, &again, NULL))
		abort();
	json_auto_t *twice = position_encode(&again);
	if (!json_equal(spelled, twice))
		abort();
	position_done(&p);
	position_done(&again);
	return 0;
}
