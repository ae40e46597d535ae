#include "machine/reader.h"

#include "base/utf8.h"
#include "schema/advice.h"
#include "schema/build.h"
#include <string.h>

/* Flags that are kept for a member of the bundle. */
enum {
	MEMBER_THERE = 1,
	MEMBER_EXECUTABLE = 2,
	MEMBER_RUNNABLE = 4,
	MEMBER_CARRIAGE = 8, /* its first line ends in CR LF, so that it names no interpreter */
	MEMBER_RELATIVE = 16,
	MEMBER_TOLD = 32
};

bool reader_path_clean(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");
		if (!n || (n == 1 && path[0] == '.') || (n == 2 && !memcmp(path, "..", 2)))
			return false;
		if (!path[n])
			return true;
		path += n + 1;
	}
}

/* Returns the flags of a program's text. An interpreter without an absolute path would be looked up
 * in the workspace. */
static int header_flags(const char *text, size_t len)
{
	if (len >= 4 && !memcmp(text, "\177ELF", 4))
		return MEMBER_RUNNABLE;
	if (len < 2 || memcmp(text, "#!", 2))
		return 0;
	const char *end = memchr(text, '\n', len);
	size_t line = end ? (size_t)(end - text) : len, at = 2;
	if (memchr(text, '\r', line))
		return MEMBER_CARRIAGE;
	while (at < line && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at < line && text[at] == '/' ? MEMBER_RUNNABLE : MEMBER_RELATIVE;
}

/* Checks that a script does not look different from what runs. Files that are no text are skipped,
 * since nobody reads them. */
static void check_shown(const struct site *site, const char *path, const char *text, size_t len)
{
	size_t line = 1;
	if (memchr(text, '\0', len))
		return;
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t code = 0;
		n = utf8_step(text + at, len - at, &code);
		line += text[at] == '\n';
		if (code < 0x80 || !utf8_is_false(code))
			continue;
		struct finding *f = site_report(site, RULE_SCRIPT_HIDDEN,
			"\"%s\" holds the character U+%04X in line %zu, which makes it look like "
			"another script than the one that runs",
			path, code, line);
		site_help(site, f, "write it as an escape, or take it out");
		return;
	}
}

static int look_at(struct reader *reader, const struct site *site, const char *path)
{
	json_t *known = json_object_get(reader->members, path);
	if (known)
		return (int)json_integer_value(known);
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	bool executable = false;
	int flags = 0;
	int found = reader->files->read(reader->files->ctx, path, &text, &len, &executable);
	if (found > 0)
		flags = MEMBER_THERE | MEMBER_EXECUTABLE | MEMBER_RUNNABLE;
	else if (!found)
		flags = MEMBER_THERE | (executable ? MEMBER_EXECUTABLE : 0) |
			header_flags(text, len);
	if (!found)
		check_shown(site, path, text, len);
	json_object_set_new(reader->members, path, json_integer(flags));
	return flags;
}

/* Advises to split `scripts/x.sh --all`, given as one item. Returns whether it was that. */
static bool help_split(const struct site *site, struct finding *finding, const char *text)
{
	AUTO_BUF list = BUF_INIT(1024);
	if (!advice_list(text, " ", &list) || !strstr(list.data, "\", \""))
		return false;
	site_help(site, finding, "each argument is an item by itself: %s", list.data);
	return true;
}

static void report_missing(const struct site *site, const char *path)
{
	AUTO_FREE char *label = doc_beside(site->doc, path);
	struct finding *f =
		site_report(site, RULE_MISSING_FILE, "the bundle has no file \"%s\"", path);
	if (!help_split(site, f, path))
		site_help(site, f, "it belongs at %s", label ? label : path);
}

/* Returns the first line that a script needs, by the ending of its name. */
static const char *first_line(const char *path)
{
	static const struct {
		const char *ending, *line;
	} lines[] = {{".py", "#!/usr/bin/env python3"}, {".js", "#!/usr/bin/env node"},
		{".mjs", "#!/usr/bin/env node"}, {".rb", "#!/usr/bin/env ruby"},
		{".pl", "#!/usr/bin/env perl"}, {".bash", "#!/bin/bash"}};
	const char *ending = strrchr(path, '.');
	for (size_t i = 0; ending && i < ARRAY_LEN(lines); i++)
		if (!strcmp(ending, lines[i].ending))
			return lines[i].line;
	return "#!/bin/sh";
}

static void check_script_mode(const struct site *site, const char *path, int flags)
{
	struct finding *f;
	if (!(flags & MEMBER_EXECUTABLE)) {
		f = site_report(site, RULE_SCRIPT_MODE,
			"\"%s\" is run as a program but has no execute bit", path);
		AUTO_FREE char *label = doc_beside(site->doc, path);
		site_help(site, f, "chmod +x %s", label ? label : path);
	} else if (flags & MEMBER_CARRIAGE) {
		f = site_report(site, RULE_SCRIPT_MODE,
			"the first line of \"%s\" ends in a carriage return, which belongs to the "
			"interpreter's name",
			path);
		site_help(site, f, "save it with Unix line ends");
	} else if (flags & MEMBER_RELATIVE) {
		f = site_report(site, RULE_SCRIPT_MODE,
			"the first line of \"%s\" names no interpreter by an absolute path", path);
		site_help(site, f, "write a first line such as %s", first_line(path));
	} else if (!(flags & MEMBER_RUNNABLE)) {
		f = site_report(site, RULE_SCRIPT_MODE,
			"\"%s\" is run as a program but is neither an ELF file nor begins with #!",
			path);
		site_help(site, f, "add a first line such as %s", first_line(path));
	}
}

/* Reports what is wrong with a file where it is first named, and only there. */
static void check_member(
	struct reader *reader, const struct site *site, const char *path, bool program)
{
	int flags = look_at(reader, site, path);
	bool runs = (flags & MEMBER_EXECUTABLE) && (flags & MEMBER_RUNNABLE);
	bool wrong = !(flags & MEMBER_THERE) || (program && !runs);
	if (!wrong || flags & MEMBER_TOLD)
		return;
	json_object_set_new(reader->members, path, json_integer(flags | MEMBER_TOLD));
	if (flags & MEMBER_THERE)
		check_script_mode(site, path, flags);
	else
		report_missing(site, path);
}

static void check_script(struct reader *reader, const struct site *site,
	const struct template *template, bool program)
{
	const char *path = template_literal(template);
	struct finding *f;
	if (!path) {
		f = site_report(site, RULE_SCRIPT_PATH,
			"a script must be named literally, but \"%s\" holds a reference",
			template_source(template));
		if (!help_split(site, f, template_source(template)))
			site_help(site, f,
				"name the script literally, and branch where there are several");
	} else if (!reader_path_clean(path)) {
		site_report(site, RULE_SCRIPT_PATH,
			"\"%s\" is not a clean path below scripts/: no `.`, `..` or doubled slash",
			path);
	} else if (reader->files) {
		check_member(reader, site, path, program);
	}
}

const char *program_fault(const char *program)
{
	if (!*program)
		return "is empty";
	if (!strcmp(program, ".") || !strcmp(program, ".."))
		return "is a directory";
	if (!strchr(program, '/'))
		return NULL;
	if (*program != '/')
		return "is a relative path";
	if (!reader_path_clean(program + 1))
		return "is not a clean path: no `.`, `..` or doubled slash";
	/* /proc/self/cwd is another name of the workspace. */
	if (!strncmp(program, "/proc/", 6) || !strncmp(program, "/dev/", 5))
		return "lies where names lead elsewhere";
	return NULL;
}

static void check_program(const struct site *site, const char *program)
{
	const char *fault = program_fault(program);
	if (!fault)
		return;
	struct finding *f = site_report(site, RULE_PROGRAM,
		*program ? "\"%s\" %s" : "the program's name %s%s", program, fault);
	if (!strncmp(program, "./scripts/", 10)) {
		site_help(site, f, "write `%s`", program + 2);
		return;
	}
	bool relative = *program && *program != '/' && strchr(program, '/');
	site_help(site, f,
		"name a program on /usr/local/bin:/usr/bin:/bin, an absolute path, or a "
		"file below scripts/%s",
		relative ? "; a script in the workspace is an argument of its interpreter: [sh, "
			   "FILE]"
			 : "");
}

void read_command_files(struct reader *reader, const struct state *state)
{
	const struct doc_node *list = reader_value(reader, state->node, "command");
	for (size_t i = 0; i < state->tool.command_count; i++) {
		const struct template *t = state->tool.command[i];
		struct site site = reader_site(reader, &list->items[i], state);
		if (!t)
			continue;
		if (strncmp(template_source(t), "scripts/", 8) == 0)
			check_script(reader, &site, t, i == 0);
		else if (i == 0 && template_literal(t))
			check_program(&site, template_literal(t));
	}
}

static struct doc *new_doc(struct prompt_docs *docs)
{
	docs->items = own_room(docs->items, docs->count, &docs->room, sizeof(struct doc *));
	struct doc *d = calloc(1, sizeof(*d));
	if (!d)
		abort();
	docs->items[docs->count++] = d;
	return d;
}

/* Returns the file as a document; NULL: an error is reported. Each file is read once. */
static const struct doc *prompt_doc(
	struct reader *reader, const struct site *site, const char *path)
{
	json_t *known = json_object_get(reader->members, path);
	if (known)
		return json_is_integer(known) && json_integer_value(known) >= 0
			       ? reader->prompts->items[json_integer_value(known)]
			       : NULL;
	AUTO_FREE char *text = NULL;
	size_t len;
	bool executable;
	json_object_set_new(reader->members, path, json_integer(-1));
	int found = reader->files->read(reader->files->ctx, path, &text, &len, &executable);
	if (found < 0)
		report_missing(site, path);
	if (found)
		return NULL;
	AUTO_FREE char *label = doc_beside(reader->doc, path);
	struct doc *d = new_doc(reader->prompts);
	if (doc_scan(d, label, text, len, reader->findings))
		return NULL;
	json_object_set_new(
		reader->members, path, json_integer((json_int_t)reader->prompts->count - 1));
	return d;
}

const struct template *read_prompt_file(struct reader *reader, struct state *state)
{
	const struct doc_node *node = reader_get(reader, state->node, "prompt_file", DOC_STR);
	struct site site = reader_site(reader, node, state);
	if (strncmp(node->text, "prompts/", 8) != 0 || !reader_path_clean(node->text) ||
		strstr(node->text, "{{")) {
		struct finding *f = site_report(&site, RULE_PROMPT_PATH,
			"\"%s\" is not a literal, clean path below prompts/", node->text);
		if (reader_path_clean(node->text) && !strchr(node->text, '/') &&
			!strstr(node->text, "{{"))
			site_help(
				&site, f, "write `prompts/%s`, and put the file there", node->text);
		else
			site_help(&site, f, "put the file into the bundle's prompts/ directory");
		return NULL;
	}
	const struct doc *d = reader->files ? prompt_doc(reader, &site, node->text) : NULL;
	if (!d)
		return NULL;
	struct doc_node text = {.kind = DOC_STR,
		.count = (uint32_t)d->len,
		.pos = {1, 1, d->line_count, 1},
		.text = arena_copy(&reader->m->arena, d->text, d->len)};
	struct site inside = {
		.findings = reader->findings, .doc = d, .node = &text, .state = state->name};
	const struct template *t = template_compile(&reader->scope, &inside, TEMPLATE_PROMPT);
	if (!t) /* its error has been reported */
		json_object_set_new(reader->members, node->text, json_integer(-1));
	return t;
}
