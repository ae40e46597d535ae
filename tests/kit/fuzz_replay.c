/*
 * Runs a fuzz target over its corpus, one TAP result per file: what libFuzzer found once stays
 * fixed. Arguments: files and directories.
 */
#include "base/cleanup.h"
#include "tests/kit/tap.h"
#include <dirent.h>
#include <stdint.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void replay_file(const char *path)
{
	FILE *file = fopen(path, "re");
	if (!file) {
		ok(false, "open %s", path);
		return;
	}
	AUTO_FREE uint8_t *data = NULL;
	struct stat st;
	fstat(fileno(file), &st);
	data = malloc((size_t)st.st_size + 1);
	size_t len = data ? fread(data, 1, (size_t)st.st_size, file) : 0;
	fclose(file);
	/* An exact copy, so that the sanitizer sees a read one byte behind the input. */
	AUTO_FREE uint8_t *exact = malloc(len ? len : 1);
	if (!data || !exact)
		bail("no memory for %s", path);
	memcpy(exact, data, len);
	LLVMFuzzerTestOneInput(exact, len);
	ok(true, "%s", path);
}

static void replay_directory(const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char child[4096];
		snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			replay_file(child);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_directory(argv[i]);
		else
			replay_file(argv[i]);
	}
	return tap_done();
}
