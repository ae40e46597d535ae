#include "base/child.h"
#include "base/io.h"

#include "cli/load.h"
#include "cli/verb.h"
#include "machine/graph.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { GRAPH_BYTES_MAX = 256 * 1024 * 1024 };

static const char *find_dot(void)
{
	static const char *const places[] = {"/usr/bin/dot", "/usr/local/bin/dot"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

/* Graphviz reads the dot text from a file in memory and writes to our standard output. */
static int draw_svg(const struct buf *dot, struct err *e)
{
	static char *const env[] = {NULL};
	const char *program = find_dot();
	if (!program)
		return err_set(e,
			"Graphviz is not installed (apt-get install graphviz); --format dot "
			"needs nothing");
	AUTO_FD int in = memfd_create("graph", MFD_CLOEXEC);
	if (in < 0 || io_write(in, dot->data, dot->len) || lseek(in, 0, SEEK_SET))
		return err_errno(e, "cannot hand the graph to Graphviz");
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "-Tsvg", NULL};
	int fds[] = {in, STDOUT_FILENO, STDERR_FILENO};
	struct child_spec spec = {
		.path = program, .argv = argv, .env = env, .fds = fds, .fd_count = 3};
	struct child child;
	fflush(stdout);
	if (child_start(&spec, &child, e))
		return -1;
	return child_wait(&child) ? err_set(e, "Graphviz failed") : 0;
}

static int draw(void *ctx, const struct loaded *l)
{
	const struct call *c = ctx;
	const char *format = call_value(c, "format");
	struct err e = ERR_NONE;
	AUTO_BUF out;
	buf_init(&out, GRAPH_BYTES_MAX);
	if (!format || !strcmp(format, "text"))
		graph_text(l->machine, &out);
	else if (!strcmp(format, "mermaid"))
		graph_mermaid(l->machine, &out);
	else
		graph_dot(l->machine, &out);
	if (out.failed)
		return fail(EXIT_REFUSED, &(struct err){.text = "the picture would be too large"});
	if (format && !strcmp(format, "svg"))
		return draw_svg(&out, &e) ? fail(EXIT_REFUSED, &e) : EXIT_OK;
	fwrite(out.data, 1, out.len, stdout);
	return EXIT_OK;
}

static int run(const struct call *c)
{
	return loaded_with(c->arguments[0], draw, (void *)(uintptr_t)c);
}

static const struct verb_option options[] = {
	{"format", "mermaid|dot|svg|text", "what to draw (text); svg needs Graphviz", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_graph = {.path = "machine graph",
	.summary = "draw a machine's states and edges",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
