/* The dialogue about proposed commands: what is shown, and which answers are a yes. */
#include "base/io.h"
#include "run/ask.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum { MAX = 8 };

static json_t *command(const char *word, const char *level, const char *approvals)
{
	json_t *needed = json_array();
	char list[80];
	snprintf(list, sizeof(list), "%s", approvals);
	for (char *save, *one = strtok_r(list, " ", &save); one; one = strtok_r(NULL, " ", &save))
		json_array_append_new(needed, json_string(one));
	return json_pack("{s:[s], s:s, s:o, s:[s]}", "argv", word, "level", level, "approvals",
		needed, "reasons", "because");
}

static json_t *doc(bool step, json_t *commands)
{
	return json_pack("{s:s, s:s, s:b, s:o}", "id", "0123456789abcdef", "state", "edit", "step",
		step, "commands", commands);
}

/* Which commands are granted after these lines: "yn", or "?" while something is still asked. */
static const char *outcome(const json_t *d, const char *const *lines)
{
	static char out[MAX + 1];
	struct question q;
	struct err e = ERR_NONE;
	if (question_init(&q, d, &e))
		bail("%s", e.text);
	for (; *lines; lines++)
		question_reply(&q, *lines);
	if (q.stage != QUESTION_ANSWERED)
		return "?";
	json_t *answers = question_answers(&q);
	size_t n = json_array_size(answers);
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(answers, i);
		out[i] = json_is_true(one) ? 'y' : 'n';
	}
	out[n] = '\0';
	json_decref(answers);
	return out;
}

#define LINES(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void one_command(void)
{
	json_t *d = doc(false, json_pack("[o]", command("touch", "write", "confirm")));
	is_str(outcome(d, LINES("y\n")), "y", "y");
	is_str(outcome(d, LINES(" YES \r\n")), "y", "yes, however it is written");
	is_str(outcome(d, LINES("n")), "n", "n");
	is_str(outcome(d, LINES("")), "?", "an empty line is no answer");
	is_str(outcome(d, LINES("", "yy", "y n")), "n", "three that are none are a no");
	is_str(outcome(d, LINES("x", "x", "y")), "y", "the third may still be one");
	json_decref(d);
}

static void needs(void)
{
	json_t *d = doc(false, json_pack("[o, o]", command("touch", "write", "confirm"),
				       command("rm", "destructive", "explicit")));
	is_str(outcome(d, LINES("y")), "?", "one y is not enough for what is destroyed");
	is_str(outcome(d, LINES("y", "y")), "yy", "a second is");
	is_str(outcome(d, LINES("y", "n")), "nn", "a no to it is one to the batch");
	is_str(outcome(d, LINES("s", "y", "n")), "yn", "step by step: each its own");
	is_str(outcome(d, LINES("s", "n", "y")), "?", "with what it needs");
	is_str(outcome(d, LINES("s", "n", "y", "y")), "ny", "given");
	json_decref(d);

	d = doc(false, json_pack("[o, o]", command("curl", "network", "confirm destination"),
			       command("sudo", "network", "typed_yes")));
	is_str(outcome(d, LINES("y", "y")), "nn", "y is not the word yes");
	is_str(outcome(d, LINES("y", "yes")), "yy", "the word is, although the level is another");
	struct question q;
	struct err e = ERR_NONE;
	question_init(&q, d, &e);
	is(question_approve(&q, &e), -1, "no flag can say it");
	json_t *answers = question_answers(&q);
	const json_t *first = json_array_get(answers, 0);
	ok(!json_is_true(first), "and nothing is granted then");
	json_decref(answers);
	json_decref(d);

	d = doc(true, json_pack("[o, o]", command("a", "write", "confirm"),
			      command("b", "write", "confirm")));
	is_str(outcome(d, LINES("y")), "?", "in step mode y is for one");
	is_str(outcome(d, LINES("y", "n")), "yn", "each is asked");
	json_decref(d);
}

static const char *shown(const char *const *argv)
{
	static char text[16384];
	AUTO_BUF out;
	buf_init(&out, sizeof(text));
	json_t *list = json_array();
	for (; *argv; argv++)
		json_array_append_new(list, json_string(*argv));
	question_show_argv(&out, list);
	json_decref(list);
	snprintf(text, sizeof(text), "%s", out.data);
	return text;
}

static void visible(void)
{
	is_str(shown(LINES("ls", "-l", "a/b.c")), "ls -l a/b.c", "plain words");
	is_str(shown(LINES("echo", "", "a b", "it's", "$x")), "echo '' 'a b' 'it'\\''s' '$x'",
		"others are quoted");
	is_str(shown(LINES("a\x1b[31m", "b\nc", "d\x7f")), "'a\\x1b[31m' 'b\\x0ac' 'd\\x7f'",
		"control characters");
	is_str(shown(LINES("\xe2\x80\xae"
			   "x",
		       "\xe2\x81\xa6", "\xe2\x80\x8b", "\xef\xbb\xbf", "\xc2\x9b")),
		"'\\u{202e}x' '\\u{2066}' '\\u{200b}' '\\u{feff}' '\\u{9b}'",
		"direction, zero width, C1");
	is_str(shown(LINES("\xf3\xa0\x81\x81")), "'\\u{e0041}'", "tags");
	is_str(shown(LINES("\xe1\x9a\x80", "\xe2\xa0\x80")), "'\\u{1680}' '\\u{2800}'",
		"what looks like a blank");
	is_str(shown(LINES("gr\xc3\xbc\xc3\x9f")), "'gr\xc3\xbc\xc3\x9f'", "letters stay");
	static char big[9001];
	memset(big, 'x', 9000);
	const char *text = shown(LINES("echo", big));
	ok(strlen(text) < 4200, "a long command is cut");
	has_str(text, "[... 4909 bytes not shown ...]", "in the middle, and by how much");
}

static void prompts(void)
{
	json_t *d = doc(false, json_pack("[o, o]", command("touch", "write", "confirm"),
				       command("rm", "destructive", "explicit")));
	struct question q;
	struct err e = ERR_NONE;
	AUTO_BUF out;
	buf_init(&out, 65536);
	question_init(&q, d, &e);
	question_prompt(&q, &out);
	has_str(out.data, "state edit wants to run commands (level destructive)",
		"the highest level");
	has_str(out.data, "  1. [write] touch\n       - because\n  2. [destructive] rm\n",
		"each command");
	question_reply(&q, "y");
	buf_clear(&out);
	question_prompt(&q, &out);
	has_str(out.data, "2. [destructive] rm", "what destroys is repeated");
	ok(!strstr(out.data, "touch"), "and nothing else");
	json_decref(d);
	d = doc(false, json_array());
	is(question_init(&q, d, &e), -1, "no commands are no question");
	json_decref(d);
}

/* A yes is to what was seen: the middle of a long command, too. */
static void whole(void)
{
	static char word[40001];
	struct question q;
	struct err e = ERR_NONE;
	AUTO_BUF out;
	buf_init(&out, 65536);
	memset(word, 'x', sizeof(word) - 1);
	memcpy(word + 10000, "THE-MIDDLE", 10);
	word[20000] = '\0';
	json_t *d = doc(false, json_pack("[o]", command(word, "destructive", "confirm explicit")));
	is(question_init(&q, d, &e), 0, "a long command can be asked about");
	question_prompt(&q, &out);
	has_str(out.data, word, "and is shown whole");
	question_reply(&q, "y");
	buf_clear(&out);
	question_prompt(&q, &out);
	has_str(out.data, word, "again, too");
	json_decref(d);
	d = doc(true, json_pack("[o, o]", command(word, "write", "confirm"),
			      command(word, "write", "confirm")));
	is(question_init(&q, d, &e), -1, "two may be too long");
	has_str(e.text, "too long to be shown whole", "which is said");
	json_decref(d);
	word[20000] = 'x';
	d = doc(false, json_pack("[o]", command(word, "write", "confirm")));
	is(question_init(&q, d, &e), -1, "so may be one");
	json_decref(d);
}

static bool closing; /* the question is closed while its answer is put into place */

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (closing)
		unlinkat(from_fd, from, 0);
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

/* Whoever is asked thinks for as long as it takes. */
static void answered(void)
{
	static const char closed[] = "question 0123456789abcdef is closed";
	struct instance i = {.dir_fd = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	json_auto_t *d = doc(false, json_pack("[o]", command("touch", "write", "confirm")));
	AUTO_FREE char *text = json_dumps(d, 0);
	struct question q;
	struct err e = ERR_NONE;
	if (question_init(&q, d, &e) ||
		io_replace_file(i.dir_fd, "question.json", text, strlen(text), 0600, &e))
		bail("%s", e.text);
	is(ask_answer(&i, &q, &e), 0, "the open question is answered");
	closing = true;
	is(ask_answer(&i, &q, &e), -1, "one that closes meanwhile is not");
	has_str(e.text, closed, "which is said");
	closing = false;
	unlinkat(i.dir_fd, "question.json", 0);
	e = ERR_NONE;
	is(ask_answer(&i, &q, &e), -1, "nor is one that was closed before");
	has_str(e.text, closed, "which is said");
	e = ERR_NONE;
	io_replace_file(i.dir_fd, "question.json", "{\"id\":\"other\"}", 14, 0600, &e);
	is(ask_answer(&i, &q, &e), -1, "nor by the answer to another");
	has_str(e.text, closed, "which is said");
	own_close(&i.dir_fd);
}

int main(void)
{
	answered();
	one_command();
	needs();
	visible();
	prompts();
	whole();
	return tap_done();
}
