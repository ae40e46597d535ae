/*
 * Templates: text with `{{ ref }}` or `{{ ref | filter }}`, compiled and typed at load.
 *
 * Rendering is a pure look-up in the blackboard; nothing is ever evaluated as code.
 */
#ifndef MACHINE_TEMPLATE_H
#define MACHINE_TEMPLATE_H
#include "base/buf.h"
#include "base/err.h"
#include "machine/ref.h"
#include <jansson.h>
#include <stdbool.h>

struct template;

/* The use of a template, which decides what a reference in it may be. */
enum template_use {
	TEMPLATE_TEXT,   /* scalars; anything through a filter */
	TEMPLATE_PROMPT, /* the same, for a model: untrusted texts are fenced and labelled as data
			  */
	TEMPLATE_ARG,    /* the same; an element that is one list reference is a splice */
	TEMPLATE_ASSIGN  /* the same; a lone reference is the value itself, of any type */
};

/* Compiles the string `site->node`. NULL: an error was reported. */
const struct template *template_compile(
	const struct scope *scope, const struct site *site, enum template_use use);
/* Returns the type of template_value: that of a lone reference without a filter, else str. */
struct type template_type(const struct template *template);
/* Returns the reference if the template is just `{{ ref }}`, else NULL. */
const struct ref *template_lone(const struct template *template);
/* Returns the text if it holds no reference, else NULL. */
const char *template_literal(const struct template *template);

/* Appends the rendered text. Returns -1 if a missing optional field or the `len` of a json number,
 * boolean or null was read, or if the text goes beyond out->cap_bytes. `captured` is NULL
 * outside a capture. */
int template_render(const struct template *template, const json_t *blackboard,
	const struct captured *captured, struct buf *out, struct err *e);
/* Returns the value of a lone reference without a filter, or the rendered text as a string. New
 * reference. */
json_t *template_value(const struct template *template, const json_t *blackboard,
	const struct captured *captured, struct err *e);
/* Reports whether a command element is exactly one list reference: it becomes one argument per
 * item. */
bool template_is_splice(const struct template *template);
/* Renders one item of such a list. */
int template_render_item(const struct template *template, const json_t *item, struct buf *out);
/* Returns the text as the author wrote it. */
const char *template_source(const struct template *template);
/* Reports whether it reads an optional field of `result`. */
bool template_may_lack(const struct template *template);
/* Reports whether it reads a field of a variable. */
bool template_reads_field(const struct template *template);
/* Reports whether it reads a field that this result does not have. */
bool template_lacks(const struct template *template, const json_t *result);
/* Calls `each` once per reference, in order. */
void template_references(const struct template *template, ref_visitor *each, void *ctx);
#endif
