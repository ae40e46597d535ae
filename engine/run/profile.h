/*
 * The choice of the confinement profile for this host (docs/confinement.md), by probes with the
 * real launcher.
 */
#ifndef RUN_PROFILE_H
#define RUN_PROFILE_H
#include "confine/confine.h"
#include "run/live.h"

/* Returns "strict" or "hardened". NULL: the configured profile does not work here, with the reason.
 * If `auto` ends in hardened, a notice tells why it is not strict. */
const char *profile_resolve(
	struct live *live, const char *workspace, bool allow_root_jail, struct err *e);
/* Refuses a machine whose commands would run as root because its file systems cannot map ids. Only
 * a start by root checks this, in one jail with all paths that the states may write. */
int profile_check_ids(struct live *live, const struct machine *machine,
	const struct confine *confine, struct err *e) MUST_CHECK;
/* Returns the policy of a probe command: only a fault of the host can keep it from running. */
struct jail_policy profile_probe(enum jail_profile profile, bool allow_root_jail);
/* Returns the order of a probe command, to be released; takes `argv` (NULL: one that succeeds). */
struct jail_order profile_order(json_t *argv);
#endif
