/* The table of programs: what each is by itself, and who looks at its arguments. Unknown ones are
 * `write`. */
#include "agent/policy/judge.h"

#include <string.h>

static const struct program programs[] = {
	{LEVEL_READ_ONLY, judge_reader,
		WORDS("ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "wc", "stat", "which",
			"pwd", "echo", "uname", "df", "du", "ps", "top", "printenv", "id", "whoami",
			"cmp", "comm", "cut", "tr", "nl", "tac", "rev", "fold", "fmt", "join",
			"paste", "column", "expand", "unexpand", "realpath", "readlink", "basename",
			"dirname", "jq", "od", "hexdump", "hd", "strings", "sha1sum", "sha224sum",
			"sha256sum", "sha384sum", "sha512sum", "md5sum", "b2sum", "cksum", "sum",
			"true", "false", "seq", "sleep", "nproc", "uptime", "free", "lscpu",
			"lsblk", "lsof", "pgrep", "getconf", "locale", "tty", "arch", "groups",
			"users", "who", "w", "vmstat", "readelf", "addr2line", "tsort", "factor",
			"expr", "bc", "cal", "zgrep", "look", "more", "tput", "numfmt", "pr",
			"tokei", "shellcheck", "pstree", "yes", "whereis", "col", "uuidgen",
			"netstat", "dpkg-query")},
	{LEVEL_READ_ONLY, judge_reader,
		WORDS("cd", ":", "shopt", "shift", "return", "exit", "break", "continue", "type",
			"umask", "ulimit", "pushd", "popd", "dirs", "times", "fg", "bg", "disown",
			"suspend", "logout", "caller", "unalias")},
	{LEVEL_READ_ONLY, judge_flags,
		WORDS("file", "yq", "getent", "nm", "size", "objdump", "shuf", "cloc", "xmllint",
			"ss", "journalctl", "dmesg", "less", "man", "rg", "fd", "fdfind", "ag",
			"tree", "diff", "diffstat", "pkg-config", "pkgconf")},
	{LEVEL_READ_ONLY, judge_date, WORDS("date")},
	{LEVEL_READ_ONLY, judge_uniq, WORDS("uniq")},
	{LEVEL_READ_ONLY, judge_names, WORDS("test", "[", "[[")},
	{LEVEL_READ_ONLY, judge_positional, WORDS("set")},
	{LEVEL_READ_ONLY, judge_ip, WORDS("ip")},
	{LEVEL_READ_ONLY, judge_find, WORDS("find")},
	{LEVEL_READ_ONLY, judge_sort, WORDS("sort")},
	{LEVEL_READ_ONLY, judge_sed, WORDS("sed")},
	{LEVEL_READ_ONLY, judge_awk, WORDS("awk", "gawk", "mawk", "nawk")},
	{LEVEL_READ_ONLY, judge_base64, WORDS("base64", "base32", "basenc")},
	{LEVEL_READ_ONLY, judge_xxd, WORDS("xxd")},
	{LEVEL_READ_ONLY, judge_tar, WORDS("tar")},
	{LEVEL_READ_ONLY, judge_gunzip,
		WORDS("gunzip", "zcat", "gzip", "xz", "xzcat", "unxz", "bzip2", "bunzip2", "bzcat",
			"zstd", "zstdcat", "unzstd")},
	{LEVEL_READ_ONLY, judge_git, WORDS("git")},
	{LEVEL_READ_ONLY, judge_openssl, WORDS("openssl")},
	{LEVEL_READ_ONLY, judge_env, WORDS("env")},
	{LEVEL_READ_ONLY, judge_xargs, WORDS("xargs")},
	{LEVEL_READ_ONLY, judge_crontab, WORDS("crontab")},
	{LEVEL_READ_ONLY, judge_mount, WORDS("mount")},
	{LEVEL_READ_ONLY, judge_setter, WORDS("unset", "read", "getopts", "wait", "let")},
	{LEVEL_READ_ONLY, judge_printf, WORDS("printf")},
	{LEVEL_READ_ONLY, judge_assign, WORDS("export", "declare", "typeset", "local", "readonly")},
	{LEVEL_READ_ONLY, judge_eval, WORDS("eval")},
	{LEVEL_READ_ONLY, judge_source, WORDS("source", ".")},
	{LEVEL_READ_ONLY, judge_trap, WORDS("trap")},
	{LEVEL_READ_ONLY, judge_builtin,
		WORDS("hash", "mapfile", "readarray", "complete", "compgen", "bind", "fc", "jobs",
			"history")},
	{LEVEL_READ_ONLY, judge_wrapper,
		WORDS("nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "timeout",
			"time", "watch", "flock", "prlimit", "setarch", "linux64", "unbuffer",
			"strace", "ltrace", "valgrind", "perf", "xvfb-run", "fakeroot",
			"dbus-run-session", "faketime", "catchsegv", "parallel", "eatmydata",
			"chronic", "ccache", "rlwrap", "command", "builtin", "exec")},
	{LEVEL_READ_ONLY, judge_busybox, WORDS("busybox", "toybox")},
	{LEVEL_READ_ONLY, judge_shell,
		WORDS("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "rbash", "mksh", "lksh",
			"yash", "posh", "csh", "tcsh")},
	{LEVEL_READ_ONLY, judge_python, WORDS("python", "pypy")},
	{LEVEL_READ_ONLY, judge_cargo, WORDS("cargo")},
	{LEVEL_READ_ONLY, judge_go, WORDS("go")},
	{LEVEL_READ_ONLY, judge_npm, WORDS("npm", "yarn", "pnpm", "npx", "bunx", "uvx")},
	{LEVEL_READ_ONLY, judge_pip, WORDS("pip", "pipx", "uv")},
	{LEVEL_READ_ONLY, judge_runner, WORDS("poetry", "pipenv", "bundle", "conda")},
	{LEVEL_READ_ONLY, judge_tee, WORDS("tee")},
	{LEVEL_READ_ONLY, judge_unzip, WORDS("unzip")},
	{LEVEL_READ_ONLY, judge_dd, WORDS("dd")},
	{LEVEL_READ_ONLY, judge_kill, WORDS("kill", "pkill", "killall")},
	{LEVEL_READ_ONLY, judge_packages, WORDS("apt", "apt-cache", "dpkg")},
	{LEVEL_READ_ONLY, judge_verb,
		WORDS("docker", "podman", "systemctl", "hostname", "hostnamectl", "dotnet",
			"terraform", "tofu")},
	{LEVEL_READ_ONLY, judge_bun, WORDS("bun", "deno")},
	{LEVEL_BUILD, judge_make, WORDS("make", "gmake", "ninja", "scons")},
	{LEVEL_BUILD, judge_cmake, WORDS("cmake")},
	{LEVEL_BUILD, judge_flags,
		WORDS("pytest", "tox", "nox", "meson", "rake", "just", "phpunit", "vite", "webpack",
			"rollup", "turbo", "golangci-lint", "staticcheck", "clang-tidy", "cppcheck",
			"luacheck", "yamllint", "hadolint", "actionlint", "pyright", "cpack",
			"ctest", "javac", "mvn", "gradle", "tsc", "mypy", "flake8", "pylint",
			"jest", "mocha", "vitest", "ld", "as", "bazel", "swiftc", "ghc", "bats",
			"cpp", "ranlib", "rspec", "gcc", "g++", "cc", "c++", "clang", "clang++",
			"rustc", "eslint", "ar", "gofmt", "prove", "rubocop")},
	{LEVEL_BUILD, judge_formatter,
		WORDS("patch", "clang-format", "black", "prettier", "isort", "ruff")},
	{LEVEL_WRITE, judge_flags,
		WORDS("mkdir", "touch", "nano", "code", "mktemp", "mkfifo", "csplit", "strip")},
	{LEVEL_WRITE, NULL, WORDS("ldd")}, /* it may start what it looks at */
	{LEVEL_WRITE, judge_string_option, WORDS("script")},
	{LEVEL_WRITE, judge_wrapper,
		WORDS("ld-linux-x86-64.so.2", "ld.so", "ssh-agent", "dbus-launch", "numactl",
			"sshpass", "ifne", "systemd-inhibit", "systemd-cat", "entr", "tini",
			"dumb-init", "gosu", "daemonize", "cross-env", "linux32", "i386", "i686",
			"x86_64", "uname26", "and", "or", "not", "begin", "noglob",
			"nocorrect")}, /* the last of fish and zsh */
	{LEVEL_WRITE, judge_terminal, WORDS("tmux", "screen", "hyperfine", "concurrently")},
	{LEVEL_WRITE, judge_gdb, WORDS("gdb", "lldb")},
	{LEVEL_WRITE, judge_inline,
		WORDS("perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "tclsh", "expect",
			"Rscript", "R", "gnuplot", "octave", "guile", "julia", "osascript", "m4",
			"dc", "ed")},
	{LEVEL_WRITE, judge_vim,
		WORDS("ex", "vim", "vi", "nvim", "emacs", "view", "vimdiff", "rvim", "rview",
			"gvim", "vim.basic", "vim.tiny", "vim.nox")},
	{LEVEL_WRITE, judge_sqlite, WORDS("sqlite3")},
	{LEVEL_WRITE, judge_copy, WORDS("cp", "mv", "ln", "install")},
	{LEVEL_WRITE, judge_split, WORDS("split")},
	{LEVEL_WRITE, judge_zip, WORDS("zip", "7z", "cpio")},
	{LEVEL_WRITE, judge_rsync, WORDS("rsync")},
	{LEVEL_DESTRUCTIVE, NULL, WORDS("alias", "enable", "rmdir")},
	{LEVEL_DESTRUCTIVE, judge_rm, WORDS("rm", "unlink")},
	{LEVEL_DESTRUCTIVE, judge_chmod, WORDS("chmod", "chown", "chgrp", "chattr", "setfacl")},
	{LEVEL_DESTRUCTIVE, judge_truncate, WORDS("shred", "truncate")},
	{LEVEL_DESTRUCTIVE, judge_network, WORDS("dropdb", "dropuser")},
	{LEVEL_DESTRUCTIVE, judge_later, WORDS("at", "batch")},
	{LEVEL_PRIVILEGED, judge_init, WORDS("init", "telinit")},
	{LEVEL_PRIVILEGED, judge_string_option, WORDS("sg")},
	{LEVEL_PRIVILEGED, judge_sudo, WORDS("sudo", "su", "doas", "pkexec", "run0", "runuser")},
	{LEVEL_PRIVILEGED, judge_wrapper,
		WORDS("setpriv", "chroot", "nsenter", "unshare", "systemd-run",
			"start-stop-daemon")},
	{LEVEL_PRIVILEGED, NULL,
		WORDS("umount", "insmod", "modprobe", "rmmod", "iptables", "nft", "sysctl",
			"useradd", "usermod", "passwd", "visudo", "setcap", "service", "apt-get",
			"dnf", "yum", "zypper", "pacman", "apk", "snap", "ip6tables", "ufw",
			"newgrp", "ifconfig", "adduser", "userdel", "groupadd", "groupdel",
			"groupmod", "chpasswd", "setenforce", "swapon", "swapoff", "mknod", "kexec",
			"pivot_root", "capsh", "bwrap", "systemd-nspawn", "update-alternatives",
			"docker-compose", "nerdctl", "timedatectl", "loginctl", "machinectl",
			"bpftool", "cryptsetup", "nixos-rebuild", "losetup")},
	{LEVEL_NETWORK, judge_sqlite, WORDS("psql", "mysql", "mariadb")},
	{LEVEL_NETWORK, judge_curl, WORDS("curl")},
	{LEVEL_NETWORK, judge_wget, WORDS("wget", "wget2")},
	{LEVEL_NETWORK, judge_ssh, WORDS("ssh", "scp", "sftp")},
	{LEVEL_NETWORK, judge_network,
		WORDS("nc", "ncat", "netcat", "nmap", "ftp", "telnet", "socat", "dig", "host",
			"nslookup", "ping", "ping6", "traceroute", "tracepath", "mtr", "whois",
			"gh", "glab", "aws", "gcloud", "az", "kubectl", "helm", "twine", "lynx",
			"w3m", "links", "aria2c", "axel", "httpie", "http", "xh", "svn", "hg",
			"rclone", "mosh", "mail", "sendmail", "redis-cli", "mongosh", "ssh-copy-id",
			"ssh-keyscan", "tftp", "yt-dlp", "gsutil", "bq", "ansible",
			"ansible-playbook", "vault", "pulumi", "skopeo", "flyctl", "vercel",
			"netlify", "wrangler", "firebase", "doctl", "argocd", "eksctl", "oc",
			"ngrok", "cloudflared", "pg_dump", "pg_restore", "createdb", "mysqldump")},
	{LEVEL_DENIED, NULL,
		WORDS("mkfs", "mke2fs", "mkswap", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk",
			"parted", "wipefs", "blkdiscard", "shutdown", "reboot", "halt",
			"poweroff")},
};

/* mkfs.ext4 -> mkfs, python3.11 -> python, gcc-12 -> gcc, pip3 -> pip, lua5.4 -> lua. */
static bool is_version_of(const char *name, const char *base)
{
	size_t len = strlen(base);
	if (strncmp(name, base, len))
		return false;
	if (!strcmp(base, "mkfs"))
		return name[len] == '.';
	return name[len] && !name[len + strspn(name + len, "0123456789.-")];
}

const char *program_base(const char *name)
{
	static const char *const versioned[] = {"mkfs", "python", "pypy", "pip", "gcc", "g++",
		"clang", "clang++", "lua", "perl", "ruby", "php", "clang-format",
		"ld-linux-x86-64.so.2"};
	for (size_t i = 0; i < ARRAY_LEN(versioned); i++)
		if (is_version_of(name, versioned[i]))
			return versioned[i];
	return name;
}

const struct program *program_find(const char *name)
{
	const char *base = program_base(name);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (word_in(base, programs[i].names))
			return &programs[i];
	return NULL;
}
