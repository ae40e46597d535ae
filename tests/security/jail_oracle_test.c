/*
 * bubblewrap as an oracle: every attempt of the corpus, in bubblewrap and in the strict jail, each
 * given the same places, limits and nothing else. Where bubblewrap holds, the jail has to hold;
 * where only the jail does, the attempt is listed.
 */
#include "tests/security/attacks/attack.h"

#include "tests/kit/tap.h"
#include "tests/security/attacks/decoy_run.h"
#include <stdio.h>
#include <string.h>

struct attack {
	const char *id;
	int by;
	bool by_harm; /* whatever it answers: only what the host shows counts */
};

#define FIRST(first, ...) (first)
static const struct attack attacks[] = {
#define ATTACK_ROW(id, by, strict, hardened, what) {#id, by, FIRST strict == ANYTHING},
	ATTACKS(ATTACK_ROW)};

enum { UNCONFINED, BUBBLEWRAP, JAIL };

static int run(const struct decoy *decoy, const char *id, int where)
{
	switch (where) {
	case BUBBLEWRAP: return decoy_run_bubblewrap(decoy, id);
	case JAIL: return decoy_run_inside(decoy, id, "strict");
	default: return decoy_run_outside(decoy, id);
	}
}

/* The attempt got what it wanted. */
static bool succeeds(struct decoy *decoy, const struct attack *attack, int where)
{
	decoy_fill(decoy);
	int got = run(decoy, attack->id, where);
	AUTO_FREE char *harm = decoy_harm(decoy);
	decoy_clear(decoy);
	return harm || (!got && !attack->by_harm);
}

/* Skips if bubblewrap cannot run a command, before and after: attacks that it could not start would
 * count as stopped. */
static void need_bubblewrap(struct decoy *decoy)
{
	decoy_fill(decoy);
	int got = decoy_run_bubblewrap(decoy, "no such attempt");
	decoy_clear(decoy);
	if (got == 252)
		skip_all("bwrap is not installed (make deps)");
	if (got != 250)
		bail("bubblewrap does not run a command here: %d", got);
}

static void compare(const char *who, int by)
{
	struct decoy d;
	int tried = 0, both = 0, stricter = 0;
	decoy_init(&d, tap_scratch(), by == BY_USER);
	need_bubblewrap(&d);
	for (size_t i = 0; i < ARRAY_LEN(attacks); i++) {
		const struct attack *a = &attacks[i];
		if (!(a->by & by) || !succeeds(&d, a, UNCONFINED))
			continue;
		bool peer = succeeds(&d, a, BUBBLEWRAP), ours = succeeds(&d, a, JAIL);
		tried++;
		both += !peer && !ours;
		stricter += peer && !ours;
		if (peer || ours)
			diag("%s, %s: %s", a->id, who,
				!ours  ? "only the jail holds"
				: peer ? "succeeds in both"
				       : "ONLY BUBBLEWRAP HOLDS");
		if (ours && !peer)
			ok(false, "%s, %s: the jail is no weaker than bubblewrap", a->id, who);
	}
	need_bubblewrap(&d);
	decoy_done(&d);
	ok(tried > 80 && both + stricter > 80,
		"%s: of %d attempts %d held by both, %d by the jail alone, %d by neither", who,
		tried, both, stricter, tried - both - stricter);
}

int main(void)
{
	if (geteuid() == 0)
		compare("root", BY_ROOT);
	compare("user", BY_USER);
	return tap_done();
}
