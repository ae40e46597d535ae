#include "machine/graph.h"
#include "base/capture.h"
#include "base/io.h"
#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH_BYTES_MAX = 256 * 1024 * 1024, DRAW_DEADLINE_MS = 600000 };

static const char *find_dot(void)
{
	static const char *const places[] = {"/usr/bin/dot", "/usr/local/bin/dot"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

/* Replaces the dot text in `picture` by Graphviz's drawing of it. */
static int draw_svg(struct buf *picture, struct err *e)
{
	static char *const env[] = {NULL};
	const char *program = find_dot();
	AUTO_BUF words = BUF_INIT(4096);
	if (!program)
		return err_set(e,
			"Graphviz is not installed (apt-get install graphviz); --format dot "
			"needs nothing");
	AUTO_FD int in = io_memory_file("the graph", picture->data, picture->len, e);
	if (in < 0)
		return -1;
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "-Tsvg", NULL};
	struct capture_spec spec = {
		.argv = argv, .env = env, .stdin_fd = in, .deadline_ms = DRAW_DEADLINE_MS};
	buf_clear(picture);
	int status = capture_run(&spec, picture, &words, e);
	return status > 0 ? err_set(e, "Graphviz failed: %.*s", (int)words.len, words.data)
			  : status;
}

/* Reports whether the locale's name says UTF-8, in setlocale's order, even if this host lacks that
 * locale. */
static bool reads_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static int draw(void *ctx, const struct loaded *loaded)
{
	const struct call *c = ctx;
	const char *format = call_value(c, "format");
	struct err e = ERR_NONE;
	AUTO_BUF out = BUF_INIT(GRAPH_BYTES_MAX);
	if (!format || !strcmp(format, "text"))
		(reads_utf8() ? graph_text : graph_ascii)(loaded->machine, &out);
	else if (!strcmp(format, "mermaid"))
		graph_mermaid(loaded->machine, &out);
	else
		graph_dot(loaded->machine, &out);
	if (out.failed)
		return verb_refuse("the picture would be too large");
	if (format && !strcmp(format, "svg") && draw_svg(&out, &e))
		return verb_fail(EXIT_REFUSED, &e);
	fwrite(out.data, 1, out.len, stdout);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], draw, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"format", "mermaid|dot|svg|text", "the form to draw (text); svg needs Graphviz", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_graph = {.path = "machine graph",
	.summary = "draw a machine's states and edges",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
