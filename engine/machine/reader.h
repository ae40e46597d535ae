/*
 * The reader: what the steps from document to machine share. Internal to this module.
 *
 * Every step tolerates what the shape check has already reported by looking for the kinds it needs
 * and saying nothing about the rest, so that one mistake gives one finding.
 */
#ifndef MACHINE_READER_H
#define MACHINE_READER_H
#include "machine/machine.h"
#include "machine/predicate.h"
#include "machine/template.h"

/* The first letters of the keys of the map that was asked last: most keys asked for are not there.
 */
struct letters {
	const struct doc_node *map;
	uint32_t present; /* bit key[0] % 32 */
};

struct reader {
	struct machine *m;
	const struct doc *doc;
	const struct member_files *files;
	struct findings *findings;
	struct state *states; /* m->states, still writable */
	struct variable *variables;
	struct record *records;
	bool *loose; /* by state: an edge of it was reported, it may lead anywhere */
	struct scope scope;
	json_t *members;             /* what is known about members by path: each is read once */
	struct prompt_docs *prompts; /* the caller's, or our own */
	struct letters *letters;
};

/* A site of the machine file; `state` NULL: outside the states. */
struct site reader_site(
	const struct reader *reader, const struct doc_node *node, const struct state *state);
/* The pair, or the value, of `key`; NULL: none. As doc_pair, quicker for keys that are rarely
 * there. */
const struct doc_pair *reader_pair(
	const struct reader *reader, const struct doc_node *map, const char *key);
const struct doc_node *reader_value(
	const struct reader *reader, const struct doc_node *map, const char *key);
/* The value of `key` if it has that kind, else NULL. */
const struct doc_node *reader_get(const struct reader *reader, const struct doc_node *map,
	const char *key, enum doc_kind kind);
/* `key` is not there, and a key that is was most likely meant to be it: that has been reported. */
bool reader_misspelt(const struct doc_node *map, const char *key);
/* The string value of `key`, NULL when absent or no string. */
const char *reader_text(const struct reader *reader, const struct doc_node *map, const char *key);
struct opt_int reader_int(const struct reader *reader, const struct doc_node *map, const char *key);
struct opt_float reader_float(
	const struct reader *reader, const struct doc_node *map, const char *key);
/* The string as a template; NULL when absent or reported. */
const struct template *reader_template(const struct reader *reader, const struct doc_node *map,
	const char *key, const struct state *state);
/* The texts of a list of strings under `key`. */
const char *const *reader_texts(
	const struct reader *reader, const struct doc_node *map, const char *key, size_t *count);
/* What the pair of `schemas` declares; NULL: that is no record, which has been reported. */
const struct record *reader_record(const struct reader *reader, const struct doc_pair *pair);
void reader_unknown_schema(
	const struct reader *reader, const struct doc_node *node, const struct state *state);

/* A relative path without empty segments, `.` and `..`. */
bool reader_path_clean(const char *path);

void read_schemas(struct reader *reader);
void read_variables(struct reader *reader);
void read_states(struct reader *reader);
/* Whether there are no `states`, and the states stand where nothing is what it seems to be: then
 * that is all that is said. */
bool read_states_elsewhere(const struct doc *doc, struct findings *findings);
void read_agent(struct reader *reader, struct state *state);
void read_tool(struct reader *reader, struct state *state);
void read_wait(struct reader *reader, struct state *state);
void read_capture(struct reader *reader, struct state *state);
/* prompt_file, `scripts/...` elements and the program. */
const struct template *read_prompt_file(struct reader *reader, struct state *state);
void read_command_files(struct reader *reader, const struct state *state);
/* Every rule about the graph as a whole. */
void check_graph(struct reader *reader);

/* Why `value` cannot be every_secs or until; NULL: it can. */
const char *wait_every_problem(const json_t *value);
const char *wait_until_problem(const json_t *value);
#endif
