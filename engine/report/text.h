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

/* "sha256:" and enough to tell bundles apart. */
enum { DIGEST_COLUMNS = 7 + 12 };
/* Appends `text` on one line: control characters and line breaks become spaces or escapes, so that
 * what a model or a tool said cannot drive the terminal. At most `columns` on a terminal, then
 * "...".
 */
void text_clean(struct buf *out, const char *text, size_t columns);
/* The same of a text that somebody wrote into a bundle, where a secret may have been pasted. */
void text_clean_hidden(struct buf *out, const char *text, size_t columns);
/* Such a text as JSON; NULL: null. */
json_t *text_hidden_json(const char *text);
/* How wide the terminal at `fd` is; WRAP_NEVER: it is none. */
size_t text_columns(int fd);
/* How wide a table or a paragraph is on stdout: 80, or what a terminal has when that is less. */
size_t text_page_columns(void);
/* Whether a person can be shown more than plain lines at `fd`, and whether in colours. */
bool text_is_terminal(int fd);
bool text_has_colour(int fd);
/* TEXT and a line break on stdout, wrapped to a terminal: what is broken goes on behind `indent`.
 */
void text_print(const char *text, size_t indent);
/* `len` bytes of JSON on stdout, as they are; on a terminal, what would drive it is escaped, which
 * means the same to a reader of JSON. */
void text_json(const char *json, size_t len);
/* The value so, and a line break. */
void text_json_line(const json_t *value);
/* "agent6: TEXT" on stderr, behind what stdout was given, each of its lines cleaned so and wrapped
 * to a terminal; credentials that it quotes are hidden. */
void text_complain(const char *format, ...) PRINTF(1, 2);
/* Findings in source order, as findings_show makes them. Neither they nor the lines they quote show
 * a secret that was pasted into a file. */
void text_findings_in(struct buf *out, const struct finding_look *look, struct findings *findings,
	const struct doc *const *docs, size_t n_docs);
/* On stderr, as it looks there. */
void text_findings(struct findings *findings, const struct doc *const *docs, size_t n_docs);
/* The same in another format, on stdout. */
typedef void findings_fn(const struct findings *findings, struct buf *out);
void text_findings_as(struct findings *findings, findings_fn *write);
/* text_clean at any length, with what Markdown would read as markup escaped; a code host is told of
 * no person or issue in it either. */
void text_markdown(struct buf *out, const char *text);
/* The texts of a list, as they are, ", " between them. */
void text_join(struct buf *out, const json_t *list);
/* "12 ms", "3.4 s", "2 min 5 s", "3 h 20 min", "2 d 4 h". */
void text_duration(struct buf *out, int64_t ms);
/* An RFC 3339 instant of the journal as "2026-11-21 22:15:36 UTC"; "" stays "". */
void text_when(struct buf *out, const char *instant);
/* "812", "12,345". */
void text_count(struct buf *out, int64_t n);
/* "$0.0012", "$3.40". */
void text_money(struct buf *out, int64_t microusd);
/* "812 B", "12.3 KiB". */
void text_bytes(struct buf *out, int64_t bytes);
/* What became of `count` connections that a journal's egress line counts as refused, for a reason
 * of broker/parse/pin.h: "egress refused: HOST:PORT, another name in TLS, 2 times". */
void text_refusal(struct buf *out, const char *endpoint, const char *why, int64_t count);
/* Pads the line begun at `from` with blanks to `width` columns, one at least. */
void text_pad(struct buf *out, size_t from, size_t width);
#endif
