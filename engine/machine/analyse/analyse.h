/*
 * Analyses: find what is suspicious in a machine that breaks no rule, without running anything.
 * Each gives warnings of its own.
 */
#ifndef MACHINE_ANALYSE_H
#define MACHINE_ANALYSE_H
#include "machine/machine.h"

/* Reports every warning of the analyses below. */
void machine_analyse(const struct machine *machine, struct findings *findings);

/* Warns of reads of record fields that some path from the initial state reaches before anything has
 * written them. Sound: a machine without such a warning never halts on a missing field. */
void analyse_unset(const struct machine *machine, struct findings *findings);
/* Warns of cycles without a wait, an agent or a write to the variables that their branches read. */
void analyse_loops(const struct machine *machine, struct findings *findings);
/* Warns of variables and schemas that nothing uses, and of captures that nothing reads. */
void analyse_uses(const struct machine *machine, struct findings *findings);
/* Warns of clauses that can never fire, alone or after those before them. */
void analyse_clauses(const struct machine *machine, struct findings *findings);
/* Warns of states that combine untrusted data, sight of the workspace and a way out. */
void analyse_trust(const struct machine *machine, struct findings *findings);
/* Warns of references in the spelling of another language. */
void analyse_spellings(const struct machine *machine, struct findings *findings);
#endif
