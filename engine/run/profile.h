/*
 * Which confinement profile this host gets (docs/confinement.md), probed with the real launcher.
 */
#ifndef RUN_PROFILE_H
#define RUN_PROFILE_H
#include "confine/confine.h"
#include "run/live.h"

/* "strict" or "hardened"; NULL: the configured one does not work here, and why. With `auto` and
 * hardened as the answer, a notice says why it is not strict. */
const char *profile_resolve(
	struct live *live, const char *workspace, bool allow_root_jail, struct err *e);
/* Refuses a machine whose commands would be root because its file systems cannot map ids. Only a
 * start by root makes one jail for it, with all that its states may write. */
int profile_check_ids(struct live *live, const struct machine *machine,
	const struct confine *confine, struct err *e) MUST_CHECK;
/* The policy of a command that nothing but the host can keep from running; takes `argv`. New
 * reference. */
json_t *profile_probe(const char *profile, bool allow_root_jail, json_t *argv);
#endif
