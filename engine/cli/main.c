#include "cli/help.h"
#include "cli/verbs.h"
#include "launch/orphans.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Accepts the short spellings that everybody tries first; other options are long. */
static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Reports whether help is asked for: by --help anywhere before `--`, or by -h, which may be a
 * value, at the front. */
static bool wants_help(char **argv)
{
	if (*argv && is_help(*argv))
		return true;
	for (; *argv && strcmp(*argv, "--"); argv++)
		if (!strcmp(*argv, "--help"))
			return true;
	return false;
}

static bool is_version(const char *word)
{
	return !strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version");
}

/* Turns `help`, `help GROUP VERB` and `GROUP help VERB` into the words followed by --help. */
static void help_last(int argc, char **argv)
{
	static char help[] = "--help";
	int at = argc > 1 && !strcmp(argv[1], "help") ? 1 : 2;
	if (at >= argc || strcmp(argv[at], "help") != 0 || (at == 2 && !verbs_is_group(argv[1])))
		return;
	memmove(argv + at, argv + at + 1, (size_t)(argc - at - 1) * sizeof(*argv));
	argv[argc - 1] = help;
}

/* Opens closed standard descriptors: otherwise the next file opened would receive our output. The
 * stand-in cannot be written to, so that printing fails as it should. */
static bool hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return false;
	return true;
}

/* Reports whether the reader of our output has closed the pipe; then it has read enough. */
static bool reader_left(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Ends with an error if output was lost: half a report must not pass for a whole one. */
static int end(int code, bool acts)
{
	bool before = ferror(stdout);
	errno = 0;
	bool lost = fflush(stdout) || before;
	if (!lost || reader_left())
		return code;
	/* The reason of an earlier failed write is unknown. */
	fprintf(stderr, "agent6: not everything could be printed on standard output%s%s\n",
		errno ? ": " : "", errno ? strerror(errno) : "");
	return code == EXIT_OK && !acts ? EXIT_REFUSED : code;
}

/* Prints the help of a verb, and what the verb adds about arguments that it would accept. */
static void help_for(const struct verb *verb, char **argv)
{
	struct call call;
	struct err none = ERR_NONE;
	char **kept = argv;
	help_verb(stdout, verb);
	for (char **at = argv; *at; at++)
		if (strcmp(*at, "--help") != 0 && (at != argv || !is_help(*at)))
			*kept++ = *at;
	*kept = NULL;
	if (verb->explain && !call_parse(&call, verb, argv, &none))
		verb->explain(&call);
}

static int run_verb(char **argv)
{
	struct err e = ERR_NONE;
	struct call call;
	int words;
	const struct verb *v = verbs_find(argv, &words, &e);
	if (!v)
		return verb_fail(EXIT_REFUSED, &e);
	if (wants_help(argv + words)) {
		help_for(v, argv + words);
		return end(EXIT_OK, false);
	}
	if (call_parse(&call, v, argv + words, &e))
		return verb_fail(EXIT_REFUSED, &e);
	return end(v->run(&call), v->acts);
}

int main(int argc, char **argv)
{
	if (!hold_standard())
		return EXIT_REFUSED;
	signal(SIGPIPE, SIG_IGN);
	orphans_adopt();
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is then reported like a full disk */
	if (argc < 2) {
		help_overview(stderr, NULL);
		return EXIT_REFUSED;
	}
	help_last(argc, argv);
	if (is_help(argv[1])) {
		help_overview(stdout, NULL);
		return end(EXIT_OK, false);
	}
	if (is_version(argv[1])) {
		puts("agent6 " AGENT6_VERSION);
		return end(EXIT_OK, false);
	}
	if (argc == 3 && is_help(argv[2]) && verbs_is_group(argv[1])) {
		help_overview(stdout, argv[1]);
		return end(EXIT_OK, false);
	}
	return run_verb(argv + 1);
}
