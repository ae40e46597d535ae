/*
 * Prints everything that a command can find out about its own confinement, as lines that are the
 * same in every run: two jails that print the same are equally tight.
 */
#include "tests/security/attacks/attack.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void refusal(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerror(errno) : "works");
}

/* Prints only whether something is refused, since the layer that refuses it may differ. */
static void barred(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? "barred" : "works");
}

/* Lines of /proc/WHO/status that begin with one of the names. */
static void status_of(const char *who)
{
	static const char *const names[] = {
		"Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp", "Umask:"};
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%s/status", who);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(line, names[i], strlen(names[i])))
				printf("%s %s", who, line);
	if (!file)
		printf("%s: no status\n", who);
	else
		fclose(file);
}

/* PID 1 confines itself while the command starts. */
static void await_reaper(void)
{
	char text[4096];
	for (int tries = 0; tries < 500; tries++) {
		int fd = open("/proc/1/status", O_RDONLY);
		ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		close(fd);
		text[len] = '\0';
		if (!len || strstr(text, "Seccomp:\t2"))
			return;
		usleep(2000);
	}
}

/* Without what differs from run to run: numbers of mounts, peers and devices. */
static void mounts(void)
{
	char line[8192], at[4096], options[256];
	FILE *file = fopen("/proc/self/mountinfo", "r");
	while (file && fgets(line, sizeof(line), file)) {
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*d %*d %*s %*s %4095s %255s", at, options) != 2)
			continue;
		/* A read-only tree may keep its ids: it is seen as others see it. */
		char *mapped = strncmp(options, "ro,", 3) ? NULL : strstr(options, ",idmapped");
		if (mapped)
			*mapped = '\0';
		printf("mount %s %s%s%s%s", at, options, strstr(line, " shared:") ? " shared" : "",
			strstr(line, " master:") ? " slave" : "", rest);
	}
	if (file)
		fclose(file);
}

/* Prints the limits, except the number of processes if the kernel counts a user's together: then it
 * depends on others. */
static void limits(bool strict)
{
	for (int what = 0; what < 16; what++) {
		if (what == RLIMIT_NPROC && !strict)
			continue;
		struct rlimit limit = {0};
		getrlimit(what, &limit);
		printf("limit %d: %ld %ld\n", what, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
}

static void namespaces(void)
{
	static const char *const names[] = {"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64], key[16], at[64] = "";
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		snprintf(key, sizeof(key), "NS_%s", names[i]);
		if (readlink(path, at, sizeof(at) - 1) < 0)
			printf("namespace %s: unknown\n", names[i]);
		else
			printf("namespace %s: %s\n", names[i],
				strcmp(at, target(key)) != 0 ? "own" : "the host's");
	}
}

static void descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
}

static void own_state(void)
{
	char host[65] = "", at[4096] = "", count[16] = "";
	int signal_number = 0;
	struct ifreq lo = {.ifr_name = "lo"};
	gethostname(host, sizeof(host));
	prctl(PR_GET_PDEATHSIG, &signal_number);
	int fd = open("/proc/sys/user/max_user_namespaces", O_RDONLY);
	if (fd >= 0 && read(fd, count, sizeof(count) - 1) > 0)
		printf("user namespaces: %s", count);
	printf("session %s, securebits %x, personality %x, dies with %d, nice %d\n",
		getsid(0) == getpid() ? "own" : "another's", prctl(PR_GET_SECUREBITS),
		personality(0xffffffff), signal_number, getpriority(PRIO_PROCESS, 0));
	printf("host %s, directory %s\n", host, getcwd(at, sizeof(at)));
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	printf("lo: %s\n", fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo) ? "unknown"
			   : lo.ifr_flags & IFF_UP                ? "up"
								  : "down");
}

/* One refusal of each wall that no other fact shows. */
static void walls(void)
{
	char room[64];
	refusal("Landlock, devices", ioctl(open("/dev/null", O_RDWR), 0x5401 /* TCGETS */, room));
	refusal("Landlock, outside", open(outside("victim"), O_RDONLY));
	refusal("seccomp, mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	refusal("seccomp, vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	refusal("seccomp, internet", socket(AF_INET, SOCK_STREAM, 0));
	refusal("seccomp, unix", socket(AF_UNIX, SOCK_STREAM, 0));
	refusal("seccomp, IPC", shmget(IPC_PRIVATE, 4096, 0600));
	refusal("keyring", syscall(SYS_keyctl, 0, -3, 0));
	refusal("PID 1, environ", open("/proc/1/environ", O_RDONLY));
	barred("writing .git", open(".git/config", O_WRONLY));
	refusal("moving .git's parent", rename("sub", "elsewhere"));
	rename("elsewhere", "sub");
	barred("writing the bundle", open(target("BUNDLE"), O_WRONLY | O_TMPFILE, 0600));
	struct stat st;
	refusal("the socket", stat("services/s", &st));
	if (!stat("services/s", &st))
		printf("the socket is %s\n", S_ISSOCK(st.st_mode) ? "there" : "masked");
}

static void environment(void)
{
	extern char **environ;
	for (char **one = environ; *one; one++)
		if (strncmp(*one, "ATTACK_", 7) != 0)
			printf("env %.*s\n", (int)strcspn(*one, "="), *one);
}

int facts(void)
{
	bool strict = getppid() == 1;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (strict) {
		await_reaper();
		status_of("1");
		mounts();
	}
	status_of("self");
	namespaces();
	descriptors();
	limits(strict);
	own_state();
	walls();
	environment();
	return fflush(stdout) ? errno : 0;
}
