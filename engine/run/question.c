#include "run/question.h"

#include "base/json.h"
#include "base/utf8.h"
#include <stdint.h>
#include <string.h>

enum { SHOWN_BYTES = 4096, MISSES_MAX = 3, LINE_BYTES_MAX = 1024 * 1024 };

static const json_t *command(const struct question *question, size_t at)
{
	return json_array_get(json_object_get(question->doc, "commands"), at);
}

static bool needs(const struct question *question, size_t at, const char *approval)
{
	size_t i;
	const json_t *one;
	json_array_foreach (json_object_get(command(question, at), "approvals"), i, one)
		if (json_is_string(one) && !strcmp(json_string_value(one), approval))
			return true;
	return false;
}

static bool any_needs(const struct question *question, const char *approval)
{
	for (size_t i = question->from; i < question->to; i++)
		if (needs(question, i, approval))
			return true;
	return false;
}

/* --- what is shown --------------------------------------------------------------------------- */

/* Reports whether a character must be made visible in a question, where a person agrees to each
 * word: blanks other than the space, the empty Braille cell that looks like one, joiners, and odd
 * characters. */
static bool is_hidden(uint32_t code)
{
	return code < 0x20 || code == 0xa0 || code == 0x1680 || code == 0x2800 ||
	       (code >= 0x2000 && code <= 0x200f) || code == 0x202f || code == 0x205f ||
	       code == 0x3000 || code == 0xfe0e || code == 0xfe0f || utf8_is_odd(code);
}

void question_show_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./:=,+@%";
	size_t len = strlen(word);
	if (len && strspn(word, plain) == len) {
		buf_add(out, word, len);
		return;
	}
	buf_addc(out, '\'');
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1) {
		utf8_escape(out, word, (size_t)(quote - word), is_hidden);
		buf_adds(out, "'\\''");
	}
	utf8_escape(out, word, strlen(word), is_hidden);
	buf_addc(out, '\'');
}

static void show_whole(struct buf *out, const json_t *argv)
{
	size_t i;
	const json_t *word;
	json_array_foreach (argv, i, word) {
		buf_adds(out, i ? " " : "");
		question_show_word(out, json_is_string(word) ? json_string_value(word) : "?");
	}
}

void question_show_argv(struct buf *out, const json_t *argv)
{
	AUTO_BUF line = BUF_INIT(LINE_BYTES_MAX);
	show_whole(&line, argv);
	if (line.failed) {
		buf_adds(out, "(a command too long to be shown)");
		return;
	}
	if (line.len <= SHOWN_BYTES) {
		buf_add(out, line.data, line.len);
		return;
	}
	size_t head = utf8_cut_end(line.data, SHOWN_BYTES / 2),
	       tail = utf8_cut_start(line.data, line.len, line.len - SHOWN_BYTES / 2);
	buf_add(out, line.data, head);
	buf_addf(out, " [... %zu bytes not shown ...] ", tail - head);
	buf_add(out, line.data + tail, line.len - tail);
}

static void show_command(const struct question *question, size_t at, struct buf *out)
{
	const json_t *c = command(question, at), *reason;
	size_t i;
	buf_addf(out, "  %zu. [", at + 1);
	utf8_escape(out, json_get_text(c, "level"), strlen(json_get_text(c, "level")), is_hidden);
	buf_adds(out, "] ");
	show_whole(out, json_object_get(c, "argv"));
	buf_addc(out, '\n');
	json_array_foreach (json_object_get(c, "reasons"), i, reason) {
		const char *text = json_string_value(reason);
		buf_adds(out, "       - ");
		utf8_escape(out, text ? text : "", text ? strlen(text) : 0, is_hidden);
		buf_addc(out, '\n');
	}
}

static const char *highest(const struct question *question)
{
	static const char *const levels[] = {
		"read_only", "build", "write", "destructive", "privileged", "network", "denied"};
	const char *most = "unknown";
	for (size_t l = 0; l < ARRAY_LEN(levels); l++)
		for (size_t i = question->from; i < question->to; i++)
			if (!strcmp(json_get_text(command(question, i), "level"), levels[l]))
				most = levels[l];
	return most;
}

void question_show(const struct question *question, struct buf *out)
{
	size_t n = question->to - question->from;
	buf_adds(out, "The agent of state ");
	utf8_escape(out, json_get_text(question->doc, "state"),
		strlen(json_get_text(question->doc, "state")), is_hidden);
	buf_addf(out, " wants to run %s (level %s):\n", n == 1 ? "a command" : "commands",
		highest(question));
	for (size_t i = question->from; i < question->to; i++)
		show_command(question, i, out);
}

/* Refuses a question that is too long to show: nobody should approve a text that is cut or that has
 * scrolled out of the terminal's memory. */
static int check_shown(const struct question *question, struct err *e)
{
	AUTO_BUF text = BUF_INIT(QUESTION_SHOWN_MAX);
	question_show(question, &text);
	return text.failed ? err_set(e,
				     "too long to be shown whole to the person who would have to "
				     "approve it (over %d KiB); propose one command at a time, and "
				     "write a long text to a file first",
				     QUESTION_SHOWN_MAX / 1024)
			   : 0;
}

int question_init(struct question *question, const json_t *doc, struct err *e)
{
	const json_t *commands = json_object_get(doc, "commands"), *one;
	size_t count = json_array_size(commands), i;
	if (!count || count > QUESTION_COMMANDS_MAX)
		return err_set(e, "a question has 1 to %d commands", QUESTION_COMMANDS_MAX);
	json_array_foreach (commands, i, one)
		if (!json_array_size(json_object_get(one, "argv")) || !*json_get_text(one, "level"))
			return err_set(e, "a command of a question has no argv or no level");
	struct question made = {.doc = doc, .count = count, .to = count};
	if (check_shown(&made, e))
		return -1;
	*question = made;
	if (json_is_true(json_object_get(doc, "step")))
		question->to = 1;
	return 0;
}

static void prompt_confirm(const struct question *question, struct buf *out)
{
	question_show(question, out);
	buf_adds(out, question->to - question->from == 1
			      ? "Run it? [y]es, [n]o: "
			      : "Run all of them? [y]es, [n]o, [s]tep by step: ");
}

static void prompt_again(const struct question *question, const char *approval, struct buf *out)
{
	for (size_t i = question->from; i < question->to; i++)
		if (needs(question, i, approval))
			show_command(question, i, out);
}

void question_prompt(const struct question *question, struct buf *out)
{
	switch (question->stage) {
	case QUESTION_CONFIRM: prompt_confirm(question, out); break;
	case QUESTION_EXPLICIT:
		buf_adds(out, "This cannot be undone:\n");
		prompt_again(question, "explicit", out);
		buf_adds(out, "Run it all the same? [y]es, [n]o: ");
		break;
	case QUESTION_TYPED:
		buf_adds(out, "This asks for privileges:\n");
		prompt_again(question, "typed_yes", out);
		buf_adds(out, "Type the word yes to run it: ");
		break;
	case QUESTION_ANSWERED: break;
	}
}

/* --- the dialogue ---------------------------------------------------------------------------- */

/* Answers the commands in question; a step-by-step dialogue goes on with the next one. */
static void settle_commands(struct question *question, bool granted)
{
	for (size_t i = question->from; i < question->to; i++)
		question->granted[i] = granted;
	question->stage = QUESTION_CONFIRM;
	question->misses = 0;
	question->from = question->to;
	question->to = question->from + 1;
	if (question->from >= question->count) {
		question->stage = QUESTION_ANSWERED;
		question->from = question->to = question->count;
	}
}

/* Moves on to the next approval that one of the commands in question needs, or settles them. */
static void advance(struct question *question)
{
	question->misses = 0;
	if (question->stage < QUESTION_EXPLICIT && any_needs(question, "explicit"))
		question->stage = QUESTION_EXPLICIT;
	else if (question->stage < QUESTION_TYPED && any_needs(question, "typed_yes"))
		question->stage = QUESTION_TYPED;
	else
		settle_commands(question, true);
}

static bool is_word(const char *line, const char *word, const char *letter)
{
	while (*line == ' ' || *line == '\t')
		line++;
	size_t len = strcspn(line, " \t\r\n");
	if (line[len + strspn(line + len, " \t\r\n")])
		return false;
	return (len == strlen(word) && !strncasecmp(line, word, len)) ||
	       (letter && len == 1 && !strncasecmp(line, letter, 1));
}

void question_reply(struct question *question, const char *line)
{
	bool typed = question->stage == QUESTION_TYPED;
	if (question->stage == QUESTION_ANSWERED)
		return;
	if (is_word(line, "yes", typed ? NULL : "y"))
		advance(question);
	else if (question->stage == QUESTION_CONFIRM && is_word(line, "step", "s"))
		question->to = question->from + 1;
	else if (is_word(line, "no", "n") || typed || ++question->misses >= MISSES_MAX)
		settle_commands(question, false);
}

int question_approve(struct question *question, struct err *e)
{
	question->from = 0;
	question->to = question->count;
	if (any_needs(question, "typed_yes"))
		return err_set(e, "one of the commands asks for privileges: that needs the word "
				  "yes, typed at a terminal; leave --yes out");
	settle_commands(question, true);
	return 0;
}

void question_deny(struct question *question)
{
	for (size_t i = 0; i < question->count; i++)
		question->granted[i] = false;
	question->stage = QUESTION_ANSWERED;
}

json_t *question_answers(const struct question *question)
{
	json_t *answers = json_array();
	for (size_t i = 0; i < question->count; i++)
		json_array_append_new(answers,
			json_boolean(question->stage == QUESTION_ANSWERED && question->granted[i]));
	return answers;
}
