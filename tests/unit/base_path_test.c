/* base: one spelling of a path, and which path lies below which. */
#include "base/path.h"
#include "tests/kit/tap.h"
#include <limits.h>
#include <string.h>

static void test_normal(void)
{
	static const char *const normal[] = {"/a", "/a/b.c", "/.a/..b/...", "/ "};
	static const char *const others[] = {"", "/", "a", "./a", "//a", "/a//b", "/a/", "/.",
		"/..", "/a/.", "/a/..", "/a/./b", "/a/../b"};
	char longest[PATH_MAX + 1];
	for (size_t i = 0; i < ARRAY_LEN(normal); i++)
		ok(path_is_normal(normal[i]), "normal: %s", normal[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(!path_is_normal(others[i]), "another spelling: %s", others[i]);
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[PATH_MAX - 2] = '\0';
	ok(path_is_normal(longest), "as long as the kernel takes, with a slash behind it");
	longest[PATH_MAX - 2] = 'a';
	longest[PATH_MAX - 1] = '\0';
	ok(!path_is_normal(longest), "longer");
}

static void test_below(void)
{
	static const struct {
		const char *path, *dir;
		bool below, within;
	} rows[] = {
		{"/a/b", "/a", true, true},
		{"/a/b/c", "/a", true, true},
		{"/a", "/a", false, true},
		{"/ab", "/a", false, false},
		{"/a", "/ab", false, false},
		{"/a", "/a/b", false, false},
		{"/b", "/a", false, false},
		{"/a", "/", true, true},
		{"/a/b", "/", true, true},
		{"/", "/", false, true},
		{"/", "/a", false, false},
		{"a", "/", false, false},
		{"", "/", false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is(path_is_below(rows[i].path, rows[i].dir), rows[i].below, "\"%s\" below \"%s\"",
			rows[i].path, rows[i].dir);
		is(path_is_within(rows[i].path, rows[i].dir), rows[i].within,
			"\"%s\" within \"%s\"", rows[i].path, rows[i].dir);
	}
}

int main(void)
{
	test_normal();
	test_below();
	return tap_done();
}
