#include "tests/security/attacks/decoy_run.h"

#include "base/cleanup.h"
#include "tests/kit/tap.h"
#include "tests/security/attacks/decoy_layout.h"
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>

static json_t *environment(const struct decoy *decoy)
{
	json_t *env = json_object();
	for (size_t i = 0; i < decoy->told_count; i++)
		json_object_set_new(env, decoy->told[i].name, json_string(decoy->told[i].value));
	json_object_set_new(env, "ATTACK_FIRST", json_string("1"));
	return env;
}

static bool has_terminals(const char *id)
{
	return !strncmp(id, "pty_", strlen("pty_"));
}

void decoy_run_policy(const struct decoy *decoy, const char *id, const char *profile)
{
	json_auto_t *policy = json_pack("{s:i, s:s, s:[s,s], s:s, s:o, s:{s:s,s:s}, s:[s,s], s:s, "
					"s:i, s:b, s:s, s:{s:i,s:i,s:i,s:i}}",
		"version", 1, "profile", profile, "argv", decoy->attack, id, "cwd",
		decoy->workspace, "env", environment(decoy), "workspace", "path", decoy->workspace,
		"access", "write", "protect", decoy->git, decoy->nested_git, "bundle",
		decoy->bundle, "timeout_secs", DECOY_RUN_SECS, "allow_root_jail",
		!strcmp(profile, "hardened"), "aside", decoy->aside, "limits", "processes", 64,
		"open_files", 64, "file_mb", 16, "memory_mb", 128);
	if (has_terminals(id) && !strcmp(profile, "strict"))
		json_object_set_new(policy, "pty", json_true());
	if (decoy_layout_is_elsewhere(decoy)) {
		AUTO_FREE char *git = decoy_layout_git(decoy);
		json_object_set_new(policy, "read", json_pack("[s]", git));
	}
	if (!policy || json_dump_file(policy, decoy->policy, 0))
		bail("cannot write the policy");
}

/* The terminal as standard input, or only to write, as standard output. */
static int take_terminal(const struct decoy *decoy, const char *id)
{
	char path[64];
	if (!has_terminals(id))
		return dup2(decoy->terminal, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", decoy->terminal);
	return dup2(open("/dev/null", O_RDONLY), 0) |
	       dup2(open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), 1);
}

void decoy_run_prepare(const struct decoy *decoy, const char *id)
{
	if (geteuid() == 0) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(251);
	}
	int quiet = open("/dev/null", O_WRONLY);
	int leak = open(decoy->outside, O_RDONLY | O_DIRECTORY);
	if (take_terminal(decoy, id) < 0 || dup2(leak, 50) < 0)
		_exit(251);
	if (!getenv("VERBOSE"))
		dup2(quiet, 2);
	if (decoy_become(decoy) || chdir(decoy->workspace))
		_exit(251);
	setenv("SECRET_OF_THE_CALLER", "leaked", 1);
}

int decoy_run_outside(const struct decoy *decoy, const char *id)
{
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(decoy, id);
		for (size_t i = 0; i < decoy->told_count; i++)
			setenv(decoy->told[i].name, decoy->told[i].value, 1);
		setenv("ATTACK_FIRST", getenv("ATTACK_VICTIM"), 1);
		execl(decoy->attack, decoy->attack, id, NULL);
		_exit(252);
	}
	return decoy_wait(pid, DECOY_RUN_SECS);
}

int decoy_run_inside(const struct decoy *decoy, const char *id, const char *profile)
{
	decoy_run_policy(decoy, id, profile);
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(decoy, id);
		execl(decoy->jail, "agent6-jail", "--policy", decoy->policy, NULL);
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

int decoy_run_bubblewrap(const struct decoy *decoy, const char *id)
{
	char *const fixed[] = {"bwrap", "--unshare-all", "--unshare-user", "--disable-userns",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid",
		"1000", "--hostname", "jail", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin",
		"/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib",
		"--symlink", "usr/lib64", "/lib64", "--dir", "/etc", "--proc", "/proc", "--dev",
		"/dev", "--tmpfs", "/tmp", "--bind", decoy->workspace, decoy->workspace,
		"--ro-bind", decoy->git, decoy->git, "--ro-bind", decoy->nested_git,
		decoy->nested_git, "--ro-bind", decoy->bundle, decoy->bundle, "--chdir",
		decoy->workspace, "--clearenv", "--setenv", "ATTACK_FIRST", "1"};
	char *argv[ARRAY_LEN(fixed) + 3 * DECOY_TOLD_MAX + 5];
	size_t count = ARRAY_LEN(fixed);
	memcpy(argv, fixed, sizeof(fixed));
	for (size_t i = 0; i < decoy->told_count; i++) {
		argv[count++] = "--setenv";
		argv[count++] = decoy->told[i].name;
		argv[count++] = decoy->told[i].value;
	}
	argv[count++] = "prlimit";
	argv[count++] = "--nproc=64";
	argv[count++] = decoy->attack;
	argv[count++] = (char *)(uintptr_t)id;
	argv[count] = NULL;
	pid_t pid = fork();
	if (!pid) {
		decoy_run_prepare(decoy, id);
		set_limits();
		execvp("bwrap", argv);
		_exit(252);
	}
	return decoy_wait(pid, DECOY_RUN_SECS);
}
