/*
 * Golden faults of YAML: one in each tests/golden/yaml/NAME.yaml, and expected.txt is what people
 * are told of all of them, in the order of their names. None of it is in libyaml's own words.
 * GOLDEN_UPDATE=1 rewrites the expectations, to be read in a diff.
 */
#include "base/io.h"
#include "schema/read.h"
#include "schema/wrap.h"
#include "tests/kit/tap.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { BYTES_MAX = 1024 * 1024, CASES_LEAST = 40 };

/* How libyaml's problems and contexts begin. */
static const char *const raw[] = {"found ", "did not find ", "could not find ", "mapping values",
	"mapping keys", "block sequence", "while "};

static void expect_own_words(const char *name, const struct finding *finding)
{
	for (size_t i = 0; i < ARRAY_LEN(raw); i++)
		ok(strncmp(finding->message, raw[i], strlen(raw[i])) != 0, "%s: not \"%s...\"",
			name, raw[i]);
}

static void check(int dir_fd, const char *name, struct buf *out)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct err e = ERR_NONE;
	struct doc doc;
	struct findings findings;
	if (io_read_file(dir_fd, name, BYTES_MAX, &text, &len, &e))
		bail("%s", e.text);
	findings_init(&findings);
	ok(doc_read(&doc, name, text, len, &findings) == -1, "%s cannot be read", name);
	ok(findings.count == 1, "%s has one fault", name);
	for (size_t i = 0; i < findings.count; i++)
		expect_own_words(name, &findings.items[i]);
	const struct doc *docs[] = {&doc};
	findings_show(&findings, docs, 1, &(struct finding_look){.columns = WRAP_NEVER}, out);
	doc_done(&doc);
	findings_done(&findings);
}

static int is_case(const struct dirent *entry)
{
	return strstr(entry->d_name, ".yaml") != NULL;
}

int main(void)
{
	const char *source = getenv("AGENT6_SRC");
	AUTO_FREE char *path = NULL, *want = NULL;
	AUTO_BUF got = BUF_INIT(BYTES_MAX);
	size_t want_len = 0;
	struct dirent **entries;
	if (asprintf(&path, "%s/tests/golden/yaml", source ? source : ".") < 0)
		bail("out of memory");
	AUTO_FD int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = scandir(path, &entries, is_case, alphasort);
	if (dir_fd < 0 || count < 0)
		bail("cannot read %s", path);
	for (int i = 0; i < count; i++) {
		check(dir_fd, entries[i]->d_name, &got);
		free(entries[i]);
	}
	free(entries);
	ok(count >= CASES_LEAST, "at least %d faults: %d", CASES_LEAST, count);
	if (getenv("GOLDEN_UPDATE"))
		io_replace_file(dir_fd, "expected.txt", got.data, got.len, 0644, NULL);
	io_read_file(dir_fd, "expected.txt", BYTES_MAX, &want, &want_len, NULL);
	is_mem(got.data, got.len, want ? want : "", want_len, "what people are told");
	return tap_done();
}
