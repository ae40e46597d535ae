#include "base/io.h"
#include "base/json.h"
#include "report/html.h"
#include "report/report_private.h"
#include <limits.h>
#include <string.h>

/* Limits: the beginning and the end of a long conversation are shown. */
enum {
	TRANSCRIPT_BYTES_MAX = 256 * 1024 * 1024,
	FIRST_MESSAGES = 10,
	LAST_MESSAGES = 40,
	TEXT_BYTES = 2000,
	NAME_BYTES = 100
};

static void add_words(struct buf *out, const char *who, const char *what, const char *text)
{
	if (!*text)
		return;
	buf_adds(out, "<h3>");
	html_text(out, who, NAME_BYTES);
	html_text(out, what, NAME_BYTES);
	buf_adds(out, "</h3><pre>");
	html_text(out, text, TEXT_BYTES);
	buf_adds(out, "</pre>");
}

static void add_message(struct buf *out, const json_t *message)
{
	bool told = !strcmp(json_get_text(message, "role"), "user");
	size_t i;
	json_t *call, *result;
	add_words(out, told ? "told the model" : "the model said", "",
		json_get_text(message, "text"));
	json_array_foreach (json_object_get(message, "tool_calls"), i, call) {
		AUTO_FREE char *arguments = html_json(json_object_get(call, "arguments"));
		add_words(out, "it called ", json_get_text(call, "name"), arguments);
	}
	json_array_foreach (json_object_get(message, "tool_results"), i, result) {
		bool failed = json_is_true(json_object_get(result, "failed"));
		add_words(out, json_get_text(result, "name"), failed ? " was refused" : " gave",
			json_get_text(result, "text"));
	}
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;
	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

void report_talk(struct report *report, uint64_t seq, const char *state)
{
	char path[NAME_MAX];
	AUTO_FREE char *text = NULL;
	size_t len, at = 0;
	struct err why = ERR_NONE;
	snprintf(path, sizeof(path), "states/%ju-%s/transcript.jsonl", (uintmax_t)seq, state);
	if (report->dir_fd < 0)
		return;
	if (io_read_file(report->dir_fd, path, TRANSCRIPT_BYTES_MAX, &text, &len, &why)) {
		if (why.number == ENOENT) /* no agent, or it was removed */
			return;
		buf_adds(&report->rows, "<p class=\"more\">what was said is not shown: ");
		html_text(&report->rows, why.text, sizeof(why.text));
		buf_adds(&report->rows, "</p>");
		return;
	}
	size_t count = count_lines(text);
	for (const char *line = text; at < count; at++, line += strcspn(line, "\n") + 1) {
		bool left_out = at >= FIRST_MESSAGES && at + LAST_MESSAGES < count;
		json_auto_t *message =
			left_out ? NULL : json_read(line, strcspn(line, "\n"), len, NULL);
		add_message(&report->rows, message);
		if (left_out && at == FIRST_MESSAGES)
			buf_addf(&report->rows,
				"<p class=\"more\">%zu messages are left out here</p>",
				count - FIRST_MESSAGES - LAST_MESSAGES);
	}
	buf_adds(&report->rows, "<p class=\"more\">the whole of it: ");
	html_text(&report->rows, path, sizeof(path));
	buf_adds(&report->rows, " in the instance's directory</p>");
}
