/* A case.yaml, which a bundle may bring: any bytes are read or refused with their place, and what
 * was read can be compared with a run. */
#include "base/json.h"
#include "cli/bundle/cases.h"
#include "cli/rehearse/expect.h"
#include "schema/read.h"
#include "tests/kit/machine.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct fixture fixture;

static void compare(const struct rehearsal_case *item)
{
	json_auto_t *path = json_pack("[s,s]", "a", "d"), *differences = json_array();
	json_auto_t *endpoints = json_pack("{s:b}", "api.test:443", true);
	struct observed observed = {.state = "d",
		.reason = "",
		.ended = true,
		.ok = true,
		.path = path,
		.returns = item->params,
		.blackboard = item->params,
		.endpoints = endpoints,
		.files_fd = -1};
	expect_compare(&item->expect, &observed, differences);
	for (size_t i = 0; i < json_array_size(differences); i++)
		if (!json_string_value(json_array_get(differences, i)))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct findings findings;
	struct cases cases;
	char *bytes = calloc(1, len + 1);
	struct member member = {.path = "rehearsal/x/case.yaml",
		.source = "rehearsal/x/case.yaml",
		.size = len,
		.bytes = bytes};
	struct bundle bundle = {
		.form = BUNDLE_PACKED, .root_fd = -1, .members = &member, .count = 1};
	if (!fixture.m)
		fixture_init(&fixture, FIXTURE_VARIABLES);
	struct loaded loaded = {.bundle = &bundle, .machine = fixture.m};
	if (!bytes || !fixture.m)
		abort();
	memcpy(bytes, data, len);
	sha256_hex(bytes, len, member.sha256);
	findings_init(&findings);
	cases_read(&loaded, &cases, &findings);
	if (cases.count != 1)
		abort();
	if (!findings.errors)
		compare(&cases.items[0]);
	cases_done(&cases);
	findings_done(&findings);
	free(bytes);
	return 0;
}
