/*
 * The words of the supervisor to an agent: an order, which holds what confinement needs and no
 * secret, and a task, which the agent reads only after it is confined, with the work and the keys.
 *
 * Each is one JSON object, written and read here and nowhere else. A decoded struct points into the
 * object that it was decoded from. The maker of one may put texts and structs into `arena` and
 * values into `held`, which live as long; everything else it borrows.
 */
#ifndef CONTRACT_AGENT_ORDER_H
#define CONTRACT_AGENT_ORDER_H
#include "base/arena.h"
#include "contract/jail_policy.h"
#include "contract/prices.h"

enum { AGENT_ORDER_VERSION = 1 };

struct agent_texts {
	const char **items; /* NULL after the last; NULL: none are given */
	size_t count;
};

struct agent_channel {
	const char *name, *endpoint, *ca_file; /* ca_file NULL: the system's authorities */
	bool tls, local, private;
};

/* How commands may be run. */
struct agent_commands {
	struct jail_policy policy; /* owned */
	const char *run;           /* no, ask, yes */
	const char *approval;      /* auto, confirm, step */
	bool auto_approve;
	json_t *verify; /* argv; NULL: none */
	int64_t timeout_secs, verify_timeout_secs;
};

struct agent_order {
	int64_t version;
	const char *profile, *agent_network, *workspace, *state_dir;
	const char *upstream_proxy; /* NULL: none */
	int64_t max_egress_bytes;   /* -1: no limit */
	struct agent_channel *channels;
	size_t channel_count;
	struct agent_commands *commands; /* NULL: it runs none */
	struct arena arena;
	json_t *held; /* owned; NULL: nothing */
};

/* The limits of a task; -1: none. */
struct agent_limits {
	int64_t timeout_secs, max_iterations, max_output_tokens_per_call, context_tokens;
	int64_t max_calls_per_turn, max_input_tokens, max_output_tokens, max_microusd;
	int64_t best_effort_microusd;
};

struct agent_provider {
	const char *name, *api_format, *base_url, *auth;
	const char *api_version;    /* NULL: unset */
	const char *ca_file;        /* NULL: the system's */
	const char *key;            /* NULL: none */
	struct agent_texts headers; /* "NAME: VALUE" */
	const char *query;          /* "NAME=VALUE&...", or empty; NULL: none */
	struct prices *prices;      /* NULL: unpriced */
	int64_t connect_timeout_secs, idle_timeout_secs, timeout_secs, max_retries;
};

struct agent_reviewer {
	struct agent_provider provider;
	const char *model;
};

struct agent_task {
	int64_t version;
	const char *mode, *prompt, *model;
	const char *thinking; /* NULL: unset */
	double temperature;   /* NAN: unset */
	json_t *result;       /* the schema of its result; NULL: none */
	struct agent_provider provider;
	struct agent_reviewer *reviewer; /* writes summaries of dropped turns; NULL: nobody does */
	struct agent_limits limits;
	struct agent_texts secrets;       /* further values to redact */
	struct agent_texts protect, hide; /* absolute paths, for the file tools */
	bool record;
	struct arena arena;
	json_t *held; /* owned; NULL: nothing */
};

/* Read an object. Refuse members that are unknown, missing or of a wrong type, and limits that
 * allow nothing. */
int agent_order_decode(json_t *from, struct agent_order *out, struct err *e) MUST_CHECK;
int agent_task_decode(json_t *from, struct agent_task *out, struct err *e) MUST_CHECK;
/* Return the object, a new reference. NULL: a text is not UTF-8, or out of memory. */
json_t *agent_order_encode(const struct agent_order *order);
json_t *agent_task_encode(const struct agent_task *task);
/* Release them; keys are not wiped. */
void agent_order_done(struct agent_order *order);
void agent_task_done(struct agent_task *task);
/* Sets `out` to the texts of a list, which are borrowed. Returns false if the value is no list of
 * texts. */
bool agent_texts_of(const json_t *list, struct arena *arena, struct agent_texts *out);
/* Sets `out` to copies of the paths. */
void agent_texts_copy(const struct path_list *paths, struct arena *arena, struct agent_texts *out);
#endif
