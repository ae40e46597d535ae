/*
 * agent6-jail: runs one command in a jail. Below is the order of confinement; each step is a file
 * that opens with the attack it stops. A step that fails ends the jail with its name.
 */
#include "base/io.h"
#include "base/num.h"
#include "jail/cgroup.h"
#include "jail/hardened.h"
#include "jail/idmap.h"
#include "jail/jail.h"
#include "jail/serve.h"
#include "jail/supervise.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static int layout_prepare(struct jail *j, struct err *e)
{
	return layout_init(&j->layout, &j->policy, e);
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
	{"identity", namespaces_become},
	{"namespaces", namespaces_limit},
	{"network", network_prepare},
	{"grants", grants_open},
	{"root", rootfs_build},
	{"root", rootfs_enter},
	{"privileges", privileges_drop},
	{"reaper", reaper_run},
	{NULL, NULL},
};

static const struct step strict_command[] = {
	{"session", session_apply},
	{"landlock", landlock_apply},
	{"cwd", command_check},
	{"descriptors", command_close},
	{"seccomp", seccomp_apply},
	{"require", command_require},
	{"order", serve_take},
	{"limits", limits_apply}, /* after the last allocation: sanitizers need room for those */
	{"execute", command_execute},
	{NULL, NULL},
};

static const struct step hardened_launcher[] = {
	{"privileges", privileges_fix},
	{"landlock", landlock_ask},
	{"layout", layout_prepare},
	{"hardened", hardened_prepare},
	{"start", hardened_start},
	{NULL, NULL},
};

static const struct step hardened_command[] = {
	{"identity", hardened_become},
	{"limits", limits_count},
	{"session", session_apply},
	{"landlock", landlock_apply},
	{"cwd", command_check},
	{"privileges", privileges_drop},
	{"descriptors", command_close},
	{"seccomp", seccomp_apply},
	{"require", command_require},
	{"limits", limits_apply}, /* after the last allocation: sanitizers need room for those */
	{"execute", command_execute},
	{NULL, NULL},
};

int jail_steps(struct jail *j, const struct step *steps)
{
	for (; steps->stage; steps++) {
		struct err e = ERR_NONE;
		if (steps->run(j, &e))
			return report_fail(j->report, steps->stage, &e);
	}
	return 0;
}

int jail_start(struct jail *j)
{
	bool strict = j->policy.profile == PROFILE_STRICT;
	struct layers *layers = &j->report->layers;
	layers->profile = strict ? "strict" : "hardened";
	layers->uid = j->as_root ? "mapped" : "same";
	layers->reaper = strict;
	layers->memory = layers->processes = "rlimit";
	j->command = strict ? strict_command : hardened_command;
	int failed = jail_steps(j, strict ? strict_launcher : hardened_launcher);
	if (!failed && !j->child) /* only the strict profile returns in the child */
		_exit(jail_steps(j, strict_inside) ? 125 : 0);
	prctl(PR_SET_DUMPABLE, 0);
	if (j->child > 0 && failed)
		kill(j->child, SIGKILL);
	return failed;
}

void jail_wait(struct jail *j, struct outcome *out)
{
	struct err e = ERR_NONE;
	if (j->child > 0 && supervise_wait(j, out, &e)) {
		report_fail(j->report, "wait", &e);
		if (j->child > 0) /* nothing bounds its time any more */
			kill(j->child, SIGKILL);
	}
}

void jail_clean(struct jail *j)
{
	supervise_collect(j, NULL);
	cgroup_leave(j);
	hardened_clean(j);
	layout_done(&j->layout);
}

struct options {
	const char *policy_file;
	int policy_fd, status_fd, socket_fd;
};

static int parse_options(int argc, char **argv, struct options *o, struct err *e)
{
	static const char usage[] =
		"usage: agent6-jail [serve --socket-fd N] [--policy FILE | --policy-fd N] "
		"[--status-fd N]";
	*o = (struct options){.policy_fd = -1, .status_fd = -1, .socket_fd = -1};
	bool serve = argc > 1 && !strcmp(argv[1], "serve");
	for (int i = 1 + serve; i < argc; i += 2) {
		int64_t number = -1;
		bool numeric = argv[i + 1] && !num_int(argv[i + 1], strlen(argv[i + 1]), &number) &&
			       number >= 0 && number <= 1 << 20 && fcntl((int)number, F_GETFD) >= 0;
		if (!strcmp(argv[i], "--policy") && argv[i + 1])
			o->policy_file = argv[i + 1];
		else if (!strcmp(argv[i], "--policy-fd") && numeric)
			o->policy_fd = (int)number;
		else if (!strcmp(argv[i], "--status-fd") && numeric)
			o->status_fd = (int)number;
		else if (!strcmp(argv[i], "--socket-fd") && numeric)
			o->socket_fd = (int)number;
		else
			return err_set(e, "%s (at %s)", usage, argv[i]);
	}
	if ((o->policy_file && o->policy_fd >= 0) || serve != (o->socket_fd >= 0))
		return err_set(e, "%s", usage);
	return 0;
}

static int read_policy(const struct options *o, struct policy *p, struct err *e)
{
	AUTO_BUF b;
	AUTO_FD int file = -1;
	buf_init(&b, POLICY_BYTES_MAX);
	if (o->policy_file && (file = open(o->policy_file, O_RDONLY | O_CLOEXEC)) < 0)
		return err_errno(e, "cannot open %s", o->policy_file);
	int fd = file >= 0 ? file : o->policy_fd >= 0 ? o->policy_fd : 0;
	if (io_read_all(fd, &b, "the policy", e) || policy_decode(b.data, b.len, p, e))
		return -1;
	if (p->proxy_fd >= 0 && fcntl(p->proxy_fd, F_GETFD) < 0)
		return err_errno(e, "\"proxy_fd\" %d", p->proxy_fd);
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
	struct options o;
	struct err e = ERR_NONE;
	struct outcome out = {0};
	struct jail j = {.report = report_new(),
		.as_root = idmap_root() == ROOT_HOST,
		.alive_fd = -1,
		.order_fd = -1,
		.group_fd = -1,
		.ready_fd = -1,
		.root_fd = -1,
		.child = -1,
		.child_pidfd = -1};
	settle();
	if (!j.report)
		return 125;
	j.host_uid = j.as_root ? HOST_ID : geteuid();
	j.host_gid = j.as_root ? HOST_ID : getegid();
	if (parse_options(argc, argv, &o, &e) || read_policy(&o, &j.policy, &e))
		report_fail(j.report, "policy", &e);
	else if (o.socket_fd >= 0 && serve_run(&j, o.socket_fd, &e))
		report_fail(j.report, "serve", &e);
	else if (o.socket_fd >= 0)
		_exit(0);
	else {
		jail_start(&j);
		jail_wait(&j, &out);
	}
	int code = supervise_exit(&j, &out);
	if (supervise_tell(&j, &out, o.status_fd))
		code = 125;
	/* PID 1 executes nothing any more; the kernel ends it without anybody waiting. */
	if (j.group_count || j.temp_dir)
		jail_clean(&j);
	_exit(code);
}
