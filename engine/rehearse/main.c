/*
 * agent6-cassette: a model provider on the loopback interface that answers from cassettes.
 *
 * Writes "PORT\n" to the ready descriptor and serves until its standard input ends.
 */
#include "base/exit.h"
#include "base/io.h"
#include "base/num.h"
#include "rehearse/listen.h"
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

enum { POSITIONS_BYTES_MAX = 64 * 1024 * 1024 };

struct rehearse_options {
	struct player player;
	int ready_fd;
};

static int parse_fd(const char *name, const char *text, int *fd, struct err *e)
{
	int64_t number;
	if (num_int(text, strlen(text), &number) || number < 0 || number > 1023 ||
		fcntl((int)number, F_GETFD) < 0)
		return err_set(e, "%s takes an open descriptor, not '%s'", name, text);
	*fd = (int)number;
	return 0;
}

static int open_positions(struct player *player, const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	player->positions_fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (player->positions_fd < 0)
		return err_errno(e, "cannot open %s", path);
	return io_read_file(AT_FDCWD, path, POSITIONS_BYTES_MAX, &text, &len, e)
		       ? -1
		       : player_resume(player, text, e);
}

static const struct {
	char key;
	const char *name, *value, *summary;
} lines[] = {{'c', "cassette", "FILE", "the recording to answer from; may be given more than once"},
	{'r', "ready-fd", "N", "where \"PORT\\n\" goes once it can be asked; needed"},
	{'e', "report-fd", "N", "where what did not match goes, as JSON lines"},
	{'p', "positions", "FILE", "a file that keeps how far it came, to go on from there"},
	{'h', "help", NULL, "print this and exit"}};

static int print_help(void)
{
	puts("usage: agent6-cassette OPTION...\n\n"
	     "A model provider on the loopback interface that answers from recordings,\n"
	     "until its standard input ends.\n");
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		printf("  --%-*s %-4s  %s\n", 10, lines[i].name,
			lines[i].value ? lines[i].value : "", lines[i].summary);
	return fflush(stdout) ? EXIT_FAILED : EXIT_OK;
}

static int parse_arguments(int argc, char **argv, struct rehearse_options *setup, struct err *e)
{
	struct option options[ARRAY_LEN(lines) + 1] = {0};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		options[i] = (struct option){lines[i].name,
			lines[i].value ? required_argument : no_argument, NULL, lines[i].key};
	const char *positions = NULL;
	int option, failed = 0;
	while (!failed && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'c')
			failed = cassette_read(&setup->player.cassette, optarg, e);
		else if (option == 'r')
			failed = parse_fd("--ready-fd", optarg, &setup->ready_fd, e);
		else if (option == 'e')
			failed = parse_fd("--report-fd", optarg, &setup->player.report_fd, e);
		else if (option == 'p')
			positions = optarg;
		else if (option == 'h')
			exit(print_help());
		else
			failed = err_set(e, "agent6-cassette --help lists the options");
	}
	if (failed)
		return -1;
	if (setup->ready_fd < 0 || optind < argc)
		return err_set(e, "--ready-fd is needed, and nothing but options is taken");
	return positions ? open_positions(&setup->player, positions, e) : 0;
}

static int serve(struct rehearse_options *setup, struct err *e)
{
	char text[16];
	int port;
	AUTO_FD int listener = listen_loopback(&port, e);
	if (listener < 0)
		return -1;
	snprintf(text, sizeof(text), "%d\n", port);
	if (io_write(setup->ready_fd, text, strlen(text)))
		return err_errno(e, "cannot tell the port");
	own_close(&setup->ready_fd);
	return listen_run(listener, STDIN_FILENO, &setup->player, e);
}

int main(int argc, char **argv)
{
	struct rehearse_options s = {
		.player = {.report_fd = -1, .positions_fd = -1}, .ready_fd = -1};
	struct err e = ERR_NONE;
	signal(SIGPIPE, SIG_IGN);
	int failed = parse_arguments(argc, argv, &s, &e) || serve(&s, &e);
	if (failed)
		fprintf(stderr, "agent6-cassette: %s\n", e.text);
	else
		player_end(&s.player);
	cassette_done(&s.player.cassette);
	own_close(&s.player.positions_fd);
	return failed ? EXIT_REFUSED : EXIT_OK;
}
