#include "tests/security/attacks/decoy.h"

#include "base/cleanup.h"
#include "base/tree.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include "tests/security/attacks/decoy_layout.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum { TCP4, TCP6, UDP, ABSTRACT, OUTSIDE, DATAGRAMS, INSIDE };

static char *text(const char *format, ...) PRINTF(1, 2);

static char *text(const char *format, ...)
{
	va_list args;
	char *made = NULL;
	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		bail("out of memory");
	va_end(args);
	return made;
}

/* --- listeners -------------------------------------------------------------------------------- */

static int listen_at(int type, const void *at, socklen_t len)
{
	int family = ((const struct sockaddr *)at)->sa_family;
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, at, len) || (type == SOCK_STREAM && listen(fd, 16)))
		bail("cannot listen: %s", strerror(errno));
	return fd;
}

static unsigned port_of(int fd)
{
	struct sockaddr_in6 at;
	socklen_t len = sizeof(at);
	if (getsockname(fd, (struct sockaddr *)&at, &len))
		bail("getsockname");
	return ntohs(at.sin6_port); /* at the same place for both families */
}

static int listen_named(int type, const char *path, size_t skip)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	if (len + skip >= sizeof(at.sun_path))
		bail("%s is too long for a socket", path);
	memcpy(at.sun_path + skip, path, len);
	return listen_at(
		type, &at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + len));
}

static void open_canaries(struct decoy *decoy)
{
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	decoy->canary[TCP4] = listen_at(SOCK_STREAM, &four, sizeof(four));
	decoy->canary[UDP] = listen_at(SOCK_DGRAM, &four, sizeof(four));
	decoy->canary[TCP6] = listen_at(SOCK_STREAM, &six, sizeof(six));
	decoy->canary[ABSTRACT] = listen_named(SOCK_STREAM, decoy->mark, 1);
	decoy->canary[OUTSIDE] = decoy->canary[DATAGRAMS] = decoy->canary[INSIDE] = -1;
}

/* The first listener that was reached, -1: none; all are emptied. */
static int reached_canary(struct decoy *decoy)
{
	int reached = -1;
	for (int i = 0; i < DECOY_CANARIES; i++) {
		char byte;
		if (decoy->canary[i] < 0)
			continue;
		for (;;) {
			int fd = i == UDP || i == DATAGRAMS
					 ? (recv(decoy->canary[i], &byte, 1, 0) < 0 ? -1 : dup(2))
					 : accept(decoy->canary[i], NULL, NULL);
			if (fd < 0)
				break;
			close(fd);
			reached = i;
		}
	}
	return reached;
}

/* --- processes -------------------------------------------------------------------------------- */

int decoy_become(const struct decoy *decoy)
{
	if (!decoy->as_user || geteuid() != 0)
		return 0;
	return setgroups(0, NULL) || setresgid(DECOY_UID, DECOY_UID, DECOY_UID) ||
	       setresuid(DECOY_UID, DECOY_UID, DECOY_UID);
}

int decoy_wait(pid_t pid, int secs)
{
	int status;
	for (int tenths = 0; tenths < secs * 100; tenths++) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		nanosleep(&(struct timespec){.tv_nsec = tenths < 100 ? 1000000 : 10000000}, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 255;
}

static void start_victim(struct decoy *decoy)
{
	int ready[2];
	char byte;
	if (pipe2(ready, O_CLOEXEC))
		bail("pipe");
	decoy->victim = fork();
	if (decoy->victim) { /* it is what it shall be once execve has closed the pipe */
		close(ready[1]);
		if (decoy->victim < 0 || read(ready[0], &byte, 1))
			bail("cannot start the victim");
		close(ready[0]);
		return;
	}
	if (decoy_become(decoy))
		_exit(1);
	execl(decoy->attack, decoy->attack, "pause", NULL);
	_exit(1);
}

/* Direct children only: killing them hands theirs to this subreaper, and no child means that
 * nothing is left, however fast it forks. */
static void end_orphans(void)
{
	char name[64], text[65536];
	snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
	for (pid_t got; (got = waitpid(-1, NULL, WNOHANG)) >= 0;) {
		AUTO_FD int list = got ? -1 : open(name, O_RDONLY | O_CLOEXEC);
		ssize_t len = list < 0 ? 0 : read(list, text, sizeof(text) - 1);
		text[len > 0 ? len : 0] = '\0';
		char *end = text;
		for (long pid; (pid = strtol(end, &end, 10)) > 0;)
			kill((pid_t)pid, SIGKILL);
		if (!got)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* Reports whether a process of an attack is left. */
static bool left_behind(const struct decoy *decoy)
{
	bool found = false;
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		char path[300], line[512] = "";
		long pid = strtol(entry->d_name, NULL, 10);
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		int fd = pid > 0 && pid != decoy->victim ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		ssize_t len = read(fd, line, sizeof(line) - 1);
		close(fd);
		if (len > 0 && (!strcmp(line, decoy->mark) || !strcmp(line, decoy->attack)))
			found = true;
	}
	if (proc)
		closedir(proc);
	return found;
}

/* --- trees ------------------------------------------------------------------------------------ */

static const struct decoy *walked; /* nftw(3) has no argument for its callback */
static char *listing;

static int give(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return walked->as_user ? lchown(path, DECOY_UID, DECOY_UID) : 0;
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path) && errno != ENOENT;
}

static int list_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)type;
	(void)at;
	char *longer = text("%s%s %o %u:%u %llu %lld %lld.%09ld\n", listing ? listing : "", path,
		st->st_mode, st->st_uid, st->st_gid, (unsigned long long)st->st_ino,
		S_ISDIR(st->st_mode) ? 0 : (long long)st->st_size, (long long)st->st_ctim.tv_sec,
		st->st_ctim.tv_nsec);
	free(listing);
	listing = longer;
	return 0;
}

static int find_set_id(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	return type == FTW_F && (st->st_mode & 06000);
}

static char *manifest(const struct decoy *decoy)
{
	listing = NULL;
	nftw(decoy->outside, list_one, 16, FTW_PHYS);
	nftw(decoy->bundle, list_one, 16, FTW_PHYS);
	return TAKE_PTR(listing);
}

static void copy_program(const char *from, const char *to)
{
	AUTO_FD int in = open(from, O_RDONLY | O_CLOEXEC);
	AUTO_FD int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	struct stat st;
	if (in < 0 || out < 0 || fstat(in, &st))
		bail("cannot copy %s to %s", from, to);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left); /* works across file systems */
		if (n <= 0)
			bail("cannot copy %s: %s", from, strerror(errno));
		left -= n;
	}
}

static void tell(struct decoy *decoy, const char *name, char *value)
{
	if (decoy->told_count == DECOY_TOLD_MAX)
		bail("too much to tell");
	decoy->told[decoy->told_count].name = text("ATTACK_%s", name);
	decoy->told[decoy->told_count++].value = value;
}

static dev_t device_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		bail("cannot look at a terminal");
	return st.st_dev;
}

static void tell_namespaces(struct decoy *decoy)
{
	static const char *const names[] = {"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char at[64] = "";
		AUTO_FREE char *path = text("/proc/self/ns/%s", names[i]);
		AUTO_FREE char *name = text("NS_%s", names[i]);
		if (readlink(path, at, sizeof(at) - 1) < 0)
			bail("cannot read %s", path);
		tell(decoy, name, text("%s", at));
	}
}

static void tell_all(struct decoy *decoy)
{
	char host[65] = "";
	gethostname(host, sizeof(host));
	tell(decoy, "OUTSIDE", text("%s", decoy->outside));
	tell(decoy, "HERE", text("%s", decoy->workspace));
	tell(decoy, "GIT", decoy_layout_git(decoy));
	tell(decoy, "BUNDLE", text("%s", decoy->bundle));
	tell(decoy, "SELF", text("%s", decoy->attack));
	tell(decoy, "SUID", text("%s", decoy->suid));
	tell(decoy, "MARK", text("%s", decoy->mark));
	tell(decoy, "ABSTRACT", text("%s", decoy->mark));
	tell(decoy, "HOST", text("%s", host));
	tell(decoy, "KEY", text("agent6-attack-key"));
	tell(decoy, "MQ", text("%s", decoy->mq));
	tell(decoy, "SHM", text("%s", decoy->shm));
	tell(decoy, "IPC", text("%d", decoy->ipc_key));
	tell(decoy, "TCP4", text("%u", port_of(decoy->canary[TCP4])));
	tell(decoy, "TCP6", text("%u", port_of(decoy->canary[TCP6])));
	tell(decoy, "UDP", text("%u", port_of(decoy->canary[UDP])));
	tell(decoy, "PTS", text("%ju", (uintmax_t)device_of(decoy->master)));
	tell(decoy, "VICTIM", text("%d", (int)decoy->victim));
	tell(decoy, "GROUP", text("%d", (int)getpgrp()));
	tell_namespaces(decoy);
}

static void forget_all(struct decoy *decoy)
{
	while (decoy->told_count) {
		decoy->told_count--;
		free(decoy->told[decoy->told_count].name);
		free(decoy->told[decoy->told_count].value);
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

static void open_terminal(struct decoy *decoy)
{
	decoy->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (decoy->master < 0 || grantpt(decoy->master) || unlockpt(decoy->master))
		bail("cannot open a pseudo-terminal");
	decoy->terminal = open(ptsname(decoy->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (decoy->terminal < 0 ||
		(decoy->as_user && fchown(decoy->terminal, DECOY_UID, DECOY_UID)))
		bail("cannot open the terminal");
}

static void open_objects(struct decoy *decoy)
{
	mode_t mask = umask(0);
	/* A run that is killed leaves its own, and the host has few queues for each user: root's
	 * go with their namespace. An attack outside is still in the same one. */
	if (!geteuid())
		unshare(CLONE_NEWIPC);
	unlink(decoy->shm);
	mq_unlink(decoy->mq);
	int fd = open(decoy->shm, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	mqd_t queue = mq_open(decoy->mq, O_RDWR | O_CREAT | O_EXCL, 0666, NULL);
	if (fd < 0 || write(fd, "x", 1) != 1 || queue < 0 ||
		shmget(decoy->ipc_key, 4096, IPC_CREAT | 0666) < 0 ||
		semget(decoy->ipc_key, 1, IPC_CREAT | 0666) < 0 ||
		msgget(decoy->ipc_key, IPC_CREAT | 0666) < 0)
		bail("cannot make the IPC objects: %s", strerror(errno));
	close(fd);
	mq_close(queue);
	umask(mask);
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	syscall(SYS_add_key, "user", "agent6-attack-key", "secret", 6, KEY_SPEC_SESSION_KEYRING);
}

void decoy_init(struct decoy *decoy, const char *scratch, bool as_user)
{
	const char *programs = getenv("AGENT6_BIN"), *out = getenv("AGENT6_OUT");
	if (!programs || !out)
		bail("AGENT6_BIN and AGENT6_OUT say where the programs are");
	*decoy = (struct decoy){
		.as_user = as_user && geteuid() == 0, .ipc_key = 0x61360000 | getpid()};
	decoy->root = text("%s/%c", scratch, as_user ? 'u' : 'r');
	decoy->workspace = text("%s/ws", decoy->root);
	decoy->outside = text("%s/o", decoy->root);
	decoy->bundle = text("%s/b", decoy->root);
	decoy->git = text("%s/.git", decoy->workspace);
	decoy->nested_git = text("%s/sub/.git", decoy->workspace);
	decoy->aside = text("%s/aside", decoy->root);
	decoy->policy = text("%s/policy.json", decoy->root);
	decoy->attack = text("%s/attack", decoy->bundle);
	decoy->suid = text("%s/suid", decoy->bundle);
	decoy->jail =
		getenv("JAIL") ? text("%s", getenv("JAIL")) : text("%s/agent6-jail", programs);
	snprintf(decoy->mark, sizeof(decoy->mark), "agent6-mark-%d", (int)getpid());
	snprintf(decoy->mq, sizeof(decoy->mq), "/agent6-mq-%d", (int)getpid());
	snprintf(decoy->shm, sizeof(decoy->shm), "/dev/shm/agent6-shm-%d", (int)getpid());
	AUTO_FREE char *program = text("%s/tests/security/attacks/attack", out);
	if (chmod(scratch, 0755) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		bail("cannot open %s to the attacker", scratch);
	tree_dir(decoy->root, "b");
	copy_program(program, decoy->attack);
	open_canaries(decoy);
	open_terminal(decoy);
	open_objects(decoy);
}

void decoy_fill(struct decoy *decoy)
{
	decoy_layout_fill(decoy);
	tree_file(decoy->root, "ws/sub/.git/config", "original\n", 0644);
	tree_file(decoy->root, "ws/found/.git/config", "original\n", 0644);
	tree_file(decoy->root, "ws/part/.git", "original\n", 0644);
	tree_file(decoy->root, "ws/services/README", "a socket\n", 0644);
	tree_file(decoy->root, "o/victim", "original\n", 0644);
	tree_file(decoy->root, "o/secret", "a private key\n", 0600);
	tree_file(decoy->root, "o/directory/file", "original\n", 0644);
	tree_file(decoy->root, "b/file", "original\n", 0644);
	AUTO_FREE char *out = text("%s/s", decoy->outside),
		       *in = text("%s/services/s", decoy->workspace),
		       *datagrams = text("%s/d", decoy->outside);
	decoy->canary[OUTSIDE] = listen_named(SOCK_STREAM, out, 0);
	decoy->canary[DATAGRAMS] = listen_named(SOCK_DGRAM, datagrams, 0);
	decoy->canary[INSIDE] = listen_named(SOCK_STREAM, in, 0);
	walked = decoy;
	if (nftw(decoy->root, give, 16, FTW_PHYS))
		bail("cannot give the tree away");
	if (geteuid() == 0) {
		copy_program(decoy->attack, decoy->suid);
		if (chown(decoy->suid, 0, 0) || chmod(decoy->suid, 04755))
			bail("cannot make a set-id program");
	}
	start_victim(decoy);
	tell_all(decoy);
	decoy->before = manifest(decoy);
}

void decoy_clear(struct decoy *decoy)
{
	forget_all(decoy);
	kill(decoy->victim, SIGKILL);
	waitpid(decoy->victim, NULL, 0);
	decoy->victim = 0;
	end_orphans();
	own_close(&decoy->canary[OUTSIDE]);
	own_close(&decoy->canary[DATAGRAMS]);
	own_close(&decoy->canary[INSIDE]);
	reached_canary(decoy);
	nftw(decoy->workspace, take_away, 16, FTW_PHYS | FTW_DEPTH);
	nftw(decoy->outside, take_away, 16, FTW_PHYS | FTW_DEPTH);
	decoy_layout_clear(decoy);
	tree_remove(AT_FDCWD, decoy->aside, NULL); /* a directory there has no permissions */
	AUTO_FREE char *here = text("%s/created", decoy->root),
		       *there = text("%s/created", decoy->bundle);
	unlink(here);
	unlink(there);
	unlink("/usr/agent6-attack");
	free(TAKE_PTR(decoy->before));
}

static bool is_original(const struct decoy *decoy, const char *name)
{
	struct stat st;
	AUTO_FREE char *path = text("%s/%s", decoy->workspace, name);
	return !stat(path, &st) && st.st_size == 9;
}

static bool is_there(const struct decoy *decoy, const char *name)
{
	struct stat st;
	AUTO_FREE char *path = text("%s/%s", decoy->workspace, name);
	return !lstat(path, &st);
}

char *decoy_harm(struct decoy *decoy)
{
	static const char *const canaries[] = {"TCP", "TCP over IPv6", "UDP", "abstract socket",
		"socket outside", "datagram socket outside", "socket in the workspace"};
	AUTO_FREE char *after = manifest(decoy), *created = text("%s/created", decoy->root);
	AUTO_FREE char *in_bundle = text("%s/created", decoy->bundle);
	AUTO_FREE char *nested = text("%s/config", decoy->nested_git);
	const char *changed = decoy_layout_harm(decoy);
	struct stat st;
	int status, reached = reached_canary(decoy);
	if (strcmp(after, decoy->before) != 0)
		return text("the tree outside has changed:\n%s", after);
	if (!access(created, F_OK) || !access(in_bundle, F_OK) ||
		!access("/usr/agent6-attack", F_OK))
		return text("a file was made outside");
	if (changed)
		return text("%s", changed);
	if (stat(nested, &st) || st.st_size != 9)
		return text("a nested .git has changed");
	if (!is_original(decoy, "found/.git/config") || !is_original(decoy, "part/.git"))
		return text("a repository that was found has changed");
	if (is_there(decoy, "planted/.git") || is_there(decoy, "planted/HEAD"))
		return text("a repository was left in the workspace");
	if (reached >= 0)
		return text("a listener was reached: %s", canaries[reached]);
	if (waitpid(decoy->victim, &status, WNOHANG | WUNTRACED))
		return text("the victim was hit");
	if (nftw(decoy->workspace, find_set_id, 16, FTW_PHYS))
		return text("a set-id file lies in the workspace");
	if (left_behind(decoy))
		return text("a process was left behind");
	return NULL;
}

void decoy_done(struct decoy *decoy)
{
	char *owned[] = {decoy->root, decoy->workspace, decoy->outside, decoy->bundle, decoy->git,
		decoy->nested_git, decoy->aside, decoy->policy, decoy->attack, decoy->jail,
		decoy->suid};
	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		free(owned[i]);
	for (int i = 0; i < DECOY_CANARIES; i++)
		own_close(&decoy->canary[i]);
	own_close(&decoy->terminal);
	own_close(&decoy->master);
	unlink(decoy->shm);
	mq_unlink(decoy->mq);
	shmctl(shmget(decoy->ipc_key, 0, 0), IPC_RMID, NULL);
	semctl(semget(decoy->ipc_key, 0, 0), 0, IPC_RMID);
	msgctl(msgget(decoy->ipc_key, 0), IPC_RMID, NULL);
}
