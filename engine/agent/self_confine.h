/*
 * The agent's own confinement (docs/confinement.md), irrevocable and complete before the key is
 * read.
 */
#ifndef AGENT_SELF_CONFINE_H
#define AGENT_SELF_CONFINE_H
#include "agent/request.h"

/* Applies the profile's layers in order, proves that no network is left, and adds what was applied
 * to `layers` (for the "confined" event). Every failure is fatal and named: nothing is skipped. */
int self_confine(const struct agent_order *order, json_t *layers, struct err *e);

/* The layers, one file each; `layers` gathers what they did. */
int self_confine_network(
	json_t *layers, struct err *e); /* own user and network namespace, no route */
int self_confine_landlock(const struct agent_order *order, json_t *layers, struct err *e);
int self_confine_seccomp(json_t *layers, struct err *e); /* no socket but AF_UNIX; proved */
int self_confine_privileges(
	json_t *layers, struct err *e); /* capabilities, core, dumpable, parent */
#endif
