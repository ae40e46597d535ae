#include "agent/policy/redact.h"
#include "agent/tools/list.h"
#include "agent/tools/lookup.h"

#include "base/utf8.h"

/* MARGIN_BYTES: text that is read beyond the cut of a long line so that a secret there is
 * recognised; at least the longest secret. */
enum { PAGE_LINES = 2000, PAGE_BYTES = 256 * 1024, MARGIN_BYTES = 8192, CHUNK_BYTES = 64 * 1024 };
static const int64_t scan_max_bytes = 256 * 1024 * 1024;

struct page {
	const struct redact *redact;
	struct buf *out;
	size_t begin_len, line_len; /* out->len before the first line, and before this one */
	int64_t first, last;        /* lines asked for, 1-based, inclusive */
	int64_t line;               /* the line being read */
	/* The line to go on with; 0: the page holds everything asked for. */
	int64_t next;
	/* The line: nothing of it is read yet; it has text; it is longer than a page. */
	bool at_start, open, cut;
	bool binary;
};

static bool is_full(const struct page *page)
{
	return page->cut || page->line - page->first >= PAGE_LINES ||
	       page->out->len - page->begin_len >= PAGE_BYTES;
}

/* Adds text to the page. A line that no longer fits begins the next page; only a line that is too
 * long for any page is cut. */
static void take(struct page *page, const char *text, size_t len)
{
	if (page->cut)
		return;
	if (page->at_start) {
		page->line_len = page->out->len;
		buf_addf(page->out, "%lld\t", (long long)page->line);
		page->at_start = false;
	}
	size_t used = page->out->len - page->begin_len;
	size_t most = PAGE_BYTES + (page->line > page->first ? 0 : MARGIN_BYTES);
	size_t room = used < most ? most - used : 0;
	if (len > room && page->line > page->first) {
		page->out->len = page->line_len;
		page->next = page->line;
		return;
	}
	page->cut = len > room;
	buf_add(page->out, text, len < room ? len : room);
	if (!page->cut)
		return;
	const char *shown = page->out->data;
	size_t at = redact_cut(
		page->redact, shown, page->out->len, page->begin_len + PAGE_BYTES, false);
	page->out->len = utf8_cut_end(shown, at);
}

static void end_line(struct page *page)
{
	if (page->line >= page->first && page->line <= page->last && !page->next) {
		if (page->at_start)
			take(page, "", 0);
		buf_addc(page->out, '\n');
	}
	page->line++;
	page->at_start = true;
	page->open = false;
	if (!page->next && page->line > page->first && page->line <= page->last && is_full(page))
		page->next = page->line;
}

static void scan(struct page *page, const char *bytes, size_t len)
{
	page->binary = page->binary || memchr(bytes, 0, len);
	for (size_t i = 0; i < len && !page->binary;) {
		const char *end = memchr(bytes + i, '\n', len - i);
		size_t run = end ? (size_t)(end - bytes) - i : len - i;
		if (run && page->line >= page->first && page->line <= page->last && !page->next)
			take(page, bytes + i, run);
		page->open = page->open || run;
		i += run;
		if (end) {
			end_line(page);
			i++;
		}
	}
}

/* Returns 0, or the errno of a failed read. */
static int scan_file(struct page *page, int fd, int64_t *scanned)
{
	AUTO_FREE char *chunk = malloc(CHUNK_BYTES);
	if (!chunk)
		return ENOMEM;
	while (*scanned < scan_max_bytes && !page->binary) {
		ssize_t n = read(fd, chunk, CHUNK_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		scan(page, chunk, (size_t)n);
		*scanned += n;
	}
	if (page->open)
		end_line(page);
	return 0;
}

static void conclude(struct page *page, int64_t scanned)
{
	int64_t lines = page->line - 1;
	bool all = scanned < scan_max_bytes;
	if (!lines && all)
		buf_adds(page->out, "(the file is empty)\n");
	else if (page->first > lines)
		buf_addf(page->out, "(the file %s line %lld)\n",
			all ? "ends at" : "is not read beyond", (long long)lines);
	if (page->cut)
		buf_addf(page->out,
			"(a line is longer than a page of %d KiB and was cut; grep shows what is "
			"around a match in it)\n",
			PAGE_BYTES / 1024);
	if (page->next && page->next <= lines)
		buf_addf(page->out, "(%s%lld lines; continue with start_line %lld)\n",
			all ? "" : "more than ", (long long)lines, (long long)page->next);
}

static int read_file(const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	const char *path = tool_path(arguments);
	struct page p = {.redact = context->redact,
		.out = out,
		.begin_len = out->len,
		.line = 1,
		.at_start = true,
		.first = tool_number(arguments, "start_line", 1),
		.last = tool_number(arguments, "end_line", INT64_MAX)};
	if (p.first < 1 || p.last < p.first) {
		buf_adds(out, "start_line must be at least 1, and end_line not before it.");
		return -1;
	}
	struct stat st;
	AUTO_FD int fd = lookup_open_file(context, path, &st, out);
	if (fd < 0)
		return -1;
	int64_t scanned = 0;
	int number = scan_file(&p, fd, &scanned);
	bool text = !p.binary && utf8_prefix(out->data, out->len) == out->len;
	if (number || !text) {
		out->len = p.begin_len;
		utf8_show(out, path);
		buf_addf(out, number ? " cannot be read: %s." : " is not UTF-8 text.",
			strerror(number));
		return -1;
	}
	conclude(&p, scanned);
	return 0;
}

const struct tool tool_read_file = {
	.name = "read_file",
	.description = "Reads a text file of the workspace. Lines come numbered, at most 2000 or "
		       "256 KiB at a time; ask for the rest with start_line.",
	.modes = TOOL_IN_AGENT | TOOL_IN_RUN,
	.args = {{"path", "the file, relative to the workspace", ARG_STR, true, NULL},
		{"start_line", "first line, from 1", ARG_INT, false, NULL},
		{"end_line", "last line, inclusive", ARG_INT, false, NULL}},
	.run = read_file,
};
