/*
 * Reading a text in a test: the document, its findings, and one line per finding to compare.
 */
#ifndef TESTS_UNIT_SCHEMA_KIT_H
#define TESTS_UNIT_SCHEMA_KIT_H
#include "schema/read.h"
#include "schema/shape.h"
#include "tests/kit/tap.h"
#include <string.h>

struct reading {
	struct doc doc;
	struct findings findings;
	struct buf lines;
	int rc;
};

/* "LINE:COL-END_LINE:END_COL rule" per finding, one a line. */
static inline const char *reading_lines(struct reading *reading)
{
	findings_sort(&reading->findings);
	buf_done(&reading->lines);
	buf_init(&reading->lines, 1 << 20);
	buf_adds(&reading->lines, "");
	for (size_t i = 0; i < reading->findings.count; i++) {
		const struct finding *it = &reading->findings.items[i];
		buf_addf(&reading->lines, "%s%u:%u-%u:%u %s", i ? "\n" : "", it->pos.line,
			it->pos.column, it->pos.end_line, it->pos.end_column,
			rule_info(it->rule)->id);
	}
	return reading->lines.data;
}

/* `file`'s suffix chooses the syntax. */
static inline void reading_bytes(
	struct reading *reading, const char *file, const char *text, size_t len)
{
	*reading = (struct reading){.rc = 0};
	findings_init(&reading->findings);
	reading->rc = doc_read(&reading->doc, file, text, len, &reading->findings);
}

static inline void reading_init(struct reading *reading, const char *file, const char *text)
{
	reading_bytes(reading, file, text, strlen(text));
}

static inline void reading_done(struct reading *reading)
{
	buf_done(&reading->lines);
	findings_done(&reading->findings);
	doc_done(&reading->doc);
}

/* Reads and compares all findings; "" means there must be none. */
static inline void expect_findings(const char *file, const char *text, const char *lines)
{
	struct reading r;
	reading_init(&r, file, text);
	is_str(reading_lines(&r), lines, "%s: %.60s", file, text);
	reading_done(&r);
}

/* Reads without findings and compares the whole value, as compact JSON in source order. */
static inline void expect_json(const char *file, const char *text, const char *json)
{
	struct reading r;
	reading_init(&r, file, text);
	if (ok(!r.rc && !r.findings.count, "%s reads: %.60s", file, text)) {
		json_auto_t *value = doc_json(r.doc.root);
		AUTO_FREE char *got = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		is_str(got, json, "%s: %.60s", file, text);
	} else {
		diag("%s", reading_lines(&r));
	}
	reading_done(&r);
}
#endif
