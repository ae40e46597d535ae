#include "base/utf8.h"
#include "schema/table.h"

static bool step_takes(const struct shape_step *step, uint32_t code)
{
	return code < 128 ? step->ascii[code / 64] >> code % 64 & 1 : step->other;
}

bool shape_pattern_matches(const struct shape_pattern *pattern, const char *text, size_t len)
{
	size_t at = 0;
	for (size_t i = 0; i < pattern->count; i++) {
		const struct shape_step *s = &pattern->steps[i];
		uint32_t code = 0, taken = 0;
		size_t n;
		while (taken < s->most && (n = utf8_step(text + at, len - at, &code)) &&
			step_takes(s, code)) {
			at += n;
			taken++;
		}
		if (taken < s->least)
			return false;
	}
	return !pattern->whole || at == len;
}
