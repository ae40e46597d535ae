/*
 * Host program: the tables of engine/base/etc_table.h. Without an argument as the part of
 * docs/confinement.md that `make docs` puts there; with `shown` or `withheld` the paths, one a
 * line.
 */
#include "base/etc_table.h"
#include <stdio.h>
#include <string.h>

static void print_row(const char *why, const char *const *paths)
{
	printf("| %s |", why);
	for (; *paths; paths++)
		printf(" `%s`", *paths);
	puts(" |");
}

#define ROW(why, ...) print_row(why, (const char *const[]){__VA_ARGS__, NULL});

static void print_tables(void)
{
	puts("| who reads them | paths, each where root owns it and everybody may read it "
	     "|\n|---|---|");
	ETC_SHOWN(ROW)
	puts("\n| withheld, as it | paths |\n|---|---|");
	ETC_WITHHELD(ROW)
}

static void print_paths(const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		puts(paths[i]);
}

int main(int argc, char **argv)
{
	static const char *const shown[] = {ETC_SHOWN(ETC_PATHS)}, *const withheld[] = {
									   ETC_WITHHELD(ETC_PATHS)};
	if (argc == 1)
		print_tables();
	else if (!strcmp(argv[1], "shown"))
		print_paths(shown, sizeof(shown) / sizeof(*shown));
	else
		print_paths(withheld, sizeof(withheld) / sizeof(*withheld));
	return fflush(stdout) ? 1 : 0;
}
