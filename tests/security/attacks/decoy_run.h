/*
 * Running an attempt of the corpus against a decoy: outside any jail, in agent6's, in bubblewrap's.
 */
#ifndef TESTS_SECURITY_ATTACKS_DECOY_RUN_H
#define TESTS_SECURITY_ATTACKS_DECOY_RUN_H
#include "tests/security/attacks/decoy.h"

/* Much more than any attempt needs: a crawl over a whole tree beside other work took over 20. */
enum { DECOY_RUN_SECS = 60 };

/* In a child: what attempt `id` is given as terminals, a descriptor that should not be inherited,
 * the attacker's ids, the workspace, a private copy of the mounts. Does not return on failure. */
void decoy_run_prepare(const struct decoy *decoy, const char *id);
/* Writes decoy->policy: `attack ID` in the profile, with small limits. */
void decoy_run_policy(const struct decoy *decoy, const char *id, const char *profile);

/* The attempt's answer, see attack.h; 255 when it had to be killed. */
int decoy_run_outside(const struct decoy *decoy, const char *id);
int decoy_run_inside(const struct decoy *decoy, const char *id, const char *profile);
/* In bubblewrap with the same intent: the same places, everything unshared, no capability. */
int decoy_run_bubblewrap(const struct decoy *decoy, const char *id);
#endif
