#include "config/operator_file.h"

#include "base/io.h"
#include "schema/read.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { KEY_DEPTH_MAX = 8, KEY_BYTES_MAX = 256, FILE_BYTES_MAX = 1024 * 1024 };

static int read_in(struct operator_file *file, const char *dir, const char *name, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	file->dir = dir;
	file->name = name;
	buf_init(&file->text, FILE_BYTES_MAX);
	AUTO_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return errno == ENOENT ? 0 : err_errno(e, "cannot open %s", dir);
	if (faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 0;
	if (io_read_file(at, name, FILE_BYTES_MAX, &text, &len, e))
		return err_wrap(e, "%s", dir);
	buf_add(&file->text, text, len);
	if (len && text[len - 1] != '\n')
		buf_addc(&file->text, '\n');
	return 0;
}

int operator_file_open(struct operator_file *file, const char *dir, const char *name, struct err *e)
{
	*file = (struct operator_file){.lock_fd = -1};
	return read_in(file, dir, name, e);
}

/* Refuses to make a config.yaml beside a file of another syntax: then neither could be read. */
static int check_alone(const char *dir, struct err *e)
{
	char path[PATH_MAX];
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		snprintf(path, sizeof(path), "%s/config.%s", dir, config_suffixes[i]);
		if (strcmp(config_suffixes[i], "yaml") != 0 && !access(path, F_OK))
			return err_set(e, "the configuration is in %s: change it by hand", path);
	}
	return 0;
}

int operator_file_dir(const char *dir, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", dir);
	for (char *slash = path + 1;; *slash++ = '/') {
		slash = strchrnul(slash, '/');
		bool last = !*slash;
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return err_errno(e, "cannot create %s", path);
		if (last)
			break;
	}
	return 0;
}

int operator_file_config(struct operator_file *file, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	/* Make the directory first, so that two first writers lock the same one. */
	operator_file_dir(dir, NULL);
	*file = (struct operator_file){.lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	/* Without locks, on some file systems, the last writer wins. */
	while (file->lock_fd >= 0 && flock(file->lock_fd, LOCK_EX) && errno == EINTR)
		continue;
	if (check_alone(dir, e))
		return -1;
	snprintf(path, sizeof(path), "%s/config.yaml", dir);
	char *slash = realpath(path, file->real) ? strrchr(file->real, '/') : file->real;
	if (slash == file->real)
		return read_in(file, dir, "config.yaml", e);
	*slash = '\0';
	return read_in(file, file->real, slash + 1, e);
}

void operator_file_done(struct operator_file *file)
{
	buf_done(&file->text);
	own_close(&file->lock_fd);
}

/* --- one edit --------------------------------------------------------------------------------- */

/* A setting to change, in the document of the file before. */
struct change {
	const struct doc *doc;
	const char *value;
	char text[KEY_BYTES_MAX];
	const char *parts[KEY_DEPTH_MAX];
	size_t depth;
};

static int split_key(const char *key, struct change *out, struct err *e)
{
	char *rest = out->text, *save = NULL;
	if (strlen(key) >= sizeof(out->text))
		return err_set(e, "the key is too long");
	snprintf(out->text, sizeof(out->text), "%s", key);
	for (char *part; (part = strtok_r(rest, ".", &save)); rest = NULL) {
		if (out->depth == KEY_DEPTH_MAX)
			return err_set(e, "'%s' has too many parts", key);
		out->parts[out->depth++] = part;
	}
	return out->depth ? 0 : err_set(e, "'%s' is not a key", key);
}

/* Returns the byte offset in the file, where a byte order mark is not part of the document. */
static size_t offset_of(
	const struct operator_file *file, const struct doc *doc, uint32_t line, uint32_t column)
{
	size_t len;
	const char *text = doc_line(doc, line, &len);
	return file->text.len - doc->len + (size_t)(text - doc->text) +
	       doc_bytes(text, len, column - 1);
}

/* Adds "a:\n b:\n c: value\n" below `indent` blanks. */
static void add_block(struct buf *out, const struct change *change, size_t from, size_t indent)
{
	for (size_t i = from; i < change->depth; i++, indent += 2) {
		bool last = i + 1 == change->depth;
		buf_addf(out, "%*s%s:%s%s\n", (int)indent, "", change->parts[i], last ? " " : "",
			last ? change->value : "");
	}
}

/* Adds "a: {b: {c: value}}". */
static void add_flow(struct buf *out, const struct change *change, size_t from)
{
	for (size_t i = from; i < change->depth; i++)
		buf_addf(out, "%s: %s", change->parts[i],
			i + 1 < change->depth ? "{" : change->value);
	for (size_t i = from; i + 1 < change->depth; i++)
		buf_addc(out, '}');
}

/* Replaces [from, to) of the text by `middle`. */
static int replace_range(
	struct operator_file *file, size_t from, size_t to, const struct buf *middle, struct err *e)
{
	AUTO_BUF out = BUF_INIT(FILE_BYTES_MAX);
	buf_add(&out, file->text.data, from);
	buf_add(&out, middle->data, middle->len);
	buf_add(&out, file->text.data + to, file->text.len - to);
	if (out.failed || middle->failed)
		return err_set(e, "the file would be too large");
	buf_clear(&file->text);
	return buf_add(&file->text, out.data, out.len);
}

/* Inserts a key that is missing from the map `node`. */
static int insert(struct operator_file *file, const struct doc_node *node,
	const struct change *change, size_t from, struct err *e)
{
	AUTO_BUF middle = BUF_INIT(FILE_BYTES_MAX);
	size_t at = offset_of(file, change->doc, node->pos.line, node->pos.column);
	if (!node->partial && file->text.data[at] == '{') {
		add_flow(&middle, change, from);
		buf_adds(&middle, node->count ? ", " : "");
		return replace_range(file, at + 1, at + 1, &middle, e);
	}
	/* Insert neither after "? " or ": " of a key above, nor after a refused key. */
	const struct doc_pos *first = node->count ? &node->pairs[0].key.pos : &node->pos;
	at = offset_of(file, change->doc, first->line, 1);
	if (!node->count || first->line != node->pos.line || first->column != node->pos.column ||
		strspn(file->text.data + at, " ") + 1 != first->column)
		return err_set(e,
			"%s/%s: the keys beside %s do not stand on lines of their own; change it "
			"by hand",
			file->dir, file->name, change->parts[from]);
	add_block(&middle, change, from, first->column - 1);
	return replace_range(file, at, at, &middle, e);
}

static int replace(struct operator_file *file, const struct doc_node *node,
	const struct change *change, struct err *e)
{
	AUTO_BUF middle = BUF_INIT(FILE_BYTES_MAX);
	size_t from = offset_of(file, change->doc, node->pos.line, node->pos.column), to = from;
	if (node->pos.line == node->pos.end_line)
		to = offset_of(file, change->doc, node->pos.end_line, node->pos.end_column);
	if (to <= from)
		return err_set(e, "%s/%s: %s is written over several lines; change it by hand",
			file->dir, file->name, change->parts[change->depth - 1]);
	buf_adds(&middle, change->value);
	return replace_range(file, from, to, &middle, e);
}

/* Fills a map that has no text yet, as after a key all of whose own keys are comments. */
static int fill(struct operator_file *file, const struct doc_node *node,
	const struct change *change, size_t from, struct err *e)
{
	AUTO_BUF middle = BUF_INIT(FILE_BYTES_MAX);
	size_t at = offset_of(file, change->doc, node->pos.line, node->pos.column);
	buf_adds(&middle, " {");
	add_flow(&middle, change, from);
	buf_addc(&middle, '}');
	return replace_range(file, at, at, &middle, e);
}

static int set_in(struct operator_file *file, const struct change *change, struct err *e)
{
	const struct doc_node *node = change->doc->root;
	for (size_t i = 0; i < change->depth; i++) {
		if (node->kind == DOC_NULL && !node->boolean)
			return fill(file, node, change, i, e);
		if (node->kind != DOC_MAP)
			return err_set(e,
				"%s/%s: what stands above %s is not a map; change it by hand",
				file->dir, file->name, change->parts[i]);
		const struct doc_pair *pair = doc_pair(node, change->parts[i]);
		if (!pair)
			return insert(file, node, change, i, e);
		node = &pair->value;
	}
	return replace(file, node, change, e);
}

/* Reports whether the file is empty or has only comments. */
static bool is_blank(const struct doc *doc, const struct findings *findings)
{
	return doc->root ? doc->root->kind == DOC_NULL && !doc->root->boolean
			 : findings->items->rule == RULE_EMPTY_DOCUMENT;
}

int operator_file_set(struct operator_file *file, const char *key, const char *value, struct err *e)
{
	struct doc d;
	struct change c = {.doc = &d, .value = value};
	struct findings findings;
	if (split_key(key, &c, e))
		return -1;
	if (strpbrk(value, "\n\r"))
		return err_set(e, "the value of %s must be on one line", key);
	findings_init(&findings);
	int failed = doc_read_yaml(&d, file->name, file->text.data, file->text.len, &findings);
	if (is_blank(&d, &findings)) {
		add_block(&file->text, &c, 0, 0);
		failed = file->text.failed ? err_set(e, "the file would be too large") : 0;
	} else if (failed) {
		err_set(e, "%s/%s:%u:%u: %s; mend it by hand first", file->dir, file->name,
			findings.items->pos.line, findings.items->pos.column,
			findings.items->message);
	} else {
		failed = set_in(file, &c, e);
	}
	doc_done(&d);
	findings_done(&findings);
	return failed ? -1 : 0;
}

int operator_file_whole(
	const struct operator_file *file, const char *key, const char *value, struct err *e)
{
	struct doc d;
	struct change c = {.doc = &d};
	struct findings findings;
	if (split_key(key, &c, e))
		return -1;
	findings_init(&findings);
	doc_read_yaml(&d, file->name, file->text.data, file->text.len, &findings);
	const struct doc_node *node = d.root;
	for (size_t i = 0; node && i < c.depth; i++)
		node = doc_get(node, c.parts[i]);
	bool whole = !node || findings.errors ||
		     offset_of(file, &d, node->pos.end_line, node->pos.end_column) ==
			     offset_of(file, &d, node->pos.line, node->pos.column) + strlen(value);
	doc_done(&d);
	findings_done(&findings);
	return whole ? 0
		     : err_set(e,
			       "YAML takes only a part of `%.200s` as the value; a text with ` #`, "
			       "a comma or blanks round it needs quotes of its own: \"'%.200s'\"",
			       value, value);
}

/* --- the file --------------------------------------------------------------------------------- */

int operator_file_try(const struct operator_file *file, const struct config_paths *paths,
	struct findings *findings, struct err *e)
{
	int failed = 0;
	struct config_paths trial = *paths;
	trial.config_dir = NULL;
	trial.config_text = &file->text;
	config_free(config_load(&trial, findings));
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *it = &findings->items[i];
		if (it->severity == SEVERITY_ERROR)
			failed = err_set(e, "it would not be valid: %s%s%s", it->message,
				it->help ? "; " : "", it->help ? it->help : "");
	}
	return failed;
}

int operator_file_save(const struct operator_file *file, struct err *e)
{
	if (operator_file_dir(file->dir, e))
		return -1;
	AUTO_FD int at = open(file->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return err_errno(e, "cannot open %s", file->dir);
	return io_replace_file(at, file->name, file->text.data, file->text.len, 0600, e)
		       ? err_wrap(e, "%s", file->dir)
		       : 0;
}
