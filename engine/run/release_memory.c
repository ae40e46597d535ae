#include "run/release_memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { LINE_BYTES = 512 };

struct mapping {
	uintptr_t from, to;
	bool of_file, read_only;
};

/* Parses the first line of a mapping. Returns false if the line is one of its figures. */
static bool header(const char *line, struct mapping *mapping)
{
	char permissions[5];
	unsigned long from, to, inode;
	if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &from, &to, permissions, &inode) != 4)
		return false;
	*mapping = (struct mapping){
		from, to, inode != 0, permissions[0] == 'r' && permissions[1] == '-'};
	return true;
}

/* Unmaps only mappings with no page of their own: relocated data is read-only too, but no file has
 * it. */
void release_memory(void)
{
	char line[LINE_BYTES];
	struct mapping m = {0};
	unsigned long kib;
	FILE *maps = fopen("/proc/self/smaps", "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (header(line, &m) || sscanf(line, "Anonymous: %lu kB", &kib) != 1)
			continue;
		if (m.of_file && m.read_only && kib == 0)
			madvise((void *)m.from, m.to - m.from, MADV_DONTNEED);
	}
	if (maps)
		fclose(maps);
	malloc_trim(0);
}
