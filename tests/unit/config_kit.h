/*
 * Loading a configuration in a test: its files, and one line per finding to compare.
 */
#ifndef TESTS_UNIT_CONFIG_KIT_H
#define TESTS_UNIT_CONFIG_KIT_H
#include "base/buf.h"
#include "base/io.h"
#include "config/config.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char state_dir[4200], config_dir[4200], file_path[4200];
static int scratch;

/* Writes a file beneath the scratch directory. */
static inline void put(const char *path, const char *text)
{
	char copy[4096];
	snprintf(copy, sizeof(copy), "%s", path);
	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(scratch, copy, 0700);
		*slash = '/';
	}
	AUTO_FD int fd = openat(scratch, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, text, strlen(text)))
		bail("cannot write %s", path);
}

static inline struct config_paths places(void)
{
	return (struct config_paths){
		.config_dir = config_dir, .state_dir = state_dir, .repo_id = "repo"};
}

/* "LINE:COLUMN rule" per finding, one a line. */
static inline void expect_rules(const struct config_paths *paths, const char *rules)
{
	struct findings f;
	findings_init(&f);
	struct config *c = config_load(paths, &f);
	findings_sort(&f);
	AUTO_BUF got;
	buf_init(&got, 10000);
	buf_adds(&got, "");
	for (size_t i = 0; i < f.count; i++)
		buf_addf(&got, "%s%s%u:%u %s", i ? "\n" : "",
			strcmp(f.items[i].file, "defaults") ? "" : "in no file, ",
			f.items[i].pos.line, f.items[i].pos.column, rule_info(f.items[i].rule)->id);
	if (!is_str(got.data, rules, "findings"))
		for (size_t i = 0; i < f.count; i++)
			diag("%s: %s", f.items[i].file, f.items[i].message);
	config_free(c);
	findings_done(&f);
}

static inline void expect_global(const char *text, const char *rules)
{
	put("config/config.yaml", text);
	struct config_paths paths = places();
	expect_rules(&paths, rules);
}

static inline void config_kit_init(void)
{
	const char *root = tap_scratch();
	scratch = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	snprintf(config_dir, sizeof(config_dir), "%s/config", root);
	snprintf(file_path, sizeof(file_path), "%s/file.json", root);
}
#endif
