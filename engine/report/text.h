/*
 * Small texts for people: durations, amounts, and foreign text made safe for a terminal.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H
#include "base/json.h"
#include "schema/finding.h"
#include "schema/wrap.h"
#include <stdint.h>
#include <stdio.h>

/* Columns for "sha256:" and enough digits to tell bundles apart. */
enum { DIGEST_COLUMNS = 7 + 12 };
/* Appends `text` on one line: control characters and line breaks become spaces or escapes, so that
 * the text of a model or tool cannot control the terminal. At most `columns` on a terminal, then
 * "...". */
void text_clean(struct buf *out, const char *text, size_t columns);
/* Appends a text from a bundle in the same way; a secret may have been pasted into it, which is
 * hidden. */
void text_clean_hidden(struct buf *out, const char *text, size_t columns);
/* Returns such a text as JSON; NULL: null. */
json_t *text_hidden_json(const char *text);
/* Returns the width of the terminal at `fd`; WRAP_NEVER: it is none. */
size_t text_columns(int fd);
/* Returns the width of a table or paragraph on stdout: 80, or that of a narrower terminal. */
size_t text_page_columns(void);
/* Report whether `fd` is a terminal on which more than plain lines can be shown, and whether in
 * colour. */
bool text_is_terminal(int fd);
bool text_has_colour(int fd);
/* Prints `text` and a line break to stdout, wrapped to a terminal; wrapped parts are indented by
 * `indent`. */
void text_print(const char *text, size_t indent);
/* Prints `len` bytes of JSON to stdout unchanged. On a terminal, control characters are escaped,
 * which means the same to a reader of JSON. */
void text_json(const char *json, size_t len);
/* Prints a value in the same way, and a line break. */
void text_json_line(const json_t *value);
/* Prints "agent6: TEXT" to stderr, after flushing stdout. Each line is cleaned and wrapped to a
 * terminal; credentials in it are hidden. */
void text_complain(const char *format, ...) PRINTF(1, 2);
/* Appends findings in source order, as findings_show makes them. Secrets that were pasted into a
 * file are hidden in them and in the lines that they quote. */
void text_findings_in(struct buf *out, const struct finding_look *look, struct findings *findings,
	const struct doc *const *docs, size_t n_docs);
/* Prints them to stderr in the look that suits it. */
void text_findings(struct findings *findings, const struct doc *const *docs, size_t n_docs);
/* Prints them to stdout in another format. */
typedef void findings_fn(const struct findings *findings, struct buf *out);
void text_findings_as(struct findings *findings, findings_fn *write);
/* Appends a cleaned text of any length with Markdown's markup escaped; a code host links no person
 * or issue in it, either. */
void text_markdown(struct buf *out, const char *text);
/* Appends the texts of a list as they are, with ", " between them. */
void text_join(struct buf *out, const json_t *list);
/* Appends "12 ms", "3.4 s", "2 min 5 s", "3 h 20 min" or "2 d 4 h". */
void text_duration(struct buf *out, int64_t ms);
/* Appends an RFC 3339 instant of the journal as "2026-11-21 22:15:36 UTC"; "" stays "". */
void text_when(struct buf *out, const char *instant);
/* Appends "812" or "12,345". */
void text_count(struct buf *out, int64_t n);
/* Appends "$0.0012" or "$3.40". */
void text_money(struct buf *out, int64_t microusd);
/* Appends "812 B" or "12.3 KiB". */
void text_bytes(struct buf *out, int64_t bytes);
/* Appends a line about `count` refused connections from a journal's egress line, for a reason of
 * broker/parse/pin.h: "egress refused: HOST:PORT, another name in TLS, 2 times". */
void text_refusal(struct buf *out, const char *endpoint, const char *why, int64_t count);
/* Appends an entry of a page: the label after two blanks, and from column `indent` on the cleaned
 * text, wrapped to the page. */
void text_entry(struct buf *out, const char *label, const char *clean, size_t indent);
/* Pads the line begun at `from` with blanks to `width` columns, and at least one. */
void text_pad(struct buf *out, size_t from, size_t width);
#endif
