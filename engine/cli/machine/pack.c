#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include "report/text.h"
#include <string.h>

/* Checks the name, by which other commands recognise a packed bundle. */
static int check_name(const char *output, struct err *e)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
	const char *dot = strrchr(base, '.');
	if (dot && !strcmp(dot, ".asm"))
		return 0;
	size_t stem = dot > base ? (size_t)(dot - output) : strlen(output);
	return err_set(
		e, "a packed bundle's name must end in .asm: -o %.*s.asm", (int)stem, output);
}

static int pack(void *ctx, const struct loaded *loaded)
{
	const struct call *c = ctx;
	struct err e = ERR_NONE;
	char name[80];
	const char *output = call_value(c, "output");
	snprintf(name, sizeof(name), "%s.asm", loaded->machine->name);
	output = output ? output : name;
	if (check_name(output, &e) || bundle_pack(loaded->bundle, output, &e))
		return verb_fail(EXIT_REFUSED, &e);
	AUTO_BUF line = BUF_INIT(1 << 16);
	buf_addf(&line, "%s: %zu member%s, %s", output, loaded->bundle->count,
		loaded->bundle->count == 1 ? "" : "s", loaded->bundle->digest);
	text_print(line.data, 2);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], pack, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"output", "FILE", "the packed bundle (default: the machine's name and .asm)", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_pack = {.path = "machine pack",
	.summary = "pack a bundle into one file, NAME.asm",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = "The same members give the same bytes, whatever the clock, user or file "
		   "system. The digest does not depend on the compression and is the same for "
		   "all three forms.",
	.options = options,
	.run = run};
