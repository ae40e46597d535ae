/*
 * The policy: what one jailed command may see and do, read from one strict JSON object.
 *
 * Attack: a policy that means more than its author thought. Unknown, missing, duplicate and wrongly
 * typed fields are refused, and so is any path that is not absolute and in normal form, because two
 * spellings of one directory would escape every comparison made here.
 */
#ifndef JAIL_POLICY_H
#define JAIL_POLICY_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { POLICY_BYTES_MAX = 256 * 1024, POLICY_PATHS_MAX = 256 };

enum profile { PROFILE_STRICT, PROFILE_HARDENED };
enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };
enum network { NETWORK_NONE, NETWORK_HOST, NETWORK_PROXY };

struct paths {
	const char *path[POLICY_PATHS_MAX];
	size_t count;
};

/* name, default, largest */
#define POLICY_LIMITS(X)                                                                           \
	X(memory_mb, 2048, 1 << 30)                                                                \
	X(cpu_secs, 0, 1 << 30) /* 0: only the wall clock */                                       \
	X(processes, 256, 1 << 20)                                                                 \
	X(open_files, 1024, 1 << 20)                                                               \
	X(file_mb, 1024, 1 << 24)                                                                  \
	X(tmp_mb, 256, 1 << 20)

struct limits {
#define LIMIT_FIELD(name, initial, largest) int64_t name;
	POLICY_LIMITS(LIMIT_FIELD)
#undef LIMIT_FIELD
};

/* All text is owned by `json` or `order`, but for env's strings, which the policy owns. */
struct policy {
	json_t *json, *order;
	const char **argv; /* NULL-terminated, at least one */
	char **env;        /* NULL-terminated "NAME=VALUE"; PATH, HOME, LANG filled in */
	const char *cwd, *workspace, *bundle, *hostname;
	struct paths read, write, protect, hide;
	const json_t *require; /* layer name -> least value, or NULL */
	struct limits limits;
	int64_t timeout_secs;
	unsigned profile, access, network; /* of the enums above; access is to the workspace */
	int proxy_fd;
	bool allow_root_jail;
};

#define AUTO_POLICY __attribute__((cleanup(policy_done))) struct policy

/* Decodes `text`. On failure `p` is empty and `e` says which field is wrong and what it should be.
 */
int policy_decode(const char *text, size_t len, struct policy *p, struct err *e);
/* Replaces what an order names: argv, environment variables, timeout_secs (order.h). */
int policy_order(struct policy *p, const char *text, size_t len, struct err *e);
void policy_done(struct policy *p);
/* Puts NAME=VALUE into the environment, replacing NAME. */
int policy_setenv(struct policy *p, const char *name, const char *value, struct err *e);
#endif
