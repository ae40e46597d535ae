/*
 * References: `name(.field)*`, resolved and typed at load, a plain look-up at run time.
 */
#ifndef MACHINE_REF_H
#define MACHINE_REF_H
#include "machine/machine.h"
#include "machine/site.h"

/* The names that a reference may use. */
struct scope {
	struct machine *machine;
	bool in_capture;    /* `result` is visible */
	struct type result; /* its type: a record, or json without output_schema */
	bool has_exit;      /* `exit` is visible too, unless a variable has that name */
	/* In a capture_failure: the type of `failure`, which is visible likewise; else NULL. */
	const struct record *failure;
	struct arena *arena; /* the machine's */
};

/* The place where a reference looks its value up. */
enum ref_source { REF_VARIABLE, REF_RESULT, REF_EXIT, REF_FAILURE };

struct ref {
	const char *path; /* as written, without blanks */
	enum ref_source source;
	const struct variable *root; /* NULL: it reads no variable */
	const struct field **fields; /* after the root */
	uint32_t field_count;
	uint32_t at; /* its place in the text */
	uint32_t id; /* machine-wide, from 0 */
	struct type type;
};

/* The values that only a capture reads; borrowed, NULL: there is none. */
struct captured {
	const json_t *result;
	const json_t *exit; /* the exit status of a tool's command */
	const json_t *failure;
	bool keeps; /* a variable stays as it was where the result lacks a field for it */
};

/* Called with a reference and the text that it stands in. */
typedef void ref_visitor(void *ctx, const struct ref *ref, const char *source);

/* Returns the length of the longest `name(.name)*` at text[at..]; 0: none. */
size_t ref_span(const char *text, size_t at, size_t len);
/* Resolves node text [at, at + len), which ref_span accepted. NULL: an error was reported. */
const struct ref *ref_compile(
	const struct scope *scope, const struct site *site, size_t at, size_t len);
/* Returns the borrowed value, or NULL with the missing segment named in `e`. `captured` is NULL
 * outside captures. */
const json_t *ref_find(const struct ref *ref, const json_t *blackboard,
	const struct captured *captured, struct err *e);

/* Returns the value inside the root's own value; NULL if a field is missing. */
const json_t *ref_within(const struct ref *ref, const json_t *root_value);

/* Returns the constraint of the field or variable that the reference leads to; NULL: it leads to a
 * whole result. */
static inline const struct constraint *ref_constraint(const struct ref *ref)
{
	if (ref->field_count)
		return &ref->fields[ref->field_count - 1]->constraint;
	return ref->root ? &ref->root->constraint : NULL;
}

/* Reports whether the text matches ^[a-z][a-z0-9_]*$ and has at most 64 bytes. */
bool identifier_ok(const char *text, size_t len);
#endif
