#include "report/show.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/num.h"
#include "base/utf8.h"
#include "journal/journal.h"
#include "report/autorun_text.h"
#include "report/interface.h"
#include "report/show_private.h"
#include "report/text.h"
#include "run/question.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>

enum { NAME_COLUMNS = 16, EDGE_COLUMNS = 24, HANG_COLUMNS = 7, REASON_COLUMNS = 200 };

void show_init(struct show *show, bool json, bool quiet)
{
	*show = (struct show){.mode = json                              ? SHOW_JSON
				      : quiet                           ? SHOW_QUIET
				      : text_is_terminal(STDOUT_FILENO) ? SHOW_LIVE
									: SHOW_PLAIN,
		.quiet = quiet,
		.colour = text_has_colour(STDOUT_FILENO),
		.terminal_fd = -1};
}

void show_paint(const struct show *show, struct buf *out, const char *code, const char *text)
{
	if (show->colour)
		buf_addf(out, "\033[%sm", code);
	text_clean(out, text, SIZE_MAX);
	if (show->colour)
		buf_adds(out, "\033[0m");
}

/* Reports whether we are in the background: then somebody else may be typing in the cursor's
 * line. */
static bool in_background(void)
{
	pid_t front = tcgetpgrp(STDOUT_FILENO);
	return front >= 0 && front != getpgrp();
}

void show_erase(struct show *show)
{
	if (in_background())
		show->live_columns = 0;
	size_t rows =
		show->live_columns ? (show->live_columns - 1) / text_columns(STDOUT_FILENO) : 0;
	if (rows)
		printf("\033[%zuA", rows);
	if (show->live_columns)
		fputs("\r\033[J", stdout);
	show->live_columns = 0;
}

void show_print(struct show *show, const struct buf *line)
{
	show_erase(show);
	text_print(line->data, HANG_COLUMNS);
}

/* --- lines ------------------------------------------------------------------------------------ */

int show_question(struct buf *out, const char *id, const json_t *doc)
{
	struct question q;
	struct err e = ERR_NONE;
	if (question_init(&q, doc, &e))
		return -1;
	question_show(&q, out);
	buf_addf(out, "Answer it: agent6 machine approve %s [--yes|--no] --question ", id);
	text_clean(out, json_get_text(doc, "id"), QUESTION_ID_BYTES);
	buf_adds(out, "\nWithout an answer it is denied at ");
	text_when(out, json_get_text(doc, "until"));
	return buf_adds(out, ".\n");
}

void show_failure(struct buf *out, const struct line *line)
{
	char words[REDUCE_REASON_BYTES];
	const struct fact *fact = &line->fact;
	if (fact->kind == FACT_TOOL && fact->tool.exit.value)
		buf_addf(out, "  exit %jd", (intmax_t)fact->tool.exit.value);
	if (fact->kind == FACT_TOOL && fact->tool.signal.value)
		buf_addf(out, "  signal %jd", (intmax_t)fact->tool.signal.value);
	reduce_words(fact, words);
	if (*words && strcmp(line->label, outcome_name(OUTCOME_OK)) != 0) {
		buf_adds(out, "  ");
		text_clean(out, words, REASON_COLUMNS);
	}
}

static void add_fact(struct buf *out, const struct line *line)
{
	const struct fact *fact = &line->fact;
	struct totals spent = {.unpriced = true};
	if (fact->kind == FACT_AGENT)
		spent = (struct totals){.input_tokens = fact->agent.spend.input_tokens,
			.output_tokens = fact->agent.spend.output_tokens,
			.microusd = fact->agent.spend.microusd,
			.unpriced = fact->agent.spend.unpriced,
			.unmetered = fact->agent.spend.unmetered};
	show_spend_short(out, &spent);
	AUTO_BUF why = BUF_INIT(SHOW_LINE_BYTES_MAX);
	show_failure(&why, line);
	size_t width = wrap_width(out->data, out->len) + why.len;
	/* A reason that does not fit gets a line of its own. */
	if (why.len && width > text_columns(STDOUT_FILENO))
		buf_addf(out, "\n%*s%s", HANG_COLUMNS, "", why.data + strspn(why.data, " "));
	else if (why.len)
		buf_add(out, why.data, why.len);
}

/* Begins " 3 judge ok -> act 1.2 show". The duration of a command is in its fact; that of an agent
 * is the time since the line before. */
static void begin_step(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	const struct fact *fact = &line->fact;
	bool timed = fact->kind == FACT_TOOL && fact->tool.wall_ms.known;
	const char *label = line->label, *to = line->type == LINE_STEP ? line->go_to : "";
	buf_addf(out, "%5jd  ", (intmax_t)line->seq);
	size_t at = out->len;
	text_clean(out, line->state, 64);
	text_pad(out, at, NAME_COLUMNS);
	at = out->len;
	text_clean(out, label, 40);
	if (*to) {
		buf_adds(out, " -> ");
		text_clean(out, to, 64);
	}
	text_pad(out, at, EDGE_COLUMNS);
	AUTO_BUF duration = BUF_INIT(64);
	text_duration(&duration, timed ? fact->tool.wall_ms.value : elapsed_ms);
	show_paint(show, out, "2", duration.data);
}

static void step_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	begin_step(show, out, line, elapsed_ms);
	add_fact(out, line);
}

static void retry_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	begin_step(show, out, line, elapsed_ms);
	buf_addf(out, "  attempt %d, again after ", (int)line->attempt);
	text_duration(out, line->retry.delay_ms);
	add_fact(out, line);
}

static void begin_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	size_t i;
	json_t *override;
	(void)show;
	(void)elapsed_ms;
	AUTO_BUF text = BUF_INIT(SHOW_LINE_BYTES_MAX);
	buf_addf(&text, "machine %s, %.*s, profile %s", line->begin.machine, DIGEST_COLUMNS,
		line->begin.bundle, line->begin.profile);
	json_array_foreach (line->begin.overrides, i, override)
		if (json_is_string(override))
			buf_addf(&text, ", %s", json_string_value(override));
	text_clean(out, text.data, SIZE_MAX);
}

static void armed_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	const char *wake = line->armed.wake ? line->armed.wake : "", *ts = line->ts;
	int64_t from_us = 0, until_us = 0;
	(void)elapsed_ms;
	buf_adds(out, "       ");
	size_t at = out->len;
	text_clean(out, line->state, 64);
	text_pad(out, at, NAME_COLUMNS);
	if (clock_parse(wake, strlen(wake), &until_us) || clock_parse(ts, strlen(ts), &from_us)) {
		show_paint(show, out, "2", "waits to be poked");
	} else {
		show_paint(show, out, "2", "waits ");
		text_duration(out, (until_us - from_us + 500) / 1000);
		buf_adds(out, ", until ");
		text_when(out, wake);
	}
	json_auto_t *poke = show->machine ? interface_poke(show->machine, line->state) : NULL;
	if (poke)
		buf_adds(out, "\n       a poke hands over:");
	interface_poke_fields(poke, "         ", out);
}

static void refused_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	(void)elapsed_ms;
	buf_adds(out, "       ");
	show_paint(show, out, "33", "refused a poke");
	buf_adds(out, ": ");
	text_clean(out, line->refused.reason, 1000);
}

static void notify_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	static const char *const colours[] = {[NOTIFY_INFO] = "36",
		[NOTIFY_WARN] = "33",
		[NOTIFY_ERROR] = "31",
		[NOTIFY_LEVEL_COUNT] = "36"};
	(void)elapsed_ms;
	buf_adds(out, "       ");
	show_paint(show, out, colours[line->notify.level], notify_level_name(line->notify.level));
	buf_adds(out, ": ");
	text_clean(out, line->notify.message, 1000);
}

/* Shows refused connections only; the journal and the report have the rest. */
static void egress_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	const char *why;
	json_t *count;
	(void)elapsed_ms;
	json_object_foreach (line->egress.refusals, why, count) {
		AUTO_BUF text = BUF_INIT(1024);
		text_refusal(&text, line->egress.endpoint, why, json_integer_value(count));
		buf_addf(out, "%s       ", out->len ? "\n" : "");
		show_paint(show, out, "33", text.data);
	}
}

/* Shows the changed autorun files near the end of a run: its reader may soon go to that
 * directory. */
static void autorun_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	enum { SHOWN_MAX = 12 };
	const json_t *files = line->autorun.files, *file;
	size_t i;
	AUTO_BUF rest = BUF_INIT(256);
	(void)elapsed_ms;
	autorun_text_rest(line->held, SHOWN_MAX, &rest);
	if (!json_array_size(files) && !rest.len)
		return;
	buf_adds(out, "       ");
	show_paint(show, out, "33", "changed, and programs on this host run or obey them:");
	json_array_foreach (files, i, file) {
		if (i == SHOWN_MAX)
			break;
		buf_adds(out, "\n         ");
		autorun_text_file(file, out);
	}
	if (rest.len)
		buf_addf(out, "\n         %s", rest.data);
}

/* Adds the result of the machine; the other members of an end are shown with the outcome. */
static void end_line(
	struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms)
{
	enum { RESULT_BYTES_MAX = 2000 };
	AUTO_FREE char *text = line->end.returns ? json_text(line->end.returns) : NULL;
	(void)show, (void)elapsed_ms;
	if (!text)
		return;
	buf_adds(out, "       returns ");
	text_clean(out, text, RESULT_BYTES_MAX);
}

typedef void adder(struct show *show, struct buf *out, const struct line *line, int64_t elapsed_ms);
/* NULL: only programs need the line. */
static adder *const adders[LINE_TYPE_COUNT] = {[LINE_BEGIN] = begin_line,
	[LINE_STEP] = step_line,
	[LINE_RETRY] = retry_line,
	[LINE_ARMED] = armed_line,
	[LINE_REFUSED] = refused_line,
	[LINE_NOTIFY] = notify_line,
	[LINE_EGRESS] = egress_line,
	[LINE_AUTORUN] = autorun_line,
	[LINE_END] = end_line};

/* Reports whether a line of this type ends one execution and begins the next: durations are
 * measured between these lines. */
static bool is_boundary(enum line_type type)
{
	return type == LINE_BEGIN || type == LINE_STEP || type == LINE_RETRY || type == LINE_ARMED;
}

void show_event(struct show *show, const struct line *line)
{
	int64_t now_us = show->last_us;
	AUTO_BUF out = BUF_INIT(SHOW_LINE_BYTES_MAX);
	clock_parse(line->ts, strlen(line->ts), &now_us);
	if (line->type != LINE_TYPE_COUNT && adders[line->type])
		adders[line->type](
			show, &out, line, show->last_us ? (now_us - show->last_us) / 1000 : 0);
	if (is_boundary(line->type))
		show->last_us = now_us;
	if (line->type == LINE_RETRY) /* nothing runs before its end */
		clock_parse(line->retry.until, strlen(line->retry.until), &show->last_us);
	if (out.len)
		show_print(show, &out);
}

/* --- the listener ----------------------------------------------------------------------------- */

static void on_line(void *ctx, const char *line, size_t len)
{
	struct show *s = ctx;
	struct err e = ERR_NONE;
	if (s->mode == SHOW_QUIET)
		return;
	if (s->mode == SHOW_JSON) {
		text_json(line, len);
		putchar('\n');
	} else {
		AUTO_LINE decoded;
		json_auto_t *fields = journal_decode(line, len, &e);
		line_decode(fields, &decoded, NULL);
		show_event(s, &decoded);
	}
	fflush(stdout); /* a reader of the pipe sees the line once it is committed */
}

/* Returns the columns for the live line: one that reached the edge would wrap. A cut line ends in
 * "...". */
static size_t live_columns(void)
{
	return text_columns(STDOUT_FILENO) - 4;
}

/* Shows an instant instead of a countdown: nothing is drawn again while the machine sleeps. */
void show_until(const struct show *show, struct buf *line, int64_t wake_unix_us)
{
	char wake[CLOCK_TEXT_BYTES];
	clock_text(wake_unix_us, wake);
	buf_adds(line, wake_unix_us ? "waits until " : "waits to be poked");
	if (wake_unix_us)
		text_when(line, wake);
	size_t at = line->len;
	if (show->id)
		buf_addf(line, "; agent6 machine poke %s", show->id);
	/* Half a command is useless. */
	if (utf8_width(line->data, line->len) > live_columns())
		line->data[line->len = at] = '\0';
}

static void add_activity(const struct show *show, struct buf *line, const struct activity *now)
{
	struct totals spent = {.input_tokens = now->input_tokens,
		.output_tokens = now->output_tokens,
		.microusd = now->microusd,
		.unpriced = now->unpriced,
		.unmetered = now->unmetered};
	buf_addf(line, "%5ju  ", (uintmax_t)now->seq);
	size_t at = line->len;
	buf_adds(line, now->state);
	text_pad(line, at, NAME_COLUMNS);
	if (now->waits) {
		show_until(show, line, now->wake_unix_us);
		return;
	}
	buf_addf(line, "%s ", now->kind);
	text_duration(line, clock_monotonic_ms() - now->started_monotonic_ms);
	if (now->attempt > 1)
		buf_addf(line, "  attempt %d", now->attempt);
	show_spend_short(line, &spent);
}

void show_live(struct show *show, const char *text)
{
	if (show->mode != SHOW_LIVE)
		return;
	AUTO_BUF clipped = BUF_INIT(SHOW_LINE_BYTES_MAX);
	show_erase(show);
	if (in_background())
		return;
	text_clean(&clipped, text, live_columns());
	fwrite(clipped.data, 1, clipped.len, stdout);
	show->live_columns = utf8_width(clipped.data, clipped.len);
	fflush(stdout);
}

static void on_activity(void *ctx, const struct activity *now)
{
	struct show *s = ctx;
	AUTO_BUF line = BUF_INIT(SHOW_LINE_BYTES_MAX);
	buf_adds(&line, now->preparing ? now->preparing : "");
	if (!s->last_us) /* the first line of this run, which may continue another */
		s->last_us = now->began_unix_us;
	if (now->state)
		add_activity(s, &line, now);
	show_live(s, line.data);
}

static void on_notice(void *ctx, const char *text)
{
	struct show *s = ctx;
	AUTO_BUF line = BUF_INIT(SHOW_LINE_BYTES_MAX);
	if (s->quiet)
		return;
	text_clean(&line, text, 2000);
	show_erase(s);
	text_complain("%s", line.data);
}

/* Shows a question. Waits for a slow terminal, since the question has to be readable in full. */
static void on_prompt(void *ctx, const char *text)
{
	struct show *s = ctx;
	show_erase(s);
	fflush(stdout);
	fcntl(s->terminal_fd, F_SETFL, 0);
	io_write(s->terminal_fd, text, strlen(text));
	fcntl(s->terminal_fd, F_SETFL, O_NONBLOCK);
}

/* Opens the terminal by its own name, so that its mode is only ours. */
void show_terminal(struct show *show)
{
	if (!isatty(STDIN_FILENO))
		return;
	show->terminal_fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void show_done(struct show *show)
{
	own_close(&show->terminal_fd);
}

struct drive_listener show_listener(struct show *show)
{
	return (struct drive_listener){.line = on_line,
		.activity = on_activity,
		.notice = on_notice,
		.prompt = show->terminal_fd >= 0 ? on_prompt : NULL,
		.terminal_fd = show->terminal_fd,
		.tick_ms = show->mode == SHOW_LIVE ? 200 : 0,
		.ctx = show};
}
