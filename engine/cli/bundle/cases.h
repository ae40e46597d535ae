/*
 * The cases of a bundle's rehearsal: each rehearsal/NAME/case.yaml with the cassette and workspace
 * beside it. Loose rehearsal/NAME.jsonl and rehearsal/workspace/ are the one case `default`.
 */
#ifndef CLI_BUNDLE_CASES_H
#define CLI_BUNDLE_CASES_H
#include "cli/bundle/recorded_steps.h"
#include "cli/verb/loaded.h"

#define CASE_DEFAULT "default"
enum { CASE_LEFT_OVER_ANY = -1, CASE_EXIT_ANY = -1 };
enum case_status { CASE_STATUS_ANY, CASE_STATUS_OK, CASE_STATUS_FAILED };

struct expected_file {
	const char *path;              /* relative to the workspace */
	const char *contains, *sha256; /* NULL: not looked at */
	bool absent;
};

struct name_list {
	bool given;
	const char *const *names;
	size_t count;
};

struct expectation {
	const char *end; /* a state; NULL: any */
	enum case_status status;
	int exit_code; /* CASE_EXIT_ANY: any */
	struct name_list path, passes, egress;
	json_t *vars, *returns; /* owned; NULL: not looked at */
	const struct expected_file *files;
	size_t file_count;
	int64_t left_over; /* CASE_LEFT_OVER_ANY: not looked at */
};

struct rehearsal_case {
	const char *name, *description; /* description: "", there is none */
	const char *folder;             /* "rehearsal/NAME", "rehearsal" of the default case */
	json_t *params;                 /* owned object */
	struct expectation expect;
	struct recorded_steps recorded; /* of tools.jsonl */
	struct doc doc;                 /* of case.yaml; unused by the default case */
	bool has_doc;
};

struct cases {
	struct arena arena;
	struct rehearsal_case *items; /* sorted by name */
	size_t count;
};

/* Reads every case, and reports each mistake in one. A machine with errors is NULL in `loaded`:
 * then names in it are not checked. Release `cases` in any case. */
void cases_read(const struct loaded *loaded, struct cases *cases, struct findings *findings);
void cases_done(struct cases *cases);
/* Returns the case of that name; NULL: there is none. */
const struct rehearsal_case *cases_find(const struct cases *cases, const char *name);
/* Reports whether the case states its expectations: every one but the default case. */
bool cases_expects(const struct rehearsal_case *item);
/* Drops all cases but `item`, which is one of them. */
void cases_keep(struct cases *cases, const struct rehearsal_case *item);
/* Appends the documents whose lines findings may show to `docs`; returns the new count. */
size_t cases_docs(const struct cases *cases, const struct doc ***docs, size_t count);
/* Reports whether a member is a cassette of the case in `folder`. */
bool cases_is_cassette(const char *folder, const char *path);
#endif
