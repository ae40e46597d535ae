/*
 * attack ID: makes one attempt and exits with its answer: 0 for success, else the errno; 250 when
 * there is no such attempt. `attack pause` is the victim, `attack whoami` exits 0 for uid 0,
 * `attack facts` and `attack ioctls` describe its confinement.
 */
#include "tests/security/attacks/attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *target(const char *name)
{
	char key[64];
	snprintf(key, sizeof(key), "ATTACK_%s", name);
	const char *value = getenv(key);
	return value ? value : "";
}

const char *outside(const char *name)
{
	static char paths[4][4096];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", target("OUTSIDE"), name);
	return path;
}

int answer(long result)
{
	return result < 0 ? errno : 0;
}

static const struct {
	const char *id;
	int (*attempt)(void);
} attacks[] = {
#define ATTACK_ROW(id, by, strict, hardened, what) {#id, id},
	ATTACKS(ATTACK_ROW)};

int main(int argc, char **argv)
{
	const char *id = argc > 1 ? argv[1] : "";
	if (!strcmp(id, "pause"))
		return pause();
	if (!strcmp(id, "daemon"))
		return sleep(600) ? 1 : 0;
	if (!strcmp(id, "whoami"))
		return geteuid() ? EPERM : 0;
	if (!strcmp(id, "facts"))
		return facts();
	if (!strcmp(id, "ioctls"))
		return ioctls();
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (!strcmp(attacks[i].id, id))
			return attacks[i].attempt();
	return 250;
}
