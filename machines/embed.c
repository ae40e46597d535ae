/*
 * Writes the bundles of a directory as a C table, for `machine new --from NAME`. A build tool.
 *
 *   embed DIR    struct stock initialisers of every bundle in DIR (cli/bundle/stock.h)
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BUNDLES_MAX = 64, PATH_BYTES = 1024 };

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static int visible(const struct dirent *dirent)
{
	return dirent->d_name[0] != '.';
}

/* A string a line, so that what is compiled stays readable in a debugger. */
static size_t print_bytes(const char *path)
{
	FILE *in = fopen(path, "rb");
	size_t len = 0;
	int last = '\n';
	if (!in)
		die(path);
	for (int c; (c = fgetc(in)) != EOF; last = c, len++) {
		if (last == '\n')
			fputs(len ? "\"\n\t\t\"" : "\n\t\t\"", stdout);
		printf(c == '\n'                            ? "\\n"
			: c == '"' || c == '\\' || c == '?' ? "\\%c"
			: c < ' ' || c > '~'                ? "\\%03o"
							    : "%c",
			c);
	}
	fputs(len ? "\"" : "\"\"", stdout);
	if (fclose(in))
		die(path);
	return len;
}

static void print_files(const char *root, const char *below)
{
	char dir[PATH_BYTES];
	struct dirent **names;
	snprintf(dir, sizeof(dir), "%s/%s", root, below);
	int count = scandir(dir, &names, visible, alphasort);
	if (count < 0)
		die(dir);
	for (int i = 0; i < count; i++) {
		char path[2 * PATH_BYTES], member[PATH_BYTES + 300];
		struct stat st;
		snprintf(member, sizeof(member), "%s%s%s", below, *below ? "/" : "",
			names[i]->d_name);
		snprintf(path, sizeof(path), "%s/%s", root, member);
		if (stat(path, &st))
			die(path);
		if (S_ISDIR(st.st_mode)) {
			print_files(root, member);
		} else {
			printf("\t{\"%s\", %s,", member, st.st_mode & 0100 ? "0777" : "0666");
			printf(", %zu},\n", print_bytes(path));
		}
		free(names[i]);
	}
	free(names);
}

/* The machine's own description is what people choose by. */
static void print_summary(const char *root)
{
	char path[PATH_BYTES + 20], line[512];
	static const char key[] = "description: ";
	snprintf(path, sizeof(path), "%s/machine.yaml", root);
	FILE *in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, key, sizeof(key) - 1)) {
			line[strcspn(line, "\n")] = '\0';
			if (strpbrk(line, "\"\\"))
				die("a description that is no plain scalar");
			printf("\"%s\"", line + sizeof(key) - 1);
			fclose(in);
			return;
		}
	die(path);
}

static int bundle(const struct dirent *dirent)
{
	return visible(dirent) && dirent->d_type == DT_DIR;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc == 2 ? scandir(argv[1], &names, bundle, alphasort) : -1;
	if (count < 1 || count > BUNDLES_MAX)
		die("usage: embed DIR");
	char root[BUNDLES_MAX][PATH_BYTES];
	for (int i = 0; i < count; i++) {
		snprintf(root[i], sizeof(root[i]), "%s/%s", argv[1], names[i]->d_name);
		printf("static const struct stock_file files_%d[] = {\n", i);
		print_files(root[i], "");
		puts("};");
	}
	puts("const struct stock stock_bundles[] = {");
	for (int i = 0; i < count; i++) {
		printf("\t{\"%s\", ", names[i]->d_name);
		print_summary(root[i]);
		printf(", files_%d, ARRAY_LEN(files_%d)},\n", i, i);
	}
	puts("};\n#define STOCK_DETAILS \\");
	for (int i = 0; i < count; i++) {
		printf("\t\"\\n  %-8s  \" ", names[i]->d_name);
		print_summary(root[i]);
		puts(" \\");
	}
	puts("\t\"\"\n#define STOCK_NAMES \\");
	for (int i = 0; i < count; i++)
		printf("\t\" %s\" \\\n", names[i]->d_name);
	puts("\t\"\"");
	return ferror(stdout) || fflush(stdout);
}
