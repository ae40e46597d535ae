#include "audit/audit.h"
#include "base/clock.h"
#include "cli/verb/setup.h"
#include "report/text.h"
#include "run/question.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1024 * 1024, DAY_SECS = 86400 };

#define X(type, name) " " name
#define TYPE_NAMES    AUDIT_TYPES(X)

struct audit_filter {
	int64_t since_us;
	const char *type, *id;
	bool json, quiet;
};

static bool wanted(const struct audit_filter *filter, const json_t *fields)
{
	const char *ts = json_get_text(fields, "ts");
	int64_t at_us;
	if (filter->type && strcmp(filter->type, json_get_text(fields, "t")) != 0)
		return false;
	if (filter->id && strcmp(filter->id, json_get_text(fields, "id")) != 0)
		return false;
	return !filter->since_us || clock_parse(ts, strlen(ts), &at_us) ||
	       at_us >= filter->since_us;
}

static void add_member(struct buf *line, const json_t *fields, const char *key)
{
	const json_t *value = json_object_get(fields, key);
	if (json_is_string(value)) {
		buf_addf(line, "  %s: ", key);
		text_clean(line, json_string_value(value), 300);
	} else if (json_is_integer(value)) {
		buf_addf(line, "  %s %" PRId64, key, (int64_t)json_integer_value(value));
	}
}

static void print_line(const json_t *fields)
{
	static const char *const shown[] = {"command", "exit", "signal", "ms", "kind", "tool",
		"count", "endpoint", "what", "method", "reason", "error"};
	AUTO_BUF line = BUF_INIT(LINE_BYTES_MAX);
	char when[20];
	snprintf(when, sizeof(when), "%s", json_get_text(fields, "ts"));
	text_clean(&line, when, SIZE_MAX);
	buf_adds(&line, "Z  ");
	size_t at = line.len;
	text_clean(&line, json_get_text(fields, "t"), 64);
	text_pad(&line, at, 19);
	text_clean(&line, json_get_text(fields, "id"), 64);
	buf_adds(&line, "/");
	text_clean(&line, json_get_text(fields, "state"), 64);
	if (*json_get_text(fields, "level")) {
		buf_adds(&line, "  [");
		text_clean(&line, json_get_text(fields, "level"), 64);
		buf_addc(&line, ']');
	}
	if (json_object_get(fields, "argv")) {
		buf_adds(&line, "  ");
		question_show_argv(&line, json_object_get(fields, "argv"));
	}
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		add_member(&line, fields, shown[i]);
	puts(line.failed ? "(a line too long to be shown)" : line.data);
}

static int on_line(void *ctx, const char *text, size_t len, const json_t *fields)
{
	const struct audit_filter *f = ctx;
	bool opened = !strcmp(json_get_text(fields, "t"), "opened") && !f->type;
	if (f->quiet || !wanted(f, fields))
		return 0;
	if (f->json) {
		text_json(text, len);
		putchar('\n');
	} else if (!opened) {
		print_line(fields);
	}
	return 0;
}

/* Parses an instant, or "90m", "12h", "7d" back from now. */
static int parse_since(const char *text, int64_t *out, struct err *e)
{
	static const struct {
		char unit;
		int64_t secs;
	} units[] = {{'m', 60}, {'h', 3600}, {'d', DAY_SECS}};
	char *end;
	long long n = strtoll(text, &end, 10);
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (end > text && *end == units[i].unit && !end[1] && n >= 0 && n < 100000) {
			*out = clock_realtime_us() - n * units[i].secs * 1000000;
			return 0;
		}
	if (clock_parse(text, strlen(text), out))
		return err_set(e,
			"--since takes an instant such as 2026-11-21T08:00:00Z, or 90m, 12h, 7d; "
			"not '%s'",
			text);
	return 0;
}

static int read_options(const struct call *call, struct audit_filter *filter, struct err *e)
{
	const char *since = call_value(call, "since");
	*filter = (struct audit_filter){.type = call_value(call, "type"),
		.id = call_value(call, "id"),
		.json = call_has(call, "json"),
		.quiet = call_has(call, "verify")};
	if (filter->type && audit_type_find(filter->type) == AUDIT_TYPE_COUNT)
		return err_set(e, "--type %s: the types are" TYPE_NAMES, filter->type);
	return since ? parse_since(since, &filter->since_us, e) : 0;
}

static int show(const struct setup *setup, struct audit_filter *filter)
{
	char path[PATH_MAX];
	struct audit a;
	struct err e = ERR_NONE;
	struct audit_reader r = {.line = on_line, .ctx = filter};
	audit_path(setup->config, path);
	bool none = audit_open(path, &a, &e);
	if (none && e.number != ENOENT)
		return verb_fail(EXIT_REFUSED, &e);
	int failed = !none && audit_read(&a, &r, &e);
	if (!none)
		audit_done(&a);
	if (filter->quiet && filter->json)
		printf("{\"files\":%" PRIu64 ",\"lines\":%" PRIu64 ",\"ok\":%s}\n", r.files,
			r.lines, failed ? "false" : "true");
	if (failed)
		return verb_fail(EXIT_DAMAGED, &e);
	if (r.torn_bytes)
		text_complain("the last line is unfinished (%" PRId64 " bytes)", r.torn_bytes);
	if (filter->quiet && !filter->json)
		printf("%s: lines %" PRIu64 ", files %" PRIu64 ", the chain is whole\n", path,
			r.lines, r.files);
	else if (!filter->quiet && !r.lines)
		text_complain("%s: nothing was recorded yet", path);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	struct setup s;
	struct audit_filter f;
	struct err e = ERR_NONE;
	if (read_options(call, &f, &e))
		return verb_fail(EXIT_REFUSED, &e);
	if (setup_read(&s, call))
		return EXIT_REFUSED;
	int code = show(&s, &f);
	setup_done(&s);
	return code;
}

static const struct verb_option options[] = {
	{"since", "WHEN", "only lines from this instant on, or from 90m, 12h, 7d ago", false},
	{"type", "TYPE", "only lines of this type", false},
	{"id", "ID", "only lines of this instance", false},
	{"verify", NULL, "print no lines, only whether the chain is whole", false},
	{"json", NULL, "print the lines as they are in the file, or one JSON object with --verify",
		false},
	{NULL, NULL, NULL, false}};

const struct verb verb_audit = {.path = "audit",
	.summary = "the commands that agents proposed, and what became of them",
	.details = "One trail for all instances of the state directory, chained line to line and "
		   "file to file; reading it checks the chain. Files begin anew each day and are "
		   "kept for audit.retain_days.\n"
		   "Types (opened: a file):" TYPE_NAMES ".\n"
		   "Exit status: 0 whole; 2 refused; 5 damaged, with the file and line.",
	.options = options,
	.run = run};
