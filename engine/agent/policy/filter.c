#include "agent/policy/filter.h"

#include "agent/policy/scrub.h"

int filter_text(const struct filter *filter, const char *text, size_t len, struct buf *out,
	struct filtered *seen)
{
	AUTO_BUF plain = BUF_INIT(out->cap_bytes);
	*seen = (struct filtered){.markers = 0};
	if (redact_text(filter->redact, text, len, &plain, &seen->tally)) {
		out->failed = true;
		return -1;
	}
	if (filter->command)
		return scrub_text(plain.data, plain.len, out, &seen->markers);
	seen->markers = scrub_count(plain.data, plain.len);
	buf_add(out, plain.data, plain.len);
	if (seen->markers)
		buf_addf(out, "\n[agent6: %zu possible injection markers in this text]",
			seen->markers);
	return out->failed ? -1 : 0;
}
