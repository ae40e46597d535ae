#include "agent/tools/search.h"

#include "agent/policy/redact.h"
#include "agent/tools/ignore.h"
#include "agent/tools/lookup.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/utf8.h"
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <regex.h>
#include <sys/stat.h>

enum {
	DEPTH_MAX = 64,
	FILES_MAX = 100000,
	FILE_CAP_BYTES = 16 * 1024 * 1024,
	LINE_SHOWN_BYTES = 300,
	LEAD_BYTES = 100, /* bytes shown before a match that is far along its line */
	IGNORE_CAP_BYTES = 256 * 1024,
	PATTERN_CAP_BYTES = 64 * 1024,
};

struct walk {
	const struct search *search;
	regex_t regex;
	struct buf *out; /* text not yet written to out_fd */
	int out_fd;
	size_t hits, files, skipped;
	size_t cut_lists;    /* .gitignore files with rules that were left out */
	char path[PATH_MAX]; /* the current entry, relative to the workspace */
	size_t start;        /* index in `path` of the part below the starting point */
	size_t depth;
	const char *note; /* a possible reason why nothing was found */
};

static bool is_over(const struct walk *walk)
{
	return walk->hits >= SEARCH_HITS_MAX || walk->files >= FILES_MAX;
}

static const char *below(const struct walk *walk)
{
	return walk->path + walk->start;
}

/* Shows a hit; of a long line only the part around the match. */
static void show_hit(
	struct walk *walk, size_t number, const char *line, size_t len, const regmatch_t *match)
{
	const char *prefix = walk->search->prefix, *path = below(walk);
	utf8_show(walk->out, prefix);
	if (*prefix && *path)
		buf_addc(walk->out, '/');
	utf8_show(walk->out, path);
	const struct redact *redact = walk->search->tools->redact;
	size_t begin = (size_t)match->rm_so, from = 0;
	if (match->rm_eo > LINE_SHOWN_BYTES && begin > LEAD_BYTES)
		from = redact_cut(
			redact, line, len, utf8_cut_start(line, len, begin - LEAD_BYTES), true);
	size_t end = len - from < LINE_SHOWN_BYTES ? len : from + LINE_SHOWN_BYTES;
	if (end < len)
		end = redact_cut(
			redact, line, len, from + utf8_prefix(line + from, end - from), false);
	buf_addf(walk->out, ":%zu: %s", number, from ? "[...] " : "");
	buf_add(walk->out, line + from, end - from);
	buf_adds(walk->out, end < len ? " [...]\n" : "\n");
	walk->hits++;
}

static void search_text(struct walk *walk, const char *text, size_t len)
{
	size_t number = 1;
	for (const char *at = text, *stop = text + len; at < stop && !is_over(walk); number++) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		size_t run = (size_t)((end ? end : stop) - at);
		size_t seen = run && at[run - 1] == '\r' ? run - 1 : run;
		regmatch_t span = {.rm_so = 0, .rm_eo = (regoff_t)seen};
		if (!regexec(&walk->regex, at, 1, &span, REG_STARTEND))
			show_hit(walk, number, at, seen, &span);
		at += run + 1;
	}
}

static void flush(struct walk *walk)
{
	if (walk->out->len)
		io_write(walk->out_fd, walk->out->data, walk->out->len);
	buf_clear(walk->out);
}

/* Searches a file, unless it is binary (a NUL, or not UTF-8). */
static void search_fd(struct walk *walk, int fd)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	walk->files++;
	AUTO_BUF text = BUF_INIT(FILE_CAP_BYTES);
	if (st.st_size >= FILE_CAP_BYTES || io_read_all(fd, &text, "a file", NULL)) {
		walk->skipped++;
		return;
	}
	if (text.len && !memchr(text.data, 0, text.len) &&
		utf8_prefix(text.data, text.len) == text.len)
		search_text(walk, text.data, text.len);
	flush(walk);
}

static bool fits_glob(const struct walk *walk, const char *glob, const char *name)
{
	const char *open = strchr(glob, '{'), *close = open ? strchr(open, '}') : NULL;
	for (const char *at = close ? open + 1 : NULL; at && at <= close;) {
		char one[PATH_MAX];
		size_t len = strcspn(at, ",}");
		int n = snprintf(one, sizeof(one), "%.*s%.*s%s", (int)(open - glob), glob, (int)len,
			at, close + 1);
		if (n > 0 && (size_t)n < sizeof(one) && fits_glob(walk, one, name))
			return true;
		at += len + 1;
	}
	if (close)
		return false;
	if (!strchr(glob, '/'))
		return !fnmatch(glob, name, 0);
	return !fnmatch(glob, below(walk), 0) || ignore_glob(glob, below(walk));
}

static bool is_wanted(const struct walk *walk, const char *name)
{
	const char *glob = walk->search->glob;
	return !glob || fits_glob(walk, glob, name);
}

/* Loads the ignore rules of the directory at the current path. */
static void load_ignore(
	struct walk *walk, int dir_fd, const struct ignore *parent, struct ignore *out)
{
	static const char name[] = ".gitignore";
	AUTO_FREE char *text = NULL;
	size_t len, before = strlen(walk->path);
	struct stat st;
	bool unread = io_read_plain(dir_fd, name, IGNORE_CAP_BYTES, &text, &len, NULL);
	ignore_init(out, parent, before + (before > 0), unread ? "" : text);
	walk->cut_lists +=
		out->cut ||
		(unread && !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode));
}

static void walk_dir(struct walk *walk, int dir_fd, const struct ignore *parent);

static void visit(struct walk *walk, int dir_fd, const char *name, const struct ignore *ignore)
{
	size_t before = strlen(walk->path);
	int n = snprintf(
		walk->path + before, sizeof(walk->path) - before, "%s%s", before ? "/" : "", name);
	struct stat st;
	bool fits = n > 0 && (size_t)n < sizeof(walk->path) - before;
	if (fits && !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		!ignore_match(ignore, walk->path, S_ISDIR(st.st_mode))) {
		bool is_dir = S_ISDIR(st.st_mode);
		bool wanted = is_dir || (S_ISREG(st.st_mode) && is_wanted(walk, name));
		/* O_NOFOLLOW: links are not searched; their targets are, where they lie. */
		if (wanted && !lookup_is_hidden(walk->search->tools, &st)) {
			AUTO_FD int fd = openat(dir_fd, name,
				O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
			if (fd >= 0 && is_dir)
				walk_dir(walk, fd, ignore);
			else if (fd >= 0)
				search_fd(walk, fd);
		}
	}
	walk->path[before] = '\0';
}

static int no_dots(const struct dirent *dirent)
{
	return strcmp(dirent->d_name, ".") && strcmp(dirent->d_name, "..") &&
	       strcmp(dirent->d_name, ".git");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk_dir(struct walk *walk, int dir_fd, const struct ignore *parent)
{
	struct dirent **entries;
	if (++walk->depth > DEPTH_MAX || is_over(walk)) {
		walk->depth--;
		return;
	}
	struct ignore ignore;
	load_ignore(walk, dir_fd, parent, &ignore);
	int n = scandirat(dir_fd, ".", &entries, no_dots, by_name);
	for (int i = 0; i < n; i++) {
		if (!is_over(walk))
			visit(walk, dir_fd, entries[i]->d_name, &ignore);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	ignore_done(&ignore);
	walk->depth--;
}

static void say_nothing(const struct walk *walk)
{
	if (walk->files + walk->skipped)
		buf_addf(walk->out, "(no match%s%s)\n", walk->note ? "; " : "",
			walk->note ? walk->note : "");
	else
		buf_addf(walk->out, "(no match: %s no file to search)\n",
			walk->search->glob ? "the glob and .gitignore leave" : "here is");
}

static void conclude(const struct walk *walk)
{
	if (!walk->hits)
		say_nothing(walk);
	if (walk->hits >= SEARCH_HITS_MAX)
		buf_addf(walk->out,
			"(stopped at %d hits; narrow the pattern, the path or the glob)\n",
			SEARCH_HITS_MAX);
	if (walk->files >= FILES_MAX)
		buf_addf(walk->out, "(stopped after %d files)\n", FILES_MAX);
	if (walk->skipped)
		buf_addf(walk->out,
			"(%zu files that cannot be read, or are over %d MiB, were not searched)\n",
			walk->skipped, FILE_CAP_BYTES / (1024 * 1024));
	if (walk->cut_lists)
		buf_addf(walk->out,
			"(%zu .gitignore files could not be respected whole: at most %d KiB and "
			"%d rules of one are read)\n",
			walk->cut_lists, IGNORE_CAP_BYTES / 1024, IGNORE_RULES_MAX);
}

/* Walks down to the starting point and loads the rules on the way. Takes `at_fd`. */
static void walk_down(
	struct walk *walk, int at_fd, const char *rest, const struct ignore *parent, int start_fd)
{
	AUTO_FD int fd = at_fd;
	size_t before = strlen(walk->path), len = strcspn(rest, "/");
	if (!*rest) {
		walk->start = before + (before > 0);
		walk_dir(walk, start_fd, parent);
		return;
	}
	struct ignore ignore;
	load_ignore(walk, fd, parent, &ignore);
	snprintf(walk->path + before, sizeof(walk->path) - before, "%s%.*s", before ? "/" : "",
		(int)len, rest);
	int next = openat(fd, walk->path + before + (before > 0),
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	walk_down(walk, next, rest + len + (rest[len] == '/'), &ignore, start_fd);
	ignore_done(&ignore);
}

static void search_tree(struct walk *walk, int fd)
{
	char place[PATH_MAX];
	const char *where = beneath_relative(walk->search->tools->workspace_fd, fd, place);
	int root =
		openat(walk->search->tools->workspace_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	walk_down(walk, root, where ? where : "", NULL, fd);
}

/* Skips a bracket expression, whose "]" may come first. */
static const char *skip_bracket(const char *at)
{
	at += 1 + (at[1] == '^');
	at += *at == ']';
	while (*at && *at != ']') {
		const char *end = *at == '[' && strchr(":.=", at[1]) ? strchr(at + 2, ']') : NULL;
		at = end ? end + 1 : at + 1;
	}
	return at + (*at == ']');
}

/* Translates a pattern: models write Perl's expressions. Those with an equivalent are replaced; one
 * that silently means something else gets a note, shown if nothing is found. */
static void translate(const char *pattern, struct buf *out, const char **note)
{
	for (const char *at = pattern; *at;) {
		const char *from = at;
		if (*at == '[') {
			at = skip_bracket(at);
			if (memmem(from, (size_t)(at - from), "\\", 1))
				*note = "in brackets a backslash means itself: write [0-9], not "
					"[\\d]";
		} else {
			at += *at == '\\' && at[1] ? 2 : 1;
		}
		if (at - from == 2 && !memcmp(from, "\\|", 2))
			*note = "alternatives are written a|b here: \\| is a bar in the text";
		if (at - from == 2 && !memcmp(from, "\\d", 2))
			buf_adds(out, "[0-9]");
		else if (at - from == 2 && !memcmp(from, "\\D", 2))
			buf_adds(out, "[^0-9]");
		else
			buf_add(out, from, (size_t)(at - from));
	}
}

static int compile(struct walk *walk, struct buf *out)
{
	AUTO_BUF pattern = BUF_INIT(PATTERN_CAP_BYTES);
	translate(walk->search->pattern, &pattern, &walk->note);
	bool whole = pattern.len && !pattern.failed;
	int rc = whole ? regcomp(&walk->regex, pattern.data, REG_EXTENDED | REG_NEWLINE)
		       : REG_BADPAT;
	if (rc) {
		char why[200];
		regerror(rc, &walk->regex, why, sizeof(why));
		buf_addf(out, "The pattern is not a POSIX extended regular expression: %s.%s", why,
			strstr(walk->search->pattern, "(?") ? " (?...) is not known here." : "");
	}
	return rc;
}

int search_run(const struct search *search, int fd, int out_fd)
{
	AUTO_BUF out = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	struct walk w = {.search = search, .out = &out, .out_fd = out_fd};
	if (compile(&w, &out)) {
		flush(&w);
		return -1;
	}
	if (search->is_file)
		search_fd(&w, fd);
	else
		search_tree(&w, fd);
	conclude(&w);
	flush(&w);
	regfree(&w.regex);
	return 0;
}
