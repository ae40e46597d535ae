#include "cli/rehearse/expect.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/json.h"
#include "base/sha256.h"
#include "rehearse/excerpt.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 64 * 1024 * 1024, PLACE_BYTES = 512 };

static void add(json_t *differences, const char *format, ...) PRINTF(2, 3);
static void add(json_t *differences, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	json_array_append_new(differences, json_vsprintf(format, args));
	va_end(args);
}

/* Adds that a value at `place` is another one; of two texts the parts around the first
 * difference. */
static void add_value(
	json_t *differences, const char *place, const json_t *wanted, const json_t *got)
{
	char want[EXCERPT_BYTES], have[EXCERPT_BYTES];
	bool texts = json_is_string(wanted) && json_is_string(got);
	AUTO_FREE char *wanted_text = texts ? NULL : json_text(wanted);
	AUTO_FREE char *got_text = texts || !got ? NULL : json_text(got);
	const char *left = texts         ? json_string_value(wanted)
			   : wanted_text ? wanted_text
					 : "?",
		   *right = texts      ? json_string_value(got)
			    : got_text ? got_text
				       : "nothing";
	size_t at = excerpt_common(left, right);
	excerpt_show(left, at, texts, want);
	excerpt_show(right, at, texts, have);
	add(differences, "%s: expected %s, got %s", place, want, have);
}

/* Reports whether two numbers are equal, of which one may be written as an integer. */
static bool same_number(const json_t *wanted, const json_t *got)
{
	return json_is_number(wanted) && json_is_real(got) &&
	       json_number_value(wanted) >= json_number_value(got) &&
	       json_number_value(wanted) <= json_number_value(got);
}

/* Compares a part with a value: records by key, all else as a whole. */
static void compare_part(
	const json_t *wanted, const json_t *got, const char *place, json_t *differences)
{
	const char *key;
	json_t *value;
	if (!json_is_object(wanted) || !json_is_object(got)) {
		if (!got || (!json_equal(wanted, got) && !same_number(wanted, got)))
			add_value(differences, place, wanted, got);
		return;
	}
	json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
		char below[PLACE_BYTES];
		snprintf(below, sizeof(below), "%.400s.%.100s", place, key);
		compare_part(value, json_object_get(got, key), below, differences);
	}
}

/* --- the end and the way there ---------------------------------------------------------------- */

static void compare_end(
	const struct expectation *expect, const struct observed *observed, json_t *differences)
{
	if (!observed->ended) {
		add(differences, "end: the machine did not end; it stands in %s", observed->state);
		return;
	}
	if (expect->end && strcmp(expect->end, observed->state))
		add(differences, "end: expected %s, got %s: %s", expect->end, observed->state,
			observed->reason);
	if (expect->status != CASE_STATUS_ANY && (expect->status == CASE_STATUS_OK) != observed->ok)
		add(differences, "status: expected %s, got %s in %s: %s",
			expect->status == CASE_STATUS_OK ? "ok" : "failed",
			observed->ok ? "ok" : "failed", observed->state, observed->reason);
	if (expect->exit_code != CASE_EXIT_ANY && expect->exit_code != observed->exit_code)
		add(differences, "exit_code: expected %d, got %d in %s: %s", expect->exit_code,
			observed->exit_code, observed->state, observed->reason);
}

static const char *name_at(const json_t *path, size_t i)
{
	const char *name = json_string_value(json_array_get(path, i));
	return name ? name : "";
}

/* Appends some names around the place `at` of a path. */
static void show_path(struct buf *out, const char *const *names, const json_t *path, size_t at)
{
	enum { BEFORE = 3, SHOWN = 8 };
	size_t from = at > BEFORE ? at - BEFORE : 0;
	buf_adds(out, from ? "... -> " : "");
	for (size_t i = from; i < from + SHOWN; i++) {
		const char *name = names ? names[i] : name_at(path, i);
		if (!name || !*name)
			break;
		buf_addf(out, "%s%s", i > from ? " -> " : "", name);
	}
}

static void compare_path(const struct name_list *wanted, const json_t *path, json_t *differences)
{
	size_t at = 0, count = json_array_size(path);
	AUTO_BUF want = BUF_INIT(4096), got = BUF_INIT(4096);
	while (at < wanted->count && at < count && !strcmp(wanted->names[at], name_at(path, at)))
		at++;
	if (!wanted->given || (at == wanted->count && at == count))
		return;
	show_path(&want, wanted->names, NULL, at);
	show_path(&got, NULL, path, at);
	add(differences, "path: step %zu differs: expected %s, got %s", at + 1,
		want.len ? want.data : "nothing", got.len ? got.data : "nothing");
}

static void compare_passes(const struct name_list *wanted, const json_t *path, json_t *differences)
{
	size_t at = 0;
	AUTO_BUF got = BUF_INIT(4096);
	for (size_t i = 0; i < json_array_size(path) && at < wanted->count; i++)
		at += !strcmp(wanted->names[at], name_at(path, i));
	if (at == wanted->count)
		return;
	show_path(&got, NULL, path, json_array_size(path));
	add(differences, "passes: %s was not entered%s%s; the path ends %s", wanted->names[at],
		at ? " after " : "", at ? wanted->names[at - 1] : "",
		got.len ? got.data : "before any state");
}

static void compare_egress(
	const struct name_list *wanted, const json_t *endpoints, json_t *differences)
{
	const char *endpoint;
	json_t *value;
	for (size_t i = 0; i < wanted->count; i++)
		if (!json_object_get(endpoints, wanted->names[i]))
			add(differences, "egress: %s was not contacted", wanted->names[i]);
	json_object_foreach ((json_t *)(uintptr_t)endpoints, endpoint, value) {
		bool known = false;
		for (size_t i = 0; i < wanted->count; i++)
			known |= !strcmp(wanted->names[i], endpoint);
		if (wanted->given && !known)
			add(differences, "egress: %s was contacted", endpoint);
	}
}

/* --- files ------------------------------------------------------------------------------------ */

static void compare_content(
	const struct expected_file *file, const char *text, size_t len, json_t *differences)
{
	char hex[SHA256_HEX + 1];
	if (file->sha256) {
		sha256_hex(text, len, hex);
		if (strcmp(hex, file->sha256))
			add(differences, "files.%s: expected the digest %s, got %s", file->path,
				file->sha256, hex);
	}
	if (!file->contains || memmem(text, len, file->contains, strlen(file->contains)))
		return;
	char want[EXCERPT_BYTES], have[EXCERPT_BYTES];
	size_t end, longest = excerpt_longest(file->contains, text, &end);
	excerpt_show(file->contains, longest, true, want);
	excerpt_show(text, end, true, have);
	add(differences, "files.%s: expected text holding %s, got %s", file->path, want, have);
}

static void compare_file(const struct expected_file *file, int files_fd, json_t *differences)
{
	struct stat st;
	struct err e = ERR_NONE;
	AUTO_BUF text = BUF_INIT(FILE_BYTES_MAX);
	AUTO_FD int fd = beneath_open(
		files_fd, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		if (!file->absent)
			add(differences, "files.%s: there is no such file", file->path);
		return;
	}
	if (file->absent)
		add(differences, "files.%s: expected no such file, and there is one", file->path);
	else if (fd < 0 && errno == ELOOP)
		add(differences, "files.%s: it is or passes through a symbolic link", file->path);
	else if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		add(differences, "files.%s: it is no file that can be read", file->path);
	else if (io_read_all(fd, &text, file->path, &e))
		add(differences, "files.%s: %s", file->path, e.text);
	else
		compare_content(file, text.data ? text.data : "", text.len, differences);
}

void expect_compare(
	const struct expectation *expect, const struct observed *observed, json_t *differences)
{
	compare_end(expect, observed, differences);
	compare_path(&expect->path, observed->path, differences);
	compare_passes(&expect->passes, observed->path, differences);
	compare_egress(&expect->egress, observed->endpoints, differences);
	if (expect->vars)
		compare_part(expect->vars, observed->blackboard, "vars", differences);
	if (expect->returns)
		compare_part(expect->returns, observed->returns, "returns", differences);
	for (size_t i = 0; i < expect->file_count; i++)
		compare_file(&expect->files[i], observed->files_fd, differences);
	if (expect->left_over != CASE_LEFT_OVER_ANY && expect->left_over != observed->left_over)
		add(differences, "left_over: expected %jd lines of the cassette, got %jd",
			(intmax_t)expect->left_over, (intmax_t)observed->left_over);
}
