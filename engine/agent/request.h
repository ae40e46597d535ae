/*
 * The supervisor's request: two JSON lines on descriptor 0. The first holds what confinement needs
 * and no secret; the second, which is read only after the process is confined, holds the work and
 * the key.
 */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H
#include "provider/usage.h"

#include "base/arena.h"
#include "base/err.h"
#include "contract/jail_policy.h"
#include "types/types.h"

struct order_channel {
	const char *name, *endpoint, *ca_file; /* ca_file NULL: the system's authorities */
	bool tls, local, private;
};

/* The first line. Strings live in `arena`, JSON lives until order_done. */
struct order {
	struct arena arena;
	const char *profile, *agent_network, *workspace, *state_dir;
	const char *upstream_proxy; /* NULL: none */
	int64_t max_egress_bytes;   /* -1: no limit */
	struct order_channel *channels;
	size_t channel_count;
	struct order_commands {
		bool any; /* false: no commands, and the rest is empty */
		struct jail_policy policy;
		bool run_command, free, auto_approve;
		const char *approval; /* auto, confirm, step */
		json_t *verify;       /* argv; NULL: none */
		int64_t timeout_secs, verify_timeout_secs;
	} commands;
};

/* The limits of a task; -1: none. */
struct limits {
	int64_t timeout_secs, max_iterations, max_output_tokens_per_call, context_tokens;
	int64_t max_calls_per_turn, max_input_tokens, max_output_tokens, max_microusd;
	int64_t best_effort_microusd;
};

/* The second line. */
struct task {
	struct arena arena;
	const char *mode, *prompt, *model;
	const char *thinking;        /* NULL: unset */
	const double *temperature;   /* NULL: unset */
	const struct record *result; /* NULL: the state declares no schema */
	struct task_provider {
		const char *name, *api_format, *base_url, *auth, *api_version;
		const char *ca_file; /* NULL: the system's */
		char *key;           /* NULL: none; wiped by task_done */
		char **headers;      /* "NAME: VALUE", NULL after the last; wiped as well */
		char *query;         /* "NAME=VALUE&...", or empty; wiped as well */
		const struct prices *prices;
		int64_t connect_timeout_secs, idle_timeout_secs, timeout_secs, max_retries;
		bool proxied; /* from the order: the broker uses a proxy */
	} provider;
	struct task_reviewer {
		struct task_provider provider;
		const char *model;
	} * reviewer; /* writes summaries of dropped turns; NULL: nobody does */
	struct limits limits;
	char **secrets; /* further values to redact; wiped by task_done */
	size_t secret_count;
	const char **protect, **hide; /* absolute paths, for the file tools */
	size_t protect_count, hide_count;
	bool record;
};

/* Read one line each from `fd`, the first not a byte more. Refuse members that are missing, unknown
 * or of the wrong type. */
int order_read(int fd, struct order *out, struct err *e);
void order_done(struct order *order);
int task_read(int fd, struct task *out, struct err *e);
void task_done(struct task *task);
#endif
