/* Tests the parsers of git's output: the documented forms, and those that a hostile name makes of
 * them. */
#include "git/parse.h"

#include "tests/kit/tap.h"

#define SHA1   "0123456789abcdef0123456789abcdef01234567"
#define SHA256 SHA1 "89abcdef0123456789abcdef"

/* A buffer over a literal with NULs in it. */
#define LIST(text)                                                                                 \
	&(struct buf)                                                                              \
	{                                                                                          \
		.data = (char[]){text}, .len = sizeof(text) - 1                                    \
	}

static void names(void)
{
	char oid[GIT_OID_BYTES];
	is(parse_oid(SHA1 "\n", oid), 0, "SHA-1");
	is_str(oid, SHA1, "as it stands");
	is(parse_oid(SHA256 "\n", oid), 0, "SHA-256");
	is_str(oid, SHA256, "as it stands");
	is(parse_oid("0123abc", oid), -1, "a short name is none");
	is(parse_oid(SHA1 "0", oid), -1, "nor is a longer one");
	is(parse_oid(NULL, oid), -1, "nor nothing");
}

static void refs(void)
{
	char oid[GIT_OID_BYTES];
	const struct buf *list = LIST("refs/heads/a/b " SHA256 "\nrefs/heads/a " SHA1 "\n");
	is(parse_ref(list, "refs/heads/a", oid), 0, "the ref itself");
	is_str(oid, SHA1, "not what lies below it");
	is(parse_ref(list, "refs/heads/c", oid), 0, "one that is not there");
	is_str(oid, "", "is empty");
	is(parse_ref(LIST("refs/heads/a gone\n"), "refs/heads/a", oid), -1, "one without object");
	is(parse_ref(LIST("refs/heads/a " SHA1), "refs/heads/a", oid), 0, "the last line, cut");
	is_str(oid, SHA1, "is read");
}

static void checkouts(void)
{
	const struct buf *list =
		LIST("worktree /a\0HEAD " SHA1 "\0branch refs/heads/main\0\0worktree "
		     "/b\nbranch refs/heads/x\0HEAD " SHA1 "\0branch refs/heads/y\0\0");
	is_str(parse_checkout(list, "refs/heads/main"), "/a", "the first work tree");
	is_str(parse_checkout(list, "refs/heads/y"), "/b\nbranch refs/heads/x",
		"a path may look like an attribute");
	is_str(parse_checkout(list, "refs/heads/x"), NULL, "and is none");
	is_str(parse_checkout(list, "refs/heads/mai"), NULL, "nor is the beginning of a name");
	is_str(parse_checkout(LIST(""), "refs/heads/x"), NULL, "nothing is nowhere");
}

static void changes(void)
{
	static const char there[] = "a\0b c\0d", gone[] = "-n\n\0e/f";
	struct changes found;
	buf_init(&found.there, 1024);
	buf_init(&found.gone, 1024);
	const struct buf *list =
		LIST(" M a\0M  staged\0?? b c\0 D -n\n\0?? inner/\0MM d\0MD e/f\0D  done\0 \0");
	is(parse_changes(list, &found), 0, "changes");
	is(found.there.len, sizeof(there), "three that are there");
	ok(!memcmp(found.there.data, there, sizeof(there)),
		"names as they are; what is staged already is not among them");
	is(found.gone.len, sizeof(gone), "two that are gone");
	ok(!memcmp(found.gone.data, gone, sizeof(gone)), "and which");
	is(found.left_out, 1, "a repository inside is left out");
	buf_done(&found.there);
	buf_init(&found.there, 2);
	is(parse_changes(list, &found), -1, "more than there is room for");
	buf_done(&found.there);
	buf_done(&found.gone);
}

static void filters(void)
{
	const char *filter = NULL;
	size_t at = 0;
	const struct buf *list = LIST("a\0filter\0unspecified\0b\0filter\0lfs\0c\0filter\0unset\0"
				      "d\0filter\0set\0e\0filter\0");
	is_str(parse_filter(list, &at, &filter), "b", "a path with a filter");
	is_str(filter, "lfs", "its name");
	is_str(parse_filter(list, &at, &filter), "d", "the next");
	is_str(parse_filter(list, &at, &filter), NULL, "a list cut short ends");
}

static void settings(void)
{
	AUTO_BUF out;
	buf_init(&out, 1024);
	is(parse_settings(LIST("local\0a.b\nv\0command\0core.pager\ncat\0worktree\0flag\0"), &out),
		0, "settings");
	is(out.len, sizeof("a.b\nv\0flag"), "without our own");
	is(parse_settings(LIST("local\0"), &out), -1, "a scope without an entry is refused");
}

int main(void)
{
	names();
	refs();
	checkouts();
	changes();
	filters();
	settings();
	return tap_done();
}
