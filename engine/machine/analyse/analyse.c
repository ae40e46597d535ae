#include "machine/analyse/analyse.h"

#include "base/cleanup.h"

static void (*const analyses[])(const struct machine *m, struct findings *findings) = {
	analyse_unset, analyse_loops, analyse_uses, analyse_clauses, analyse_trust,
	analyse_spellings};

void machine_analyse(const struct machine *machine, struct findings *findings)
{
	for (size_t i = 0; i < ARRAY_LEN(analyses); i++)
		analyses[i](machine, findings);
}
