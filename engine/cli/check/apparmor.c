#include "cli/check/apparmor.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/io.h"
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

enum { PROFILE_BYTES_MAX = 64 * 1024 };

static const char *const programs[] = {"agent6-jail", "agent6-agent"};

/* Adds a profile that restricts nothing: these programs confine themselves, and the profile only
 * names them. */
static int add_profile(struct buf *out, const char *name, struct err *e)
{
	AUTO_FREE char *path = child_sibling(name, e);
	if (!path)
		return -1;
	if (strpbrk(path, "\"\\\n*?[]{}^@"))
		return err_set(e, "%s has characters that AppArmor would read as a pattern", path);
	return buf_addf(out,
		"\nprofile %s \"%s\" flags=(unconfined) {\n\tuserns,\n\n"
		"\tinclude if exists <local/%s>\n}\n",
		name, path, name);
}

/* Loads the profile from memory: a file that this AppArmor cannot read would keep its service from
 * starting. */
static int load(const struct buf *text, struct err *e)
{
	AUTO_FD int in = io_memory_file("the profile", text->data, text->len, e);
	if (in < 0)
		return -1;
	char *argv[] = {"apparmor_parser", "--replace", NULL};
	char *env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	int fds[] = {in, 2, 2};
	struct child_spec spec = {.path = "/usr/sbin/apparmor_parser",
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = 3};
	struct child child;
	if (child_start(&spec, &child, e))
		return err_wrap(e, "AppArmor's tools are needed (package apparmor)");
	int status = child_wait(&child);
	return WIFEXITED(status) && !WEXITSTATUS(status)
		       ? 0
		       : err_set(e, "apparmor_parser refused the profile, so nothing was "
				    "installed; it needs AppArmor 4.0 or newer");
}

int apparmor_install(struct err *e)
{
	AUTO_BUF text = BUF_INIT(PROFILE_BYTES_MAX);
	if (geteuid() != 0)
		return err_set(e, "installing an AppArmor profile needs root (sudo)");
	if (access("/sys/kernel/security/apparmor", F_OK) &&
		access("/sys/module/apparmor/parameters/enabled", F_OK))
		return err_set(e, "this kernel runs without AppArmor: there is nothing to install");
	buf_adds(&text, "# Written by `agent6 check sandbox --install-apparmor`.\n"
			"abi <abi/4.0>,\ninclude <tunables/global>\n");
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (add_profile(&text, programs[i], e))
			return -1;
	AUTO_FD int dir = open("/etc/apparmor.d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "cannot open /etc/apparmor.d");
	if (text.failed)
		return err_set(e, "out of memory");
	if (load(&text, e))
		return -1;
	return io_replace_file(dir, "agent6", text.data, text.len, 0644, e)
		       ? err_wrap(e, "the profile is loaded until the next boot, but not "
				     "installed: /etc/apparmor.d")
		       : 0;
}
