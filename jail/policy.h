/*
 * The policy: what one jailed command may see and do, from one strict JSON object.
 *
 * Attack: a policy that means more than its author thought. Unknown, missing, duplicate and wrongly
 * typed fields are refused, and so is any path that is not absolute and in normal form, because two
 * spellings of one directory would escape every comparison made here.
 */
#ifndef JAIL_POLICY_H
#define JAIL_POLICY_H
#include "base/err.h"
#include "jail/policy_table.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { POLICY_BYTES_MAX = 256 * 1024, POLICY_PATHS_MAX = 256 };

enum { PROFILE_STRICT, PROFILE_HARDENED };
enum { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };
enum { NETWORK_NONE, NETWORK_HOST, NETWORK_PROXY };
/* The least that must limit memory_mb; the names are those of the layer "memory". */
enum { MEMORY_BY_ANY, MEMORY_BY_WATCH, MEMORY_BY_CGROUP };

/* Members that are not said to be owned belong to `json` or `order`. */
struct policy {
	json_t *json, *order, *env; /* owned; env: a string for each variable, all of them */
	const json_t *argv;         /* at least one string */
	const json_t *given_env;    /* the part of env from `json` or `order`; NULL: none */
	const json_t *read, *write, *protect, *hide; /* lists of paths, or NULL */
	/* The places where the command may make and change repositories, or NULL. */
	const json_t *repositories;
	const json_t *require; /* layer name -> least value, or NULL */
	const char *cwd, *workspace, *bundle;
	const char *aside; /* where others that it makes are moved, or NULL */
#define POLICY_LIMIT(name, initial, largest) int64_t name;
	POLICY_LIMITS(POLICY_LIMIT)
#undef POLICY_LIMIT
	int64_t version, timeout_secs, proxy_fd; /* proxy_fd: -1: there is none */
	/* Values of the enums above; access is to the workspace. */
	int64_t profile, access, network, memory_by;
	bool allow_root_jail, pty;
};

/* Decodes `text`. If that fails `policy` is empty and `e` tells which field is wrong and what it
 * should be. */
int policy_decode(const char *text, size_t len, struct policy *policy, struct err *e);
/* Replaces the members that an order has (serve.c): argv, variables of the environment,
 * timeout_secs. */
int policy_order(struct policy *policy, const char *text, size_t len, struct err *e);
void policy_done(struct policy *policy);
/* Reports whether the command may make and change repositories at `path`. */
bool policy_frees(const struct policy *policy, const char *path);
/* Adds an object of strings, which it takes, to the environment. */
int policy_add_env(struct policy *policy, json_t *more, struct err *e);
#endif
