/*
 * agent6-jail: runs one command in a jail. Below are the steps of confinement in order; each is in
 * a file that opens with the attack it stops. A step that fails ends the jail with its name.
 */
#include "base/io.h"
#include "base/num.h"
#include "jail/jail.h"

static int layout_prepare(struct jail *jail, struct err *e)
{
	return layout_init(&jail->layout, &jail->policy, repositories_scan(jail, true), e);
}

/* The profiles that a step is for. */
enum { STRICT = 1, HARDENED = 2, BOTH = 3 };

static const struct jail_step launcher[] = {
	{BOTH, "privileges", privileges_fix},
	{BOTH, "landlock", landlock_ask},
	{STRICT, "placeholder", placeholder_hold},
	{BOTH, "layout", layout_prepare},
	{STRICT, "cgroup", cgroup_prepare},
	{STRICT, "grants", grants_open_as_root},
	{STRICT, "namespaces", namespaces_enter},
	{HARDENED, "hardened", hardened_prepare},
	{HARDENED, "cgroup", cgroup_prepare},
	{HARDENED, "landlock", landlock_allow},
	{HARDENED, "limits", limits_count},
	{HARDENED, "start", hardened_start},
	{0, NULL, NULL},
};

static const struct jail_step inside[] = {
	{STRICT, "reaper", reaper_begin},
	{STRICT, "network", network_begin},
	{STRICT, "identity", namespaces_become},
	{STRICT, "grants", grants_open},
	{STRICT, "root", rootfs_build},
	{STRICT, "namespaces", namespaces_limit},
	{STRICT, "root", rootfs_enter},
	{STRICT, "landlock", landlock_allow},
	{STRICT, "network", network_enter},
	{STRICT, "privileges", privileges_drop},
	{STRICT, "reaper", reaper_run},
	{0, NULL, NULL},
};

static const struct jail_step command[] = {
	{HARDENED, "identity", hardened_become},
	{BOTH, "session", session_apply},
	{BOTH, "cwd", command_check},
	{HARDENED, "privileges", privileges_drop},
	{BOTH, "landlock", landlock_apply},
	{BOTH, "descriptors", command_close},
	{BOTH, "seccomp", seccomp_apply},
	{BOTH, "require", report_require},
	{BOTH, "order", serve_take},
	{BOTH, "descriptors", command_stdio},
	{BOTH, "arguments", command_arguments},
	/* Comes after the last allocation, since sanitizers need memory for those. */
	{BOTH, "limits", limits_apply},
	{BOTH, "order", serve_begin},
	{BOTH, "execute", command_execute},
	{0, NULL, NULL},
};

static int run(struct jail *jail, const struct jail_step *steps)
{
	for (; steps->stage; steps++) {
		struct err e = ERR_NONE;
		if ((steps->profiles & (jail->strict ? STRICT : HARDENED)) && steps->run(jail, &e))
			return jail_report_fail(jail->report, steps->stage, &e);
	}
	return 0;
}

int jail_inside(void *jail)
{
	if (run(jail, inside))
		network_explain(jail);
	return 125;
}

int jail_command(void *jail)
{
	run(jail, command);
	return 125;
}

void jail_start(struct jail *jail)
{
	struct layers *layers = &jail->report->layers;
	layers->profile = jail->strict ? "strict" : "hardened";
	layers->uid = jail->root == ROOT_HOST ? "mapped" : "same";
	layers->reaper = true;
	layers->memory = layers->processes = "rlimit";
	int failed = run(jail, launcher);
	prctl(PR_SET_DUMPABLE, LAYER_ON("dumpable") ? 0 : 1); /* in memory that PID 1 has, too */
	idmap_collect();                                      /* the jail now continues by itself */
	if (jail->child > 0 && failed)
		kill(jail->child, SIGKILL);
}

enum { POLICY_FD, STATUS_FD, SOCKET_FD, FDS };
static const char *const options[FDS] = {"--policy-fd", "--status-fd", "--socket-fd"};

static int parse_options(int argc, char **argv, int fds[FDS], struct err *e)
{
	static const char usage[] =
		"usage: agent6-jail [serve --socket-fd N] [--policy FILE | --policy-fd N] "
		"[--status-fd N], each value a word of its own";
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
			return err_set(e, "%s is not taken; %s", argv[i], usage);
		fds[n] = (int)fd;
	}
	return serve == (fds[SOCKET_FD] >= 0) ? 0 : err_set(e, "%s", usage);
}

/* Fills the standard descriptors, so that no opened or received file gets one of their numbers. */
static int fill_standard(struct err *e)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_errno(e, "cannot fill descriptor %d", fd);
	return 0;
}

/* Reads the policy, and closes it: on standard input, the command could read it again. */
static int read_policy(int fd, struct policy *policy, struct err *e)
{
	AUTO_BUF b;
	buf_init(&b, POLICY_BYTES_MAX);
	fd = fd < 0 ? STDIN_FILENO : fd;
	if (io_read_all(fd, &b, "the policy", e) || policy_decode(b.data, b.len, policy, e))
		return -1;
	close(fd);
	if (fill_standard(e))
		return -1;
	if (policy->proxy_fd >= 0 && fcntl((int)policy->proxy_fd, F_GETFD) < 0)
		return err_errno(e, "\"proxy_fd\" %d", (int)policy->proxy_fd);
	return 0;
}

static void reset_signals(void)
{
	/* For the kernel this is an empty mask and the default action. A C library would leave some
	 * signals as they were. */
	static const uint64_t nothing[4];
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing, NULL, sizeof(nothing[0]));
	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, nothing, NULL, sizeof(nothing[0]));
	umask(077);
}

int main(int argc, char **argv)
{
	static struct jail j; /* too large for the stack */
	int fds[FDS] = {-1, -1, -1};
	struct err e = ERR_NONE;
	/* Nobody but the operator chooses these names, so collisions do not matter. The default
	 * seed reads a file. */
	json_object_seed(1);
	j.report = jail_report_new();
	j.root = idmap_root();
	j.host_uid = j.root == ROOT_HOST ? HOST_ID : geteuid();
	j.host_gid = j.root == ROOT_HOST ? HOST_ID : getegid();
	j.parent_fd = j.asked_fd = j.children_fd = -1;
	j.alive_fd = j.first_fd = j.life_fd = j.order_fd = j.group_fd = j.ruleset_fd = -1;
	j.child = j.child_pidfd = j.placeholder_fd = -1;
	reset_signals();
	if (fill_standard(&e) || parse_options(argc, argv, fds, &e) ||
		read_policy(fds[POLICY_FD], &j.policy, &e))
		jail_report_fail(j.report, "policy", &e);
	j.strict = j.policy.profile == PROFILE_STRICT;
	if (!j.report->stage && LAYER_ON("lifeline") && lifeline_begin(&j, fds[SOCKET_FD] < 0, &e))
		jail_report_fail(j.report, "lifeline", &e);
	if (!j.report->stage && fds[SOCKET_FD] >= 0) {
		if (!serve_run(&j, fds[SOCKET_FD], &e))
			lifeline_end(&j, 0);
		jail_report_fail(j.report, "serve", &e);
	} else if (!j.report->stage) {
		jail_start(&j);
	}
	int code = supervise(&j, fds[STATUS_FD]);
	/* PID 1 executes nothing more; the kernel ends it without anybody waiting. */
	if (j.group_count || j.temp_dir)
		supervise_clean(&j);
	placeholder_leave(&j);
	lifeline_end(&j, code);
}
