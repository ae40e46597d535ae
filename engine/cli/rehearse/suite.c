#include "cli/rehearse/suite.h"

#include "base/io.h"
#include "base/json.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 2, VERDICT_BYTES_MAX = 16 * 1024 * 1024 };

/* A process that performs a case, and the pipe from which its verdict comes. */
struct performer {
	pid_t pid; /* 0: none */
	int fd;
	size_t item;
	struct buf text;
};

struct suite {
	const struct call *call;
	const struct loaded *loaded;
	const struct cases *cases;
	struct performer performers[AT_ONCE];
	struct case_result *verdicts; /* by case */
	bool *known;
	size_t next, told;
	int asked_fd; /* reads the signals that ask this process to end; owned */
	int asked;    /* one that came; 0: none */
};

/* --- in the process of a case ----------------------------------------------------------------- */

static void send_verdict(int fd, const struct case_result *verdict)
{
	json_auto_t *value = json_pack("{s:b, s:i, s:s, s:O, s:O, s:I, s:I}", "refused",
		verdict->refused, "exit_code", verdict->exit_code, "reason", verdict->reason,
		"differences", verdict->differences, "visits", verdict->visits, "ms",
		(json_int_t)verdict->ms, "recorded", (json_int_t)verdict->recorded);
	AUTO_FREE char *text = value ? json_text(value) : NULL;
	if (text)
		io_write(fd, text, strlen(text));
}

static void perform_alone(const struct suite *suite, size_t item, int fd)
{
	struct performance performance = {
		.call = suite->call, .loaded = suite->loaded, .item = &suite->cases->items[item]};
	struct case_result verdict;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	perform(&performance, &verdict);
	send_verdict(fd, &verdict);
	verdict_done(&verdict);
}

/* --- in this process -------------------------------------------------------------------------- */

static int start_one(struct suite *suite, struct performer *performer, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	fflush(NULL);
	performer->pid = fork();
	if (!performer->pid) {
		close(ends[0]);
		perform_alone(suite, suite->next, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (performer->pid < 0) {
		performer->pid = 0;
		close(ends[0]);
		return err_errno(e, "cannot start a process for a case");
	}
	performer->fd = ends[0];
	performer->item = suite->next++;
	buf_init(&performer->text, VERDICT_BYTES_MAX);
	return 0;
}

static int read_verdict(const struct buf *text, struct case_result *out, struct err *e)
{
	json_auto_t *value = json_read(text->data, text->len, VERDICT_BYTES_MAX, e);
	json_t *differences = json_object_get(value, "differences");
	json_t *visits = json_object_get(value, "visits");
	if (!json_is_array(differences) || !json_is_object(visits))
		return -1;
	*out = (struct case_result){.refused = json_is_true(json_object_get(value, "refused")),
		.exit_code = (int)json_get_int(value, "exit_code"),
		.differences = json_incref(differences),
		.visits = json_incref(visits),
		.recorded = (size_t)json_get_int(value, "recorded"),
		.ms = json_get_int(value, "ms")};
	snprintf(out->reason, sizeof(out->reason), "%s", json_get_text(value, "reason"));
	return 0;
}

/* Takes what a process has written. Returns 1 when that was all. */
static int take_more(struct performer *performer)
{
	char bytes[64 * 1024];
	ssize_t got = read(performer->fd, bytes, sizeof(bytes));
	if (got < 0 && errno == EINTR)
		return 0;
	if (got > 0)
		buf_add(&performer->text, bytes, (size_t)got);
	return got <= 0;
}

static int end_one(struct suite *suite, struct performer *performer, struct err *e)
{
	struct case_result *verdict = &suite->verdicts[performer->item];
	int status = 0;
	while (waitpid(performer->pid, &status, 0) < 0 && errno == EINTR)
		;
	own_close(&performer->fd);
	performer->pid = 0;
	int failed = status || performer->text.failed || !performer->text.len ||
		     read_verdict(&performer->text, verdict, e);
	buf_done(&performer->text);
	suite->known[performer->item] = !failed;
	return failed ? err_set(e, "the process of the case %s ended before its verdict",
				suite->cases->items[performer->item].name)
		      : 0;
}

static int wait_for_some(struct suite *suite, struct err *e)
{
	struct pollfd wanted[AT_ONCE + 1];
	struct signalfd_siginfo asked;
	for (size_t i = 0; i < AT_ONCE; i++)
		wanted[i] = (struct pollfd){
			.fd = suite->performers[i].pid ? suite->performers[i].fd : -1,
			.events = POLLIN};
	wanted[AT_ONCE] = (struct pollfd){.fd = suite->asked_fd, .events = POLLIN};
	if (poll(wanted, AT_ONCE + 1, -1) < 0)
		return errno == EINTR ? 0 : err_errno(e, "cannot wait for the cases");
	if (wanted[AT_ONCE].revents &&
		read(suite->asked_fd, &asked, sizeof(asked)) == sizeof(asked)) {
		suite->asked = (int)asked.ssi_signo;
		return err_set(e, "interrupted");
	}
	for (size_t i = 0; i < AT_ONCE; i++)
		if (wanted[i].revents && take_more(&suite->performers[i]) &&
			end_one(suite, &suite->performers[i], e))
			return -1;
	return 0;
}

static void tell_known(struct suite *suite, suite_tell *tell, void *ctx)
{
	for (; suite->told < suite->cases->count && suite->known[suite->told]; suite->told++)
		tell(ctx, &suite->cases->items[suite->told], &suite->verdicts[suite->told]);
}

/* Ends the processes that still run; they take their stages down. The first signal would let a
 * state end by itself, the second does not. */
static void stop_all(struct suite *suite)
{
	for (size_t i = 0; i < AT_ONCE; i++)
		if (suite->performers[i].pid) {
			kill(suite->performers[i].pid, SIGINT);
			kill(suite->performers[i].pid, SIGTERM);
		}
	for (size_t i = 0; i < AT_ONCE; i++) {
		struct performer *performer = &suite->performers[i];
		if (!performer->pid)
			continue;
		while (waitpid(performer->pid, NULL, 0) < 0 && errno == EINTR)
			;
		own_close(&performer->fd);
		buf_done(&performer->text);
	}
}

static int run_all(struct suite *suite, suite_tell *tell, void *ctx, struct err *e)
{
	while (suite->told < suite->cases->count) {
		for (size_t i = 0; i < AT_ONCE && suite->next < suite->cases->count; i++)
			if (!suite->performers[i].pid && start_one(suite, &suite->performers[i], e))
				return -1;
		if (wait_for_some(suite, e))
			return -1;
		tell_known(suite, tell, ctx);
	}
	return 0;
}

int suite_run(const struct call *call, const struct loaded *loaded, const struct cases *cases,
	suite_tell *tell, void *ctx, struct err *e)
{
	struct suite suite = {.call = call, .loaded = loaded, .cases = cases};
	sigset_t blocked, before;
	/* The processes inherit this: one that has not begun its run yet would else be ended by a
	 * signal, and leave its stage. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	suite.asked_fd = signalfd(-1, &blocked, SFD_CLOEXEC);
	suite.verdicts = calloc(cases->count + 1, sizeof(*suite.verdicts));
	suite.known = calloc(cases->count + 1, sizeof(*suite.known));
	int failed = suite.verdicts && suite.known && suite.asked_fd >= 0
			     ? run_all(&suite, tell, ctx, e)
			     : err_set(e, "out of memory");
	stop_all(&suite);
	own_close(&suite.asked_fd);
	for (size_t i = 0; suite.verdicts && i < cases->count; i++)
		verdict_done(&suite.verdicts[i]);
	free(suite.verdicts);
	free(suite.known);
	if (suite.asked)
		raise(suite.asked);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return failed;
}
