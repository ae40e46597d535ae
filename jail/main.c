/*
 * agent6-jail: runs one command in a jail. Below is the order of confinement; each step is a file
 * that opens with the attack it stops. A step that fails ends the jail with its name.
 */
#include "base/io.h"
#include "base/num.h"
#include "jail/jail.h"
#include <signal.h>

static int layout_prepare(struct jail *j, struct err *e)
{
	return layout_init(&j->layout, &j->policy, !seccomp_closes_unix(j), e);
}

static const struct step strict_launcher[] = {
	{"privileges", privileges_fix},
	{"landlock", landlock_ask},
	{"layout", layout_prepare},
	{"grants", grants_open_as_root},
	{"cgroup", cgroup_prepare},
	{"namespaces", namespaces_enter},
	{NULL, NULL},
};

static const struct step strict_inside[] = {
	{"network", network_begin},
	{"identity", namespaces_become},
	{"grants", grants_open},
	{"root", rootfs_build},
	{"namespaces", namespaces_limit},
	{"root", rootfs_enter},
	{"network", network_enter},
	{"privileges", privileges_drop},
	{"reaper", reaper_run},
	{NULL, NULL},
};

static const struct step strict_command[] = {
	{"session", session_apply},
	{"landlock", landlock_apply},
	{"cwd", command_check},
	{NULL, NULL},
};

static const struct step hardened_launcher[] = {
	{"privileges", privileges_fix},
	{"landlock", landlock_ask},
	{"layout", layout_prepare},
	{"hardened", hardened_prepare},
	{"start", hardened_start},
	{"limits", limits_count},
	{NULL, NULL},
};

static const struct step hardened_command[] = {
	{"identity", hardened_become},
	{"session", session_apply},
	{"landlock", landlock_apply},
	{"cwd", command_check},
	{"privileges", privileges_drop},
	{NULL, NULL},
};

/* What remains is the same for both. */
static const struct step any_command[] = {
	{"descriptors", command_close},
	{"seccomp", seccomp_apply},
	{"require", command_require},
	{"order", serve_take},
	{"arguments", command_arguments},
	{"limits", limits_apply}, /* after the last allocation: sanitizers need room for those */
	{"order", serve_begin},
	{"execute", command_execute},
	{NULL, NULL},
};

static int run(struct jail *j, const struct step *steps)
{
	for (; steps->stage; steps++) {
		struct err e = ERR_NONE;
		if (steps->run(j, &e))
			return report_fail(j->report, steps->stage, &e);
	}
	return 0;
}

int jail_command(struct jail *j)
{
	if (!run(j, j->strict ? strict_command : hardened_command))
		run(j, any_command);
	return 125;
}

void jail_start(struct jail *j)
{
	struct layers *layers = &j->report->layers;
	layers->profile = j->strict ? "strict" : "hardened";
	layers->uid = j->root == ROOT_HOST ? "mapped" : "same";
	layers->reaper = j->strict;
	layers->memory = layers->processes = "rlimit";
	int failed = run(j, j->strict ? strict_launcher : hardened_launcher);
	if (!failed && !j->child) { /* only the strict profile returns in the child */
		run(j, strict_inside);
		_exit(125);
	}
	prctl(PR_SET_DUMPABLE, 0);
	if (j->child > 0 && failed)
		kill(j->child, SIGKILL);
}

enum { POLICY_FD, STATUS_FD, SOCKET_FD, FDS };
static const char *const options[FDS] = {"--policy-fd", "--status-fd", "--socket-fd"};

static int parse_options(int argc, char **argv, int fds[FDS], struct err *e)
{
	static const char usage[] =
		"usage: agent6-jail [serve --socket-fd N] [--policy FILE | --policy-fd N] "
		"[--status-fd N]";
	bool serve = argc > 1 && !strcmp(argv[1], "serve");
	for (int i = 1 + serve; i < argc; i += 2) {
		const char *value = argv[i + 1] ? argv[i + 1] : "";
		bool file = !strcmp(argv[i], "--policy");
		int64_t fd = file ? open(value, O_RDONLY | O_CLOEXEC) : -1;
		size_t n = 0;
		while (!file && n < FDS && strcmp(argv[i], options[n]) != 0)
			n++;
		if (file && fd < 0)
			return err_errno(e, "cannot open %s", value);
		if (n == FDS || fds[n] >= 0 || (!file && num_int(value, strlen(value), &fd)) ||
			fd < 0 || fd > 1 << 20 || fcntl((int)fd, F_GETFD) < 0)
			return err_set(e, "%s (at %s)", usage, argv[i]);
		fds[n] = (int)fd;
	}
	return serve == (fds[SOCKET_FD] >= 0) ? 0 : err_set(e, "%s", usage);
}

static int read_policy(int fd, struct policy *p, struct err *e)
{
	AUTO_BUF b;
	buf_init(&b, POLICY_BYTES_MAX);
	if (io_read_all(fd < 0 ? 0 : fd, &b, "the policy", e) || policy_decode(b.data, b.len, p, e))
		return -1;
	if (p->proxy_fd >= 0 && fcntl((int)p->proxy_fd, F_GETFD) < 0)
		return err_errno(e, "\"proxy_fd\" %d", (int)p->proxy_fd);
	return 0;
}

static void settle(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	umask(077);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int argc, char **argv)
{
	static struct jail j = {.alive_fd = -1,
		.life_fd = -1,
		.order_fd = -1,
		.group_fd = -1,
		.root_fd = -1,
		.child = -1,
		.child_pidfd = -1};
	int fds[FDS] = {-1, -1, -1};
	struct err e = ERR_NONE;
	settle();
	/* The names are the operator's: nobody's collisions. The default would read a file. */
	json_object_seed(1);
	j.report = report_new();
	if (!j.report)
		return 125;
	j.root = idmap_root();
	j.host_uid = j.root == ROOT_HOST ? HOST_ID : geteuid();
	j.host_gid = j.root == ROOT_HOST ? HOST_ID : getegid();
	if (parse_options(argc, argv, fds, &e) || read_policy(fds[POLICY_FD], &j.policy, &e))
		report_fail(j.report, "policy", &e);
	j.strict = j.policy.profile == PROFILE_STRICT;
	if (!j.report->stage && fds[SOCKET_FD] >= 0) {
		if (!serve_run(&j, fds[SOCKET_FD], &e))
			_exit(0);
		report_fail(j.report, "serve", &e);
	} else if (!j.report->stage) {
		jail_start(&j);
	}
	int code = supervise(&j, fds[STATUS_FD]);
	/* PID 1 executes nothing any more; the kernel ends it without anybody waiting. */
	if (j.group_count || j.temp_dir)
		supervise_clean(&j);
	_exit(code);
}
