/* base: the names by which version control recognises a repository. */
#include "base/vcs.h"
#include "tests/kit/tap.h"

static void test_parts(void)
{
	static const struct {
		const char *name;
		unsigned part;
	} rows[] = {
		{".git", VCS_NAME},
		{".GIT", VCS_NAME},
		{".Git", VCS_NAME},
		{".g\xe2\x80\x8cit", VCS_NAME}, /* a character that a folding file system ignores */
		{"\xef\xbb\xbf.git", VCS_NAME},
		{".hg", VCS_NAME},
		{".jj", VCS_NAME},
		{"HEAD", VCS_HEAD},
		{"head", VCS_HEAD},
		{"objects", VCS_OBJECTS},
		{"refs", VCS_REFS},
		{"commondir", VCS_COMMONDIR},
		{"", 0},
		{".", 0},
		{".gi", 0},
		{".gitt", 0},
		{".git ", 0},
		{".gitignore", 0},
		{".github", 0},
		{"git", 0},
		{"HEAD1", 0},
		{"commondirectory", 0},
		{"object", 0},
		{"\xe2\x80\x8c", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		ok(vcs_part(rows[i].name) == rows[i].part, "the part that %s is", rows[i].name);
}

static void test_git_dir(void)
{
	ok(vcs_is_git_dir(VCS_HEAD | VCS_OBJECTS | VCS_REFS), "HEAD, objects and refs");
	ok(vcs_is_git_dir(VCS_HEAD | VCS_COMMONDIR), "HEAD and commondir");
	ok(!vcs_is_git_dir(VCS_OBJECTS | VCS_REFS | VCS_COMMONDIR), "without HEAD");
	ok(!vcs_is_git_dir(VCS_HEAD | VCS_OBJECTS), "without refs");
	ok(!vcs_is_git_dir(VCS_HEAD | VCS_REFS), "without objects");
	ok(!vcs_is_git_dir(VCS_NAME), "a name is what leads to one");
}

static void test_path(void)
{
	static const char *const held[] = {
		".git", "/.git", "/a/.git/config", "a/.Git", ".hg/hgrc", "a/.jj/repo/config.toml"};
	static const char *const free_[] = {"", "/", "a/.gitignore", "git/.github/x", "HEAD"};
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		ok(vcs_in_path(held[i]), "a repository's: %s", held[i]);
	for (size_t i = 0; i < ARRAY_LEN(free_); i++)
		ok(!vcs_in_path(free_[i]), "not a repository's: %s", free_[i]);
}

int main(void)
{
	test_parts();
	test_git_dir();
	test_path();
	return tap_done();
}
