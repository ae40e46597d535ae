/* One machine, three syntaxes: every golden machine, written again as JSON and as TOML, reads as
 * the same value and gets the same findings. The seeds' own TOML files, where they lie beside the
 * checkout, are accepted and checked like their twins. */
#include "base/io.h"
#include "base/json.h"
#include "schema_kit.h"
#include "tests/kit/machine.h"
#include <fcntl.h>
#include <ftw.h>

enum { TWIN_BYTES_MAX = 16 * 1024 * 1024 };

static size_t compared;

static void write_toml(struct buf *out, const json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;
	if (json_is_object(value)) {
		bool first = true;
		buf_addc(out, '{');
		json_object_foreach ((json_t *)(uintptr_t)value, key, inner) {
			json_auto_t *name = json_string(key);
			buf_adds(out, first ? "" : ", ");
			json_write(out, name);
			buf_adds(out, " = ");
			write_toml(out, inner);
			first = false;
		}
		buf_addc(out, '}');
	} else if (json_is_array(value)) {
		buf_addc(out, '[');
		json_array_foreach (value, i, inner) {
			buf_adds(out, i ? ", " : "");
			write_toml(out, inner);
		}
		buf_addc(out, ']');
	} else {
		json_write(out, value);
	}
}

static bool holds_null(const json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;
	bool found = json_is_null(value);
	json_object_foreach ((json_t *)(uintptr_t)value, key, inner)
		found |= holds_null(inner);
	json_array_foreach (value, i, inner)
		found |= holds_null(inner);
	return found;
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rule, state and message of every finding, without and in an order without positions. */
static void check_machine(struct reading *reading, struct buf *out)
{
	struct machine *m = fixture_machine(&reading->doc, NULL, &reading->findings);
	AUTO_FREE char **lines = calloc(reading->findings.count + 1, sizeof(*lines));
	for (size_t i = 0; i < reading->findings.count; i++) {
		const struct finding *it = &reading->findings.items[i];
		const char *line = strstr(it->message, "on line ");
		int len = line ? (int)(line - it->message) : (int)strlen(it->message);
		if (asprintf(&lines[i], "%s %s %.*s\n", rule_info(it->rule)->id,
			    it->state ? it->state : "", len, it->message) < 0)
			bail("out of memory");
	}
	qsort(lines, reading->findings.count, sizeof(*lines), by_line);
	buf_clear(out);
	buf_adds(out, "");
	for (size_t i = 0; i < reading->findings.count; i++) {
		buf_adds(out, lines[i]);
		free(lines[i]);
	}
	machine_free(m);
}

static void compare_twin(const char *path, const char *suffix, const struct buf *text,
	const json_t *value, const struct buf *findings)
{
	struct reading r;
	AUTO_BUF got;
	buf_init(&got, TWIN_BYTES_MAX);
	reading_bytes(&r, suffix, text->data, text->len);
	if (ok(r.doc.root && !r.findings.count, "%s reads as %s", path, suffix)) {
		json_auto_t *again = doc_json(r.doc.root);
		ok(json_equal(value, again), "%s: the same value as %s", path, suffix);
		check_machine(&r, &got);
		is_str(got.data, findings->data, "%s: the same findings as %s", path, suffix);
	} else {
		diag("%s", reading_lines(&r));
	}
	reading_done(&r);
}

static void compare_file(const char *path, const char *text, size_t len)
{
	struct reading r;
	AUTO_BUF findings, twin;
	buf_init(&findings, TWIN_BYTES_MAX);
	buf_init(&twin, TWIN_BYTES_MAX);
	reading_bytes(&r, path, text, len);
	json_auto_t *value = r.doc.root ? doc_json(r.doc.root) : NULL;
	/* A text that the reader refuses has no twin, nor has a null in TOML. */
	if (json_is_object(value) && !r.findings.count) {
		const char *key;
		json_t *inner;
		compared++;
		check_machine(&r, &findings);
		AUTO_FREE char *json = json_dumps(value, JSON_COMPACT);
		buf_adds(&twin, json);
		compare_twin(path, "twin.json", &twin, value, &findings);
		buf_clear(&twin);
		json_object_foreach (value, key, inner) {
			json_auto_t *name = json_string(key);
			json_write(&twin, name);
			buf_adds(&twin, " = ");
			write_toml(&twin, inner);
			buf_addc(&twin, '\n');
		}
		if (!holds_null(value))
			compare_twin(path, "twin.toml", &twin, value, &findings);
	}
	reading_done(&r);
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	const char *name = path + at->base;
	AUTO_FREE char *text = NULL;
	size_t len;
	if (kind == FTW_F && (strstr(name, ".asm.") || !strncmp(name, "machine.", 8)) &&
		!io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &len, NULL))
		compare_file(path, text, len);
	return 0;
}

static int visit_seed(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	(void)st;
	(void)at;
	if (kind != FTW_F || io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &len, NULL))
		return 0;
	struct reading r;
	reading_bytes(&r, path, text, len);
	struct machine *m = fixture_machine(&r.doc, NULL, &r.findings);
	if (!ok(m && !r.findings.errors, "%s is accepted", path))
		diag("%s", reading_lines(&r));
	machine_free(m);
	reading_done(&r);
	return 0;
}

static void walk(
	const char *place, int (*each)(const char *, const struct stat *, int, struct FTW *))
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", getenv("AGENT6_SRC"), place);
	nftw(path, each, 16, FTW_PHYS);
}

int main(void)
{
	walk("tests/golden", visit);
	walk("examples", visit);
	ok(compared >= 40, "%zu machines have twins", compared);
	walk("../shared/data/asm-toml", visit);
	walk("../shared/data/asm-toml", visit_seed);
	return tap_done();
}
