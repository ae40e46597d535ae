/*
 * Properties of every document, whatever its bytes; a broken one aborts.
 */
#ifndef TESTS_FUZZ_SCHEMA_FUZZ_H
#define TESTS_FUZZ_SCHEMA_FUZZ_H
#include "base/utf8.h"
#include "schema/read.h"
#include "schema/shape.h"
#include "schema/wrap.h"
#include <stdint.h>
#include <string.h>

static inline void fuzz_require(bool held)
{
	if (!held)
		abort();
}

static inline void fuzz_node(const struct doc *doc, const struct doc_node *node, int depth)
{
	fuzz_require(depth <= DOC_DEPTH_MAX);
	fuzz_require(node->pos.line >= 1 && node->pos.line <= doc->line_count);
	fuzz_require(node->pos.column >= 1);
	switch (node->kind) {
	case DOC_STR:
		fuzz_require(strlen(node->text) == node->count);
		fuzz_require(utf8_prefix(node->text, node->count) == node->count);
		break;
	case DOC_LIST:
		for (uint32_t i = 0; i < node->count; i++)
			fuzz_node(doc, &node->items[i], depth + 1);
		break;
	case DOC_MAP:
		for (uint32_t i = 0; i < node->count; i++) {
			const struct doc_pair *p = &node->pairs[i];
			fuzz_require(p->key.kind == DOC_STR);
			fuzz_require(doc_pair(node, p->key.text) == p);
			fuzz_node(doc, &p->value, depth + 1);
		}
		break;
	case DOC_NULL:
	case DOC_BOOL:
	case DOC_INT:
	case DOC_FLOAT:
	case DOC_BROKEN: break;
	}
}

/* Every finding, in the formats that other programs read. */
static inline void fuzz_formats(const struct findings *findings)
{
	AUTO_BUF text;
	buf_init(&text, 1 << 26);
	findings_json(findings, &text);
	json_auto_t *list = json_loadb(text.data, text.len, 0, NULL);
	fuzz_require(json_array_size(list) == findings->count);
	buf_clear(&text);
	findings_sarif(findings, &text);
	json_auto_t *log = json_loadb(text.data, text.len, 0, NULL);
	const json_t *run = json_array_get(json_object_get(log, "runs"), 0);
	fuzz_require(json_array_size(json_object_get(run, "results")) == findings->count);
	buf_clear(&text);
	findings_github(findings, &text);
	size_t lines = 0;
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	fuzz_require(!text.failed && lines == findings->count);
}

static inline void fuzz_read(
	const char *file, const uint8_t *data, size_t len, const struct shape *shape)
{
	struct findings f;
	struct doc d;
	findings_init(&f);
	int rc = doc_read(&d, file, (const char *)data, len, &f);
	fuzz_require(rc ? !d.root && f.errors : d.root != NULL);
	if (d.root) {
		fuzz_node(&d, d.root, 0);
		json_decref(doc_json(d.root));
	}
	if (d.root && shape)
		shape_check(shape, &d, d.root, &f);
	findings_sort(&f);
	const struct doc *docs[] = {&d};
	AUTO_BUF out;
	buf_init(&out, 1 << 26);
	findings_show(&f, docs, 1, &(struct finding_look){.columns = WRAP_NEVER}, &out);
	fuzz_require(!out.failed);
	fuzz_formats(&f);
	findings_done(&f);
	doc_done(&d);
}
#endif
