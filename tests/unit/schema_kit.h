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
static inline const char *reading_lines(struct reading *r)
{
	findings_sort(&r->findings);
	buf_done(&r->lines);
	buf_init(&r->lines, 1 << 20);
	buf_adds(&r->lines, "");
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *it = &r->findings.items[i];
		buf_addf(&r->lines, "%s%u:%u-%u:%u %s", i ? "\n" : "", it->pos.line, it->pos.column,
			it->pos.end_line, it->pos.end_column, rule_info(it->rule)->id);
	}
	return r->lines.data;
}

/* `file`'s suffix chooses the syntax. */
static inline void reading_bytes(struct reading *r, const char *file, const char *text, size_t len)
{
	*r = (struct reading){.rc = 0};
	findings_init(&r->findings);
	r->rc = doc_read(&r->doc, file, text, len, &r->findings);
}

static inline void reading_init(struct reading *r, const char *file, const char *text)
{
	reading_bytes(r, file, text, strlen(text));
}

static inline void reading_done(struct reading *r)
{
	buf_done(&r->lines);
	findings_done(&r->findings);
	doc_done(&r->doc);
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
