#include "tests/security/attacks/decoy_run.h"

#include "base/own.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>

static json_t *environment(const struct decoy *d)
{
	json_t *env = json_object();
	for (size_t i = 0; i < d->told_count; i++)
		json_object_set_new(env, d->told[i].name, json_string(d->told[i].value));
	json_object_set_new(env, "ATTACK_FIRST", json_string("1"));
	return env;
}

void decoy_run_policy(const struct decoy *d, const char *id, const char *profile)
{
	json_auto_t *policy = json_pack("{s:i, s:s, s:[s,s], s:s, s:o, s:{s:s,s:s}, s:[s,s], s:s, "
					"s:i, s:b, s:s, s:{s:i,s:i,s:i,s:i}}",
		"version", 1, "profile", profile, "argv", d->attack, id, "cwd", d->workspace, "env",
		environment(d), "workspace", "path", d->workspace, "access", "write", "protect",
		d->git, d->nested_git, "bundle", d->bundle, "timeout_secs", DECOY_RUN_SECS,
		"allow_root_jail", !strcmp(profile, "hardened"), "aside", d->aside, "limits",
		"processes", 64, "open_files", 64, "file_mb", 16, "memory_mb", 128);
	if (!policy || json_dump_file(policy, d->policy, 0))
		bail("cannot write the policy");
}

void decoy_run_prepare(const struct decoy *d)
{
	if (geteuid() == 0) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(251);
	}
	int quiet = open("/dev/null", O_WRONLY);
	int leak = open(d->outside, O_RDONLY | O_DIRECTORY);
	if (dup2(d->terminal, 0) < 0 || dup2(leak, 50) < 0)
		_exit(251);
	if (!getenv("VERBOSE"))
		dup2(quiet, 2);
	if (decoy_become(d) || chdir(d->workspace))
		_exit(251);
	setenv("SECRET_OF_THE_CALLER", "leaked", 1);
}

int decoy_run_outside(const struct decoy *d, const char *id)
{
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(d);
		for (size_t i = 0; i < d->told_count; i++)
			setenv(d->told[i].name, d->told[i].value, 1);
		setenv("ATTACK_FIRST", getenv("ATTACK_VICTIM"), 1);
		execl(d->attack, d->attack, id, NULL);
		_exit(252);
	}
	return decoy_wait(pid, DECOY_RUN_SECS);
}

int decoy_run_inside(const struct decoy *d, const char *id, const char *profile)
{
	decoy_run_policy(d, id, profile);
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(d);
		execl(d->jail, "agent6-jail", "--policy", d->policy, NULL);
		_exit(252);
	}
	return decoy_wait(pid, DECOY_RUN_SECS + 10);
}

/* bubblewrap sets no limits of its own: it is given those of the policy, that of processes inside,
 * where its user's others do not count. */
static void set_limits(void)
{
	static const struct {
		__rlimit_resource_t what;
		rlim_t value;
	} limits[] = {{RLIMIT_CORE, 1}, {RLIMIT_DATA, 128 << 20}, {RLIMIT_FSIZE, 16 << 20},
		{RLIMIT_NOFILE, 64}};
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		setrlimit(limits[i].what, &(struct rlimit){limits[i].value, limits[i].value});
}

int decoy_run_bubblewrap(const struct decoy *d, const char *id)
{
	char *const fixed[] = {"bwrap", "--unshare-all", "--unshare-user", "--disable-userns",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid",
		"1000", "--hostname", "jail", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin",
		"/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib",
		"--symlink", "usr/lib64", "/lib64", "--dir", "/etc", "--proc", "/proc", "--dev",
		"/dev", "--tmpfs", "/tmp", "--bind", d->workspace, d->workspace, "--ro-bind",
		d->git, d->git, "--ro-bind", d->nested_git, d->nested_git, "--ro-bind", d->bundle,
		d->bundle, "--chdir", d->workspace, "--clearenv", "--setenv", "ATTACK_FIRST", "1"};
	char *argv[ARRAY_LEN(fixed) + 3 * DECOY_TOLD_MAX + 5];
	size_t count = ARRAY_LEN(fixed);
	memcpy(argv, fixed, sizeof(fixed));
	for (size_t i = 0; i < d->told_count; i++) {
		argv[count++] = "--setenv";
		argv[count++] = d->told[i].name;
		argv[count++] = d->told[i].value;
	}
	argv[count++] = "prlimit";
	argv[count++] = "--nproc=64";
	argv[count++] = d->attack;
	argv[count++] = (char *)(uintptr_t)id;
	argv[count] = NULL;
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(d);
		set_limits();
		execvp("bwrap", argv);
		_exit(252);
	}
	return decoy_wait(pid, DECOY_RUN_SECS);
}
