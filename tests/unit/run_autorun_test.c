/* run: files that programs on the host run because of their names, and what changes of them. */
#include "base/buf.h"
#include "base/json.h"
#include "run/autorun.h"
#include "run/autorun_watch.h"
#include "tests/kit/tap.h"
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_table(void)
{
	for (size_t i = 0; i < autorun_count; i++) {
		const struct autorun *row = &autorun_table[i];
		bool lower = true, directory = row->name[strlen(row->name) - 1] == '/';
		for (const char *at = row->name; *at; at++)
			lower &= !isupper((unsigned char)*at);
		if (!lower || strlen(row->name) > 40 || !*row->who ||
			(i && strcmp(autorun_table[i - 1].name, row->name) >= 0))
			ok(false, "row %s is in its place", row->name);
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(strlen(row->name) - directory),
			row->name);
		if (autorun_name(name, directory) != row)
			ok(false, "row %s is found", row->name);
	}
	ok(autorun_count > 100, "%zu names", autorun_count);
	is_str(autorun_when_text(autorun_when_word(AUTORUN_PUSH)), "once it is pushed", "when");
	is_str(autorun_when_text("never"), "", "which is known or nothing");
}

static void test_paths(void)
{
	static const struct {
		const char *path, *who;
	} rows[] = {
		{".envrc", "direnv"},
		{"a/b/.ENVRC", "direnv"},
		{"Makefile", "make"},
		{"sub/GNUmakefile", "make"},
		{"CLAUDE.md", "Claude Code"},
		{".vscode/tasks.json", "VS Code"},
		{".VSCode/x/y", "VS Code"},
		{".vscode", "VS Code"}, /* a link to one */
		{"a/.github/workflows/x.yml", "GitHub"},
		{"a/.idea/Makefile", "JetBrains"},
		{"vite.config.ts", "JavaScript tools"},
		{"x.code-workspace", "VS Code"},
		{".config.js", NULL},
		{"Makefile/x", NULL},
		{"Makefile.am", NULL},
		{"main.c", NULL},
		{"vscode/tasks.json", NULL},
		{"", NULL},
		{"a-name-that-is-longer-than-any-of-the-names-that-are-known", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct autorun *row = autorun_path(rows[i].path);
		is_str(row ? row->who : NULL, rows[i].who, "who runs %s", rows[i].path);
	}
}

static int instance_fd;
static char workspace[4096];

static void put(const char *path, const char *text)
{
	char full[5000];
	snprintf(full, sizeof(full), "%s/%s", workspace, path);
	for (char *slash = full; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		bail("cannot write %s", full);
	close(fd);
}

static void note(void)
{
	struct err e = ERR_NONE;
	if (autorun_note(instance_fd, workspace, &e))
		bail("%s", e.text);
}

/* "made .envrc\nchanged Makefile\n" */
static void expect(const char *changes, const char *what)
{
	json_auto_t *changed = autorun_changed(instance_fd, workspace);
	AUTO_BUF text = BUF_INIT(65536);
	size_t i;
	json_t *file;
	json_array_foreach (json_object_get(changed, "files"), i, file)
		buf_addf(&text, "%s %s\n", json_get_text(file, "change"),
			json_get_text(file, "path"));
	is_str(text.data ? text.data : "", changes, "%s", what);
}

static void anew(void)
{
	autorun_forget(instance_fd);
	note();
}

static void test_changes(void)
{
	char path[5000], other[5000];
	expect("", "without a note nothing is known");
	put("Makefile", "all:\n");
	put(".envrc", "export A=1\n");
	put("src/main.c", "int main;\n");
	put("tools/env.sh", "export B=1\n");
	snprintf(path, sizeof(path), "%s/src/.envrc", workspace);
	if (symlink("../tools/env.sh", path))
		bail("cannot link");
	note();
	expect("", "nothing has changed");
	put("src/main.c", "int main();\n");
	put("src/other.c", "");
	expect("", "nothing that a program runs");
	put(".vscode/tasks.json", "{}");
	put("deep/er/.ENVRC", "x");
	put("Makefile", "all:\n\tx\n");
	snprintf(path, sizeof(path), "%s/.envrc", workspace);
	unlink(path);
	expect("removed .envrc\nmade deep/er/.ENVRC\nmade .vscode/tasks.json\nchanged Makefile\n",
		"the soonest first, then the nearest");
	note();
	expect("removed .envrc\nmade deep/er/.ENVRC\nmade .vscode/tasks.json\nchanged Makefile\n",
		"the note of a run that was killed stays");
	anew();
	put("tools/env.sh", "export B=2\n");
	expect("changed src/.envrc\n", "what a link leads to has changed");
	anew();
	snprintf(path, sizeof(path), "%s/deep", workspace);
	snprintf(other, sizeof(other), "%s/moved", workspace);
	if (rename(path, other))
		bail("cannot rename");
	expect("removed deep/er/.ENVRC\nmade moved/er/.ENVRC\n", "a directory that was renamed");
	anew();
	put(".git/hooks/Makefile", "x");
	put("node/.jj/.envrc", "x");
	expect("", "what no command may write is no matter of this");
}

static void test_bounds(void)
{
	char path[5000];
	anew();
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "many/%d/Makefile", i);
		put(path, "x");
	}
	put("many/deep/.envrc", "x");
	json_auto_t *changed = autorun_changed(instance_fd, workspace);
	json_t *files = json_object_get(changed, "files");
	is(json_array_size(files), 200, "no more are listed");
	is(json_get_int(changed, "more"), 101, "the rest is counted");
	is_str(json_get_text(json_array_get(files, 0), "path"), "many/deep/.envrc",
		"and the soonest is not hidden by them");
	ok(json_is_false(json_object_get(changed, "cut")), "all was looked at");
	snprintf(path, sizeof(path), "%s", workspace);
	autorun_forget(instance_fd);
	note();
	for (int i = 0; i < 140 && strlen(path) < 4000; i++) {
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
		mkdir(path, 0700);
	}
	json_auto_t *deep = autorun_changed(instance_fd, workspace);
	ok(json_is_true(json_object_get(deep, "cut")), "a tree that is too deep is said to be");
	int fd = openat(instance_fd, "autorun.json", O_WRONLY | O_TRUNC);
	close(fd);
	json_auto_t *lost = autorun_changed(instance_fd, workspace);
	ok(json_is_true(json_object_get(lost, "cut")), "a note that cannot be read, too");
	is(json_array_size(json_object_get(lost, "files")), 0, "and then nothing is made up");
}

static void test_commits(void)
{
	static const char list[] = "A\0.envrc\0M\0src/main.c\0D\0a/Makefile\0M\0b/\xff/.npmrc\0A";
	AUTO_BUF text = BUF_INIT(4096);
	buf_add(&text, list, sizeof(list));
	json_auto_t *changed = autorun_of_commits(&text);
	AUTO_FREE char *shown = json_text(changed);
	is_str(shown,
		"{\"cut\":false,\"files\":["
		"{\"change\":\"made\",\"path\":\".envrc\",\"when\":\"enter\",\"who\":\"direnv\"},"
		"{\"change\":\"removed\",\"path\":\"a/"
		"Makefile\",\"when\":\"command\",\"who\":\"make\"},"
		"{\"change\":\"changed\",\"path\":\"b/\xef\xbf\xbd/.npmrc\",\"when\":\"command\","
		"\"who\":\"npm\"}],\"more\":0}",
		"of commits");
	buf_clear(&text);
	json_auto_t *none = autorun_of_commits(&text);
	ok(!none, "none change any");
}

int main(void)
{
	char path[5000];
	snprintf(workspace, sizeof(workspace), "%s/ws", tap_scratch());
	snprintf(path, sizeof(path), "%s/instance", tap_scratch());
	mkdir(workspace, 0700);
	mkdir(path, 0700);
	instance_fd = open(path, O_RDONLY | O_DIRECTORY);
	test_table();
	test_paths();
	test_changes();
	test_bounds();
	test_commits();
	return tap_done();
}
