/*
 * The table of verbs: everything that `agent6 VERB ...` can do.
 *
 * --help, manual pages and shell completions are derived from it.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H
#include "cli/verb/verb.h"

/* clang-format off */
#define VERBS(X) \
	X(machine_new) \
	X(machine_check) \
	X(machine_test) \
	X(machine_rehearse) \
	X(machine_graph) \
	X(machine_run) \
	X(machine_status) \
	X(machine_list) \
	X(machine_watch) \
	X(machine_poke) \
	X(machine_stop) \
	X(machine_approve) \
	X(machine_replay) \
	X(machine_verify) \
	X(machine_report) \
	X(machine_prune) \
	X(machine_pack) \
	X(machine_inspect) \
	X(machine_sign) \
	X(check_sandbox) \
	X(check_config) \
	X(check_git) \
	X(check_command) \
	X(check_redact) \
	X(config_show) \
	X(config_get) \
	X(config_set) \
	X(connect) \
	X(audit) \
	X(jail) \
	X(completions) \
	X(manual)
/* clang-format on */

/* Returns all verbs in VERBS' order. */
const struct verb *const *verbs(size_t *count);
/* Reports whether verbs begin with `word` and another word. */
bool verbs_is_group(const char *word);
/* Returns the verb that `argv` begins with; sets `words` to the number of words in its path. NULL:
 * none, with a message that suggests the nearest. */
const struct verb *verbs_find(char **argv, int *words, struct err *e);
#endif
