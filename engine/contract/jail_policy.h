/*
 * The policy of a jail: what every command in it may see and do, fixed before any command is given.
 *
 * The engine's side of schema/policy.schema.json: everything that asks for a jail fills in this
 * struct, and its JSON is written and read here and nowhere else. The jail has a reader of its own
 * (jail/policy.h), which trusts nothing; a test compares the two, and the schema, field by field.
 */
#ifndef CONTRACT_JAIL_POLICY_H
#define CONTRACT_JAIL_POLICY_H
#include "base/err.h"
#include "contract/jail_order.h"
#include "contract/path_list.h"
#include "contract/words.h"

#include <stdbool.h>

/* The most paths in a list. */
enum { JAIL_PATHS_MAX = 256 };

#define JAIL_PROFILES(X) X(JAIL_STRICT, "strict") X(JAIL_HARDENED, "hardened")
#define JAIL_ACCESSES(X) X(JAIL_NO_ACCESS, "none") X(JAIL_READ, "read") X(JAIL_WRITE, "write")
#define JAIL_NETWORKS(X) X(JAIL_OFFLINE, "none") X(JAIL_HOST, "host")
/* The least that must limit memory_mb. */
#define JAIL_MEMORY_BY(X)                                                                          \
	X(JAIL_BY_ANY, "any") X(JAIL_BY_WATCH, "watch") X(JAIL_BY_CGROUP, "cgroup")

#define X(name, text) name,
enum jail_profile { JAIL_PROFILES(X) JAIL_PROFILE_COUNT };
enum jail_access { JAIL_ACCESSES(X) JAIL_ACCESS_COUNT };
enum jail_network { JAIL_NETWORKS(X) JAIL_NETWORK_COUNT };
enum jail_memory_by { JAIL_MEMORY_BY(X) JAIL_MEMORY_BY_COUNT };
#undef X
WORDS_FUNCTIONS(jail_profile);
WORDS_FUNCTIONS(jail_access);

/* Lists, env and `held` are owned, texts are borrowed. A member that is 0, NULL or not given is
 * left to the jail, except for those that jail_policy_of sets. */
struct jail_policy {
	int64_t profile;       /* enum jail_profile */
	const char *cwd;       /* where a command starts */
	const char *workspace; /* a directory */
	int64_t access;        /* to the workspace: enum jail_access */
	int64_t network;       /* enum jail_network */
	int64_t proxy_fd;      /* instead of `network`: the launcher's descriptor of a proxy */
	json_t *env;           /* texts by name */
	struct path_list read, write;   /* besides the workspace */
	struct path_list protect, hide; /* that nothing may write; that nothing may see */
	struct path_list repositories;  /* where commands may make and change repositories */
	const char *aside;              /* where other repositories that they make are moved */
	const char *bundle;             /* a directory to read and execute */
	int64_t memory_mb, cpu_secs, processes, open_files, file_mb, tmp_mb;
	int64_t memory_by; /* enum jail_memory_by */
	bool allow_root_jail, pty;
	int64_t version; /* of the format */
	json_t *held;    /* what a decoded policy's texts lie in */
};

#define AUTO_JAIL_POLICY __attribute__((cleanup(jail_policy_done))) struct jail_policy

/* Returns the policy that shows a command the system and the workspace, where it starts, and
 * nothing else. Every policy begins with this one. */
struct jail_policy jail_policy_of(
	enum jail_profile profile, const char *workspace, enum jail_access access);
void jail_policy_done(struct jail_policy *policy);

/* Reads an object that jail_policy_encode wrote. Refuses members that are unknown, missing or of
 * a wrong type. */
int jail_policy_decode(json_t *from, struct jail_policy *out, struct err *e) MUST_CHECK;
/* Returns the object. NULL: a text is not UTF-8, or out of memory. New reference. */
json_t *jail_policy_encode(const struct jail_policy *policy);
/* Returns the member `limits` alone, new reference. */
json_t *jail_policy_limits(const struct jail_policy *policy);
/* Returns what agent6-jail reads: the policy with the order in it, heap text. NULL as order: the
 * policy of a launcher, whose orders replace the members that the format wants. NULL: as
 * jail_policy_encode. */
char *jail_policy_text(const struct jail_policy *policy, const struct jail_order *order);
#endif
