/*
 * attempt ROLE: every attempt of the corpus, one line "ID ERRNO" each. The targets are in the file
 * `targets` beside the program. `attempt --kinds` prints "ID KIND PROFILE LAYERS WHAT"; `attempt
 * --hold` waits, holding what it was given, and lets anyone trace it.
 */
#include "tests/security/egress/attempts.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void print(const char *id, int got, void *ctx)
{
	(void)ctx;
	printf("%s %d\n", id, got);
}

int main(int argc, char **argv)
{
	char path[4096];
	const char *as = argc > 1 ? argv[1] : "outside";
	if (!strcmp(as, "--kinds")) {
#define KIND(id, kind, profile, layers, what) puts(#id " " #kind " " #profile " " layers " " what);
		ATTEMPTS(KIND)
		return 0;
	}
	if (!strcmp(as, "--hold")) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where there is Yama */
		return pause();
	}
	snprintf(path, sizeof(path), "%.*stargets", (int)(strrchr(argv[0], '/') + 1 - argv[0]),
		argv[0]);
	if (egress_read_targets(path))
		return 3;
	egress_all(as, print, NULL);
	return fflush(stdout) ? 1 : 0;
}
