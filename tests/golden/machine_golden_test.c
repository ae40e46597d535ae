/*
 * Golden machines: tests/golden/{broken,good}/NAME/machine.{yaml,json,toml} and expected.txt, which
 * is exactly what `agent6 machine check` prints for it, through the library here. `files/` beside
 * it are the bundle's members. GOLDEN_UPDATE=1 rewrites the expectations, to be read in a diff.
 */
#include "base/io.h"
#include "machine/analyse/analyse.h"
#include "schema/wrap.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 1024 * 1024 };

static int read_member(void *ctx, const char *path, char **text, size_t *len, bool *executable)
{
	struct stat st;
	int dir_fd = *(int *)ctx;
	if (fstatat(dir_fd, path, &st, 0) || !S_ISREG(st.st_mode))
		return -1;
	*executable = st.st_mode & 0100;
	return io_read_file(dir_fd, path, FILE_BYTES_MAX, text, len, NULL);
}

static const char *machine_file(int dir_fd)
{
	static const char *const names[] = {"machine.yaml", "machine.json", "machine.toml"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (faccessat(dir_fd, names[i], F_OK, 0) == 0)
			return names[i];
	return NULL;
}

static bool seen[RULE_COUNT];

/* Writes the output of a check of the directory. */
static void check(int dir_fd, const char *file, struct buf *out)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct err e = ERR_NONE;
	struct findings findings;
	struct prompt_docs prompts = {0};
	struct member_files files = {.read = read_member, .ctx = &dir_fd, .prompts = &prompts};
	struct doc doc;
	if (io_read_file(dir_fd, file, FILE_BYTES_MAX, &text, &len, &e))
		bail("%s", e.text);
	findings_init(&findings);
	doc_read(&doc, file, text, len, &findings);
	struct machine *m = fixture_machine(&doc, &files, &findings);
	ok(!m == (findings.errors > 0), "%s: a machine comes back exactly when there is no error",
		file);
	if (m)
		machine_analyse(m, &findings);
	for (size_t i = 0; i < findings.count; i++)
		seen[findings.items[i].rule] = true;
	const struct doc *docs[64] = {&doc};
	size_t count = 1;
	for (size_t i = 0; i < prompts.count && count < ARRAY_LEN(docs); i++)
		docs[count++] = prompts.items[i];
	findings_sort(&findings);
	findings_show(&findings, docs, count, &(struct finding_look){.columns = WRAP_NEVER}, out);
	machine_free(m);
	doc_done(&doc);
	prompt_docs_done(&prompts);
	findings_done(&findings);
}

static void golden_case(int set_fd, const char *set, const char *name)
{
	AUTO_FD int dir_fd = openat(set_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *file = machine_file(dir_fd);
	AUTO_FREE char *want = NULL;
	size_t want_len = 0;
	AUTO_BUF got;
	buf_init(&got, FILE_BYTES_MAX);
	if (!ok(file != NULL, "%s/%s has a machine file", set, name))
		return;
	check(dir_fd, file, &got);
	const char *text = got.data;
	if (getenv("GOLDEN_UPDATE"))
		io_replace_file(dir_fd, "expected.txt", text, got.len, 0644, NULL);
	io_read_file(dir_fd, "expected.txt", FILE_BYTES_MAX, &want, &want_len, NULL);
	is_mem(text, got.len, want ? want : "", want_len, "%s/%s: diagnostics", set, name);
	bool broken = strstr(text, ": error[") != NULL;
	ok(broken == (strcmp(set, "broken") == 0), "%s/%s is %s", set, name, set);
}

static void golden_set(const char *source, const char *set, int least)
{
	AUTO_FREE char *path = NULL;
	struct dirent **entries;
	if (asprintf(&path, "%s/tests/golden/%s", source, set) < 0)
		bail("out of memory");
	AUTO_FD int set_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = scandir(path, &entries, NULL, alphasort), cases = 0;
	if (set_fd < 0 || count < 0)
		bail("cannot read %s", path);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.') {
			golden_case(set_fd, set, entries[i]->d_name);
			cases++;
		}
		free(entries[i]);
	}
	free(entries);
	ok(cases >= least, "%s has at least %d cases: %d", set, least, cases);
}

int main(void)
{
	const char *source = getenv("AGENT6_SRC");
	golden_set(source ? source : ".", "broken", 45);
	golden_set(source ? source : ".", "good", 5);
	for (enum rule r = RULE_RESERVED_NAME; r <= RULE_OTHER_SPELLING; r++)
		ok(seen[r], "some case shows %s", rule_info(r)->id);
	return tap_done();
}
