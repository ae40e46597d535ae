/*
 * The reader: the part shared by the steps from document to machine. Internal to this module.
 *
 * Every step tolerates input that the shape check has already reported: it looks for the kinds it
 * needs and says nothing about the rest, so that one mistake gives one finding.
 */
#ifndef MACHINE_READER_H
#define MACHINE_READER_H
#include "machine/machine.h"
#include "machine/predicate.h"
#include "machine/template.h"

/* A filter for the map that was asked last, by the first letters of its keys: most keys that are
 * asked for are not there. */
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
	/* By state: an error in one of its edges was reported, so it may lead anywhere. */
	bool *loose;
	struct scope scope;
	json_t *members;             /* facts about members by path: each is read once */
	json_t *no_types;            /* the names that were reported as no type */
	struct prompt_docs *prompts; /* the caller's, or our own */
	struct letters *letters;
	struct fixed_use **fixed_end; /* where m->fixed goes on; NULL: it is empty */
};

/* Returns a site in the machine file; `state` NULL: outside the states. */
struct site reader_site(
	const struct reader *reader, const struct doc_node *node, const struct state *state);
/* Return the pair, or the value, of `key`; NULL: none. Faster than doc_pair for keys that are
 * rarely there. */
const struct doc_pair *reader_pair(
	const struct reader *reader, const struct doc_node *map, const char *key);
const struct doc_node *reader_value(
	const struct reader *reader, const struct doc_node *map, const char *key);
/* Returns the value of `key` if it has that kind, else NULL. */
const struct doc_node *reader_get(const struct reader *reader, const struct doc_node *map,
	const char *key, enum doc_kind kind);
/* Reports whether `key` is missing and a similar key is there instead, which has been reported. */
bool reader_misspelt(const struct doc_node *map, const char *key);
/* Returns the string value of `key`; NULL if it is missing or no string. */
const char *reader_text(const struct reader *reader, const struct doc_node *map, const char *key);
struct opt_int reader_int(const struct reader *reader, const struct doc_node *map, const char *key);
struct opt_float reader_float(
	const struct reader *reader, const struct doc_node *map, const char *key);
/* Returns the string as a template; NULL if it is missing, or an error was reported. */
const struct template *reader_template(const struct reader *reader, const struct doc_node *map,
	const char *key, const struct state *state);
/* Returns the texts of a list of strings under `key`. */
const char *const *reader_texts(
	const struct reader *reader, const struct doc_node *map, const char *key, size_t *count);
/* Notes a key in the spelling of the other bundle format. If both spellings are present, the shape
 * check has reported that. `ours` NULL: the key has no counterpart here. */
void reader_note_spelling(const struct reader *reader, const struct state *state, const char *other,
	const char *ours, const char *meaning);
/* Returns the record that a pair of `schemas` declares; NULL: it is no record, and that was
 * reported. */
const struct record *reader_record(const struct reader *reader, const struct doc_pair *pair);
void reader_unknown_schema(
	const struct reader *reader, const struct doc_node *node, const struct state *state);

/* Reports whether this is a relative path without empty segments, `.` and `..`. */
bool reader_path_clean(const char *path);

void read_schemas(struct reader *reader);
void read_variables(struct reader *reader);
void read_states(struct reader *reader);
/* Reports a document whose `states` are missing because the states stand in another place; the rest
 * of it is then not checked. Returns whether it was so. */
bool read_states_elsewhere(const struct doc *doc, struct findings *findings);
/* Returns the state that string `node` names. NULL: an error was reported, and `from` is loose. */
const struct state *read_target(
	struct reader *reader, const struct doc_node *node, const struct state *from);
/* Reads `on`: the state behind each outcome of the kind. */
void read_edges(struct reader *reader, struct state *state);
/* Reads the keys of states that have a result: timeout_secs, output_schema, capture,
 * capture_failure, retry. */
void read_work(struct reader *reader, struct state *state);
void read_output_schema(struct reader *reader, struct state *state);
void read_capture(struct reader *reader, struct state *state);
void read_capture_failure(struct reader *reader, struct state *state);

/* The place that takes the value of a template: a captured variable or a field of the result. */
struct receiver {
	const char *name;
	struct type type;
	enum rule mismatch; /* reported if the types differ */
};
/* Returns the template of a pair whose value `receiver` takes; NULL: an error was reported.
 * `receiver` NULL: the place is not known, which was reported. */
const struct template *read_assigned(const struct reader *reader, const struct scope *scope,
	const struct doc_pair *pair, const struct state *state, const struct receiver *receiver);

/* Reads the schema of the machine's result. */
void read_result(struct reader *reader);
/* Reads `returns` of an end. */
void read_returns(struct reader *reader, struct state *state);
/* Read prompt_file, `scripts/...` elements and the program. */
const struct template *read_prompt_file(struct reader *reader, struct state *state);
void read_command_files(struct reader *reader, const struct state *state);
/* Checks every rule about the graph as a whole. */
void check_graph(struct reader *reader);

/* Return why `value` cannot be every_secs or until; NULL: it can. */
const char *wait_every_problem(const json_t *value);
const char *wait_until_problem(const json_t *value);
#endif
