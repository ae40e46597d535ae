#include "run/ask.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <termios.h>

enum { FILES, TIMER, TERMINAL, STREAMS, TYPED_BYTES_MAX = 4096, TICK_MS = 200 };

/* Reports whether the entry is an answer or the temporary file of one. Its writer was killed, or is
 * still writing and comes too late. */
static int is_answer(const struct dirent *dirent)
{
	return !strcmp(dirent->d_name, "answer.json") ||
	       !strncmp(dirent->d_name, ".answer.json.", 13);
}

static void remove_answers(int dir_fd)
{
	struct dirent **entries = NULL;
	int n = scandirat(dir_fd, ".", &entries, is_answer, NULL);
	for (int at = 0; at < n; at++) {
		unlinkat(dir_fd, entries[at]->d_name, 0);
		free(entries[at]);
	}
	free(entries);
}

static void ask_close(struct asking *asking)
{
	const struct instance *i = asking->live->instance;
	json_decref(asking->doc);
	asking->doc = NULL;
	asking->live->asking = false;
	asking->pump->tick_ms = asking->live->listener->tick_ms;
	unlinkat(i->dir_fd, "question.json", 0);
	remove_answers(i->dir_fd);
	for (int n = 0; asking->first_stream >= 0 && n < STREAMS; n++)
		own_close(&asking->pump->streams[asking->first_stream + n].fd);
}

void ask_init(struct asking *asking, struct live *live, struct pump *pump)
{
	*asking = (struct asking){.live = live, .pump = pump, .first_stream = -1};
	buf_init(&asking->typed, TYPED_BYTES_MAX);
	ask_close(asking);
}

void ask_done(struct asking *asking)
{
	ask_close(asking);
	buf_done(&asking->typed);
}

/* Reports whether this process is in the foreground of a terminal. Only then may it read from it; a
 * background process would be stopped. */
static bool has_terminal(const struct asking *asking)
{
	const struct drive_listener *l = asking->live->listener;
	return l->prompt && tcgetpgrp(l->terminal_fd) == getpgrp();
}

static int open_watchers(const struct instance *instance, struct err *e)
{
	int fd = io_open_plain(instance->dir_fd, "watchers", O_RDWR | O_CREAT, e);
	return fd < 0 ? err_wrap(e, "%s", instance->path) : fd;
}

bool ask_approver(const struct asking *asking)
{
	AUTO_FD int fd = open_watchers(asking->live->instance, NULL);
	return has_terminal(asking) ||
	       (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK);
}

int ask_watch(const struct instance *instance, struct err *e)
{
	AUTO_FD int fd = open_watchers(instance, e);
	if (fd < 0)
		return -1;
	while (flock(fd, LOCK_SH))
		if (errno != EINTR)
			return err_errno(e, "cannot lock %s/watchers", instance->path);
	return TAKE_FD(fd);
}

static void finish(struct asking *asking, enum ask_by by)
{
	json_auto_t *answers = question_answers(&asking->question);
	ask_close(asking);
	asking->answered(asking->ctx, answers, by);
}

/* Shows the question. A question that cannot be shown is answered with no. */
static void show_prompt(struct asking *asking)
{
	const struct drive_listener *l = asking->live->listener;
	AUTO_BUF text = BUF_INIT(QUESTION_BYTES_MAX);
	asking->seen = asking->live->interrupts.seen;
	question_prompt(&asking->question, &text);
	if (!text.failed) {
		l->prompt(l->ctx, text.data);
		return;
	}
	question_deny(&asking->question);
	finish(asking, ASK_PERSON);
}

/* Sets the pump's tick. A terminal prompt that is not shown yet needs the shorter one; once it is
 * shown, every event that matters wakes the pump by itself. */
static void look_again(const struct asking *asking, bool shown)
{
	const struct drive_listener *l = asking->live->listener;
	asking->pump->tick_ms = l->prompt && !shown ? TICK_MS : l->tick_ms;
}

static int open_terminal(const struct asking *asking)
{
	if (!has_terminal(asking))
		return -1;
	tcflush(asking->live->listener->terminal_fd, TCIFLUSH);
	return fcntl(asking->live->listener->terminal_fd, F_DUPFD_CLOEXEC, 0);
}

/* Handles the end of the terminal's input. Ctrl-D from the foreground means no; if the terminal has
 * gone, a `machine watch` may still answer. */
static void take_end(struct asking *asking)
{
	bool person = has_terminal(asking);
	if (!person && ask_approver(asking))
		return;
	question_deny(&asking->question);
	finish(asking, person ? ASK_PERSON : ASK_NOBODY);
}

static void take_typed(void *ctx, const char *bytes, size_t len)
{
	struct asking *a = ctx;
	if (!a->doc || a->pump->draining)
		return;
	/* A process that was stopped, perhaps for this very read, may read input that was typed for
	 * another program. Drop it; the tick shows the question again. */
	interrupts_read(&a->live->interrupts);
	if (a->seen != a->live->interrupts.seen && has_terminal(a)) {
		a->pump->tick(a->pump->ctx);
		return;
	}
	if (!len) {
		take_end(a);
		return;
	}
	buf_add(&a->typed, bytes, len);
	while (a->doc && (a->typed.failed || memchr(a->typed.data, '\n', a->typed.len))) {
		char *end = a->typed.failed ? NULL : memchr(a->typed.data, '\n', a->typed.len);
		if (end)
			*end = '\0';
		question_reply(&a->question, end ? a->typed.data : "?");
		/* One line answers one prompt: input typed ahead is dropped. */
		buf_clear(&a->typed);
		if (a->question.stage == QUESTION_ANSWERED)
			finish(a, ASK_PERSON);
		else
			show_prompt(a);
	}
}

static void take_timer(void *ctx, const char *bytes, size_t len)
{
	struct asking *a = ctx;
	(void)bytes;
	if (!a->doc || !len)
		return;
	question_deny(&a->question);
	finish(a, ASK_TIMEOUT);
}

/* Takes the answer from the file. Returns false if there is none, or if it answers another
 * question. */
static bool take_answer(struct asking *asking)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0, i;
	if (io_read_file(asking->live->instance->dir_fd, "answer.json", QUESTION_BYTES_MAX, &text,
		    &len, NULL))
		return false;
	json_auto_t *answer = json_read(text, len, QUESTION_BYTES_MAX, NULL);
	const json_t *approve = json_object_get(answer, "approve"), *one;
	if (!json_equal(json_object_get(answer, "id"), json_object_get(asking->doc, "id")) ||
		json_array_size(approve) != asking->question.count)
		return false;
	json_array_foreach (approve, i, one)
		asking->question.granted[i] = json_is_true(one);
	asking->question.stage = QUESTION_ANSWERED;
	return true;
}

static void take_files(void *ctx, const char *bytes, size_t len)
{
	struct asking *a = ctx;
	(void)bytes;
	if (a->doc && len && take_answer(a))
		finish(a, ASK_PERSON);
}

static int open_files(const struct asking *asking, struct err *e)
{
	AUTO_FD int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const char *path = asking->live->instance->path;
	if (fd < 0 || inotify_add_watch(fd, path, IN_MOVED_TO | IN_ONLYDIR) < 0)
		return err_errno(e, "cannot watch %s for an answer", path);
	return TAKE_FD(fd);
}

static int open_timer(const struct asking *asking, struct err *e)
{
	struct itimerspec at = {
		.it_value = {.tv_sec = asking->live->config->approval.timeout_secs}};
	AUTO_FD int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0 || timerfd_settime(fd, 0, &at, NULL))
		return err_errno(e, "cannot set the timer of a question");
	return TAKE_FD(fd);
}

static int open_streams(struct asking *asking, struct err *e)
{
	static void (*const takers[])(void *, const char *, size_t) = {
		[FILES] = take_files, [TIMER] = take_timer, [TERMINAL] = take_typed};
	if (asking->first_stream < 0) {
		asking->first_stream = asking->pump->stream_count;
		asking->pump->stream_count += STREAMS;
		for (int n = 0; n < STREAMS; n++)
			asking->pump->streams[asking->first_stream + n] =
				(struct pump_stream){-1, takers[n], asking};
	}
	struct pump_stream *s = &asking->pump->streams[asking->first_stream];
	s[FILES].fd = open_files(asking, e);
	s[TIMER].fd = s[FILES].fd < 0 ? -1 : open_timer(asking, e);
	s[TERMINAL].fd = s[TIMER].fd < 0 ? -1 : open_terminal(asking);
	return s[TIMER].fd < 0 ? -1 : 0;
}

static int write_question(struct asking *asking, struct err *e)
{
	uint64_t noise;
	char id[QUESTION_ID_BYTES], until[CLOCK_TEXT_BYTES];
	if (getrandom(&noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return err_errno(e, "cannot name a question");
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)noise);
	clock_text(
		clock_realtime_us() + asking->live->config->approval.timeout_secs * 1000000, until);
	json_object_set_new(asking->doc, "id", json_string(id));
	json_object_set_new(asking->doc, "until", json_string(until));
	AUTO_FREE char *text = json_text(asking->doc);
	if (!text || strlen(text) > QUESTION_BYTES_MAX)
		return err_set(e, "the commands are too long to be asked about");
	const struct instance *i = asking->live->instance;
	return io_replace_file(i->dir_fd, "question.json", text, strlen(text), 0600, e)
		       ? err_wrap(e, "%s", i->path)
		       : 0;
}

int ask_open(struct asking *asking, json_t *doc, struct err *e)
{
	asking->doc = doc;
	buf_clear(&asking->typed);
	/* Start the watch before the question is visible, so that no answer comes unnoticed. */
	if (question_init(&asking->question, asking->doc, e) || open_streams(asking, e) ||
		write_question(asking, e)) {
		ask_close(asking);
		return -1;
	}
	asking->live->asking = true;
	bool shown = asking->pump->streams[asking->first_stream + TERMINAL].fd >= 0;
	look_again(asking, shown);
	if (shown)
		show_prompt(asking);
	return 0;
}

/* Checks at each tick whether this process has come to the foreground: a shell that brings it there
 * sends no signal. */
void ask_tick(struct asking *asking)
{
	if (!asking->doc)
		return;
	int *fd = &asking->pump->streams[asking->first_stream + TERMINAL].fd;
	bool come_back = *fd < 0;
	if (!come_back && asking->seen == asking->live->interrupts.seen)
		return;
	if (!has_terminal(asking)) {
		look_again(asking, false);
		return;
	}
	if (take_answer(asking)) {
		finish(asking, ASK_PERSON);
		return;
	}
	tcflush(asking->live->listener->terminal_fd, TCIFLUSH);
	buf_clear(&asking->typed);
	if (come_back)
		*fd = open_terminal(asking);
	look_again(asking, *fd >= 0);
	if (*fd >= 0)
		show_prompt(asking);
}

json_t *ask_read(const struct instance *instance, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	if (io_read_file(instance->dir_fd, "question.json", QUESTION_BYTES_MAX, &text, &len, e)) {
		if (e->number == ENOENT)
			*e = ERR_NONE;
		else
			err_wrap(e, "%s", instance->path);
		return NULL;
	}
	return json_read(text, len, QUESTION_BYTES_MAX, e);
}

/* Leaves an answer. A writer that is killed leaves a temporary file, which whoever closes the
 * question removes. */
int ask_answer(const struct instance *instance, const struct question *question, struct err *e)
{
	const json_t *id = json_object_get(question->doc, "id");
	struct err why = ERR_NONE;
	json_auto_t *open = ask_read(instance, &why);
	json_auto_t *answer =
		json_pack("{s:O, s:o}", "id", id, "approve", question_answers(question));
	AUTO_FREE char *text = json_text(answer);
	if (!text)
		return err_set(e, "out of memory");
	if (!*why.text && json_equal(json_object_get(open, "id"), id) &&
		!io_replace_shared(instance->dir_fd, "answer.json", text, strlen(text), &why))
		return 0;
	return *why.text && why.number != ENOENT
		       ? err_set(e, "%s", why.text)
		       : err_set(e,
				 "question %s is closed: somebody else has answered it, or its "
				 "time is over; this answer decides nothing",
				 json_string_value(id));
}
