/*
 * Analyses: what is suspicious about a machine that breaks no rule. Each is a
 * warning of its own, found without running anything.
 */
#ifndef MACHINE_ANALYSE_H
#define MACHINE_ANALYSE_H
#include "machine/machine.h"

/* Reports every warning of the analyses below. */
void machine_analyse(const struct machine *machine, struct findings *findings);

/* Reads of record fields that some path from the initial state reaches before anything has written
 * them. Sound: a machine without such a warning never halts on a missing field. */
void analyse_unset(const struct machine *machine, struct findings *findings);
/* Cycles without a wait, an agent or a write to what their branches read. */
void analyse_loops(const struct machine *machine, struct findings *findings);
/* Variables and schemas that nothing uses, captures that nothing reads. */
void analyse_uses(const struct machine *machine, struct findings *findings);
/* Clauses that can never fire, alone or behind those before them. */
void analyse_clauses(const struct machine *machine, struct findings *findings);
/* States that combine untrusted data, sight of the workspace and a way out. */
void analyse_trust(const struct machine *machine, struct findings *findings);
/* References spelt as another language does. */
void analyse_spellings(const struct machine *machine, struct findings *findings);
#endif
