/*
 * A question made of an agent's bytes (the first line) and what a person types (the lines behind
 * it): nothing reaches the terminal that could move its cursor or reorder it, and nothing
 * privileged runs without the word.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "run/question.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_shown(const struct question *question)
{
	struct buf out;
	buf_init(&out, 64 * 1024 * 1024);
	question_prompt(question, &out);
	for (size_t at = 0, step; at < out.len; at += step) {
		uint32_t code = 0;
		step = utf8_step(out.data + at, out.len - at, &code);
		if (!step || (code != '\n' && utf8_is_control(code)) ||
			(code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e))
			abort();
	}
	buf_done(&out);
}

static bool needs_word(const json_t *doc, size_t at)
{
	size_t i;
	const json_t *one,
		*needs = json_object_get(
			json_array_get(json_object_get(doc, "commands"), at), "approvals");
	json_array_foreach (needs, i, one)
		if (json_is_string(one) && !strcmp(json_string_value(one), "typed_yes"))
			return true;
	return false;
}

/* Each line of `text` is typed; whether the word was among them. */
static bool type(struct question *question, char *text)
{
	bool word = false;
	for (char *line = text, *end; line && question->stage != QUESTION_ANSWERED; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		word = word || (question->stage == QUESTION_TYPED && strcasestr(line, "yes"));
		question_reply(question, line);
		check_shown(question);
	}
	return word;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct question q;
	struct err e = ERR_NONE;
	const uint8_t *nl = memchr(data, '\n', len);
	size_t first = nl ? (size_t)(nl - data) : len;
	json_auto_t *doc = json_read((const char *)data, first, QUESTION_BYTES_MAX, NULL);
	if (!doc || question_init(&q, doc, &e))
		return 0;
	check_shown(&q);
	char *typed = strndup(nl ? (const char *)nl + 1 : "", nl ? len - first - 1 : 0);
	bool word = type(&q, typed);
	json_auto_t *answers = question_answers(&q);
	if (json_array_size(answers) != q.count)
		abort();
	for (size_t i = 0; i < q.count; i++)
		if (json_is_true(json_array_get(answers, i)) &&
			(q.stage != QUESTION_ANSWERED || (needs_word(doc, i) && !word)))
			abort();
	free(typed);
	return 0;
}
