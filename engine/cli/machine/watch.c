#include "cli/verb/resting.h"
#include "journal/journal.h"
#include "report/show.h"
#include "report/text.h"
#include "run/ask.h"
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
	char active[256];                 /* what goes on since the last line; "": nothing */
	bool ended;
};

/* The watcher has the journal alone: which state it is in, and since when. */
static void note_active(struct watching *w, const char *type, const json_t *fields)
{
	bool step = !strcmp(type, "step");
	AUTO_BUF text = BUF_INIT(sizeof(w->active));
	if (step || !strcmp(type, "retry")) {
		buf_addf(&text, "%5jd  %s since ", (intmax_t)json_get_int(fields, "seq") + step,
			json_get_text(fields, step ? "goto" : "state"));
		text_when(&text, json_get_text(fields, "ts"));
	}
	snprintf(w->active, sizeof(w->active), "%s", text.failed ? "" : text.data);
}

static void show_line(struct watching *w, const char *line, size_t len)
{
	struct err e = ERR_NONE;
	json_auto_t *fields = journal_decode(line, len, &e);
	const char *type = json_get_text(fields, "t");
	w->ended = !strcmp(type, "end");
	note_active(w, type, fields);
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
	if (!w->ended && !instance_holder(w->instance, &who, NULL))
		show_live(&w->show, who.pid ? w->active : "nobody runs it at the moment");
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
	show_init(&w.show, call_has(c, "json"), call_has(c, "quiet"));
	w.show.id = r->instance.id;
	return follow(&w, r, &e) ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
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
