/*
 * The fields of a policy: what each must be, and what it is when it is left out.
 */
#ifndef JAIL_POLICY_TABLE_H
#define JAIL_POLICY_TABLE_H

/* clang-format off */
/* name, default, largest; all are at least 1 */
#define POLICY_LIMITS(X) \
	X(memory_mb, 2048, 1 << 30) \
	X(cpu_secs, 0, 1 << 30) /* 0: only the wall clock */ \
	X(processes, 256, 1 << 20) \
	X(open_files, 1024, 1 << 20) \
	X(file_mb, 1024, 1 << 24) \
	X(tmp_mb, 256, 1 << 20)

#define POLICY_A_PATH \
	"an absolute path without \"//\", \".\", \"..\" or a trailing \"/\", and shorter than 4096 bytes"
#define POLICY_A_LIST "a list of at most 256 paths, each " POLICY_A_PATH

/* Name (a member of an object has the object's name and a dot before it, and stands behind it),
 * kind, whether it is needed, where it goes in the policy, least, most, what it should be. */
#define POLICY_FIELDS(X) \
	X("version", NUMBER, true, version, 1, 1, "1") \
	X("profile", WORD, true, profile, 0, 0, "\"strict\" or \"hardened\"") \
	X("argv", ARGV, true, argv, 1, 4096, "a list of 1 to 4096 strings, a program first") \
	X("cwd", PATH, true, cwd, 0, 0, POLICY_A_PATH) \
	X("workspace", MEMBERS, true, workspace, 0, 0, "an object with \"path\" and \"access\"") \
	X("workspace.path", PATH, true, workspace, 0, 0, POLICY_A_PATH) \
	X("workspace.access", WORD, true, access, 0, 0, "\"none\", \"read\" or \"write\"") \
	X("timeout_secs", NUMBER, true, timeout_secs, 1, 366 * 24 * 3600, NULL) \
	X("env", ENV, false, env, 0, 1024, "an object of at most 1024 strings") \
	X("network", WORD, false, network, 0, 0, "\"none\", \"host\" or an object with proxy_fd") \
	X("network.proxy_fd", NUMBER, true, proxy_fd, 3, 1 << 20, NULL) \
	X("read", PATHS, false, read, 0, POLICY_PATHS_MAX, POLICY_A_LIST) \
	X("write", PATHS, false, write, 0, POLICY_PATHS_MAX, POLICY_A_LIST) \
	X("protect", PATHS, false, protect, 0, POLICY_PATHS_MAX, POLICY_A_LIST) \
	X("hide", PATHS, false, hide, 0, POLICY_PATHS_MAX, POLICY_A_LIST) \
	X("limits", MEMBERS, false, memory_mb, 0, 0, "an object") \
	POLICY_LIMITS(POLICY_LIMIT_FIELD) \
	X("bundle", PATH, false, bundle, 0, 0, POLICY_A_PATH) \
	X("hostname", HOST, false, hostname, 1, 64, "1 to 64 letters, digits, - and .") \
	X("require", OBJECT, false, require, 0, 0, "an object") \
	X("allow_root_jail", FLAG, false, allow_root_jail, 0, 0, "true or false")
/* clang-format on */

#endif
