/*
 * Findings: everything a check has to say about a file, collected, never stopped at the first.
 *
 * A finding names a rule (rules.h: a stable kebab-case id with its documentation), a source range,
 * one sentence saying what is wrong and, where it helps, one saying how to fix it. The collection
 * owns all texts. Findings are reported in source order, errors and warnings together.
 */
#ifndef SCHEMA_FINDING_H
#define SCHEMA_FINDING_H
#include "base/buf.h"
#include "schema/doc.h"
#include "schema/rules.h"

struct finding {
	enum severity severity;
	enum rule rule;
	const char *file;
	struct doc_pos pos; /* line 0: the file as a whole */
	const char *message;
	const char *help;  /* NULL: none */
	const char *state; /* the state it belongs to, NULL: none; must outlive the findings */
	size_t order;      /* of discovery */
};

/* More than anyone reads: what comes later is counted but not kept. */
enum { FINDINGS_MAX = 10000 };

struct findings {
	struct arena arena;
	struct finding *items;
	size_t count, room;
	size_t errors, warnings, dropped;
	struct finding spare; /* takes what is dropped; has no message */
};

void findings_init(struct findings *findings);
void findings_done(struct findings *findings);
/* Adds one; the severity is the rule's own. `node` may be NULL (the file as a whole). Returns it,
 * valid until the next is added, so that the caller can set `help` through finding_help or `state`.
 */
struct finding *finding_add(struct findings *findings, enum rule rule, const struct doc *doc,
	const struct doc_node *node, const char *format, ...) PRINTF(5, 6);
/* The same at a position that is no node's. */
struct finding *finding_at(struct findings *findings, enum rule rule, const struct doc *doc,
	struct doc_pos pos, const char *format, ...) PRINTF(5, 6);
/* The whole of `text` as its message, which is cut at 1 KiB otherwise: where nobody may be left
 * without what stands at its end. */
void finding_whole(struct findings *findings, struct finding *item, const char *text);
void finding_help(struct findings *findings, struct finding *item, const char *format, ...)
	PRINTF(3, 4);
/* Takes out what was said lately about that stretch of `doc`; returns how many findings that were.
 */
size_t findings_drop(
	struct findings *findings, const struct doc *doc, const struct doc_pos *stretch);
/* From item `from` on: what names the same unknown thing again in the same file becomes part of the
 * first such finding, which then says where else. */
void findings_merge(struct findings *findings, size_t from);
/* Stable: by file in order of first mention, line, column, then order of discovery. */
void findings_sort(struct findings *findings);

/* Where findings are read. */
struct finding_look {
	size_t columns; /* WRAP_NEVER: a message is one line */
	bool colour;
};

/* `FILE:LINE:COL: error[rule]: message`, the source line with a caret, `help: ...`. `docs` are the
 * documents whose lines may be shown. Control characters in any text come out as escapes. */
void findings_show(const struct findings *findings, const struct doc *const *docs, size_t n_docs,
	const struct finding_look *look, struct buf *out);
/* An array of objects: severity rule message file line column end_line end_column help state. */
void findings_json(const struct findings *findings, struct buf *out);
/* One SARIF 2.1.0 log (docs.oasis-open.org/sarif/sarif/v2.1.0), for code scanning. */
void findings_sarif(const struct findings *findings, struct buf *out);
/* GitHub's workflow commands, which become annotations on a pull request. */
void findings_github(const struct findings *findings, struct buf *out);
#endif
