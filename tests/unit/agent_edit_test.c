/* apply_edit: exact or healed, all or nothing, and never outside, through a link, or into what is
 * protected. */
#include "agent/tools/edit.h"
#include "agent/tools/tool.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include "base/io.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAP_BYTES = 1 << 20 };

#define BLANKS_13 "             "
#define BLANKS_65 BLANKS_13 BLANKS_13 BLANKS_13 BLANKS_13 BLANKS_13

static const struct {
	const char *name, *text, *old_text, *new_text, *want, *says; /* want NULL: refused */
} cases[] = {
	{"exact", "a\nb\nc\n", "b\n", "x\ny\n", "a\nx\ny\nc\n", "line 2"},
	{"in a line", "abc", "b", "", "ac", "line 1"},
	{"no final newline is kept", "a\nb", "b", "c", "a\nc", NULL},
	{"twice", "a\na\n", "a", "b", NULL, "occurs 2 times"},
	{"a long shift", "            f() {\n              g\n", "f() {\n  g\n", "f() {\n",
		"            f() {\n", "indentation was adapted"},
	{"too long a shift", BLANKS_65 "f() {\n" BLANKS_65 "  g\n", "f() {\n  g\n", "x\n", NULL,
		"does not occur"},
	{"shifted, at the end of the file", "  a\n  b", "a\nb\n", "c\nd\n", "  c\n  d\n",
		"indentation was adapted"},
	{"an empty line first", "\na\r\n", "a", "x\ny", "\nx\ny\r\n", NULL},
	{"twice but for line ends", "a\r\nb\r\na\r\nb\r\n", "a\nb\n", "x\n", NULL,
		"does not occur"},
	{"shifted back, but for what is not indented", "a\nb\n", "  a\n  b\n", "  a\nxyz\n",
		"a\nxyz\n", "indentation was adapted"},
	{"tabs are no blanks", "\t\ta\n", "  a\nb\n", "x\n", NULL, "does not occur"},
	{"tabs where blanks are meant", "\t\ta\n\tb\n", " a\nb\n", "x\n", NULL, "does not occur"},
	{"line ends of both kinds", "a\r\nb\r\nc\r\n", "a\r\nb\n", "x\r\ny\n", "x\r\ny\r\nc\r\n",
		"CRLF"},
	{"longer than the file", "b", "a\nb\n", "x\n", NULL, "does not occur"},
	{"overlapping occurrences count", "aaa", "aa", "b", NULL, "occurs 2 times"},
	{"nowhere", "a\n", "zzz", "b", NULL, "does not occur"},
	{"empty", "a", "", "b", NULL, "empty or blank"},
	{"blank", "a  b", "  ", "b", NULL, "empty or blank"},
	{"same", "a", "a", "a", NULL, "are the same"},
	{"placeholder in old", "k=[REDACTED:token]", "[REDACTED:token]", "x", NULL, "placeholder"},
	{"placeholder in new", "k=1", "1", "[REDACTED:token]", NULL, "placeholder"},
	{"CRLF file", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n", "CRLF"},
	{"CRLF exact", "a\r\nb\r\n", "a\r\n", "x\r\n", "x\r\nb\r\n", NULL},
	{"CRLF text, LF file", "a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n", "LF"},
	{"lines into a CRLF file", "a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n", "CRLF"},
	{"lines into a mixed file", "a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n", NULL},
	{"indented deeper", "{\n\t\tif (a)\n\t\t\tb();\n}\n", "if (a)\n\tb();\n",
		"if (c)\n\td();\n", "{\n\t\tif (c)\n\t\t\td();\n}\n", "indentation"},
	{"indented less", "if (a)\n    b();\n", "    if (a)\n        b();\n",
		"    if (c)\n        d();\n", "if (c)\n    d();\n", "indentation"},
	{"indented, blank lines free", "  a\n\n  b\n", "a\n\nb\n", "a\n\nc\n", "  a\n\n  c\n",
		"indentation"},
	{"indentation not uniform", "  a\n    b\n", "a\nb\n", "c\n", NULL, "does not occur"},
	{"indented twice the same way", "  a\n  b\n--\n  a\n  b\n", "a\nb\n", "c\n", NULL,
		"occurs 2 times|does not occur"},
	{"tabs for spaces is no uniform shift", "\ta\n\t\tb\n", "  a\n    b\n", "c\n", NULL,
		"does not occur"},
	{"near miss", "one\ntwo\nthree\nfour\n", "two\nthree!\nfour\n", "x", NULL,
		"2\ttwo\n3\tthree"},
	{"near miss in one line", "a = 1\n  value = compute(x, y);\n", "value = compute(x,y);", "x",
		NULL, "2\t  value = compute(x, y);"},
	{"nothing alike", "a = 1\nfoo(bar);\n", "entirely different", "x", NULL, "No line of it"},
	{"line numbers taken along", "a\nb\n", "1\ta\n2\tb\n", "x", NULL,
		"without the line numbers"},
	{"a number and a tab in the file", "1\ta\n", "1\ta\n", "x\n", "x\n", "line 1"},
	{"blanks at a line's end", "a\nfoo(a); \t\nbar\n", "foo(a);\nbar\n", "x", NULL,
		"Line 2 of the file ends in 2 blanks"},
	{"blanks at the edit's end", "foo(a);\nbar\n", "foo(a);  \nbar\n", "x", NULL,
		"Line 1 of the file does not end in blanks"},
	{"typographic quotes", "say(\xe2\x80\x9chi\xe2\x80\x9d);\n", "say(\"hi\");", "x", NULL,
		"Line 1 of the file holds characters beyond ASCII"},
	{"a typographic dash", "return a - b;\n", "return a \xe2\x80\x93 b;", "x", NULL,
		"Line 1 of the file is plain ASCII"},
	{"indentation that differs", "\ta\n\t\tb\n", "  a\n    b\n", "c\n", NULL,
		"The indentation differs"},
	{"made before", "a\nnew\n", "old\n", "new\n", NULL, "new_string stands at line 2 already"},
	{"no final newline", "a\nb", "b\n", "c\n", "a\nc", "final newline"},
	{"no final newline, and none wanted", "a\nb", "a\nb\n", "c", "c", "final newline"},
	{"where twice", "a\nb\na\n", "a", "b", NULL, "(lines 1, 3)"},
	{"where often", "a\na\na\na\na\na\na\na\na\na\na\na\n", "a", "b", NULL,
		"(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"},
};

static bool says(const char *report, const char *want)
{
	const char *bar = strchr(want, '|');
	if (!bar)
		return strstr(report, want);
	char first[100];
	snprintf(first, sizeof(first), "%.*s", (int)(bar - want), want);
	return strstr(report, first) || strstr(report, bar + 1);
}

static void texts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out, report;
		buf_init(&out, CAP_BYTES);
		buf_init(&report, CAP_BYTES);
		buf_adds(&out, "");
		buf_adds(&report, "");
		struct edit e = {cases[i].old_text, cases[i].new_text};
		int rc = edit_apply(cases[i].text, &e, 1, &out, &report);
		if (cases[i].want)
			is_str(rc ? report.data : out.data, cases[i].want, "%s", cases[i].name);
		else
			is(rc, -1, "%s is refused", cases[i].name);
		if (cases[i].says &&
			!ok(says(report.data, cases[i].says), "and says %s", cases[i].says))
			diag("%s", report.data);
	}
	AUTO_BUF out, report;
	buf_init(&out, CAP_BYTES);
	buf_init(&report, CAP_BYTES);
	struct edit several[] = {{"c", "C"}, {"a", "A"}};
	is(edit_apply("a b c", several, 2, &out, &report), 0, "several edits in any order");
	is_str(out.data, "A b C", "all apply");
	struct edit overlap[] = {{"a b", "x"}, {"b c", "y"}};
	buf_clear(&report);
	is(edit_apply("a b c", overlap, 2, &out, &report), -1, "overlapping edits are refused");
	has_str(report.data, "overlaps", "and named");
	struct edit touching[] = {{"b", "y"}, {"a", "x"}};
	buf_clear(&out);
	is(edit_apply("abc", touching, 2, &out, &report), 0, "those that touch are not");
	is_str(out.data, "xyc", "and come in the order of the text");
	struct edit chain[] = {{"a", "x"}, {"x b", "y"}};
	buf_clear(&report);
	is(edit_apply("a b c", chain, 2, &out, &report), -1, "an edit does not see another");
	has_str(report.data, "what edit 1 makes", "which is said");
}

static struct tool_context context;
static char *workspace;
static const char *protect[2];

static const char *call(const char *arguments, int *rc)
{
	static struct buf out;
	buf_done(&out);
	buf_init(&out, CAP_BYTES);
	buf_adds(&out, "");
	json_t *parsed = json_loads(arguments, 0, NULL);
	const struct tool *t = tool_find("apply_edit", TOOL_IN_RUN);
	*rc = tool_check(t, parsed, &out);
	if (!*rc)
		*rc = t->run(&context, parsed, &out);
	json_decref(parsed);
	return out.data;
}

static void refused(const char *arguments, const char *want)
{
	int rc;
	const char *text = call(arguments, &rc);
	ok(rc == -1 && strstr(text, want), "%s: %s", arguments, want);
	if (rc != -1 || !strstr(text, want))
		diag("got %d %s", rc, text);
}

static char *content(const char *name)
{
	char *text = NULL;
	size_t len;
	if (io_read_file(context.workspace_fd, name, CAP_BYTES, &text, &len, NULL))
		return strdup("(missing)");
	return text;
}

static void put(const char *name, const char *text)
{
	int fd = openat(context.workspace_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0754);
	if (fd < 0 || io_write(fd, text, strlen(text)))
		bail("cannot write %s", name);
	fchmod(fd, 0754);
	close(fd);
}

static void set_up(void)
{
	static char bundle[300], file[300];
	if (asprintf(&workspace, "%s/ws", tap_scratch()) < 0 || mkdir(workspace, 0755))
		bail("no workspace");
	context = (struct tool_context){.workspace = workspace,
		.workspace_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.protect = protect,
		.protect_count = 2};
	int fd = context.workspace_fd;
	snprintf(bundle, sizeof(bundle), "%s/bundle", workspace);
	snprintf(file, sizeof(file), "%s/agent6.yaml", workspace);
	protect[0] = bundle;
	protect[1] = file;
	mkdirat(fd, "bundle", 0755);
	mkdirat(fd, ".git", 0755);
	mkdirat(fd, "src", 0755);
	put("bundle/machine.yaml", "x\n");
	put(".git/config", "x\n");
	put("a.txt", "one\ntwo\n");
	put("src/b.c", "x\n");
	tree_link(workspace, "link", "a.txt");
	tree_link(workspace, "alias", "bundle");
	tree_link(workspace, "up", "..");
	mkfifoat(fd, "pipe", 0644);
}

#define REPLACE(path, a, b)                                                                        \
	"{\"path\":\"" path "\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"" a              \
	"\",\"new_string\":\"" b "\"}]}"
#define CREATE(path, text)                                                                         \
	"{\"path\":\"" path "\",\"edits\":[{\"kind\":\"create\",\"new_string\":\"" text "\"}]}"

static void files(void)
{
	int rc;
	struct stat st;
	call(REPLACE("a.txt", "two", "2"), &rc);
	AUTO_FREE char *a = content("a.txt");
	is_str(a, "one\n2\n", "a file is changed");
	fstatat(context.workspace_fd, "a.txt", &st, 0);
	is(st.st_mode & 0777, 0754, "and keeps its mode");
	call(CREATE("new/dir/c.txt", "hi\\n"), &rc);
	AUTO_FREE char *c = content("new/dir/c.txt");
	is_str(c, "hi\n", "a file is created with its directories");
	refused(CREATE("a.txt", "x"), "exists already");
	refused(CREATE("src", "x"), "src is a directory, not a file");
	refused(CREATE("pipe", "x"), "is a named pipe, not a file");
	refused(CREATE("a.txt/c.txt", "x"), "a part of the path is not a directory");
	put("empty", "");
	has_str(call(CREATE("empty", "hi\\n"), &rc), "was created", "an empty file can be filled");
	AUTO_FREE char *filled = content("empty");
	is_str(filled, "hi\n", "since no replace could");
	fstatat(context.workspace_fd, "empty", &st, 0);
	is(st.st_mode & 0777, 0754, "and keeps its mode");
	has_str(call(REPLACE("empty", "hi", "ho"), &rc), "changed by 1 edit.\n", "one is one");
	refused(REPLACE("missing", "a", "b"), "does not exist");
	refused(REPLACE("src", "a", "b"), "is a directory");
	refused(REPLACE("pipe", "a", "b"), "is a named pipe");
	refused("{\"path\":\"a.txt\",\"edits\":[]}", "1 to 64");
	refused("{\"path\":\"a.txt\",\"edits\":[{\"new_string\":\"x\"}]}", "must be");
	refused("{\"path\":\"a.txt\",\"edits\":[{\"old_string\":\"one\",\"new_string\":\"x\","
		"\"replace_all\":true}]}",
		"must be");
	refused("{\"path\":\"d\",\"edits\":[{\"kind\":\"create\",\"new_string\":\"x\"},{\"kind\":"
		"\"create\",\"new_string\":\"y\"}]}",
		"only edit");
	call("{\"path\":\"a.txt\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"one\",\"new_"
	     "string\":"
	     "\"1\"},{\"kind\":\"replace\",\"old_string\":\"zzz\",\"new_string\":\"y\"}]}",
		&rc);
	AUTO_FREE char *same = content("a.txt");
	is_str(same, "one\n2\n", "one bad edit and none is applied");
}

/* A file as long as may be, and what is none of a text. */
static void odd_files(void)
{
	enum { MOST = 8 * 1024 * 1024 };
	struct stat st;
	int rc, fd;
	put("latin1", "x\xe9\n");
	refused(REPLACE("latin1", "x", "y"), "latin1 is not UTF-8 text");
	put("long", "one");
	fd = openat(context.workspace_fd, "long", O_WRONLY);
	AUTO_FREE char *blank = malloc(MOST);
	memset(blank, ' ', MOST);
	if (ftruncate(fd, 10))
		bail("cannot lengthen a file");
	refused(REPLACE("long", "one", "1"), "long is not UTF-8 text");
	if (pwrite(fd, blank, MOST - 3, 3) != MOST - 3)
		bail("cannot fill a file");
	has_str(call(REPLACE("long", "one", "two"), &rc), "changed by 1 edit", "8 MiB are edited");
	refused(REPLACE("long", "two", "three"), "would become too long");
	fstatat(context.workspace_fd, "long", &st, 0);
	is(st.st_size, MOST, "and nothing grows beyond what could be edited again");
	close(fd);
	fd = openat(context.workspace_fd, "long", O_WRONLY | O_APPEND);
	io_write(fd, "x", 1);
	close(fd);
	refused(REPLACE("long", "two", "2"), "long is too long to be edited (8 MiB)");
	refused(CREATE("ghost/c.txt", "[REDACTED:key]"), "ghost/c.txt was not created: the text");
	ok(faccessat(context.workspace_fd, "ghost", F_OK, 0), "nor its directory");
}

static bool no_flags, full;

/* Every renameat2 of this program: NFS and most of FUSE know none of its flags. */
int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	if (no_flags && flags) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

/* Every renameat of this program, on a disk that has become full before it. */
int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (full) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

static int is_leftover(const struct dirent *entry)
{
	return !strncmp(entry->d_name, ".agent6-edit-", 13);
}

static int leftovers(void)
{
	struct dirent **found = NULL;
	int n = scandir(workspace, &found, is_leftover, NULL);
	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	return n;
}

static void remote_files(void)
{
	int rc;
	no_flags = true;
	has_str(call(CREATE("remote.txt", "hi\\n"), &rc), "was created",
		"a file is created on NFS");
	AUTO_FREE char *made = content("remote.txt");
	is_str(made, "hi\n", "whole");
	refused(CREATE("remote.txt", "x"), "exists already");
	full = true;
	refused(CREATE("unmade.txt", "x"), "unmade.txt cannot be edited: No space left");
	refused(REPLACE("remote.txt", "hi", "x"), "remote.txt cannot be edited: No space left");
	is(leftovers(), 0, "nor is what was written for it");
	AUTO_FREE char *unmade = content("unmade.txt");
	is_str(unmade, "(missing)", "what could not be created is not there, empty");
	full = no_flags = false;
}

static void walls(void)
{
	refused(REPLACE("link", "one", "x"), "leads through a link");
	refused(CREATE("link", "x"), "leads through a link");
	refused(REPLACE("alias/machine.yaml", "x", "y"), "leads through a link");
	refused(CREATE("up/escape", "x"), "leads through a link");
	refused(CREATE("../escape", "x"), "spelled without");
	refused(CREATE("/etc/agent6-test", "x"), "outside the workspace");
	refused(REPLACE(".git/config", "x", "y"), "is protected");
	refused(CREATE(".git/hooks/pre-commit", "x"), "is protected");
	refused(CREATE("src/.git/config", "x"), "is protected");
	refused(CREATE("src/.GIT/config", "x"), "is protected");
	refused(CREATE("src/.g\u200cit/config", "x"), "is protected");
	refused(CREATE(".hg/hgrc", "x"), "is protected");
	refused(CREATE("src/.jj/repo/config.toml", "x"), "is protected");
	refused(REPLACE("bundle/machine.yaml", "x", "y"), "is protected");
	refused(CREATE("bundle/new", "y"), "is protected");
	refused(CREATE("agent6.yaml", "y"), "is protected");
	refused(CREATE("AGENT6.yaml", "y"), "is protected");
	refused(CREATE("./agent6.yaml", "y"), "is protected");
	refused(CREATE(".//agent6.yaml", "y"), "is protected");
	refused(CREATE("src/", "y"), "must name a file");
	refused(CREATE("", "y"), ". must name a file");
	refused(REPLACE("src/../bundle/machine.yaml", "x", "y"), "without");
	ok(tool_find("apply_edit", TOOL_IN_AGENT) == NULL, "mode agent has no apply_edit");
	AUTO_FREE char *git = content(".git/config"), *machine = content("bundle/machine.yaml");
	is_str(git, "x\n", ".git is untouched");
	is_str(machine, "x\n", "the bundle is untouched");
}

static void made(const char *arguments)
{
	int rc;
	const char *text = call(arguments, &rc);
	if (!is(rc, 0, "%s", arguments))
		diag("%s", text);
}

static void ends_state(const char *arguments, const char *path)
{
	int rc;
	const char *text = call(arguments, &rc);
	ok(rc == TOOL_ENDS && strstr(text, "would complete a git directory"), "%s ends the state",
		arguments);
	if (rc != TOOL_ENDS)
		diag("got %d %s", rc, text);
	ok(faccessat(context.workspace_fd, path, F_OK, AT_SYMLINK_NOFOLLOW), "and %s is not made",
		path);
}

/* A file by itself is harmless; the one that makes a git directory of them is refused, whichever it
 * is, and its directory is not made either. */
static void git_directories(void)
{
	made(CREATE("bare/HEAD", "ref: refs/heads/x"));
	made(CREATE("bare/config", "[core]"));
	made(CREATE("bare/objects/k", "x"));
	made(CREATE("bare/hooks/pre-commit", "x"));
	ends_state(CREATE("bare/refs/k", "x"), "bare/refs");
	ends_state(CREATE("bare/REFS/k", "x"), "bare/REFS");
	ends_state(CREATE("bare/commondir", "../other"), "bare/commondir");
	made(CREATE("late/refs/k", "x"));
	made(CREATE("late/Objects/k", "x"));
	ends_state(CREATE("late/HEAD", "x"), "late/HEAD");
	ends_state(CREATE("late/head", "x"), "late/head");
	made(CREATE("linked/commondir", "../bare"));
	ends_state(CREATE("linked/HEAD", "x"), "linked/HEAD");
	made(CREATE("objects/k", "x"));
	made(CREATE("refs/k", "x"));
	ends_state(CREATE("HEAD", "x"), "HEAD");
	mkdirat(context.workspace_fd, "bare/refs", 0755); /* by whoever else */
	refused(CREATE("bare/hooks/post-commit", "x"), "lies in a git directory");
	refused(REPLACE("bare/config", "[core]", "x"), "lies in a git directory");
	refused(CREATE("bare/deep/er", "x"), "lies in a git directory");
	made(CREATE("beside/HEAD", "a title"));
	made(CREATE("beside/refs.md", "x"));
}

/* Checks that a protected path names the same file if it is written with another name of the
 * workspace. */
static void other_names(void)
{
	static const char *const paths[] = {"ws2/bundle", "ws2/agent6.yaml", "ws2/blank"};
	struct tool_context mine = context;
	const char *named[ARRAY_LEN(paths)];
	tree_link(tap_scratch(), "ws2", workspace);
	put("agent6.yaml", "x\n");
	put("blank", "");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		named[i] = tree_path(tap_scratch(), paths[i]);
	context.protect = named;
	context.protect_count = ARRAY_LEN(paths);
	refused(CREATE("bundle/new", "y"), "is protected");
	refused(REPLACE("bundle/machine.yaml", "x", "y"), "is protected");
	refused(REPLACE("agent6.yaml", "x", "y"), "is protected");
	refused(CREATE("blank", "y"), "is protected");
	context = mine;
}

/* A file of the kernel's that cannot be read where it begins. */
static void unreadable(void)
{
	struct tool_context mine = context;
	context.workspace = "/proc/self";
	context.workspace_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	refused(REPLACE("mem", "x", "y"), "mem cannot be edited: Input/output error.");
	close(context.workspace_fd);
	context = mine;
}

static void many_edits(void)
{
	enum { MOST = 64 };
	AUTO_BUF file, list;
	int rc;
	buf_init(&file, CAP_BYTES);
	buf_init(&list, CAP_BYTES);
	for (int i = 0; i < MOST; i++) {
		buf_addf(&file, "<%d>\n", i);
		buf_addf(&list, "{\"old_string\":\"<%d>\",\"new_string\":\"x\"},", i);
	}
	put("many", file.data);
	AUTO_FREE char *fits = NULL, *over = NULL;
	if (asprintf(&fits, "{\"path\":\"many\",\"edits\":[%.*s]}", (int)list.len - 1, list.data) <
			0 ||
		asprintf(&over, "{\"path\":\"many\",\"edits\":[%s{}]}", list.data) < 0)
		bail("out of memory");
	refused(over, "1 to 64");
	has_str(call(fits, &rc), "changed by 64 edits", "as many as may be");
}

static char *repeated(const char *what, size_t times, const char *tail)
{
	struct buf text;
	buf_init(&text, 8 * CAP_BYTES);
	for (size_t i = 0; i < times; i++)
		buf_adds(&text, what);
	buf_adds(&text, tail);
	return buf_take(&text, NULL);
}

/* Long texts that are nearly everywhere alike: looking for the best of all places took hours. */
static void alike(void)
{
	AUTO_FREE char *lines = repeated("a\n", 1000000, "");
	AUTO_FREE char *shifted = repeated(" a\n", 200000, "b");
	AUTO_FREE char *run = repeated("a", 2000000, "");
	AUTO_FREE char *half = repeated("a", 1000000, "");
	const struct edit edits[] = {{shifted, "x"}, {half, "x"}};
	const char *const texts_of[] = {lines, run};
	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		AUTO_BUF out, report;
		buf_init(&out, 8 * CAP_BYTES);
		buf_init(&report, CAP_BYTES);
		is(edit_apply(texts_of[i], &edits[i], 1, &out, &report), -1, "refused");
		has_str(report.data, i ? " times (lines 1, " : "does not occur", "and why");
	}
}

/* A place that fits is not the only one while it is not known what is behind it. */
static void not_looked_at(void)
{
	enum { LINES = 3000 };
	AUTO_FREE char *old = repeated("a\n", LINES, "b\n");
	AUTO_FREE char *place = repeated(" a\n", LINES, " b\n");
	AUTO_FREE char *between = repeated(" a\n", LINES, "c\n");
	const struct edit edit = {old, "x\n"};
	AUTO_BUF text, out, report;
	buf_init(&text, CAP_BYTES);
	buf_init(&out, CAP_BYTES);
	buf_init(&report, CAP_BYTES);
	buf_addf(&text, "%s%s%s", place, between, place);
	is(edit_apply(text.data, &edit, 1, &out, &report), -1, "a place may have another far on");
}

/* Lines that end in thousands of blanks are as dear to compare as they are long. */
static bool blanks(void)
{
	enum { LINES = 3900, BLANKS = 2048 };
	AUTO_FREE char *run = repeated(" ", BLANKS, "\n");
	char line[BLANKS + 3];
	snprintf(line, sizeof(line), "x%s", run);
	AUTO_FREE char *text = repeated(line, LINES, "");
	AUTO_FREE char *old = repeated("yz\n", LINES, "");
	const struct edit edit = {old, "x"};
	AUTO_BUF out, report;
	buf_init(&out, CAP_BYTES);
	buf_init(&report, CAP_BYTES);
	return edit_apply(text, &edit, 1, &out, &report) == -1;
}

int main(void)
{
	texts();
	alike();
	not_looked_at();
	ends(blanks, "long lines of blanks are not compared for ever");
	set_up();
	files();
	odd_files();
	remote_files();
	walls();
	git_directories();
	other_names();
	unreadable();
	many_edits();
	free(workspace);
	return tap_done();
}
