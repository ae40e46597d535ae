/*
 * A file and edits to it as a model writes them: parts ended by NUL, the file first, then old and
 * new in turns. What occurs once is replaced there and nowhere else, what occurs twice is refused,
 * and a text stays one.
 */
#include "agent/tools/edit.h"
#include "base/utf8.h"
#include <stdint.h>
#include <string.h>

enum { PARTS_MAX = 2 * 8, CAP_BYTES = 4 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* How often `part` stands in `text`; places may overlap. */
static size_t occurs(const char *text, const char *part)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, part)); at++)
		count++;
	return count;
}

static void check_one(const char *text, const struct edit *edit, int rc, const struct buf *out)
{
	size_t count = *edit->old_text ? occurs(text, edit->old_text) : 0;
	if (count > 1 && !rc)
		abort();
	/* New lines end as the file's do. */
	if (count != 1 || rc || strchr(edit->new_text, '\n'))
		return;
	const char *at = strstr(text, edit->old_text);
	size_t before = (size_t)(at - text), put = strlen(edit->new_text);
	const char *rest = at + strlen(edit->old_text);
	if (out->len != before + put + strlen(rest) || memcmp(out->data, text, before) != 0 ||
		memcmp(out->data + before, edit->new_text, put) != 0 ||
		strcmp(out->data + before + put, rest) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_BUF text, out, report;
	struct edit edits[PARTS_MAX / 2];
	size_t count = 0;
	buf_init(&text, CAP_BYTES);
	buf_init(&out, CAP_BYTES);
	buf_init(&report, CAP_BYTES);
	buf_adds(&out, "");
	if (utf8_prefix((const char *)data, len) != len || buf_add(&text, data, len))
		return 0;
	const char *at = len ? text.data + strlen(text.data) + 1 : NULL;
	while (at && at < text.data + len && count < ARRAY_LEN(edits)) {
		const char *next = at + strlen(at) + 1;
		edits[count++] = (struct edit){at, next < text.data + len ? next : ""};
		at = next < text.data + len ? next + strlen(next) + 1 : NULL;
	}
	if (!count)
		return 0;
	int rc = edit_apply(text.data, edits, count, &out, &report);
	if (!rc && (!out.data || utf8_prefix(out.data, out.len) != out.len))
		abort();
	if (rc && !report.len)
		abort();
	if (count == 1)
		check_one(text.data, &edits[0], rc, &out);
	return 0;
}
