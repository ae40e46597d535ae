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
	bool throwaway;                       /* removed by stage_done */
	char *cassettes[STAGE_CASSETTES_MAX]; /* the copies that are played; heap, absolute */
	int cassette_count;
	struct child provider;
	int end_fd;                 /* the provider serves until it is closed */
	char url[64];               /* "http://127.0.0.1:PORT" */
	char *positions, *failures; /* what is kept of this machine's calls, below `dir`; heap */
};

#define STAGE_NONE                                                                                 \
	(struct stage)                                                                             \
	{                                                                                          \
		.dir_fd = -1, .end_fd = -1, .provider = {.pid = -1, .pidfd = -1 }                  \
	}

/* Its directory and the workspace. `dir` NULL: a throwaway directory; otherwise one that is made,
 * or continued when it was a stage before. The workspace is a copy of the bundle's
 * rehearsal/workspace, else of the working directory, and a git repository with one commit of all
 * of it where `repository` asks for one. It is this call's alone until stage_done; one machine may
 * be rehearsed there after another, each with cassettes of its own. */
struct stage_ask {
	const struct bundle *bundle;
	const char *machine, *dir, *cassette;
	bool repository;
};
int stage_open(struct stage *stage, const struct stage_ask *ask, struct err *e);
/* The cassettes in place of those there; `cassette` NULL: the bundle's rehearsal/ *.jsonl. */
int stage_load(struct stage *stage, const struct stage_ask *ask, struct err *e);
/* Starts agent6-cassette. */
int stage_play(struct stage *stage, struct err *e);
/* Ends it; `failures` receives what did not match, an array of {kind, state, seq, turn, text}, and
 * `unused` how many exchanges nothing asked for. Until stage_told, a later call has them again. */
int stage_end(struct stage *stage, json_t **failures, int64_t *unused, struct err *e);
void stage_told(const struct stage *stage);
void stage_done(struct stage *stage);
#endif
