/*
 * How dangerous a command is, and who must agree to it: deterministic, table-driven.
 *
 * Looks through shells, wrappers, interpreters, pipes, substitutions and redirections; a chain's
 * level is its maximum and its approvals are the union. The jail is the boundary; this exists so
 * that a person is asked the right question.
 */
#ifndef POLICY_CLASSIFY_H
#define POLICY_CLASSIFY_H
#include "base/cleanup.h"
#include <jansson.h>
#include <stddef.h>

/* level, name, the approval it needs by itself */
#define LEVELS(X)                                                                                  \
	X(READ_ONLY, "read_only", 0)                                                               \
	X(BUILD, "build", 0)                                                                       \
	X(WRITE, "write", APPROVE_CONFIRM)                                                         \
	X(DESTRUCTIVE, "destructive", APPROVE_EXPLICIT)                                            \
	X(PRIVILEGED, "privileged", APPROVE_TYPED_YES)                                             \
	X(NETWORK, "network", APPROVE_CONFIRM | APPROVE_DESTINATION)                               \
	X(DENIED, "denied", 0)

enum level {
#define LEVEL(level, name, needs) LEVEL_##level,
	LEVELS(LEVEL)
#undef LEVEL
};

enum approval {
	APPROVE_CONFIRM = 1,
	APPROVE_EXPLICIT = 2,    /* the destructive part repeated */
	APPROVE_TYPED_YES = 4,   /* the word, not the key */
	APPROVE_DESTINATION = 8, /* with the destination shown */
};

enum { VERDICT_REASONS_MAX = 16, VERDICT_REASON_BYTES = 200 };

struct verdict {
	enum level level;
	unsigned approvals; /* of enum approval */
	char reasons[VERDICT_REASONS_MAX][VERDICT_REASON_BYTES];
	size_t reason_count;
};

struct classify_world {
	const char *workspace; /* absolute; NULL: unknown */
	const char *home;      /* absolute; NULL: unknown */
};

const char *level_name(enum level level);
/* Returns {level, approvals: [NAME], reasons}. New reference. */
json_t *verdict_json(const struct verdict *verdict);
/* Judges `argv` as it would be executed, without a shell of our own around it. */
void classify_argv(const struct classify_world *world, const char *const *argv, size_t argc,
	struct verdict *out);
#endif
