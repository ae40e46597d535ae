/*
 * The members of a jail's policy (schema/policy.schema.json) but for those of an order, one row
 * each.
 */
#ifndef CONTRACT_JAIL_POLICY_TABLE_H
#define CONTRACT_JAIL_POLICY_TABLE_H

/* clang-format off */
#define QUOTED(name, text) " \"" text "\""
/* Kind (base/fields.h), name, whether it is always there, member of struct jail_policy, least and
 * most, the expected value. */
#define JAIL_POLICY_MEMBERS(X) \
	X(NUMBER, "version", true, version, 1, 1, NULL) \
	X(WORD, "profile", true, profile, 0, 0, "one of" JAIL_PROFILES(QUOTED)) \
	X(TEXT, "cwd", true, cwd, 1, 4096, "a path") \
	X(OBJECT, "env", false, env, 0, 1024, "an object of texts") \
	X(MEMBERS, "workspace", true, workspace, 0, 0, "an object") \
	X(TEXT, "workspace.path", true, workspace, 1, 4096, "a path") \
	X(WORD, "workspace.access", true, access, 0, 0, "one of" JAIL_ACCESSES(QUOTED)) \
	X(WORD, "network", false, network, 0, 0, "one of" JAIL_NETWORKS(QUOTED)) \
	X(NUMBER, "network.proxy_fd", true, proxy_fd, 3, 1 << 20, NULL) \
	X(LIST, "read", false, read, 0, JAIL_PATHS_MAX, "a list of paths") \
	X(LIST, "write", false, write, 0, JAIL_PATHS_MAX, "a list of paths") \
	X(LIST, "protect", false, protect, 0, JAIL_PATHS_MAX, "a list of paths") \
	X(LIST, "hide", false, hide, 0, JAIL_PATHS_MAX, "a list of paths") \
	X(LIST, "repositories", false, repositories, 0, JAIL_PATHS_MAX, "a list of paths") \
	X(TEXT, "aside", false, aside, 1, 4096, "a path") \
	X(TEXT, "bundle", false, bundle, 1, 4096, "a path") \
	X(MEMBERS, "limits", false, version, 0, 0, "an object") \
	X(NUMBER, "limits.memory_mb", false, memory_mb, 1, 1 << 30, NULL) \
	X(NUMBER, "limits.cpu_secs", false, cpu_secs, 1, 1 << 30, NULL) \
	X(NUMBER, "limits.processes", false, processes, 1, 1 << 20, NULL) \
	X(NUMBER, "limits.open_files", false, open_files, 1, 1 << 20, NULL) \
	X(NUMBER, "limits.file_mb", false, file_mb, 1, 1 << 24, NULL) \
	X(NUMBER, "limits.tmp_mb", false, tmp_mb, 1, 1 << 20, NULL) \
	X(WORD, "limits.memory_by", false, memory_by, 0, 0, "one of" JAIL_MEMORY_BY(QUOTED)) \
	X(FLAG, "allow_root_jail", false, allow_root_jail, 0, 0, "true or false") \
	X(FLAG, "pty", false, pty, 0, 0, "true or false")
/* clang-format on */

#endif
