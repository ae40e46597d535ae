/* Finds programs in their table. */
#include "agent/policy/programs_table.h"

#include "base/cleanup.h"
#include <string.h>

const struct rule *rule_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (list_has(programs[i].programs, name, false))
			return &programs[i];
	return NULL;
}

const char *program_base(struct judge *judge, const char *name)
{
	static const char versioned[] =
		"mkfs python pypy pip gcc g++ clang clang++ lua perl ruby php "
		"clang-format clang-tidy ld-linux-x86-64.so.2";
	if (!strncmp(name, "mkfs.", 5))
		return "mkfs";
	char *base = arena_copy(&judge->arena, name, strlen(name));
	size_t len = strlen(base);
	while (len && strchr("0123456789.-", base[len - 1]))
		len--;
	base[len] = '\0';
	return list_has(versioned, base, false) ? base : name;
}
