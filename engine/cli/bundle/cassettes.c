#include "cli/bundle/cassettes.h"

#include "cli/bundle/cases.h"

#include "rehearse/cassette.h"
#include "rehearse/json_lines.h"
#include <string.h>

/* Reports in one cassette: an author who made more of these mistakes has seen the first. */
enum { SEEN_MAX = 20 };

/* Reports whether a member is a cassette of some case. */
static bool is_cassette(const char *path)
{
	char folder[300];
	const char *slash = strrchr(path, '/');
	if (!slash || slash - path >= (long)sizeof(folder))
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	bool nested = strchr(folder, '/') && !strchr(strchr(folder, '/') + 1, '/');
	return (!strcmp(folder, "rehearsal") || (nested && !strncmp(folder, "rehearsal/", 10))) &&
	       cases_is_cassette(folder, path);
}

/* Returns what is wrong with a line; NULL: nothing. */
static const char *fault_of(
	const struct machine *machine, const char *text, size_t len, struct err *e)
{
	json_auto_t *line = cassette_line(text, len, e);
	const char *state = json_string_value(json_object_get(line, "state"));
	if (line && machine && !machine_state(machine, state))
		err_set(e, "the machine has no state \"%.64s\"", state);
	return *e->text ? e->text : NULL;
}

static void check_text(const struct loaded *loaded, const struct doc *doc, const char *text,
	size_t len, struct findings *findings)
{
	size_t seen = 0;
	struct json_lines lines = {.text = text, .len = len};
	while (seen < SEEN_MAX && json_lines_next(&lines)) {
		struct err e = ERR_NONE;
		const char *fault = fault_of(loaded->machine, lines.line, lines.line_len, &e);
		struct doc_pos pos = {lines.number, 1, lines.number, 1};
		if (fault)
			finding_at(findings, RULE_CASSETTE_LINE, doc, pos, "%s", fault);
		seen += fault != NULL;
	}
}

void cassettes_check(const struct loaded *loaded, struct findings *findings)
{
	const struct bundle *bundle = loaded->bundle;
	for (size_t i = 0; i < bundle->count; i++) {
		const char *path = bundle->members[i].path;
		AUTO_FREE char *text = NULL;
		AUTO_FREE char *name = NULL;
		size_t len;
		struct err e = ERR_NONE;
		if (!is_cassette(path) || bundle_read(bundle, path, &text, &len, &e))
			continue;
		name = doc_beside(&loaded->doc, path);
		struct doc doc = {
			.file = name ? arena_copy(&findings->arena, name, strlen(name)) : path};
		check_text(loaded, &doc, text, len, findings);
	}
}
