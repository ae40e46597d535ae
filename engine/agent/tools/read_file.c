#include "agent/policy/redact.h"
#include "agent/tools/list.h"
#include "agent/tools/lookup.h"

#include "base/utf8.h"

/* MARGIN_BYTES: what a line that is cut is known by beyond the cut, the longest secret at least. */
enum { PAGE_LINES = 2000, PAGE_BYTES = 256 * 1024, MARGIN_BYTES = 8192, CHUNK_BYTES = 64 * 1024 };
static const int64_t scan_max_bytes = 256 * 1024 * 1024;

struct page {
	const struct redact *redact;
	struct buf *out;
	size_t begin_len, line_len; /* out->len before the first line and before this one */
	int64_t first, last;        /* lines asked for, 1-based, inclusive */
	int64_t line;               /* the line being read */
	int64_t next;               /* where to go on; 0: the page holds all that was asked for */
	bool at_start, open, cut;   /* of the line; anything in it; it is longer than a page */
	bool binary;
};

static bool is_full(const struct page *p)
{
	return p->cut || p->line - p->first >= PAGE_LINES ||
	       p->out->len - p->begin_len >= PAGE_BYTES;
}

/* A line that no longer fits begins the next page; only one that fits no page is cut. */
static void take(struct page *p, const char *text, size_t len)
{
	if (p->cut)
		return;
	if (p->at_start) {
		p->line_len = p->out->len;
		buf_addf(p->out, "%lld\t", (long long)p->line);
		p->at_start = false;
	}
	size_t used = p->out->len - p->begin_len;
	size_t most = PAGE_BYTES + (p->line > p->first ? 0 : MARGIN_BYTES);
	size_t room = used < most ? most - used : 0;
	if (len > room && p->line > p->first) {
		p->out->len = p->line_len;
		p->next = p->line;
		return;
	}
	p->cut = len > room;
	buf_add(p->out, text, len < room ? len : room);
	if (!p->cut)
		return;
	const char *shown = p->out->data;
	size_t at = redact_cut(p->redact, shown, p->out->len, p->begin_len + PAGE_BYTES, false);
	p->out->len = utf8_cut_end(shown, at);
}

static void end_line(struct page *p)
{
	if (p->line >= p->first && p->line <= p->last && !p->next) {
		if (p->at_start)
			take(p, "", 0);
		buf_addc(p->out, '\n');
	}
	p->line++;
	p->at_start = true;
	p->open = false;
	if (!p->next && p->line > p->first && p->line <= p->last && is_full(p))
		p->next = p->line;
}

static void scan(struct page *p, const char *bytes, size_t len)
{
	p->binary = p->binary || memchr(bytes, 0, len);
	for (size_t i = 0; i < len && !p->binary;) {
		const char *end = memchr(bytes + i, '\n', len - i);
		size_t run = end ? (size_t)(end - bytes) - i : len - i;
		if (run && p->line >= p->first && p->line <= p->last && !p->next)
			take(p, bytes + i, run);
		p->open = p->open || run;
		i += run;
		if (end) {
			end_line(p);
			i++;
		}
	}
}

/* 0, or the errno of a failed read. */
static int scan_file(struct page *p, int fd, int64_t *scanned)
{
	AUTO_FREE char *chunk = malloc(CHUNK_BYTES);
	if (!chunk)
		return ENOMEM;
	while (*scanned < scan_max_bytes && !p->binary) {
		ssize_t n = read(fd, chunk, CHUNK_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		scan(p, chunk, (size_t)n);
		*scanned += n;
	}
	if (p->open)
		end_line(p);
	return 0;
}

static void conclude(struct page *p, int64_t scanned)
{
	int64_t lines = p->line - 1;
	bool all = scanned < scan_max_bytes;
	if (!lines && all)
		buf_adds(p->out, "(the file is empty)\n");
	else if (p->first > lines)
		buf_addf(p->out, "(the file %s line %lld)\n",
			all ? "ends at" : "is not read beyond", (long long)lines);
	if (p->cut)
		buf_addf(p->out,
			"(a line is longer than a page of %d KiB and was cut; grep shows what is "
			"around a match in it)\n",
			PAGE_BYTES / 1024);
	if (p->next && p->next <= lines)
		buf_addf(p->out, "(%s%lld lines; continue with start_line %lld)\n",
			all ? "" : "more than ", (long long)lines, (long long)p->next);
}

static int read_file(const struct tool_context *t, const json_t *arguments, struct buf *out)
{
	const char *path = tool_path(arguments);
	struct page p = {.redact = t->redact,
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
	AUTO_FD int fd = lookup_open_file(t, path, &st, out);
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
