/*
 * Templates: text with `{{ ref }}` or `{{ ref | filter }}` (machine.md 4), compiled and typed at load.
 *
 * Rendering is a pure look-up in the blackboard; nothing is ever evaluated as code.
 */
#ifndef MACHINE_TEMPLATE_H
#define MACHINE_TEMPLATE_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>

struct template;

/* Appends the rendered text. -1: a missing optional field was read, or the result crosses
 * out->cap_bytes. `result` is the capture's result, NULL elsewhere. */
int template_render(const struct template *t, const json_t *blackboard, const json_t *result,
	struct buf *out, struct err *e);
/* The value of a lone filterless reference (new reference), or the rendered text as a string. */
json_t *template_value(const struct template *t, const json_t *blackboard, const json_t *result,
	struct err *e);
/* True for a command element that is exactly one list reference: it becomes one argument per item. */
bool template_is_splice(const struct template *t);
/* The text as the author wrote it. */
const char *template_source(const struct template *t);
/* Names of the variables it reads: calls `each` once per reference with the dotted path. */
void template_references(const struct template *t, void (*each)(void *ctx, const char *path),
	void *ctx);
#endif
