/*
 * Attempts on files: outside the workspace, on the protected directories, set-id bits, mounts.
 */
#include "tests/security/attacks/attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Writes a byte into `path`, keeping its length when it has one. */
static int scribble(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | flags, 0644);
	return fd < 0 ? errno : answer(write(fd, "x", 1));
}

static int slurp(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);
	return fd < 0 ? errno : answer(read(fd, &byte, 1));
}

int fs_write_system(void)
{
	static const char path[] = "/usr/agent6-attack";
	int result = scribble(path, O_CREAT | O_EXCL);
	unlink(path);
	return result;
}

int fs_write_outside(void)
{
	return scribble(outside("victim"), 0);
}

int fs_create_outside(void)
{
	return scribble(outside("created"), O_CREAT);
}

int fs_parent(void)
{
	return scribble("../created", O_CREAT);
}

int fs_proc_cwd(void)
{
	return scribble("/proc/self/cwd/../created", O_CREAT);
}

int fs_read_shadow(void)
{
	return slurp("/etc/shadow");
}

int fs_read_secret(void)
{
	return slurp(outside("secret"));
}

int fs_list_outside(void)
{
	return opendir(outside("directory")) ? 0 : errno;
}

int fs_symlink(void)
{
	return symlink(outside("secret"), "link") ? errno : slurp("link");
}

/* Whoever wins, the file must not have been opened outside the workspace. */
int fs_symlink_race(void)
{
	char at[4096], link[64];
	int result = ENOENT;
	bool here = false, away = false;
	mkdir("moving", 0755);
	if (symlink(outside("directory"), "fake"))
		return errno;
	pid_t swapper = fork();
	while (!swapper)
		renameat2(AT_FDCWD, "moving", AT_FDCWD, "fake", RENAME_EXCHANGE);
	/* A busy machine may be slow to let both of them run. */
	for (int i = 0; i < 20000 || (!(here && away) && i < 5000000); i++) {
		int fd = open("moving/created", O_WRONLY | O_CREAT, 0644);
		here = here || fd >= 0;
		away = away || fd < 0;
		if (fd < 0) {
			if (errno == EACCES)
				result = EACCES;
			continue;
		}
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, at, sizeof(at) - 1);
		close(fd);
		if (len > 0 && strstr((at[len] = '\0', at), "/directory/")) {
			result = 0;
			break;
		}
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	return result;
}

int fs_hardlink(void)
{
	return link(outside("victim"), "hard") ? errno : scribble("hard", 0);
}

int fs_rename_out(void)
{
	scribble("moved", O_CREAT);
	return answer(rename("moved", outside("created")));
}

int fs_rename_in(void)
{
	return answer(rename(outside("victim"), "moved"));
}

int fs_unlink(void)
{
	return answer(unlink(outside("victim")));
}

int fs_truncate(void)
{
	return answer(truncate(outside("victim"), 0));
}

int fs_open_truncate(void)
{
	return answer(open(outside("victim"), O_RDONLY | O_TRUNC));
}

int fs_chmod(void)
{
	return answer(chmod(outside("victim"), 0600));
}

int fs_utimes(void)
{
	return answer(utimensat(AT_FDCWD, outside("victim"), NULL, 0));
}

int fs_setxattr(void)
{
	return answer(setxattr(outside("victim"), "user.agent6", "x", 1, 0));
}

int fs_stat(void)
{
	struct stat st;
	return answer(stat(outside("victim"), &st));
}

int fs_watch(void)
{
	return answer(inotify_add_watch(inotify_init(), target("OUTSIDE"), IN_CREATE | IN_OPEN));
}

int fs_handle(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + 128];
	} at = {.handle = {.handle_bytes = 128}};
	int mount_id;
	int here = open(".", O_RDONLY | O_DIRECTORY);
	if (name_to_handle_at(AT_FDCWD, ".", &at.handle, &mount_id, 0) && errno != EPERM)
		return errno;
	return answer(open_by_handle_at(here, &at.handle, O_RDONLY));
}

int fs_handle_name(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + 128];
	} at = {.handle = {.handle_bytes = 128}};
	int mount_id;
	return answer(name_to_handle_at(AT_FDCWD, ".", &at.handle, &mount_id, 0));
}

int fs_mount(void)
{
	mkdir("m", 0755);
	return answer(mount("none", "m", "tmpfs", 0, NULL));
}

int fs_umount(void)
{
	int result = umount2("/usr", MNT_DETACH) ? errno : 0;
	return result == EINVAL ? 0 : result; /* outside it may not be a mount point */
}

int fs_open_tree(void)
{
	return answer(syscall(SYS_open_tree, AT_FDCWD, "/usr", 1));
}

int fs_open_tree_path(void)
{
	return answer(syscall(SYS_open_tree, AT_FDCWD, ".", 0));
}

int fs_fsopen(void)
{
	return answer(syscall(SYS_fsopen, "tmpfs", 0));
}

int fs_mount_setattr(void)
{
	struct {
		unsigned long long set, clear, propagation, userns;
	} attr = {.clear = 1};
	long result = syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr));
	return result && errno == EINVAL ? 0 : answer(result);
}

int fs_chroot(void)
{
	return answer(chroot("."));
}

int fs_pivot_root(void)
{
	long result = syscall(SYS_pivot_root, ".", ".");
	return result && (errno == EINVAL || errno == EBUSY) ? 0 : answer(result);
}

int fs_mknod_char(void)
{
	return answer(mknod("device", S_IFCHR | 0666, makedev(1, 3)));
}

int fs_mknod_block(void)
{
	return answer(mknod("device", S_IFBLK | 0666, makedev(254, 0)));
}

/* On an overlay's upper directory it hides the file of its name that lies below. */
int fs_whiteout_rename(void)
{
	enum { WHITEOUT = 1 << 2 };
	close(open("before", O_WRONLY | O_CREAT, 0644));
	return answer(syscall(SYS_renameat2, AT_FDCWD, "before", AT_FDCWD, "after", WHITEOUT));
}

int fs_whiteout_mknod(void)
{
	return answer(mknod("whiteout", S_IFCHR | 0666, makedev(0, 0)));
}

int fs_open_kmsg(void)
{
	return answer(open("/dev/kmsg", O_RDONLY | O_NONBLOCK));
}

int fs_open_devices(void)
{
	static const char *const devices[] = {"mem", "port", "vda", "sda", "nvme0n1", "loop0",
		"loop-control", "fuse", "kvm", "vsock", "vhost-net", "net/tun", "ptmx", "tty",
		"console", "hwrng", "rtc0", "uinput", "userfaultfd"};
	char path[64];
	int result = ENOENT;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		snprintf(path, sizeof(path), "/dev/%s", devices[i]);
		if (open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) >= 0)
			return 0;
		result = errno == EACCES ? EACCES : result;
	}
	return result;
}

int fs_suid_mount(void)
{
	char line[8192], at[4096];
	struct statvfs st;
	FILE *file = fopen("/proc/self/mountinfo", "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d %*d %*s %*s %4095s", at) == 1 && !statvfs(at, &st) &&
			!(st.f_flag & ST_NOSUID))
			return 0;
	return file ? EPERM : errno;
}

static int is_below(const char *path, const char *top)
{
	size_t len = strlen(top);
	return len && !strncmp(path, top, len) && (!path[len] || path[len] == '/');
}

/* The places a command may write: the workspace and what is private; where one directory of the
 * host is named for that, /tmp as a whole is not. */
static int is_own(const char *path)
{
	const char *private = getenv("TMPDIR");
	if (is_below(path, target("HERE")))
		return 1;
	return private ? is_below(path, private)
		       : is_below(path, "/tmp") || is_below(path, "/dev/shm");
}

/* Device nodes are sinks, and of the processes one's own stands for all. */
static int is_crawled(const char *path)
{
	return !is_own(path) && (!is_below(path, "/proc") || !strcmp(path, "/proc") ||
					is_below(path, "/proc/self") ||
					is_below(path, "/proc/sys") || is_below(path, "/proc/1"));
}

/* Stops at the first success, so that outside little is touched: an open that writes nothing, a
 * directory that is removed at once. */
static int crawl_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	static int seen;
	char made[4200];
	if (++seen > 1000000)
		return FTW_STOP + 100;
	if (!is_crawled(path) || at->level > 24)
		return FTW_SKIP_SUBTREE;
	if (type == FTW_F && S_ISREG(st->st_mode)) {
		int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
		return fd < 0 ? FTW_CONTINUE : close(fd) + FTW_STOP;
	}
	if (type != FTW_D && type != FTW_DNR)
		return FTW_CONTINUE;
	snprintf(made, sizeof(made), "%s/agent6-crawl", path);
	return !mkdir(made, 0755) && !rmdir(made) ? FTW_STOP : FTW_CONTINUE;
}

int crawl(void)
{
	return nftw("/", crawl_one, 64, FTW_PHYS | FTW_ACTIONRETVAL) == FTW_STOP ? 0 : EPERM;
}

static int own_file(void)
{
	return open("own", O_RDWR | O_CREAT, 0755);
}

int suid_chmod(void)
{
	own_file();
	return answer(chmod("own", 04755));
}

int suid_fchmod(void)
{
	return answer(fchmod(own_file(), 04755));
}

int suid_fchmodat(void)
{
	own_file();
	return answer(fchmodat(AT_FDCWD, "own", 02755, 0));
}

int suid_fchmodat2(void)
{
	own_file();
	return answer(syscall(452, AT_FDCWD, "own", 04755, 0));
}

static int made(int fd)
{
	struct stat st;
	if (fd < 0)
		return errno;
	return fstat(fd, &st) || !(st.st_mode & 06000) ? EINVAL : 0;
}

int suid_open(void)
{
	return made(open("own", O_WRONLY | O_CREAT, 04755));
}

int suid_creat(void)
{
	return made(creat("own", 04755));
}

int suid_tmpfile(void)
{
	return made(open(".", O_WRONLY | O_TMPFILE, 04755));
}

int suid_mknod(void)
{
	return answer(mknod("own", S_IFREG | 04755, 0));
}

int suid_openat2(void)
{
	unsigned long long how[3] = {O_WRONLY | O_CREAT, 04755, 0};
	return made((int)syscall(SYS_openat2, AT_FDCWD, "own", how, sizeof(how)));
}

int suid_high_bits(void)
{
	own_file();
	return answer(syscall(SYS_fchmodat, AT_FDCWD, "own", 0x100000000ul | 04755));
}

int suid_run(void)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		execl(target("SUID"), "suid", "whoami", NULL);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINVAL;
}

int fs_file_caps(void)
{
	static const char caps[20] = {1, 0, 0, 2, 1};
	own_file();
	return answer(setxattr("own", "security.capability", caps, sizeof(caps), 0));
}

int fs_setflags(void)
{
	int flags = FS_NODUMP_FL;
	return answer(ioctl(own_file(), FS_IOC_SETFLAGS, &flags));
}

int git_hook(void)
{
	return scribble(".git/hooks-pre-commit", O_CREAT);
}

int git_config(void)
{
	return scribble(".git/config", O_APPEND);
}

/* Whoever opens it for writing waits until the lease is broken, most of a minute, each time. */
int git_lease(void)
{
	return answer(fcntl(open(".git/config", O_RDONLY), F_SETLEASE, F_RDLCK));
}

int git_rename(void)
{
	return answer(rename(".git", "moved"));
}

int git_exchange(void)
{
	mkdir("fake", 0755);
	return answer(renameat2(AT_FDCWD, "fake", AT_FDCWD, ".git", RENAME_EXCHANGE));
}

int git_real(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/config", target("GIT"));
	return *target("GIT") ? scribble(path, O_APPEND) : ENOENT;
}

int git_make(void)
{
	mkdir(".git", 0755);
	return scribble(".git/config", O_CREAT | O_APPEND);
}

int git_make_bare(void)
{
	mkdir("objects", 0755);
	mkdir("refs", 0755);
	return scribble("HEAD", O_CREAT | O_APPEND);
}

int git_parent(void)
{
	return answer(rename("sub", "moved"));
}

int git_found(void)
{
	return scribble("found/.git/config", O_APPEND);
}

int git_found_file(void)
{
	return scribble("part/.git", O_TRUNC);
}

int git_found_parent(void)
{
	return answer(rename("found", "moved"));
}

int git_plant(void)
{
	mkdir("planted", 0755);
	mkdir("planted/.git", 0755);
	return scribble("planted/.git/config", O_CREAT);
}

int git_plant_bare(void)
{
	mkdir("planted", 0755);
	mkdir("planted/objects", 0755);
	mkdir("planted/refs", 0755);
	scribble("planted/config", O_CREAT);
	return scribble("planted/HEAD", O_CREAT);
}

int git_plant_link(void)
{
	mkdir("planted", 0755);
	return answer(symlink("../elsewhere", "planted/.git"));
}

int git_hardlink(void)
{
	return link(".git/config", "hard") ? errno : scribble("hard", O_APPEND);
}

int git_chmod(void)
{
	return answer(chmod(".git/config", 0600));
}

int bundle_write(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/created", target("BUNDLE"));
	return scribble(path, O_CREAT);
}

int bundle_chmod(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/file", target("BUNDLE"));
	return answer(chmod(path, 0600));
}

int fd_leak(void)
{
	return answer(fcntl(50, F_GETFD));
}

int ipc_dev_shm(void)
{
	return slurp(target("SHM"));
}

int use_disk(void)
{
	signal(SIGXFSZ, SIG_IGN);
	return answer(ftruncate(own_file(), 64l << 20));
}

int use_files(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 2000; i++)
		if (dup(0) < 0)
			return errno;
	return 0;
}
