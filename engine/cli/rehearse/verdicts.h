/*
 * The results of a bundle's cases, in the format that a reader wants: lines for people, TAP, JUnit
 * XML, or annotations for GitHub.
 */
#ifndef CLI_REHEARSE_VERDICTS_H
#define CLI_REHEARSE_VERDICTS_H
#include "base/buf.h"
#include "cli/rehearse/perform.h"

struct verdict_counts {
	size_t cases, differing, refused;
};

/* One format. Each function appends to `out`; the first and the last may be NULL. */
struct verdict_format {
	const char *name;
	bool sums_first; /* `begin` needs the counts of all cases, so nothing can be printed before
			  */
	void (*begin)(struct buf *out, const char *machine, const struct verdict_counts *counts);
	void (*add)(struct buf *out, size_t number, const struct rehearsal_case *item,
		const struct case_result *verdict);
	void (*end)(struct buf *out, const struct verdict_counts *counts);
};

/* Returns the format of that name; NULL: "text". */
const struct verdict_format *verdict_format(const char *name);
/* Appends a text for an attribute or element of XML, without control characters. */
void verdict_xml(struct buf *out, const char *text);
/* Reports whether the case ran and is as it expects. */
static inline bool verdict_passes(const struct case_result *verdict)
{
	return !verdict->refused && !json_array_size(verdict->differences);
}
#endif
