#include "agent/digest.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include <stdint.h>
#include <string.h>

enum { ENTRIES_MAX = 100, ENTRY_BYTES = 200, CALL_BYTES_MAX = 64 * 1024 * 1024 };

enum kind { READ, EDITED, RAN, OTHER };
static const char *const titles[] = {[READ] = "Files read",
	[EDITED] = "Files edited",
	[RAN] = "Commands run",
	[OTHER] = "Other calls"};

static enum kind kind_of(const char *tool, bool ok)
{
	if (!strcmp(tool, "read_file") && ok)
		return READ;
	if (!strcmp(tool, "apply_edit") && ok)
		return EDITED;
	return !strncmp(tool, "run_", 4) ? RAN : OTHER;
}

static void take_line(char out[ENTRY_BYTES], const char *text)
{
	utf8_copy(out, ENTRY_BYTES, text);
	out[strcspn(out, "\n")] = '\0';
}

/* Writes an entry's name: that of a file, or for other calls the whole call. */
static void name_call(
	enum kind kind, const char *tool, const json_t *arguments, char out[ENTRY_BYTES])
{
	const char *path = json_string_value(json_object_get(arguments, "path"));
	AUTO_BUF text = BUF_INIT(CALL_BYTES_MAX);
	if (kind != READ && kind != EDITED)
		buf_addf(&text, "%s ", tool);
	if (path)
		buf_adds(&text, path);
	else
		json_write(&text, arguments);
	take_line(out, text.len && !text.failed ? text.data : tool);
}

/* Notes a call. The first line of its answer is a command's exit, or the message of an error. */
void digest_note(struct digest *digest, const char *tool, const json_t *arguments, bool ok,
	const char *answer)
{
	enum kind kind = kind_of(tool, ok);
	char line[ENTRY_BYTES], name[ENTRY_BYTES], what[2 * ENTRY_BYTES + 2];
	take_line(line, answer);
	name_call(kind, tool, arguments, name);
	snprintf(what, sizeof(what), kind == RAN ? "%s: %s" : "%s", name, line);
	if (!ok)
		snprintf(digest->failure, sizeof(digest->failure), "%s: %s", name, line);
	if (!digest->done[kind])
		digest->done[kind] = json_object();
	json_int_t before = json_get_int(digest->done[kind], what);
	if (before || json_object_size(digest->done[kind]) < ENTRIES_MAX)
		json_object_set_new(digest->done[kind], what, json_integer(before + 1));
}

static void write_kind(const char *title, const json_t *done, size_t most_bytes, struct buf *out)
{
	const char *what;
	json_t *count;
	size_t end = out->len + most_bytes, left = json_object_size(done);
	buf_addf(out, "%s:\n", title);
	json_object_foreach ((json_t *)(uintptr_t)done, what, count) {
		if (out->len >= end)
			break;
		buf_addf(out, "- %s (%lld)\n", what, (long long)json_integer_value(count));
		left--;
	}
	if (left)
		buf_addf(out, "- and %zu more\n", left);
	else if (json_object_size(done) == ENTRIES_MAX)
		buf_adds(out, "- and possibly more\n");
}

void digest_write(const struct digest *digest, size_t most_bytes, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(titles); i++)
		if (digest->done[i])
			write_kind(titles[i], digest->done[i], most_bytes / ARRAY_LEN(titles), out);
	if (*digest->failure)
		buf_addf(out, "The newest failure: %s\n", digest->failure);
}

void digest_done(struct digest *digest)
{
	for (size_t i = 0; i < ARRAY_LEN(digest->done); i++)
		json_decref(digest->done[i]);
	*digest = (struct digest){0};
}
