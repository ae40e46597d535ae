/*
 * Asking ajv, an independent JSON Schema validator, about documents (tests/peers).
 */
#ifndef TESTS_UNIT_AJV_KIT_H
#define TESTS_UNIT_AJV_KIT_H
#include "base/child.h"
#include "base/io.h"
#include "tests/kit/tap.h"
#include <fcntl.h>

/* Skips the program where the validator is not installed. */
static inline void ajv_or_skip(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/build/peers/node_modules/ajv", getenv("AGENT6_SRC"));
	if (access(path, R_OK))
		skip_all("ajv is not installed: it needs node 20 and npm");
}

/* One JSON document a line in `lines`; "1\n" (valid) or "0\n" for each in `out`. Returns the
 * validator's wait status: not 0 when it does not take the schema. */
static inline int ajv_verdicts(const char *schema, const struct buf *lines, struct buf *out)
{
	const char *root = getenv("AGENT6_SRC");
	char modules[4096], script[4096], file[4096];
	snprintf(modules, sizeof(modules), "%s/build/peers/node_modules", root);
	snprintf(script, sizeof(script), "%s/tests/peers/ajv_verdicts.mjs", root);
	snprintf(file, sizeof(file), "%s", schema);
	AUTO_FD int dir = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	io_replace_file(dir, "lines", lines->data, lines->len, 0600, NULL);
	AUTO_FD int in = openat(dir, "lines", O_RDONLY | O_CLOEXEC);
	int answer[2];
	if (pipe2(answer, O_CLOEXEC))
		return -1;
	char *argv[] = {(char[]){"/usr/bin/env"}, (char[]){"node"}, script, modules, file, NULL};
	int fds[] = {in, answer[1], 2};
	struct child_spec spec = {
		.path = argv[0], .argv = argv, .env = environ, .fds = fds, .fd_count = 3};
	struct child child;
	int rc = child_start(&spec, &child, NULL);
	close(answer[1]);
	if (!rc) {
		io_read_all(answer[0], out, "the answers", NULL);
		rc = child_wait(&child);
	}
	close(answer[0]);
	return rc;
}
#endif
