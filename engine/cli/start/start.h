/*
 * The steps of a start, the same for `machine run` and `machine rehearse`: lock, compare with the
 * bundle that the instance runs, gate, install the private copy, read the machine from it, drive.
 */
#ifndef CLI_START_H
#define CLI_START_H
#include "cli/verb/loaded.h"
#include "config/config.h"
#include "run/drive.h"

struct start {
	const struct statedir *statedir;
	const char *repository; /* the directory that names the one in `statedir`; NULL: none */
	struct config *config;  /* the machine's overlay is applied to it */
	const struct loaded *authored; /* the named bundle, checked */
	const char *id;
	const char *digest;               /* --digest: refuse anything else; NULL: any */
	bool gate;                        /* refuse uncommitted bundles */
	json_t *parameters;               /* object, borrowed; NULL: none given */
	const json_t *overrides;          /* array of strings */
	const struct config_paths *paths; /* of the operator's configuration; NULL: none */
	const char *record_dir, *rehearsal_url;
	const struct recorded *recorded; /* of a rehearsal; NULL: none */
	bool allow_root, allow_root_jail, exit_on_wait, auto_approve;
};

/* Starts and runs. Every failure is a status of `out` with its reason. */
void start_run(
	const struct start *start, const struct drive_listener *listener, struct drive_result *out);
#endif
