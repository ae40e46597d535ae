/*
 * A site: the place in the document that is being checked, and the collection for its findings.
 *
 * It is passed by pointer down the compilers of references, templates and predicates, so that every
 * finding lands on the right line and column and names its state.
 */
#ifndef MACHINE_SITE_H
#define MACHINE_SITE_H
#include "schema/finding.h"

struct site {
	struct findings *findings;
	const struct doc *doc;
	const struct doc_node *node;
	const char *state; /* NULL: outside the states */
};

/* Reports a finding on the whole node. */
struct finding *site_report(const struct site *site, enum rule rule, const char *format, ...)
	PRINTF(3, 4);
/* Reports a finding on bytes [at, at + len) of the node's string. It points into a quoted, plain or
 * block scalar if the source shows the same text there, else at the whole node. */
struct finding *site_report_at(const struct site *site, enum rule rule, size_t at, size_t len,
	const char *format, ...) PRINTF(5, 6);
/* Reports whether the node's text is written without quotes and ends where a comment begins. */
bool site_ends_at_comment(const struct site *site);
/* Adds a help text. Does nothing if `finding` is NULL. */
void site_help(const struct site *site, struct finding *finding, const char *format, ...)
	PRINTF(3, 4);
/* Adds "did you mean "X"?" if one of the names is close. */
void site_did_you_mean(const struct site *site, struct finding *finding, const char *word,
	const char *const *names, size_t count);
/* Adds the names themselves, if they are few and `finding` has no help yet. */
void site_say_known(
	const struct site *site, struct finding *finding, const char *const *names, size_t count);
#endif
