#include "base/io.h"
#include "cli/skeletons.h"
#include "cli/verb.h"
#include "run/instance.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 64 * 1024 };

static void fill_in(const char *text, const char *name, struct buf *out)
{
	for (const char *mark; (mark = strstr(text, "%NAME%")); text = mark + 6) {
		buf_add(out, text, (size_t)(mark - text));
		buf_adds(out, name);
	}
	buf_adds(out, text);
}

static int write_file(int dir, const struct skeleton_file *f, const char *name, struct err *e)
{
	char path[256];
	AUTO_BUF text;
	buf_init(&text, FILE_BYTES_MAX);
	fill_in(f->text, name, &text);
	snprintf(path, sizeof(path), "%s", f->path);
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdirat(dir, path, 0777) && errno != EEXIST)
			return err_errno(e, "cannot create %s", path);
	}
	AUTO_FD int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f->mode);
	if (fd < 0 || io_write(fd, text.data, text.len))
		return err_errno(e, "cannot write %s", path);
	return 0;
}

static int write_all(const struct skeleton *s, const char *name, struct err *e)
{
	if (mkdir(name, 0777))
		return err_errno(e, "cannot create %s", name);
	AUTO_FD int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "cannot open %s", name);
	for (const struct skeleton_file *f = s->files; f->path; f++)
		if (write_file(dir, f, name, e))
			return -1;
	return 0;
}

static int run(const struct call *c)
{
	const char *name = c->arguments[0], *from = call_value(c, "from");
	const struct skeleton *chosen = &skeletons[0];
	struct err e = ERR_NONE;
	for (size_t i = 0; from && i < skeleton_count; i++)
		if (!strcmp(from, skeletons[i].name))
			chosen = &skeletons[i];
	if (!instance_id_valid(name))
		return fail(EXIT_REFUSED,
			&(struct err){.text = "a machine's name is lower-case letters, "
					      "digits, _ and -, a letter first"});
	if (write_all(chosen, name, &e))
		return fail(EXIT_REFUSED, &e);
	printf("%s: %s\nnext:\n  agent6 machine check %s\n  agent6 machine rehearse %s\n", name,
		chosen->summary, name, name);
	return EXIT_OK;
}

static const struct verb_option options[] = {
	{"from", "agent|tool", "what to begin with (agent)", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_new = {.path = "machine new",
	.summary = "begin a bundle: a directory that checks and rehearses as it is",
	.arguments = "NAME",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
