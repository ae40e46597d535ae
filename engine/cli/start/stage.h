/*
 * The stage of a rehearsal: a directory with a workspace, a state directory and the cassettes, and
 * the loopback provider that plays them.
 */
#ifndef CLI_START_STAGE_H
#define CLI_START_STAGE_H
#include "base/child.h"
#include "bundle/bundle.h"
#include <jansson.h>

enum { STAGE_CASSETTES_MAX = 64 };

struct stage {
	char *dir, *workspace, *state; /* heap, absolute */
	int dir_fd;
	bool throwaway;                       /* stage_done removes it */
	char *cassettes[STAGE_CASSETTES_MAX]; /* the copies to play; heap, absolute */
	int cassette_count;
	struct child provider;
	int end_fd;                 /* the provider ends when this is closed */
	char url[64];               /* "http://127.0.0.1:PORT" */
	char *positions, *failures; /* files about this machine's calls, below `dir`; heap */
};

#define STAGE_NONE                                                                                 \
	(struct stage)                                                                             \
	{                                                                                          \
		.dir_fd = -1, .end_fd = -1, .provider = {.pid = -1, .pidfd = -1 }                  \
	}

/* The directory and the workspace. `dir` NULL: a throwaway directory; otherwise it is made, or
 * continued if it was a stage before. The workspace is a copy of the case's, else of the bundle's
 * rehearsal/workspace, else of the working directory for the default case; if `repository` is set,
 * it is a git repository with one commit of all of it. The stage is locked until stage_done.
 * Several machines may be rehearsed there one after another, each with its own cassettes. */
struct stage_ask {
	const struct bundle *bundle;
	const char *machine, *dir, *cassette;
	const char *folder; /* of the case: "rehearsal", "rehearsal/NAME" */
	bool repository;
};
int stage_open(struct stage *stage, const struct stage_ask *ask, struct err *e);
/* Replaces the stage's cassettes; `cassette` NULL: by those of the case. */
int stage_load(struct stage *stage, const struct stage_ask *ask, struct err *e);
/* Starts agent6-cassette. */
int stage_play(struct stage *stage, struct err *e);
/* Ends the provider. `failures` receives the mismatches, an array of {kind, state, seq, turn,
 * text}, and `unused` the number of exchanges that nothing asked for. Until stage_told, a later
 * call returns them again. */
int stage_end(struct stage *stage, json_t **failures, int64_t *unused, struct err *e);
void stage_told(const struct stage *stage);
void stage_done(struct stage *stage);
#endif
