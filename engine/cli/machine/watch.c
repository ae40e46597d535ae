#include "base/clock.h"
#include "cli/verb/resting.h"
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

/* Follows the journal of an instance that somebody else runs. */
struct watching {
	struct show show;
	struct journal_reader reader;
	const struct instance *instance;
	char question[QUESTION_ID_BYTES]; /* shown last */
	const struct machine *machine;    /* of its own copy of the bundle; NULL: cannot be read */
	char since[32];                   /* when what goes on began, as the journal has it */
	bool ended;
};

static void note_since(struct watching *w, const char *type, const json_t *fields)
{
	static const char *const boundaries[] = {"begin", "step", "retry"};
	for (size_t i = 0; i < ARRAY_LEN(boundaries); i++)
		if (!strcmp(type, boundaries[i]))
			snprintf(w->since, sizeof(w->since), "%s", json_get_text(fields, "ts"));
}

/* "    3  work            since 2026-11-28 14:02:11 UTC": nothing redraws it, so it tells no
 * duration. */
static void add_active(const struct watching *w, struct buf *out)
{
	enum { STATE_COLUMNS = 16 };
	json_auto_t *status = w->machine ? status_run(w->instance, w->machine, NULL) : NULL;
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
		show_until(&w->show, out, wake_us);
		return;
	}
	buf_adds(out, *retry ? "again at " : "since ");
	text_when(out, *retry ? retry : w->since);
}

static void show_line(struct watching *w, const char *line, size_t len)
{
	struct err e = ERR_NONE;
	json_auto_t *fields = journal_decode(line, len, &e);
	const char *type = json_get_text(fields, "t");
	w->ended = !strcmp(type, "end");
	note_since(w, type, fields);
	show_live(&w->show, "");
	if (w->show.mode == SHOW_JSON) {
		text_json(line, len);
		putchar('\n');
	} else if (w->ended || !strcmp(type, "stop")) {
		show_end(&w->show, w->instance->id, fields);
	} else if (fields) {
		show_event(&w->show, fields);
	}
	fflush(stdout);
}

static int show_new_lines(struct watching *w, struct err *e)
{
	const char *line;
	size_t len;
	int got;
	while ((got = journal_next(&w->reader, &line, &len, e)) > 0)
		show_line(w, line, len);
	return got;
}

/* An agent's question, once, with how it is answered. */
static void tell_question(struct watching *w)
{
	struct err e = ERR_NONE;
	json_auto_t *doc = ask_read(w->instance, &e);
	const char *id = json_get_text(doc, "id");
	AUTO_BUF text = BUF_INIT(2 * QUESTION_BYTES_MAX);
	if (!doc || w->show.mode == SHOW_JSON || !strcmp(id, w->question) ||
		show_question(&text, w->instance->id, doc))
		return;
	snprintf(w->question, sizeof(w->question), "%s", id);
	show_live(&w->show, "");
	fputs(text.data, stdout);
	fflush(stdout);
}

static void show_active(struct watching *w)
{
	struct holder who;
	AUTO_BUF text = BUF_INIT(4096);
	if (w->show.mode != SHOW_LIVE || w->ended || instance_holder(w->instance, &who, NULL))
		return;
	if (who.pid)
		add_active(w, &text);
	else
		buf_adds(&text, "nobody runs it at the moment");
	show_live(&w->show, text.len ? text.data : "");
}

/* Blocks until something happens in the instance; forgets what has been told. 1: nobody is left who
 * reads what is printed, and who is not there answers no question either. */
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

static int follow(struct watching *w, const struct resting *r, struct err *e)
{
	AUTO_FD int fd = instance_journal(&r->instance, e);
	AUTO_FD int watch = inotify_init1(IN_CLOEXEC);
	struct err unheard = ERR_NONE;
	/* Whoever reads only the journal's lines sees no question. */
	bool sees = w->show.mode != SHOW_JSON;
	AUTO_FD int present = sees ? ask_watch(&r->instance, &unheard) : -1;
	/* Who may not write there could not answer one, and looks all the same. */
	if (*unheard.text && unheard.number != EROFS && unheard.number != EACCES)
		return err_set(e, "%s", unheard.text);
	if (fd < 0)
		return -1;
	/* The journal, a question, a runner that takes or leaves the lock. */
	if (watch < 0 ||
		inotify_add_watch(watch, r->instance.path,
			IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) < 0)
		return err_errno(e, "cannot watch %s", r->instance.path);
	struct journal_mark at = journal_start();
	int failed = 0;
	while (!failed && !w->ended) {
		journal_reader_init(&w->reader, fd, &at);
		w->reader.patience_ms = JOURNAL_PATIENCE_MS;
		failed = show_new_lines(w, e);
		tell_question(w);
		show_active(w);
		at = w->reader.mark;
		journal_reader_done(&w->reader);
		if (!failed && !w->ended && !instance_is_named(&r->instance))
			failed = err_set(e, "instance %s was removed", r->instance.id);
		if (!failed && !w->ended)
			failed = wait_for_change(watch, e);
	}
	return failed < 0 ? -1 : 0;
}

static int watch(const struct resting *r, const struct call *c)
{
	struct err e = ERR_NONE;
	struct watching w = {.instance = &r->instance};
	struct findings ignored; /* the journal is told without the machine, too */
	struct loaded copy = {0};
	char path[PATH_MAX];
	show_init(&w.show, call_has(c, "json"), call_has(c, "quiet"));
	w.show.id = r->instance.id;
	findings_init(&ignored);
	snprintf(path, sizeof(path), "%s/bundle", r->instance.path);
	if (w.show.mode == SHOW_LIVE && !loaded_open(&copy, path, &ignored, NULL))
		w.machine = copy.machine;
	int failed = follow(&w, r, &e);
	loaded_done(&copy);
	findings_done(&ignored);
	return failed ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
}

static int run(const struct call *c)
{
	return resting_with(c, false, watch);
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
