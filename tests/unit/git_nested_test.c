/* git: repositories that a commit would bring into a work tree. */
#include "git/nested.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char clone[4096], checkout[4096];

static void put(const char *root, const char *path)
{
	char full[5000];
	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	int fd = open(full, O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		bail("cannot make %s", full);
	close(fd);
}

/* The change is made in the clone, but for one that is only named. */
static void judge(const char *path, bool make, const char *refused)
{
	struct err e = ERR_NONE;
	AUTO_BUF paths = BUF_INIT(65536);
	if (make)
		put(clone, path);
	buf_add(&paths, "plain", 6);
	buf_add(&paths, path, strlen(path) + 1);
	int rc = nested_check(&paths, clone, checkout, &e);
	ok(refused ? rc && strstr(e.text, refused) : !rc, "%s%s%s", path, refused ? ": " : "",
		refused ? refused : " is an ordinary change");
	if (rc != (refused ? -1 : 0) || (refused && !strstr(e.text, refused)))
		diag("got %d %s", rc, e.text);
}

int main(void)
{
	static const char *const names[] = {".git", "a/.git", ".git/config", "a/.GIT/hooks/x",
		"a/.g\xe2\x80\x8cit/config", ".hg/hgrc", "a/.jj/repo/x"};
	snprintf(clone, sizeof(clone), "%s/clone", tap_scratch());
	snprintf(checkout, sizeof(checkout), "%s/checkout", tap_scratch());
	mkdir(checkout, 0755);
	put(clone, ".git/HEAD");
	put(clone, "plain");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		judge(names[i], false, "belongs to a repository inside");
	judge("bare/HEAD", true, NULL);
	judge("bare/config", true, NULL);
	judge("bare/objects/k", true, NULL);
	judge("bare/refs/k", true, "bare is a git directory then");
	judge("bare/hooks/post-checkout", true, "bare is a git directory then");
	judge("a/b/commondir", true, NULL);
	judge("a/b/HEAD", true, "a/b is a git directory then");
	judge("a/b/c/d", true, "a/b is a git directory then");
	judge("a/ordinary", true, NULL);
	judge("folded/head", true, NULL);
	judge("folded/Objects/x", true, NULL);
	judge("folded/REFS/x", true, "folded is a git directory then");
	put(checkout, "build/objects/main.o"); /* which no commit has, and a checkout joins */
	judge("build/refs/x", true, NULL);
	judge("build/HEAD", true, "build is a git directory then");
	judge("objects/x", true, NULL);
	judge("HEAD", true, NULL);
	judge("refs/x", true, "the top of the work tree is a git directory then");
	return tap_done();
}
