/*
 * Fuzzes the arguments of a model's call: the check of every tool's declaration, the edit list on a
 * text, and the copy that the loop keeps. First line: the arguments; the rest: the file.
 */
#include "agent/digest.h"
#include "agent/finish.h"
#include "agent/tools/edit.h"
#include "agent/tools/permit.h"
#include "base/json.h"
#include "provider/wire.h"
#include <stdint.h>
#include <string.h>

enum { EDITS_MAX = 16, CAP_BYTES = 4 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_tools(const json_t *arguments)
{
	static const char *const names[] = {
		"read_file", "list_dir", "grep", "apply_edit", "run_command", "run_verify_command"};
	struct digest d = {0};
	struct buf out;
	buf_init(&out, CAP_BYTES);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct tool *tool = tool_find(names[i], ~0U);
		if (!tool)
			abort();
		buf_clear(&out);
		json_t *meant = tool_coerce(tool, arguments);
		bool fits = !tool_check(tool, meant, &out);
		if (fits == (out.len > 0) || (fits && !json_is_object(meant)))
			abort();
		digest_note(&d, names[i], meant, fits, "exit 1\n");
		json_decref(meant);
	}
	digest_write(&d, 100, &out);
	permit_is_argv(json_object_get(arguments, "argv"));
	json_t *result = finish_read(NULL, arguments);
	json_decref(finish_check(NULL, result, &out));
	json_decref(result);
	digest_done(&d);
	buf_done(&out);
}

static void check_edits(const json_t *arguments, const char *text)
{
	struct edit edits[EDITS_MAX];
	size_t count = 0, i;
	const json_t *one;
	struct buf out, report;
	buf_init(&out, CAP_BYTES);
	buf_init(&report, CAP_BYTES);
	json_array_foreach (json_object_get(arguments, "edits"), i, one) {
		const char *before = json_string_value(json_object_get(one, "old_string"));
		const char *after = json_string_value(json_object_get(one, "new_string"));
		if (before && after && count < EDITS_MAX)
			edits[count++] = (struct edit){before, after};
	}
	if (count && edit_apply(text, edits, count, &out, &report) && !report.len)
		abort();
	buf_done(&out);
	buf_done(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *nl = memchr(data, '\n', len);
	size_t first = nl ? (size_t)(nl - data) : len;
	char *written = strndup((const char *)data, first);
	json_auto_t *arguments = wire_arguments(written, NULL);
	free(written);
	char *text = strndup(nl ? (const char *)nl + 1 : "", nl ? len - first - 1 : 0);
	if (arguments) {
		check_tools(arguments);
		check_edits(arguments, text);
	}
	free(text);
	return 0;
}
