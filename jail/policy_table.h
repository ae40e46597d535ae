/*
 * The fields of a policy and of an order: what each must be (base/fields.h).
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

#define A_PATH \
	"an absolute path without \"//\", \".\", \"..\" or a trailing \"/\", and shorter than 4096 bytes"
#define A_LIST "a list of at most 256 paths, each " A_PATH

/* Kind, name, whether it is needed, member of struct policy, least, most, what, is. */
#define POLICY_COMMAND(X, alone) \
	X(LIST, "argv", true, argv, 1, 4096, "a list of 1 to 4096 strings, a program first", NULL) \
	X(OBJECT, "env", false, given_env, 0, 1024, "an object of at most 1024 strings", NULL) \
	X(NUMBER, "timeout_secs", alone, timeout_secs, 1, INT64_C(3155760000), NULL, NULL)

#define POLICY_FIELDS(X) \
	X(NUMBER, "version", true, version, 1, 1, "1", NULL) \
	X(WORD, "profile", true, profile, 0, 0, "\"strict\" or \"hardened\"", NULL) \
	X(TEXT, "cwd", true, cwd, 0, 4096, A_PATH, path_is_normal) \
	X(MEMBERS, "workspace", true, workspace, 0, 0, "an object with \"path\" and \"access\"", NULL) \
	X(TEXT, "workspace.path", true, workspace, 0, 4096, A_PATH, path_is_normal) \
	X(WORD, "workspace.access", true, access, 0, 0, "\"none\", \"read\" or \"write\"", NULL) \
	X(WORD, "network", false, network, 0, 0, "\"none\", \"host\" or an object with proxy_fd", NULL) \
	X(NUMBER, "network.proxy_fd", true, proxy_fd, 3, 1 << 20, NULL, NULL) \
	X(LIST, "read", false, read, 0, POLICY_PATHS_MAX, A_LIST, path_is_normal) \
	X(LIST, "write", false, write, 0, POLICY_PATHS_MAX, A_LIST, path_is_normal) \
	X(LIST, "protect", false, protect, 0, POLICY_PATHS_MAX, A_LIST, path_is_normal) \
	X(LIST, "hide", false, hide, 0, POLICY_PATHS_MAX, A_LIST, path_is_normal) \
	X(LIST, "repositories", false, repositories, 0, POLICY_PATHS_MAX, A_LIST, path_is_normal) \
	X(TEXT, "aside", false, aside, 0, 4096, A_PATH, path_is_normal) \
	X(TEXT, "bundle", false, bundle, 0, 4096, A_PATH, path_is_normal) \
	X(OBJECT, "require", false, require, 0, 64, "an object of at most 64 layers", NULL) \
	X(FLAG, "allow_root_jail", false, allow_root_jail, 0, 0, "true or false", NULL) \
	X(FLAG, "pty", false, pty, 0, 0, "true or false", NULL) \
	X(MEMBERS, "limits", false, version, 0, 0, "an object", NULL) \
	X(WORD, "limits.memory_by", false, memory_by, 0, 0, "\"any\", \"watch\" or \"cgroup\"", NULL)
/* clang-format on */

#endif
