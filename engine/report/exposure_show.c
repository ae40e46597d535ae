#include "report/exposure.h"
#include "report/html.h"
#include "report/interface.h"
#include "report/text.h"
#include <string.h>

enum { INDENT_COLUMNS = 15 };

/* A remark below every list. */
#define ALWAYS                                                                                     \
	"Every tool also has a private /tmp and its data directory, PATH HOME LANG LC_ALL TERM "   \
	"TZ and AGENT6_* in its environment, and the read-only system directories; an agent's "    \
	"command has the same but the data directory. Nothing else, on the strict profile; "       \
	"hardened keeps neither .git nor the bundle's source from what may write around them, "    \
	"and hides less: see `agent6 check sandbox`."

static void add_words(struct buf *out, const char *label, const char *text)
{
	AUTO_BUF clean = BUF_INIT(EXPOSURE_BYTES_MAX);
	text_clean(&clean, text, SIZE_MAX);
	text_entry(out, label, clean.data, INDENT_COLUMNS);
}

/* Appends "timeout_secs=60, memory_mb=2048, ...". */
static void join_limits(struct buf *out, const json_t *limits)
{
	const char *name;
	json_t *limit;
	json_object_foreach ((json_t *)(uintptr_t)limits, name, limit) {
		buf_addf(out, "%s%s=", out->len ? ", " : "", name);
		if (json_is_null(limit))
			buf_adds(out, "unlimited");
		else if (json_is_string(limit))
			buf_adds(out, json_string_value(limit));
		else
			buf_addf(out, "%.12g", json_number_value(limit));
	}
}

static const char *workspace_words(const json_t *state)
{
	const json_t *ranks = json_object_get(state, "ranks");
	const char *access = json_get_text(ranks, "workspace");
	if (!strcmp(json_get_text(ranks, "mode"), "run"))
		return "a private clone: reads, edits, commits to its own branch";
	if (!strcmp(access, "write"))
		return "reads and writes, but .git, the bundle and protected paths";
	return !strcmp(access, "read") ? "reads" : "not visible";
}

/* Returns words about the terminal; NULL: it has none, which is not mentioned. */
static const char *terminal_words(const json_t *ranks)
{
	return strcmp(json_get_text(ranks, "terminal"), "own")
		       ? NULL
		       : "its own pseudo-terminals, nothing of this host's";
}

/* Writes the lines of one state, each through `line`. */
static void state_lines(const json_t *state, void (*line)(struct buf *, const char *, const char *),
	struct buf *out)
{
	static const struct {
		const char *key, *label;
	} words[] = {{"ok_exit", "ok at"}, {"verify", "verifies"}, {"commands", "commands"},
		{"private", "private"}, {"key", "key"}};
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	line(out, !strcmp(json_get_text(state, "kind"), "tool") ? "runs" : "asks",
		json_get_text(state, "does"));
	line(out, "workspace", workspace_words(state));
	const char *terminal = terminal_words(json_object_get(state, "ranks"));
	if (terminal)
		line(out, "terminal", terminal);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (*json_get_text(state, words[i].key))
			line(out, words[i].label, json_get_text(state, words[i].key));
	for (size_t i = 0; i < EXPOSURE_SETS; i++) {
		const json_t *set =
			json_object_get(json_object_get(state, "sets"), exposure_sets[i]);
		bool egress = !strcmp(exposure_sets[i], "egress");
		buf_clear(&text);
		text_join(&text, set);
		if (egress && !json_array_size(set))
			buf_adds(&text, "none");
		if (egress && json_is_true(json_object_get(state, "egress_refused")))
			buf_adds(&text, " (refused under these settings)");
		if (text.len)
			line(out, exposure_sets[i], text.data);
	}
	buf_clear(&text);
	join_limits(&text, json_object_get(state, "limits"));
	line(out, "limits", text.data);
}

/* Writes a line for each key that refers to a parameter: "scan.timeout_secs: limit = 60". */
static void fixed_lines(const json_t *exposure,
	void (*line)(struct buf *, const char *, const char *), struct buf *out)
{
	size_t i;
	json_t *use;
	json_array_foreach (json_object_get(exposure, "fixed"), i, use) {
		const char *state = json_get_text(use, "state");
		const json_t *value = json_object_get(use, "value");
		AUTO_FREE char *text = json_is_null(value) ? NULL : json_text(value);
		AUTO_BUF words = BUF_INIT(EXPOSURE_BYTES_MAX);
		buf_addf(&words, "%s.%s: %s", *state ? state : "budget", json_get_text(use, "key"),
			json_get_text(use, "parameter"));
		buf_addf(&words, "%s%s", text ? " = " : ", which a start gives", text ? text : "");
		line(out, i ? "" : "fixed", words.data);
	}
}

static void union_lines(const json_t *exposure,
	void (*line)(struct buf *, const char *, const char *), struct buf *out)
{
	const char *name;
	json_t *value;
	const char *terminal = terminal_words(json_object_get(exposure, "union"));
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	interface_lines(json_object_get(exposure, "interface"), line, out);
	json_object_foreach (json_object_get(exposure, "union"), name, value) {
		buf_clear(&text);
		if (!strcmp(name, "terminal"))
			buf_adds(&text, terminal ? terminal : "");
		else if (json_is_string(value))
			buf_adds(&text, json_string_value(value));
		else
			text_join(&text, value);
		if (text.len)
			line(out, name, text.data);
	}
	fixed_lines(exposure, line, out);
	buf_clear(&text);
	join_limits(&text, json_object_get(exposure, "visits"));
	if (text.len)
		line(out, "most visits", text.data);
	buf_clear(&text);
	join_limits(&text, json_object_get(exposure, "limits"));
	line(out, "limits", text.data);
}

void exposure_text(const json_t *exposure, struct buf *out)
{
	size_t i;
	json_t *state;
	buf_addf(out, "\n%s, all states together\n", json_get_text(exposure, "machine"));
	union_lines(exposure, add_words, out);
	json_array_foreach (json_object_get(exposure, "states"), i, state) {
		buf_addf(out, "\n%s (%s)\n", json_get_text(state, "state"),
			json_get_text(state, "kind"));
		state_lines(state, add_words, out);
	}
	json_array_foreach (json_object_get(exposure, "refusals"), i, state) {
		if (!i)
			wrap_text(out,
				"\nwith this configuration it would be refused on this host\n", 0,
				text_page_columns());
		add_words(out, "", json_string_value(state));
	}
	buf_addc(out, '\n');
	wrap_text(out, ALWAYS, 0, text_page_columns());
	buf_addc(out, '\n');
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void add_markdown(struct buf *out, const char *label, const char *text)
{
	buf_addf(out, "| %s | ", label);
	text_markdown(out, text);
	buf_adds(out, " |\n");
}

static void add_heading(struct buf *out, int level, const char *name, const char *kind)
{
	buf_addf(out, "\n%.*s %s%s%s%s\n\n| | |\n|---|---|\n", level, "####", name,
		*kind ? " (" : "", kind, *kind ? ")" : "");
}

void exposure_markdown(const json_t *exposure, struct buf *out)
{
	size_t i;
	json_t *state;
	add_heading(out, 2, json_get_text(exposure, "machine"), "");
	union_lines(exposure, add_markdown, out);
	json_array_foreach (json_object_get(exposure, "states"), i, state) {
		add_heading(out, 3, json_get_text(state, "state"), json_get_text(state, "kind"));
		state_lines(state, add_markdown, out);
	}
}

/* --- HTML ------------------------------------------------------------------------------------- */

static void begin_card(struct buf *out, const char *name, const char *kind)
{
	buf_adds(out, "<div><h3>");
	html_text(out, name, 64);
	buf_addf(out, " <small>%s</small></h3><dl class=\"terms\">\n", kind);
}

void exposure_html(const json_t *exposure, struct buf *out)
{
	size_t i;
	json_t *state;
	/* A journal has no settings, so those of a past step are not known. */
	buf_adds(out, "<h3>Allowed by today's settings</h3><p class=\"soft\">Worked out from the "
		      "settings as they were when this page was written; while it ran, the machine "
		      "may have had others. " ALWAYS "</p><div class=\"cards\">\n");
	begin_card(out, json_get_text(exposure, "machine"), "all states together");
	union_lines(exposure, html_term, out);
	buf_adds(out, "</dl></div>\n");
	json_array_foreach (json_object_get(exposure, "states"), i, state) {
		begin_card(out, json_get_text(state, "state"), json_get_text(state, "kind"));
		state_lines(state, html_term, out);
		buf_adds(out, "</dl></div>\n");
	}
	buf_adds(out, "</div>\n");
}

/* --- findings --------------------------------------------------------------------------------- */

static void add_clause(struct buf *out, const char *label, const char *text)
{
	buf_addf(out, "%s%s ", out->len ? "; " : "", label);
	text_clean(out, text, SIZE_MAX);
}

/* Adds a note. `state` NULL: about the machine. */
static void add_note(struct findings *findings, const struct machine *machine,
	const struct state *state, const char *clauses)
{
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	buf_addf(&text, "%s: %s", state ? state->name : "all states together", clauses);
	struct finding *note = finding_add(findings, RULE_CONFINEMENT_REPORT, machine->doc,
		state ? state->key : NULL, "%s", "");
	finding_whole(findings, note, text.data);
	note->state = state ? state->name : NULL;
}

void exposure_findings(
	const json_t *exposure, const struct machine *machine, struct findings *findings)
{
	size_t i;
	json_t *state;
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	union_lines(exposure, add_clause, &text);
	add_note(findings, machine, NULL, text.data);
	json_array_foreach (json_object_get(exposure, "states"), i, state) {
		const struct state *s = machine_state(machine, json_get_text(state, "state"));
		buf_clear(&text);
		state_lines(state, add_clause, &text);
		add_note(findings, machine, s, text.data);
	}
}
