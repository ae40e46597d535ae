/*
 * The drive: takes an instance from where its journal stands to its end, a stop or a parked wait.
 * The verbs of the command line call this and print; they decide nothing.
 *
 * The order of a start: statedir_find, instance_lock, recover_begun; when it has not begun, install
 * the bundle's private copy as <instance>/bundle; read the machine from that copy; drive_run.
 */
#ifndef RUN_DRIVE_H
#define RUN_DRIVE_H
#include "base/buf.h"
#include "base/exit.h"
#include "instance/instance.h"
#include "instance/position.h"
#include "machine/machine.h"
#include <stdint.h>

struct config;
struct recorded;
struct reserved_path;

enum { DRIVE_NAME_BYTES = 65 };

/* Returns `value` without the texts in the list `secrets` and without anything else known to be
 * secret. New reference; NULL: out of memory. */
typedef json_t *drive_hide(const json_t *secrets, const json_t *value);

/* The request of a verb. Everything is borrowed. */
struct drive_request {
	const struct machine *machine; /* as read from <instance>/bundle */
	const struct config *config;   /* effective, the machine's overlay included */
	const char *bundle_digest;     /* "sha256:HEX" */
	const char *workspace;         /* absolute, real */
	/* The repository whose settings apply, recorded only; NULL: none. */
	const char *repository;
	const struct reserved_path *reserved; /* paths that commands may not write */
	const json_t *parameters;             /* object NAME: value; NULL: none given */
	const json_t *overrides;     /* array of strings such as "allow-uncommitted"; NULL: none */
	const char *record_dir;      /* run --record, NULL: none */
	drive_hide *without_secrets; /* cleans the recording; needed with record_dir */
	/* "http://127.0.0.1:PORT" in place of every provider; NULL: the real ones */
	const char *rehearsal_url;
	const struct recorded *recorded; /* facts in place of executions; NULL: none */
	bool allow_root, allow_root_jail, exit_on_wait, auto_approve;
};

/* The current activity, for a live line. */
struct activity {
	const char *state, *kind; /* NULL state: between states */
	bool waits;               /* for a timer or a poke; nothing runs */
	const char *preparing;    /* the preparation before the first state, or NULL */
	uint64_t seq;
	int attempt;
	int64_t started_monotonic_ms;
	int64_t began_unix_us; /* of an armed wait; may be earlier than this run */
	int64_t input_tokens, output_tokens, microusd; /* of the active state so far */
	bool unpriced;                                 /* microusd leaves some of it out */
	bool unmetered;                                /* some of the tokens are estimates */
	int64_t wake_unix_us;                          /* of an armed wait; 0: none */
};

struct drive_listener {
	/* Called with a journal line that has just become durable, without its newline
	 * (journal_decode reads it). */
	void (*line)(void *ctx, const char *line, size_t len);
	/* Called when the activity has changed, and every `tick_ms` (0: never) while a tool or
	 * agent runs. */
	void (*activity)(void *ctx, const struct activity *now);
	/* Called with something that a person should know: diagnostics of a confined process, a
	 * failed hook. */
	void (*notice)(void *ctx, const char *text);
	/* Shows a question to the person at `terminal_fd` (non-blocking, borrowed); the answer is
	 * then read from it. NULL: there is no terminal. */
	void (*prompt)(void *ctx, const char *text);
	int terminal_fd;
	int tick_ms;
	void *ctx;
};

#define RUN_STATUSES(X)                                                                            \
	X(OK, "ok", EXIT_OK)                                                                       \
	X(FAILED, "failed", EXIT_FAILED)                                                           \
	X(BUDGET, "failed", EXIT_BUDGET)                                                           \
	X(WAITING, "waiting", EXIT_OK)                                                             \
	X(STOPPED, "stopped", EXIT_OK)                                                             \
	X(INTERRUPTED, "interrupted", EXIT_INTERRUPTED)                                            \
	X(TERMINATED, "interrupted", EXIT_TERMINATED)                                              \
	X(REFUSED, "refused", EXIT_REFUSED)                                                        \
	X(DAMAGED, "damaged", EXIT_DAMAGED)                                                        \
	X(NO_SANDBOX, "refused", EXIT_SANDBOX)                                                     \
	X(BROKEN, "error", EXIT_DAMAGED)                                                           \
	X(RUNNING, "running", EXIT_OK)

#define X(name, text, exit_code) RUN_##name,
enum run_status { RUN_STATUSES(X) RUN_STATUS_COUNT };
#undef X

const char *run_status_name(enum run_status status);
/* Returns the process's exit code (docs/operating.md). */
int run_status_exit(enum run_status status);

struct drive_result {
	enum run_status status;
	bool already_ended; /* the journal already had its end; nothing was run */
	bool ungranted;     /* REFUSED: a state asks for what the configuration does not grant */
	int exit_code;      /* that the machine gives this end; 0: the status's own */
	char state[DRIVE_NAME_BYTES];
	char reason[POSITION_REASON_BYTES]; /* of the end, refusal or damage */
	uint64_t seq;                       /* steps that are committed */
	int64_t wake_unix_us;               /* WAITING; 0: until poked */
	struct totals totals;
};

/* Runs or resumes an instance. Always fills `out`; every failure is a status with its reason.
 * Blocks SIGINT and SIGTERM and reads them itself while it runs. */
void drive_run(const struct instance *instance, const struct drive_request *request,
	const struct drive_listener *listener, struct drive_result *out);
#endif
