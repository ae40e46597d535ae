#include "cli/help.h"
#include "cli/verb.h"

#include <signal.h>
#include <string.h>

static bool is_group(const char *word)
{
	size_t count, len = strlen(word);
	const struct verb *const *all = verbs(&count);
	for (size_t i = 0; i < count; i++)
		if (!strncmp(all[i]->path, word, len) && all[i]->path[len] == ' ')
			return true;
	return false;
}

/* --help before `--` asks for help wherever it stands. */
static bool wants_help(char **argv)
{
	for (; *argv && strcmp(*argv, "--"); argv++)
		if (!strcmp(*argv, "--help"))
			return true;
	return false;
}

static int run_verb(char **argv)
{
	struct err e = ERR_NONE;
	struct call call;
	int words;
	const struct verb *v = verb_find(argv, &words, &e);
	if (!v)
		return fail(EXIT_REFUSED, &e);
	if (wants_help(argv + words)) {
		help_verb(stdout, v);
		return EXIT_OK;
	}
	if (call_parse(&call, v, argv + words, &e))
		return fail(EXIT_REFUSED, &e);
	return v->run(&call);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		help_overview(stderr, NULL);
		return EXIT_REFUSED;
	}
	if (!strcmp(argv[1], "--help")) {
		help_overview(stdout, NULL);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("agent6 " AGENT6_VERSION);
		return EXIT_OK;
	}
	if (argc == 3 && !strcmp(argv[2], "--help") && is_group(argv[1])) {
		help_overview(stdout, argv[1]);
		return EXIT_OK;
	}
	return run_verb(argv + 1);
}
