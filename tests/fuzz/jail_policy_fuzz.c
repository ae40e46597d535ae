/*
 * The jail's policy: whatever the bytes, it is decoded whole or refused with a reason.
 */
#include "jail/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct policy p;
	struct err e = ERR_NONE;
	if (policy_decode((const char *)bytes, len, &p, &e)) {
		if (!e.text[0] || p.json)
			abort();
		return 0;
	}
	if (!json_array_size(p.argv) || !p.cwd || !p.workspace || p.timeout_secs < 1)
		abort();
	policy_done(&p);
	return 0;
}
