/* The read-only tools: what they show, what they refuse, and that nothing outside is reached. */
#include "agent/policy/redact.h"
#include "agent/tools/ignore.h"
#include "agent/tools/search.h"
#include "agent/tools/tool.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include "base/io.h"
#include "base/json.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_CAP_BYTES = 1 << 20 };
static struct tool_context context;
static char *workspace;

static void put(const char *name, const char *text, size_t len)
{
	int fd = openat(context.workspace_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || io_write(fd, text, len))
		bail("cannot write %s", name);
	close(fd);
}

static void puts_in(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* Calls a tool with JSON arguments; the text is valid until the next call. */
static const char *call(const char *tool, const char *arguments, int *rc)
{
	static struct buf out;
	buf_done(&out);
	buf_init(&out, OUT_CAP_BYTES);
	buf_adds(&out, "");
	json_t *parsed = json_loads(arguments, 0, NULL);
	const struct tool *t = tool_find(tool, TOOL_IN_AGENT);
	if (!parsed || !t)
		bail("bad call of %s", tool);
	int result = tool_check(t, parsed, &out);
	if (!result)
		result = t->run(&context, parsed, &out);
	json_decref(parsed);
	if (rc)
		*rc = result;
	return out.data;
}

static void refused(const char *tool, const char *arguments, const char *says)
{
	int rc;
	const char *text = call(tool, arguments, &rc);
	ok(rc == -1 && strstr(text, says), "%s %s: %s", tool, arguments, says);
	if (rc != -1 || !strstr(text, says))
		diag("got %d %.200s", rc, text);
}

static void set_up(void)
{
	if (asprintf(&workspace, "%s/ws", tap_scratch()) < 0 || mkdir(workspace, 0755))
		bail("no workspace");
	context = (struct tool_context){.workspace = workspace,
		.workspace_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	int fd = context.workspace_fd;
	puts_in("a.txt", "one\ntwo\nthree");
	puts_in("empty", "");
	puts_in(".gitignore", "*.log\n/build/\n!keep.log\n");
	puts_in("x.log", "E42 hidden\n");
	puts_in("keep.log", "E42 kept\n");
	put("binary", "a\0b", 3);
	put("latin1", "caf\xe9\n", 5);
	mkdirat(fd, "build", 0755);
	mkdirat(fd, "src", 0755);
	mkdirat(fd, ".git", 0755);
	puts_in(".git/config", "E42\n");
	puts_in("build/o.txt", "E42\n");
	puts_in("src/m.c", "int x; /* E42 */\r\nint y;\n");
	mkfifoat(fd, "pipe", 0644);
	char outside[300];
	snprintf(outside, sizeof(outside), "%s/secret", tap_scratch());
	int out = open(outside, O_WRONLY | O_CREAT, 0644);
	io_write(out, "TOP SECRET\n", 11);
	close(out);
	tree_link(workspace, "escape", "../secret");
	tree_link(workspace, "absolute", outside);
	tree_link(workspace, "up", "..");
	tree_link(workspace, "inside", "a.txt");
	tree_link(workspace, "zero", "/dev/zero");
	tree_link(workspace, "src/dangling", "gone");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", workspace);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(s, (struct sockaddr *)&a, sizeof(a)))
		diag("no socket");
	close(s);
}

static void reading(void)
{
	is_str(call("read_file", "{\"path\":\"a.txt\"}", NULL), "1\tone\n2\ttwo\n3\tthree\n",
		"numbered");
	is_str(call("read_file", "{\"path\":\"a.txt\",\"start_line\":2,\"end_line\":2}", NULL),
		"2\ttwo\n", "a range");
	is_str(call("read_file", "{\"path\":\"a.txt\",\"start_line\":9}", NULL),
		"(the file ends at line 3)\n", "beyond the end");
	is_str(call("read_file", "{\"path\":\"empty\"}", NULL), "(the file is empty)\n", "empty");
	is_str(call("read_file", "{\"path\":\"inside\",\"end_line\":1}", NULL), "1\tone\n",
		"a link that stays inside");
	char *absolute;
	if (asprintf(&absolute, "{\"path\":\"%s/a.txt\",\"end_line\":1}", workspace) < 0)
		bail("memory");
	is_str(call("read_file", absolute, NULL), "1\tone\n", "an absolute path inside");
	free(absolute);
	is_str(call("read_file", "{\"path\":\"src/../a.txt\",\"end_line\":1}", NULL), "1\tone\n",
		".. that stays inside");
	refused("read_file", "{\"path\":\"binary\"}", "not UTF-8 text");
	refused("read_file", "{\"path\":\"latin1\"}", "not UTF-8 text");
	refused("read_file", "{\"path\":\"nowhere\"}", "does not exist");
	refused("read_file", "{\"path\":\"src\"}", "is a directory");
	refused("read_file", "{\"path\":\"\"}", ". is a directory");
	refused("read_file", "{\"path\":\"pipe\"}", "is a named pipe");
	refused("read_file", "{\"path\":\"sock\"}", "is a socket");
	refused("read_file", "{\"path\":\"/etc/passwd\"}", "outside the workspace");
	refused("read_file", "{\"path\":\"../secret\"}", "leads out of the workspace");
	refused("read_file", "{\"path\":\"escape\"}", "leads out of the workspace");
	refused("read_file", "{\"path\":\"absolute\"}", "leads out of the workspace");
	refused("read_file", "{\"path\":\"zero\"}", "leads out of the workspace");
	refused("read_file", "{\"path\":\"up/secret\"}", "leads out of the workspace");
	refused("read_file", "{\"path\":\"A.TXT\"}", "does not exist");
	refused("read_file", "{\"path\":\"a.txt\",\"start_line\":0}", "at least 1");
	refused("read_file", "{\"path\":1}", "must be a string");
	refused("read_file", "{}", "is missing");
	refused("read_file", "{\"path\":\"a.txt\",\"offset\":3}",
		"no argument offset; it takes path, start_line, end_line");
	refused("read_file", "{\"path\":\"a.txt\",\"start_line\":\"3\"}",
		"a number without quotes");
	refused("read_file", "{\"path\":\"src\"}", "use list_dir");
	refused("list_dir", "{\"path\":\"a.txt\"}", "use read_file");
	refused("read_file", "{\"path\":\"src/n.c\"}", "does not exist. Did you mean src/m.c?");
	refused("read_file", "{\"path\":\"atxt\"}", "Did you mean a.txt?");
	refused("read_file", "{\"path\":\"zebra.txt\"}", "zebra.txt does not exist.");
	refused("read_file", "{\"path\":\"src/dangling\"}",
		"not exist. A link of that name leads to nothing.");
	refused("read_file", "{\"path\":\"up/secre\"}", "leads out of the workspace");
	has_str(call("list_dir", "{}", NULL), "a.txt\t13 bytes", "the root needs no name");
	const struct tool *edit = tool_find("apply_edit", TOOL_IN_RUN);
	json_auto_t *flat = json_pack("{s:s, s:s}", "path", "a", "edits", "[]");
	AUTO_BUF said;
	buf_init(&said, OUT_CAP_BYTES);
	is(tool_check(edit, flat, &said), -1, "a list in a string is none");
	has_str(said.data, "must be a list, not a string that holds one", "which is said");
}

static void pages(void)
{
	AUTO_BUF b;
	buf_init(&b, 8 << 20);
	for (int i = 1; i <= 4500; i++)
		buf_addf(&b, "line %d\n", i);
	put("long", b.data, b.len);
	const char *text = call("read_file", "{\"path\":\"long\"}", NULL);
	has_str(text, "\n2000\tline 2000\n(4500 lines; continue with start_line 2001)\n", "a page");
	text = call("read_file", "{\"path\":\"long\",\"start_line\":4001}", NULL);
	has_str(text, "4500\tline 4500\n", "the last page");
	ok(!strstr(text, "continue"), "ends");
	put("full", b.data, (size_t)(strstr(b.data, "line 2001\n") - b.data));
	text = call("read_file", "{\"path\":\"full\"}", NULL);
	is_str(strstr(text, "2000\t"), "2000\tline 2000\n", "a full page with nothing behind it");
	buf_clear(&b);
	for (int i = 0; i < 200000; i++)
		buf_adds(&b, "ä€");
	put("wide", b.data, b.len);
	text = call("read_file", "{\"path\":\"wide\"}", NULL);
	ok(strlen(text) < 257 * 1024, "a long line is cut at the page");
	has_str(text, "was cut; grep shows", "and it is said");
	ok(!strstr(text, "continue"), "no line is offered behind the last one");
	json_t *s = json_string(text);
	ok(s, "on a character boundary");
	json_decref(s);
}

/* Reads on from where each page says; the lines that came, which must be the file's. */
static int64_t lines_over_pages(const char *name)
{
	int64_t seen = 0, next = 1;
	while (next) {
		char arguments[100];
		snprintf(arguments, sizeof(arguments), "{\"path\":\"%s\",\"start_line\":%lld}",
			name, (long long)next);
		const char *text = call("read_file", arguments, NULL);
		const char *go_on = strstr(text, "start_line ");
		for (const char *at = text; *at && *at != '('; at = strchr(at, '\n') + 1) {
			const char *end = strchr(at, '\n');
			seen += strtoll(at, NULL, 10) == seen + 1 && end[-1] == '.';
		}
		next = go_on ? strtoll(go_on + 11, NULL, 10) : 0;
	}
	return seen;
}

/* No line is lost where a page ends, wherever in a line or a character that is. */
static void page_ends(void)
{
	AUTO_BUF b;
	buf_init(&b, 8 << 20);
	for (int i = 0; i < 900; i++) {
		for (int k = 0; k < 100; k++)
			buf_adds(&b, "0123456789");
		buf_adds(&b, ".\n");
	}
	put("even", b.data, b.len);
	is(lines_over_pages("even"), 900, "a line that no longer fits begins the next page");
	const char *text = call("read_file", "{\"path\":\"even\"}", NULL);
	ok(!strstr(text, "was cut"), "and is not called cut");
	for (int shift = 0; shift < 4; shift++) {
		buf_clear(&b);
		for (int i = 0; i < shift; i++)
			buf_adds(&b, "x");
		for (int i = 0; i < 70000; i++)
			buf_adds(&b, "\xf0\x9f\x99\x82");
		buf_adds(&b, "\nsecond\nthird\nfourth\n");
		put("emoji", b.data, b.len);
		text = call("read_file", "{\"path\":\"emoji\"}", NULL);
		has_str(text, "4 lines; continue with start_line 2)",
			"a cut line ends its page, %d", shift);
	}
}

static void listing(void)
{
	const char *text = call("list_dir", "{\"path\":\".\"}", NULL);
	has_str(text, "a.txt\t13 bytes\nabsolute\tlink to ",
		"files with sizes, links with targets");
	has_str(text, "src/\n", "directories");
	has_str(text, "pipe\ta named pipe\n", "what is neither");
	puts_in("odd\n\x1b[31mname\xe2\x80\xae", "");
	has_str(call("list_dir", "{\"path\":\".\"}", NULL), "odd\\x0a\\x1b[31mname\\xe2\\x80\\xae",
		"names that play tricks are spelled out");
	refused("list_dir", "{\"path\":\"..\"}", "leads out of the workspace");
	refused("list_dir", "{\"path\":\"up\"}", "leads out of the workspace");
	refused("list_dir", "{\"path\":\"a.txt\"}", "is a file");
	mkdirat(context.workspace_fd, "none", 0755);
	is_str(call("list_dir", "{\"path\":\"none\"}", NULL), "(the directory is empty)\n",
		"empty");
}

/* Checks that entries beyond the first page can be listed by their names. */
static void many_entries(void)
{
	int rc;
	mkdirat(context.workspace_fd, "many", 0755);
	for (int i = 0; i < 1002; i++) {
		char name[32];
		snprintf(name, sizeof(name), "many/n%04d", i);
		puts_in(name, "");
	}
	puts_in("many/[x]", "x");
	const char *text = call("list_dir", "{\"path\":\"many\"}", NULL);
	has_str(text,
		"\nn0998\t0 bytes\n(1000 of 1003 entries; a path that ends in a pattern, as "
		"DIR/ab*, lists what matches)\n",
		"a long list is cut");
	is_str(call("list_dir", "{\"path\":\"many/n10*\"}", NULL),
		"n1000\t0 bytes\nn1001\t0 bytes\n", "a pattern reaches the rest of it");
	is_str(call("list_dir", "{\"path\":\"man?\"}", NULL), "many/\n", "at the root, too");
	is_str(call("list_dir", "{\"path\":\"many/z*\"}", NULL), "(nothing matches)\n", "nothing");
	mkdirat(context.workspace_fd, "many/[y]", 0755);
	is_str(call("list_dir", "{\"path\":\"many/[y]\"}", NULL), "(the directory is empty)\n",
		"a directory of that name is no pattern");
	refused("list_dir", "{\"path\":\"../*\"}", "leads out of the workspace");
	call("list_dir", "{\"path\":\"none.c\"}", &rc);
	ok(rc, "and what is neither is refused");
}

/* A secret that is cut is not found any more, and the rest of it would be shown. */
static void long_lines(void)
{
	char line[500];
	AUTO_BUF b;
	buf_init(&b, 8 << 20);
	struct redact r = {0};
	redact_add(&r, "sesame;open1");
	context.redact = &r;
	snprintf(line, sizeof(line), "E77%*ssesame;open1%90s\n", 290, "", "");
	puts_in("long", line);
	const char *text = call("grep", "{\"pattern\":\"E77\"}", NULL);
	ok(!strstr(text, "sesa") && strstr(text, " [...]"), "grep cuts a line before a secret");
	static const char dots[] =
		"...................................................................."
		"..........................";
	snprintf(line, sizeof(line), "%290ssesame;open1%sE78\xc3\xa9", "", dots);
	puts_in("far", line);
	AUTO_FREE char *found = NULL;
	if (asprintf(&found, "far:1: [...] %sE78\xc3\xa9\n", dots) < 0)
		bail("out of memory");
	is_str(call("grep", "{\"pattern\":\"E78\"}", NULL), found,
		"and shows what was found, wherever it stands, behind one");
	for (int i = 0; i < 400000; i++)
		buf_adds(&b, i == 256 * 1024 - 8 ? "sesame;open1" : "x");
	put("wide", b.data, b.len);
	text = call("read_file", "{\"path\":\"wide\"}", NULL);
	ok(!strstr(text, "sesa") && strstr(text, "was cut"), "and so does read_file");
	context.redact = NULL;
	redact_done(&r);
}

static void searching(void)
{
	is_str(call("grep", "{\"pattern\":\"E[0-9]+\"}", NULL),
		"keep.log:1: E42 kept\nsrc/m.c:1: int x; /* E42 */\n",
		"ignored files, .git, binaries and links are left out");
	is_str(call("grep", "{\"pattern\":\"E42\",\"glob\":\"*.c\"}", NULL),
		"src/m.c:1: int x; /* E42 */\n", "a glob");
	is_str(call("grep", "{\"pattern\":\"E42\",\"path\":\"src\"}", NULL),
		"src/m.c:1: int x; /* E42 */\n", "a path");
	is_str(call("grep", "{\"pattern\":\"E42\",\"glob\":\"**/*.log\"}", NULL),
		"keep.log:1: E42 kept\n", "two stars stand for no directory as well");
	mkdirat(context.workspace_fd, "src/deep", 0755);
	puts_in("src/.gitignore", "/deep/skip\n");
	puts_in("src/deep/y.log", "E43\n");
	puts_in("src/deep/skip", "E43\n");
	puts_in("src/deep/found", "E43\n");
	is_str(call("grep", "{\"pattern\":\"E43\",\"path\":\"src/deep\"}", NULL),
		"src/deep/found:1: E43\n", "what is ignored above a path is left out below it");
	is_str(call("grep", "{\"pattern\":\"E43\",\"path\":\"src/../src/deep/.\"}", NULL),
		"src/../src/deep/./found:1: E43\n", "however it is spelled");
	is_str(call("grep", "{\"pattern\":\"E42\",\"path\":\"build\"}", NULL),
		"build/o.txt:1: E42\n", "an ignored directory is searched when it is asked for");
	is_str(call("grep", "{\"pattern\":\"^int y;$\",\"path\":\"src/m.c\"}", NULL),
		"src/m.c:2: int y;\n", "one file");
	is_str(call("grep", "{\"pattern\":\"SECRET\"}", NULL), "(no match)\n", "nothing outside");
	is_str(call("grep", "{\"pattern\":\"E42\",\"glob\":\"*.{log,c}\"}", NULL),
		"keep.log:1: E42 kept\nsrc/m.c:1: int x; /* E42 */\n", "alternatives in a glob");
	is_str(call("grep", "{\"pattern\":\"E42\",\"glob\":\"src/*.{c,h}\"}", NULL),
		"src/m.c:1: int x; /* E42 */\n", "and in a path's");
	is_str(call("grep", "{\"pattern\":\"E42\",\"glob\":\"*.rs\"}", NULL),
		"(no match: the glob and .gitignore leave no file to search)\n",
		"a search of nothing says so");
	is_str(call("grep", "{\"pattern\":\"E\\\\d+ k\"}", NULL), "keep.log:1: E42 kept\n",
		"a digit by its Perl name");
	is_str(call("grep", "{\"pattern\":\"^E4[\\\\d] k\"}", NULL),
		"(no match; in brackets a backslash means itself: write [0-9], not [\\d])\n",
		"which a bracket has not");
	is_str(call("grep", "{\"pattern\":\"E43\\\\|E44\"}", NULL),
		"(no match; alternatives are written a|b here: \\| is a bar in the text)\n",
		"a bar in the older spelling");
	refused("grep", "{\"pattern\":\"(?i)e42\"}", "(?...) is not known");
	refused("grep", "{\"pattern\":\"(\"}", "not a POSIX extended regular expression");
	refused("grep", "{\"pattern\":\"\"}", "1 to 1000 bytes");
	refused("grep", "{\"pattern\":\"x\",\"path\":\"up\"}", "leads out of the workspace");
	mkdirat(context.workspace_fd, "oracle", 0755);
	puts_in("oracle/TOP SECRET", "E77\n");
	tree_link(workspace, "oracle/.gitignore", "../../secret");
	is_str(call("grep", "{\"pattern\":\"E77\"}", NULL), "oracle/TOP SECRET:1: E77\n",
		"what a link leads to outside is no list of patterns");
	AUTO_BUF b;
	buf_init(&b, 1 << 20);
	for (int i = 0; i <= 4096; i++)
		buf_adds(&b, "E77\n");
	puts_in("src/deep/.gitignore", b.data);
	has_str(call("grep", "{\"pattern\":\"E43\",\"glob\":\"found\"}", NULL),
		"src/deep/found:1: E43\n(1 .gitignore files could not be respected whole: at most "
		"256 KiB and 4096 rules of one are read)\n",
		"rules that are left out are told");
	while (b.len <= 256 * 1024)
		buf_adds(&b, "# E77\n");
	puts_in("src/deep/.gitignore", b.data);
	has_str(call("grep", "{\"pattern\":\"E43\",\"glob\":\"found\"}", NULL),
		"\n(1 .gitignore files could not", "so is a file that is not read");
	puts_in("src/deep/.gitignore", "");
	buf_clear(&b);
	for (int i = 0; i < 500; i++)
		buf_adds(&b, "needle\n");
	put("hay", b.data, b.len);
	const char *text = call("grep", "{\"pattern\":\"needle\"}", NULL);
	has_str(text, "hay:200: needle\n(stopped at 200 hits", "200 hits");
}

/* Checks that paths hidden from commands are hidden from the tools as well. */
static void hiding(void)
{
	char file[300], dir[300], link[300];
	snprintf(file, sizeof(file), "%s/.env", workspace);
	snprintf(dir, sizeof(dir), "%s/vault", workspace);
	snprintf(link, sizeof(link), "%s/lead", workspace);
	const char *const hidden[] = {file, dir, link};
	mkdirat(context.workspace_fd, "vault", 0755);
	mkdirat(context.workspace_fd, "vault/deep", 0755);
	puts_in(".env", "E99 one\n");
	puts_in("vault/deep/key", "E99 two\n");
	if (linkat(context.workspace_fd, ".env", context.workspace_fd, "copy", 0))
		bail("cannot link");
	tree_link(workspace, "way", "vault/deep/key");
	puts_in("led", "E99 three\n");
	tree_link(workspace, "lead", "led");
	context.hide = hidden;
	context.hide_count = ARRAY_LEN(hidden);
	refused("read_file", "{\"path\":\".env\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"copy\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"way\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"led\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"vault/deep/key\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"src/../vault/deep/key\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"vault/none\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"vault/none/deeper\"}", "is hidden by the operator");
	refused("list_dir", "{\"path\":\"vault/none\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\".env/under\"}", "is hidden by the operator");
	refused("read_file", "{\"path\":\"none/deeper\"}", "does not exist");
	refused("list_dir", "{\"path\":\"vault\"}", "is hidden by the operator");
	refused("list_dir", "{\"path\":\"vault/deep\"}", "is hidden by the operator");
	refused("grep", "{\"pattern\":\"E99\",\"path\":\"vault\"}", "is hidden by the operator");
	refused("grep", "{\"pattern\":\"E99\",\"path\":\".env\"}", "is hidden by the operator");
	is_str(call("grep", "{\"pattern\":\"E99\"}", NULL), "(no match)\n", "no search finds it");
	has_str(call("list_dir", "{\"path\":\".\"}", NULL), ".env\thidden by the operator\n",
		"a list has the name alone");
	has_str(call("list_dir", "{\"path\":\".\"}", NULL), "\nled\thidden by the operator\n",
		"and of what a hidden link leads to");
	is_str(call("read_file", "{\"path\":\"a.txt\",\"end_line\":1}", NULL), "1\tone\n",
		"the rest is there");
	context.hide_count = 0;
	is_str(call("read_file", "{\"path\":\".env\"}", NULL), "1\tE99 one\n",
		"as everything is where nothing is hidden");
}

/* Patterns that eat time or memory end with the child that runs them. */
static void hostile_pattern(void)
{
	int rc;
	call("grep", "{\"pattern\":\"((((a{1,200}){1,200}){1,200}){1,200})\"}", &rc);
	is(rc, -1, "a pattern that needs endless memory is stopped");
	is_str(call("read_file", "{\"path\":\"a.txt\",\"end_line\":1}", NULL), "1\tone\n",
		"and the agent lives on");
}

/* The kernel ends a search that takes too long: it cannot hand over what it has at its end. */
static void found_before_the_end(void)
{
	char found[100] = "";
	int ends[2], status = 0;
	struct search s = {.pattern = "first|(.*).*.*.*.*.*\\1.*\\1.*\\1x",
		.prefix = "late",
		.tools = &context};
	mkdirat(context.workspace_fd, "late", 0755);
	puts_in("late/a", "first\n");
	AUTO_BUF slow;
	buf_init(&slow, 1 << 20);
	for (int i = 0; i < 10000; i++)
		buf_addc(&slow, 'y');
	put("late/b", slow.data, slow.len);
	int dir = openat(context.workspace_fd, "late", O_RDONLY | O_DIRECTORY);
	if (dir < 0 || pipe(ends))
		bail("cannot set up a search");
	pid_t pid = fork();
	if (!pid) {
		/* Count its own time: a busy machine may give it none for a second. */
		setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {1, 0}}, NULL);
		_exit(search_run(&s, dir, ends[1]));
	}
	close(ends[1]);
	waitpid(pid, &status, 0);
	ok(read(ends[0], found, sizeof(found) - 1) > 0, "a search that was ended has told");
	is_str(found, "late/a:1: first\n", "what it had found");
	is(WIFSIGNALED(status), 1, "before it was ended");
	close(ends[0]);
	close(dir);
}

static void unreadable(void)
{
	struct tool_context mine = context;
	context = (struct tool_context){.workspace = "/proc/self",
		.workspace_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	has_str(call("grep", "{\"pattern\":\"x\",\"path\":\"mem\"}", NULL),
		"(1 files that cannot be read, or are over 16 MiB, were not searched)", "is told");
	close(context.workspace_fd);
	context = mine;
}

static void ignoring(void)
{
	static const struct {
		const char *rules, *path;
		bool dir, want;
	} cases[] = {{"*.o", "a/b.o", false, true}, {"/x", "a/x", false, false},
		{"/x", "x", false, true}, {"d/", "d", true, true}, {"d/", "d", false, false},
		{"a/*.c", "a/x.c", false, true}, {"a/*.c", "a/b/x.c", false, false},
		{"**/x", "a/b/x", false, true}, {"**/x", "x", false, true},
		{"a/**/x", "a/x", false, true}, {"a/**/x", "a/b/c/x", false, true},
		{"a/**/x", "b/x", false, false}, {"a/**", "a/b/c", false, true},
		{"*\n!k", "k", false, false}, {"# c\n\\#x", "#x", false, true},
		{"x  ", "x", false, true}, {"\xef\xbb\xbfx", "x", false, true},
		{"x\r", "x", false, true}, {"", "x", false, false}, {"*.o", "o", false, false},
		{"*.o", "b.oo", false, false}, {"*.o", ".o", false, true}, {"*", "x", false, true},
		{"ab", "b", false, false}, {"ab", "abc", false, false}, {"a*", "ab", false, true},
		{"*b?", "xbc", false, true}, {"x\\*", "x*", false, true},
		{"x\\*", "xy", false, false}, {"x\\ ", "x ", false, true},
		{"x\\\\ ", "x\\", false, true}, {"*[0-9]", "a7", false, true},
		{"a/*.c", "a/.cc", false, false}, {"ab/c", "a/c", false, false},
		{"a/c", "a/cd", false, false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ignore g;
		ignore_init(&g, NULL, 0, cases[i].rules);
		is(ignore_match(&g, cases[i].path, cases[i].dir), cases[i].want,
			"ignore '%s' on %s", cases[i].rules, cases[i].path);
		ignore_done(&g);
	}
}

static atomic_bool over;

static void *swap(void *unused)
{
	(void)unused;
	int fd = context.workspace_fd;
	while (!atomic_load(&over)) {
		renameat2(fd, "race", fd, "race2", 2 /* RENAME_EXCHANGE */);
	}
	return NULL;
}

/* A directory and a link out of the workspace change places while files are read through them. */
static void racing(void)
{
	int fd = context.workspace_fd;
	mkdirat(fd, "race", 0755);
	puts_in("race/secret", "harmless\n");
	tree_link(workspace, "race2", "..");
	pthread_t thread;
	pthread_create(&thread, NULL, swap, NULL);
	bool leaked = false;
	int read_ok = 0;
	for (int i = 0; i < 3000; i++) {
		int rc;
		const char *text = call("read_file", "{\"path\":\"race/secret\"}", &rc);
		leaked = leaked || strstr(text, "TOP SECRET");
		read_ok += !rc;
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	ok(!leaked, "a component swapped for a link never leads out (%d reads succeeded)", read_ok);
	ok(read_ok > 0, "and the honest file was read");
}

static void globs(void)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} rows[] = {{"a", "a", true}, {"a", "a/b", false}, {"a/b", "a", false}, {"*", "a/b", false},
		{"**", "a/b", true}, {"**/b", "b", true}, {"**/b", "b/b", true},
		{"**/b", "b/c", false}, {"a/**", "a", false}, {"a/**", "a/b/c", true},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/b/c", false}, {"a/**/b", "a/b/c/b", true},
		{"**/a/**", "x/a", false}, {"**/a/**", "a/x/a", true}, {"**/**/b", "b", true},
		{"**/a/b/**/c", "a/x/a/b/c", true}, {"**/a/b/**/c", "a/x/b/c", false},
		{"**/*.c/**/*.h", "a/b.c/d/e.h", true}, {"**/a/", "a/b", false},
		{"***/b", "b", true}, {"a/****/b", "a/x/y/b", true}, {"***", "a/b", true}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is(ignore_glob(rows[i].pattern, rows[i].path), rows[i].match, "%s matches %s",
			rows[i].pattern, rows[i].path);
	/* Trying every meaning of each double star would take longer than a lifetime. */
	char pattern[5 * 24 + 2] = "", path[2 * 60] = "a";
	for (size_t i = 0; i < 24; i++)
		memcpy(pattern + 5 * i, "**/a/", 6);
	pattern[5 * 24] = 'b';
	for (size_t i = 1; i < 60; i++)
		memcpy(path + 2 * i - 1, "/a", 3);
	ok(!ignore_glob(pattern, path), "many double stars");
}

int main(void)
{
	set_up();
	reading();
	pages();
	page_ends();
	searching();
	many_entries();
	long_lines();
	listing();
	hiding();
	hostile_pattern();
	found_before_the_end();
	unreadable();
	ignoring();
	globs();
	racing();
	free(workspace);
	return tap_done();
}
