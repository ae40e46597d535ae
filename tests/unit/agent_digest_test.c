/* Tests what is dropped when a conversation grows: results, then whole exchanges; and what
 * stays. */
#include "agent/digest.h"
#include "agent/evict.h"
#include "agent/window.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* A prompt and `count` exchanges of a call and a result of `bytes` each. */
static void talk_init(struct wire_talk *wire_talk, size_t count, size_t bytes)
{
	*wire_talk = (struct wire_talk){0};
	wire_talk_add(wire_talk, WIRE_USER)->text = strdup("task");
	for (size_t i = 0; i < count; i++) {
		struct wire_turn *a = wire_talk_add(wire_talk, WIRE_ASSISTANT);
		a->text = strdup("");
		a->raw = calloc(1, bytes + 1);
		memset(a->raw, 'a', bytes);
		struct wire_turn *r = wire_talk_add(wire_talk, WIRE_RESULTS);
		r->results = calloc(1, sizeof(*r->results));
		r->result_count = 1;
		r->results->name = strdup("read_file");
		r->results->text = calloc(1, bytes + 1);
		memset(r->results->text, 'r', bytes);
	}
}

static void results(void)
{
	struct wire_talk t;
	talk_init(&t, 4, 3500);
	int64_t before = evict_estimate(&t);
	is(before, 4 * 2000 + 1, "3.5 bytes are a token");
	int64_t gained = evict_results(&t, 900);
	ok(gained > 900 && gained < 1000, "one result is enough");
	is(evict_estimate(&t), before - gained, "and the estimate knows");
	has_str(t.turns[2].results->text, "read_file (3500 bytes) was dropped", "the oldest went");
	ok(evict_results(&t, INT64_MAX) > 1800, "all others");
	is(strlen(t.turns[8].results->text), 3500, "but the newest");
	is(evict_results(&t, INT64_MAX), 0, "and then there is nothing left");
	wire_talk_done(&t);
}

static void turns(void)
{
	struct wire_talk t;
	talk_init(&t, 5, 3500);
	struct evict_range r = evict_range(&t, 4500);
	is(r.from, 3, "behind the first exchange");
	is(r.to, 7, "up to the newest two");
	r = evict_range(&t, 0);
	is(r.to, 9, "the newest exchange stays whatever it takes");
	r = evict_range(&t, 1000000);
	is(r.from, r.to, "what fits stays");
	evict_turns(&t, (struct evict_range){3, 7}, strdup("DIGEST"));
	is(t.count, 7, "four turns are gone");
	is_str(t.turns[2].results->text, "DIGEST", "the digest is the first call's result");
	is(t.turns[3].role, WIRE_ASSISTANT, "an answer of the model follows");
	ok(!strstr(t.turns[2].results->text, "dropped") && evict_results(&t, INT64_MAX) > 0 &&
			!strcmp(t.turns[2].results->text, "DIGEST"),
		"and is not dropped itself");
	wire_talk_done(&t);
	talk_init(&t, 0, 0);
	r = evict_range(&t, 0);
	is(r.from, r.to, "a prompt alone has nothing to give");
	wire_talk_done(&t);
	talk_init(&t, 1, 100);
	r = evict_range(&t, 0);
	is(r.from, r.to, "nor has one exchange");
	wire_talk_done(&t);
}

static void done(void)
{
	struct digest d = {0};
	AUTO_BUF out, small;
	buf_init(&out, 1 << 20);
	buf_init(&small, 1 << 20);
	json_auto_t *file = json_pack("{s:s}", "path", "a.c");
	json_auto_t *argv = json_pack("{s:[s]}", "argv", "make");
	digest_note(&d, "read_file", file, true, "1\tint a;\n");
	digest_note(&d, "read_file", file, true, "1\tint a;\n");
	digest_note(&d, "apply_edit", file, true, "done");
	digest_note(&d, "apply_edit", file, false, "old_string is not there\nclosest: x");
	digest_note(&d, "run_command", argv, false, "exit 2\n--- stderr ---\nno rule");
	digest_write(&d, 4000, &out);
	is_str(out.data,
		"Files read:\n- a.c (2)\nFiles edited:\n- a.c (1)\nCommands run:\n"
		"- run_command {\"argv\":[\"make\"]}: exit 2 (1)\nOther calls:\n"
		"- apply_edit a.c (1)\n"
		"The newest failure: run_command {\"argv\":[\"make\"]}: exit 2\n",
		"what was done, in the order it was first done");
	for (int i = 0; i < 150; i++) {
		char name[300];
		snprintf(name, sizeof(name), "%d\xc3\xa9%0250d", i, i);
		json_auto_t *other = json_pack("{s:s}", "path", name);
		digest_note(&d, "read_file", other, true, "");
	}
	digest_note(&d, "read_file", file, true, "");
	digest_write(&d, 4000, &small);
	has_str(small.data, "- a.c (3)\n", "what is known is counted on where nothing new is");
	ok(small.len < 3000, "%zu bytes are about what was asked for", small.len);
	has_str(small.data, " more\n", "and say that there is more");
	digest_done(&d);
}

/* Estimates are corrected by what was counted: never downwards, and not beyond all measure. */
static void scales(void)
{
	static const struct {
		size_t exchanges;
		int64_t counted, scale;
	} rows[] = {{10, 0, 0}, {10, 20001, 1000}, {10, 10001, 1000}, {10, 40002, 2000},
		{10, 200010, 4000}, {4, 16002, 0}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wire_talk t;
		talk_init(&t, rows[i].exchanges, 3500);
		struct window w = {.talk = &t};
		window_sent(&w);
		window_answered(&w, rows[i].counted);
		is(w.scale, rows[i].scale, "%d tokens counted of about %d", (int)rows[i].counted,
			(int)w.sent);
		wire_talk_done(&t);
	}
	struct wire_talk t;
	struct digest none = {0};
	struct turn_summary nobody = {.task = NULL};
	talk_init(&t, 10, 3500);
	struct window w = {.talk = &t,
		.digest = &none,
		.summary = &nobody,
		.context_tokens = 10000,
		.scale = 2000};
	ok(window_keep(&w), "what counts twice as much gives way");
	is(t.count, 5, "and one exchange of 2,000 beside the first makes up 40 %%");
	ok(window_refused(&w), "where that is too much, the newest result goes");
	has_str(t.turns[4].results->text, "ask for less", "which is said");
	ok(!window_refused(&w), "and then there is nothing left");
	wire_talk_done(&t);
}

#define LINE                                                                                       \
	"a hundred bytes of an answer, so that few of them fill a small context, which then has "  \
	"to give way. "
#define THOUSAND LINE LINE LINE LINE LINE LINE LINE LINE LINE LINE
#define LONG_TURN(n)                                                                               \
	{                                                                                          \
		KIT_STREAM KIT_BEGIN KIT_TEXT(THOUSAND THOUSAND THOUSAND)                          \
			KIT_CALL(1, "t" n, "read_file", "{\"path\":\"f" n "\"}")                   \
				KIT_END("tool_use"),                                               \
			0, 0                                                                       \
	}

/* The second time there is no new summary: what was remembered before is not forgotten for that. */
static void summaries(void)
{
	json_t *reviewer =
		json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:n, s:n, s:s, s:i, s:i, s:i, s:i, s:n}}",
			"model", "r", "provider", "name", "p", "api_format", "anthropic",
			"base_url", "http://127.0.0.1", "auth", "x-api-key", "api_version",
			"ca_file", "key", "k", "connect_timeout_secs", 9, "idle_timeout_secs", 9,
			"timeout_secs", 9, "max_retries", 0, "prices");
	AUTO_KIT k = {.format = "anthropic",
		.task = json_pack("{s:o}", "reviewer", reviewer),
		.limits = json_pack("{s:i}", "context_tokens", 4000),
		.replies = {LONG_TURN("1"), LONG_TURN("2"), LONG_TURN("3"), LONG_TURN("4"),
			{KIT_STREAM KIT_BEGIN KIT_TEXT("f1 is missing") KIT_END("end_turn"), 0, 0},
			LONG_TURN("5"), LONG_TURN("6"), {KIT_REFUSED("400", "no"), 0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a conversation gives way twice");
	is(kit_count(k.output, "older messages were replaced"), 2, "to a digest each time");
	is(kit_count(k.output, "no summary was written"), 1, "but to no second summary");
	is(kit_count(k.requests, "written by a model:]\\nf1 is missing"), 3, "the first one stays");
	is(kit_count(k.requests, "WAS BEFORE: f1 is missing"), 1, "and the reviewer has seen it");
}

int main(void)
{
	results();
	turns();
	done();
	scales();
	summaries();
	return tap_done();
}
