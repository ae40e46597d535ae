/* Tests the entries that a bundle may not have: each breach is one finding with the rule's id. */
#include "bundle/bundle.h"

#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char here[4096];

/* A fresh bundle directory with a machine file. */
static const char *fresh(const char *name)
{
	snprintf(here, sizeof(here), "%s/%s", tap_scratch(), name);
	tree_file(here, "machine.yaml", "machine: demo\n", 0644);
	return here;
}

/* Opens `here`; the only findings are `count` of `rule`, the first holding `text`. */
static void refused_n(const char *name, enum rule rule, size_t count, const char *text)
{
	struct findings f;
	struct bundle *b = NULL;
	struct err e = ERR_NONE;
	findings_init(&f);
	if (bundle_open(here, &f, &b, &e))
		diag("%s", e.text);
	is(f.errors, count, "%s: refused", name);
	for (size_t i = 0; i < f.count; i++)
		if (f.items[i].rule != rule)
			ok(false, "%s: unexpected %s: %s", name, f.items[i].file,
				f.items[i].message);
	has_str(f.count ? f.items[0].message : NULL, text, "%s: says why", name);
	bundle_free(b);
	findings_done(&f);
}

static void refused(const char *name, enum rule rule, const char *text)
{
	refused_n(name, rule, 1, text);
}

static void accepted(const char *name, size_t members)
{
	struct findings f;
	struct bundle *b = NULL;
	struct err e = ERR_NONE;
	findings_init(&f);
	is(bundle_open(here, &f, &b, &e), 0, "%s: opens", name);
	for (size_t i = 0; i < f.count; i++)
		ok(false, "%s: unexpected %s: %s", name, f.items[i].file, f.items[i].message);
	is(b ? b->count : 0, members, "%s: members", name);
	bundle_free(b);
	findings_done(&f);
}

static void test_links(void)
{
	tree_link(fresh("absolute"), "scripts/x", "/etc/passwd");
	refused("absolute link", RULE_BUNDLE_LINK, "leaves the bundle");
	tree_link(fresh("escape"), "scripts/x", "../../escape-target");
	tree_file(tap_scratch(), "escape-target", "secret", 0644);
	refused("escaping link", RULE_BUNDLE_LINK, "leaves the bundle");
	tree_link(fresh("beside"), "scripts/x", "../notes.txt");
	tree_file(here, "notes.txt", "the repository's", 0644);
	refused("link to what is no member", RULE_BUNDLE_LINK, "leaves the bundle");
	tree_link(fresh("dangling"), "scripts/x", "nothing");
	refused("dangling link", RULE_BUNDLE_LINK, "leads nowhere");
	tree_link(fresh("loop"), "scripts/x", "y");
	tree_link(here, "scripts/y", "x");
	refused_n("looping links", RULE_BUNDLE_LINK, 2, "loop");
	tree_link(fresh("up"), "scripts/sub/x", "..");
	refused("link to a directory above", RULE_BUNDLE_LINK, "back to a directory above");
	tree_link(fresh("folder"), "scripts", "/usr/bin");
	refused("a folder that is a link", RULE_BUNDLE_LINK, "leaves the bundle");
	tree_link(fresh("proc"), "scripts/x", "/proc/self/root/etc/passwd");
	refused("magic link", RULE_BUNDLE_LINK, "leaves the bundle");
	tree_link(fresh("inside"), "scripts/x", "lib/y");
	tree_file(here, "scripts/lib/y", "fine", 0644);
	tree_link(here, "prompts/z", "../scripts/lib");
	accepted("links that stay inside", 4);
}

static void test_kinds(void)
{
	tree_file(fresh("fifo"), "scripts/a", "a", 0644);
	mkfifo(tree_path(here, "scripts/x"), 0644);
	refused("FIFO", RULE_BUNDLE_FILE, "a FIFO");
	tree_file(fresh("hard"), "scripts/x", "a", 0644);
	if (link(tree_path(here, "scripts/x"), tree_path(here, "elsewhere")))
		bail("cannot make a hard link");
	refused("hard link", RULE_BUNDLE_FILE, "hard links");
	tree_file(fresh("setuid"), "scripts/x", "a", 04755);
	refused("setuid", RULE_BUNDLE_FILE, "setuid");
	tree_file(fresh("setgid"), "scripts/x", "a", 02755);
	refused("setgid", RULE_BUNDLE_FILE, "setgid");
	tree_dir(fresh("sticky"), "scripts");
	chmod(tree_path(here, "scripts"), 01777);
	refused("sticky directory", RULE_BUNDLE_FILE, "sticky");
	tree_file(fresh("socket"), "scripts/a", "a", 0644);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", "socket-x");
	if (chdir(tree_path(here, "scripts")) || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		bail("cannot make a socket");
	refused("socket", RULE_BUNDLE_FILE, "a socket");
	tree_file(fresh("device"), "scripts/a", "a", 0644);
	if (mknod(tree_path(here, "scripts/null"), S_IFCHR | 0644, 0x103))
		skip("only root can make a device node");
	else
		refused("device", RULE_BUNDLE_FILE, "a character device");
}

static void test_names(void)
{
	char name[400];
	tree_file(fresh("control"), "scripts/a\nb", "a", 0644);
	refused("newline", RULE_BUNDLE_NAME, "control character");
	tree_file(fresh("backslash"), "scripts/a\\b", "a", 0644);
	refused("backslash", RULE_BUNDLE_NAME, "backslash");
	tree_file(fresh("latin1"), "scripts/caf\xe9", "a", 0644);
	refused("broken UTF-8", RULE_BUNDLE_NAME, "UTF-8");
	tree_file(fresh("case"), "scripts/Run.sh", "a", 0644);
	tree_file(here, "scripts/run.sh", "b", 0644);
	refused("case", RULE_BUNDLE_NAME, "differ only by case");
	tree_file(fresh("case-dir"), "scripts/Lib/a", "a", 0644);
	tree_file(here, "scripts/lib/b", "b", 0644);
	refused("case of a directory", RULE_BUNDLE_NAME, "differ only by case");
	tree_file(fresh("case-utf8"), "scripts/\xc3\x89tat", "a", 0644);
	tree_file(here, "scripts/\xc3\xa9tat", "b", 0644);
	refused("case beyond ASCII", RULE_BUNDLE_NAME, "differ only by case");
	tree_file(fresh("utf8"), "prompts/\xe6\x97\xa5\xe6\x9c\xac.md", "a", 0644);
	accepted("names in UTF-8", 2);
	snprintf(name, sizeof(name), "scripts/%0255d", 1);
	tree_file(fresh("long"), name, "a", 0644);
	accepted("255 bytes", 2);
}

/* More names beside `path` than a directory is read for; one file, so that it is quick. */
static void crowd(const char *path)
{
	char name[600];
	tree_file(here, path, "a", 0644);
	for (int i = 0; i <= 4 * BUNDLE_MEMBERS_MAX; i++) {
		snprintf(name, sizeof(name), "%s/%s%d", here, path, i);
		if (link(tree_path(here, path), name))
			bail("cannot link");
	}
}

static void test_limits(void)
{
	char path[600] = "scripts";
	fresh("deep");
	for (int i = 0; i < 15; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
	tree_file(here, path, "a", 0644);
	accepted("16 levels", 2);
	fresh("deeper");
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
	tree_file(here, path, "a", 0644);
	refused("17 levels", RULE_BUNDLE_LIMIT, "16 levels");
	tree_file(fresh("big"), "rehearsal/big", "a", 0644);
	if (truncate(tree_path(here, "rehearsal/big"), BUNDLE_MEMBER_BYTES_MAX + 1))
		bail("cannot grow a file");
	refused("a large member", RULE_BUNDLE_LIMIT, "16 MiB");
	fresh("sum");
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "rehearsal/big%d", i);
		tree_file(here, path, "a", 0644);
		if (truncate(tree_path(here, path), BUNDLE_MEMBER_BYTES_MAX - 1))
			bail("cannot grow a file");
	}
	refused("a large bundle", RULE_BUNDLE_LIMIT, "64 MiB");
	fresh("many");
	for (int i = 0; i < BUNDLE_MEMBERS_MAX; i++) {
		snprintf(path, sizeof(path), "rehearsal/f%d", i);
		tree_file(here, path, "", 0644);
	}
	refused("4,097 members", RULE_BUNDLE_LIMIT, "4,096");
	tree_file(fresh("crowd"), "scripts/z", "a", 0644);
	crowd("source");
	accepted("a repository of many files around it", 2);
	tree_file(fresh("full"), "rehearsal/z", "a", 0644);
	crowd("rehearsal/z");
	refused("a folder of more entries than are looked at", RULE_BUNDLE_LIMIT, "entries");
}

/* A file that is called like a folder is the repository's, and could not be unpacked again. */
static void test_folders(void)
{
	tree_file(fresh("file"), "scripts", "a", 0644);
	accepted("a file called scripts", 1);
	tree_file(fresh("link"), "prompts/p", "a", 0644);
	if (symlink("prompts/p", tree_path(here, "scripts")))
		bail("cannot link");
	refused("a link called scripts to a file", RULE_BUNDLE_LINK, "is a folder");
}

static void test_machine_file(void)
{
	tree_file(fresh("two"), "machine.json", "{}", 0644);
	refused("two machine files", RULE_BUNDLE_MACHINE, "exactly one");
	snprintf(here, sizeof(here), "%s/none", tap_scratch());
	tree_file(here, "scripts/a", "a", 0644);
	refused("no machine file", RULE_BUNDLE_MACHINE, "no machine file");
	snprintf(here, sizeof(here), "%s/linked", tap_scratch());
	tree_file(here, "real.yaml", "machine: demo\n", 0644);
	if (symlink("real.yaml", tree_path(here, "machine.yaml")))
		bail("cannot link");
	refused("a machine file that is a link is not missing too", RULE_BUNDLE_LINK, "leaves");
	tree_file(here, "real.asm.yaml", "machine: demo\n", 0644);
	if (symlink("real.asm.yaml", tree_path(here, "other.asm.yaml")))
		bail("cannot link");
	snprintf(here, sizeof(here), "%s/linked/other.asm.yaml", tap_scratch());
	refused("nor is a loose one", RULE_BUNDLE_LINK, "name the file it leads to");
}

int main(void)
{
	test_links();
	test_kinds();
	test_names();
	test_limits();
	test_folders();
	test_machine_file();
	return tap_done();
}
