#include "base/clock.h"
#include "cli/verb/opened_instance.h"
#include "journal/journal.h"
#include "report/show.h"
#include "report/text.h"
#include "run/ask.h"
#include "run/status.h"
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

/* Follows the journal of an instance that another process runs. */
struct watching {
	struct show show;
	struct journal_reader reader;
	const struct instance *instance;
	char question[QUESTION_ID_BYTES]; /* the last one shown */
	/* From its own copy of the bundle; NULL: it cannot be read. */
	const struct machine *machine;
	char since[32]; /* when the current activity began, as in the journal */
	bool ended;
};

static void note_since(struct watching *watching, const struct line *line)
{
	if (line->type == LINE_BEGIN || line->type == LINE_STEP || line->type == LINE_RETRY)
		snprintf(watching->since, sizeof(watching->since), "%s", line->ts);
}

/* Adds " 3 work since 2026-11-28 14:02:11 UTC". The line is never redrawn, so it has no
 * duration. */
static void add_active(const struct watching *watching, struct buf *out)
{
	enum { STATE_COLUMNS = 16 };
	json_auto_t *status =
		watching->machine ? status_run(watching->instance, watching->machine, NULL) : NULL;
	const char *wake = json_get_text(status, "wake"),
		   *retry = json_get_text(status, "retry_at");
	int64_t wake_us = 0;
	if (!json_is_object(status))
		return;
	buf_addf(out, "%5jd  ", (intmax_t)json_get_int(status, "seq") + 1);
	size_t at = out->len;
	buf_adds(out, json_get_text(status, "state"));
	text_pad(out, at, STATE_COLUMNS);
	if (!strcmp(json_get_text(status, "status"), "waiting")) {
		clock_parse(wake, strlen(wake), &wake_us);
		show_until(&watching->show, out, wake_us);
		return;
	}
	buf_adds(out, *retry ? "again at " : "since ");
	text_when(out, *retry ? retry : watching->since);
}

static void show_line(struct watching *watching, const char *line, size_t len)
{
	struct err e = ERR_NONE;
	json_auto_t *fields = journal_decode(line, len, &e);
	AUTO_LINE decoded;
	line_decode(fields, &decoded, NULL);
	watching->ended = decoded.type == LINE_END;
	note_since(watching, &decoded);
	show_live(&watching->show, "");
	if (watching->show.mode == SHOW_JSON) {
		text_json(line, len);
		putchar('\n');
	} else if (watching->ended || decoded.type == LINE_STOP) {
		show_end(&watching->show, watching->instance->id, &decoded);
	} else {
		show_event(&watching->show, &decoded);
	}
	fflush(stdout);
}

static int show_new_lines(struct watching *watching, struct err *e)
{
	const char *line;
	size_t len;
	int got;
	while ((got = journal_next(&watching->reader, &line, &len, e)) > 0)
		show_line(watching, line, len);
	return got;
}

/* Shows an agent's question once, with how to answer it. */
static void tell_question(struct watching *watching)
{
	struct err e = ERR_NONE;
	json_auto_t *doc = ask_read(watching->instance, &e);
	const char *id = json_get_text(doc, "id");
	AUTO_BUF text = BUF_INIT(2 * QUESTION_BYTES_MAX);
	if (!doc || watching->show.mode == SHOW_JSON || !strcmp(id, watching->question) ||
		show_question(&text, watching->instance->id, doc))
		return;
	snprintf(watching->question, sizeof(watching->question), "%s", id);
	show_live(&watching->show, "");
	fputs(text.data, stdout);
	fflush(stdout);
}

static void show_active(struct watching *watching)
{
	struct holder who;
	AUTO_BUF text = BUF_INIT(4096);
	if (watching->show.mode != SHOW_LIVE || watching->ended ||
		instance_holder(watching->instance, &who, NULL))
		return;
	if (who.pid)
		add_active(watching, &text);
	else
		buf_adds(&text, "nobody runs it at the moment");
	show_live(&watching->show, text.len ? text.data : "");
}

/* Waits until something happens in the instance, and drops the events. Returns 1 if nobody reads
 * our output any more: then nobody here answers a question, either. */
static int wait_for_change(int watch, struct err *e)
{
	char events[4096];
	struct pollfd fds[] = {{watch, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
	if (ferror(stdout))
		return 1;
	if (poll(fds, ARRAY_LEN(fds), -1) < 0)
		return errno == EINTR ? 0 : err_errno(e, "cannot watch the journal");
	if (fds[1].revents)
		return 1;
	ssize_t n = read(watch, events, sizeof(events));
	return n < 0 && errno != EINTR ? err_errno(e, "cannot watch the journal") : 0;
}

static int follow(struct watching *watching, const struct opened_instance *opened, struct err *e)
{
	AUTO_FD int fd = instance_journal(&opened->instance, e);
	AUTO_FD int watch = inotify_init1(IN_CLOEXEC);
	struct err unheard = ERR_NONE;
	/* A reader of JSON lines sees no question. */
	bool sees = watching->show.mode != SHOW_JSON;
	AUTO_FD int present = sees ? ask_watch(&opened->instance, &unheard) : -1;
	/* A user who may not write there could not answer, and may still watch. */
	if (*unheard.text && unheard.number != EROFS && unheard.number != EACCES)
		return err_set(e, "%s", unheard.text);
	if (fd < 0)
		return -1;
	/* Watch the journal, questions, and a runner that takes or releases the lock. */
	if (watch < 0 ||
		inotify_add_watch(watch, opened->instance.path,
			IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) < 0)
		return err_errno(e, "cannot watch %s", opened->instance.path);
	struct journal_mark at = journal_start();
	int failed = 0;
	while (!failed && !watching->ended) {
		journal_reader_init(&watching->reader, fd, &at);
		watching->reader.patience_ms = JOURNAL_PATIENCE_MS;
		failed = show_new_lines(watching, e);
		tell_question(watching);
		show_active(watching);
		at = watching->reader.mark;
		journal_reader_done(&watching->reader);
		if (!failed && !watching->ended && !instance_is_named(&opened->instance))
			failed = err_set(e, "instance %s was removed", opened->instance.id);
		if (!failed && !watching->ended)
			failed = wait_for_change(watch, e);
	}
	return failed < 0 ? -1 : 0;
}

static int watch(const struct opened_instance *opened, const struct call *call)
{
	struct err e = ERR_NONE;
	struct watching w = {.instance = &opened->instance};
	struct findings ignored; /* the journal can be shown without the machine */
	struct loaded copy = {0};
	char path[PATH_MAX];
	show_init(&w.show, call_has(call, "json"), call_has(call, "quiet"));
	w.show.id = opened->instance.id;
	findings_init(&ignored);
	snprintf(path, sizeof(path), "%s/bundle", opened->instance.path);
	if (show_tells(&w.show) && !loaded_open(&copy, path, &ignored, NULL))
		w.machine = w.show.machine = copy.machine;
	int failed = follow(&w, opened, &e);
	loaded_done(&copy);
	findings_done(&ignored);
	return failed ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
}

static int run(const struct call *call)
{
	return opened_instance_with(call, false, watch);
}

static const struct verb_option options[] = {
	{"json", NULL, "print the journal's lines as they are committed", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_watch = {.path = "machine watch",
	.summary = "follow an instance as it runs, until it ends",
	.details = "While somebody watches, an agent's questions are asked instead of denied; "
		   "answer them with `agent6 machine approve ID`.",
	.arguments = "ID|DIR",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
