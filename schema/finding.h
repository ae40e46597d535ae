/*
 * Findings: everything that a check has to say about a file, collected without stopping at the
 * first.
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
	struct doc_pos pos; /* line 0: about the file as a whole */
	const char *message;
	const char *help;  /* NULL: none */
	const char *state; /* the state it belongs to, NULL: none; must outlive the findings */
	size_t order;      /* of discovery */
};

/* Nobody reads more: later findings are counted but not kept. */
enum { FINDINGS_MAX = 10000 };

struct findings {
	struct arena arena;
	struct finding *items;
	size_t count, room;
	size_t errors, warnings, dropped;
	struct finding spare; /* takes dropped findings; has no message */
};

void findings_init(struct findings *findings);
void findings_done(struct findings *findings);
/* Adds a finding with the rule's own severity. `node` may be NULL (the file as a whole). Returns
 * it, valid until the next is added, so that the caller can set `help` by finding_help, or
 * `state`. */
struct finding *finding_add(struct findings *findings, enum rule rule, const struct doc *doc,
	const struct doc_node *node, const char *format, ...) PRINTF(5, 6);
/* Does the same at a position that is no node's. */
struct finding *finding_at(struct findings *findings, enum rule rule, const struct doc *doc,
	struct doc_pos pos, const char *format, ...) PRINTF(5, 6);
/* Sets the whole of `text` as the message, which is otherwise cut at 1 KiB, if its end must be
 * read. */
void finding_whole(struct findings *findings, struct finding *item, const char *text);
void finding_help(struct findings *findings, struct finding *item, const char *format, ...)
	PRINTF(3, 4);
/* Drops the latest findings about that stretch of `doc`; returns how many they were. */
size_t findings_drop(
	struct findings *findings, const struct doc *doc, const struct doc_pos *stretch);
/* Merges findings from item `from` on: repetitions about the same unknown name in the same file
 * become part of the first such finding, which then names the other places. */
void findings_merge(struct findings *findings, size_t from);
/* Sorts stably: by file in order of first mention, line, column, then order of discovery. */
void findings_sort(struct findings *findings);

/* The place where findings are read. */
struct finding_look {
	size_t columns; /* WRAP_NEVER: a message is one line */
	bool colour;
};

/* Writes `FILE:LINE:COL: error[rule]: message`, the source line with a caret, `help: ...`. `docs`
 * are the documents whose lines may be shown. Control characters become escapes. */
void findings_show(const struct findings *findings, const struct doc *const *docs, size_t n_docs,
	const struct finding_look *look, struct buf *out);
/* Writes an array of objects: severity rule message file line column end_line end_column help
 * state. */
void findings_json(const struct findings *findings, struct buf *out);
/* Writes one SARIF 2.1.0 log (docs.oasis-open.org/sarif/sarif/v2.1.0), for code scanning. */
void findings_sarif(const struct findings *findings, struct buf *out);
/* Writes GitHub's workflow commands, which become annotations on a pull request. */
void findings_github(const struct findings *findings, struct buf *out);
#endif
