/* Replies that no vendor's API would send and a server between us and it might: what is replayed is
 * what a strict API takes back. */
#include "tests/kit/agent.h"

#include "base/json.h"
#include "tests/kit/tap.h"
#include <string.h>

#define BLOCK(at, json)                                                                            \
	"data: {\"type\":\"content_block_start\",\"index\":" #at ",\"content_block\":" json "}\n"  \
	"\n"
#define THOUGHT(at, sign)                                                                          \
	BLOCK(at, "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"" sign "\"}")
#define BROKEN(at, id, name, text)                                                                 \
	BLOCK(at, "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}}")  \
	"data: {\"type\":\"content_block_delta\",\"index\":" #at                                   \
	",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"" text "\"}}\n\n"
#define LOOK "{\"path\":\".\"}"

/* The body of the newest request; NULL: it is not JSON. New reference. */
static json_t *newest(const struct kit *kit)
{
	const char *body = NULL;
	for (const char *at = kit->requests; (at = strstr(at, "\r\n\r\n")); at += 4)
		body = at + 4;
	return body ? json_read(body, strcspn(body, "\n"), KIT_CAP_BYTES, NULL) : NULL;
}

/* Every call has its result, by an id of its own, in the message behind it. */
static bool is_paired(const json_t *messages)
{
	json_auto_t *open = json_object();
	size_t i, n;
	const json_t *m, *block;
	json_array_foreach (messages, i, m)
		json_array_foreach (json_object_get(m, "content"), n, block) {
			const char *call = json_string_value(json_object_get(block, "id"));
			const char *answer =
				json_string_value(json_object_get(block, "tool_use_id"));
			if (call && (json_object_get(open, call) ||
					    json_object_set_new(open, call, json_true())))
				return false;
			if (answer && !json_is_true(json_object_get(open, answer)))
				return false;
			if (answer)
				json_object_set_new(open, answer, json_false());
		}
	const char *id;
	json_t *left;
	json_object_foreach (open, id, left)
		if (json_is_true(left))
			return false;
	return true;
}

static void calls(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN KIT_CALL(0, "a", "list_dir", LOOK) BROKEN(1, "b",
				     "read_file", "{\\\"path\\\": tru") KIT_CALL(2, "a", "list_dir",
				     LOOK) KIT_CALL(3, "not one\\u0007", "no such\\ntool", "{}")
					    KIT_END("tool_use"),
				    0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "one call of four is broken, and the others run");
	is(kit_count(k.output, "\"event\":\"tool\",\"ms\""), 5, "each of them is answered");
	json_auto_t *body = newest(&k);
	ok(is_paired(json_object_get(body, "messages")), "by an id that no other call has");
	has_str(k.requests, "\"name\":\"____________\"", "under a name that the API takes back");
	has_str(k.requests, "\"malformed_arguments\":\"{\\\"path\\\": tru\"",
		"and with arguments that are an object");
}

/* Half a character is not one, and a model that keeps to it is told why, as is the user. */
static void half_character(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN BROKEN(0, "a", "read_file",
				     "{\\\"path\\\": \\\"\\\\ud800\\\"}") KIT_END("tool_use"),
			0, 0}}};
	kit_run(&k);
	has_str(k.requests, "not usable: not valid JSON at column ", "the model hears it");
	has_str(kit_reason(&k), "after a notice: not valid JSON at column ", "and the user");
}

static void deep(void)
{
	char levels[201];
	AUTO_FREE char *text = NULL;
	memset(levels, '[', 200);
	levels[200] = '\0';
	if (asprintf(&text, "%s%s%s%s%s",
		    KIT_STREAM KIT_BEGIN BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
						  "\"finish_run\",\"input\":{}}"),
		    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
		    "\"input_json_delta\",\"partial_json\":\"{\\\"summary\\\":",
		    levels, "\"}}\n\n", KIT_END("tool_use")) < 0)
		bail("out of memory");
	AUTO_KIT k = {.format = "anthropic", .replies = {{text, 0, 0}, {KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "200 levels of nesting are an error of the call");
	has_str(k.requests, "are not usable", "which is told so");
	has_str(k.requests, "Give one JSON object", "with what would be");
}

#define DELTA(text)                                                                                \
	"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"                 \
	"\"input_json_delta\",\"partial_json\":\"" text "\"}}\n\n"

/* A result that no event can carry: `part` is some elements of a list. */
static void too_large(const char *part, size_t count, const char *what)
{
	AUTO_FREE char *delta = NULL;
	AUTO_BUF reply;
	buf_init(&reply, KIT_CAP_BYTES);
	buf_adds(&reply,
		KIT_STREAM KIT_BEGIN BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
					      "\"finish_run\",\"input\":{}}"));
	buf_adds(&reply, DELTA("{\\\"summary\\\":["));
	if (asprintf(&delta, DELTA("%s"), part) < 0)
		bail("out of memory");
	while (count--)
		buf_adds(&reply, delta);
	if (buf_adds(&reply, DELTA("0]}") KIT_END("tool_use")))
		bail("out of memory");
	AUTO_KIT k = {.format = "anthropic", .replies = {{reply.data, 0, 0}, {KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a result of too many %s is to be repaired", what);
	ok(strstr(k.requests, "result: too large"), "which the model is told");
}

static void results(void)
{
	char bytes[64 * 1024 + 1], values[2 * (JSON_VALUES_MAX / 4 - 4) + 1];
	memset(bytes, 'x', sizeof(bytes) - 1);
	memcpy(bytes, "\\\"", 2);
	memcpy(bytes + sizeof(bytes) - 4, "\\\",", 4);
	for (size_t i = 0; i < sizeof(values) - 1; i += 2)
		memcpy(values + i, "0,", 3);
	too_large(bytes, 65, "bytes");
	too_large(values, 4, "values");
}

static void thoughts(void)
{
	AUTO_KIT only = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN THOUGHT(0, "s1") KIT_END("end_turn"), 0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&only);
	is_str(kit_outcome(&only), "ok", "a turn that only thought");
	ok(!strstr(only.requests, "\"signature\""), "is not sent back: no message may end so");
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN THOUGHT(0, "s2") BLOCK(
				     1, "{\"type\":\"redacted_thinking\",\"data\":\"xyz\"}")
					    KIT_CALL(2, "a", "list_dir", LOOK) THOUGHT(3, "s3")
						    KIT_END("tool_use"),
				    0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	has_str(k.requests,
		"[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s2\"},{\"type\":"
		"\"redacted_thinking\",\"data\":\"xyz\"},{\"type\":\"tool_use\"",
		"thoughts before a call go back as they came");
	ok(!strstr(k.requests, "s3"), "those behind the last call do not");
}

static void pauses(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN KIT_TEXT("wait") KIT_END("pause_turn"), 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "no progress: the model paused", "pausing for ever ends");
	is(kit_usage(&k, "turns"), 4, "after four turns");
	AUTO_KIT once = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN KIT_TEXT("wait") KIT_END("pause_turn"), 0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&once);
	is_str(kit_outcome(&once), "ok", "pausing once does not");
	json_auto_t *body = newest(&once);
	const json_t *messages = json_object_get(body, "messages");
	is_str(json_string_value(json_object_get(
		       json_array_get(messages, json_array_size(messages) - 1), "role")),
		"assistant", "the turn is continued as it was");
}

#define LETTERS_100                                                                                \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                       \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
/* Its result names the path. */
#define LONG_TURN                                                                                  \
	KIT_TURN("read_file", "{\"path\":\"" LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 "\""  \
			      "}")

/* A provider that says it is too much: results go first, then turns, what came last, then the
 * state. */
static void context(void)
{
	static const char full[] =
		KIT_HEAD("400 No", "application/json") "{\"error\":{\"type\":"
						       "\"invalid_request_error\",\"message\":"
						       "\"prompt is too long: 9 > 8\"}}";
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_TURN("list_dir", LOOK), 0, 0},
			{KIT_STREAM KIT_BEGIN KIT_CALL(0, "t2", "read_file", "{\"path\":\"x\"}")
					KIT_END("tool_use"),
				0, 0},
			{KIT_STREAM KIT_BEGIN KIT_CALL(0, "t3", "read_file", "{\"path\":\"y\"}")
					KIT_END("tool_use"),
				0, 0},
			{full, 0, 0}, {KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "old turns give way to a digest");
	json_auto_t *body = newest(&k);
	ok(is_paired(json_object_get(body, "messages")), "which leaves whole pairs");
	has_str(k.requests, "older messages were dropped", "and says so");
	AUTO_KIT once = {.format = "anthropic",
		.replies = {{LONG_TURN, 0, 0}, {full, 0, 0}, {KIT_FINISH, 0, 0}}};
	kit_run(&once);
	is_str(kit_outcome(&once), "ok", "a result that is too long by itself is not passed on");
	has_str(once.requests, "too long for the model; ask for less at a time", "which is said");
	AUTO_KIT twice = {.format = "anthropic", .replies = {{LONG_TURN, 0, 0}, {full, 0, 0}}};
	kit_run(&twice);
	has_str(kit_reason(&twice), "does not fit the model", "and not tried again");
	AUTO_KIT never = {.format = "anthropic", .replies = {{full, 0, 0}}};
	kit_run(&never);
	has_str(kit_reason(&never), "does not fit the model", "with nothing left to drop it ends");
	is(kit_count(never.requests, "POST "), 1, "at once");
}

/* Thoughts that are bound to what stood before them: where that has changed they stay behind. */
static void bound(void)
{
	static const char full[] =
		KIT_HEAD("400 No", "application/json") "{\"error\":{\"type\":"
						       "\"invalid_request_error\",\"message\":"
						       "\"prompt is too long: 9 > 8\"}}";
	static const char changed[] = KIT_HEAD(
		"400 No", "application/json") "{\"error\":{\"type\":"
					      "\"invalid_request_error\",\"message\":\"messages.3."
					      "content.0: Invalid `signature` in "
					      "`thinking` block. The block is bound to a different "
					      "conversation.\"}}";
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_STREAM KIT_BEGIN THOUGHT(0, "s1")
					    KIT_CALL(1, "t1", "list_dir", LOOK) KIT_END("tool_use"),
				    0, 0},
			{KIT_STREAM KIT_BEGIN THOUGHT(0, "s2") KIT_CALL(
				 1, "t2", "read_file", "{\"path\":\"x\"}") KIT_END("tool_use"),
				0, 0},
			{KIT_STREAM KIT_BEGIN THOUGHT(0, "s3") KIT_CALL(
				 1, "t3", "read_file", "{\"path\":\"y\"}") KIT_END("tool_use"),
				0, 0},
			{full, 0, 0}, {changed, 0, 0},
			{KIT_STREAM KIT_BEGIN THOUGHT(0, "s4") KIT_CALL(
				 1, "t4", "list_dir", "{\"path\":\"z\"}") KIT_END("tool_use"),
				0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a conversation that was cut goes on");
	json_auto_t *body = newest(&k);
	AUTO_FREE char *text = json_text(body);
	ok(strstr(text, "\"s1\""), "with the thought before the cut");
	ok(!strstr(text, "\"s3\"") && strstr(text, "\"t3\""), "without the one behind it");
	ok(strstr(text, "\"s4\""), "and with what was thought since");
	ok(is_paired(json_object_get(body, "messages")), "in whole pairs");
	is(kit_count(k.requests, "POST "), 7, "after one refusal");
}

static void always_thinking(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.task = json_pack("{s:s}", "thinking", "off"),
		.replies = {{KIT_HEAD("400 No",
				     "application/json") "{\"error\":{\"type\":"
							 "\"invalid_request_error\",\"message\":"
							 "\"\\\"thinking.type.disabled\\\" is "
							 "not supported for this model. Use "
							 "\\\"thinking.type.adaptive\\\"\"}}",
				    0, 0},
			{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a model that cannot but think");
	is(kit_count(k.requests, "\"thinking\":{"), 1, "is told once not to");
	is(kit_count(k.requests, "POST "), 2, "and asked again");
}

static void refused_headers(const char *before, const char *many)
{
	AUTO_FREE char *text = NULL;
	if (!many || asprintf(&text, "%s%s", before, many) < 0)
		bail("out of memory");
	AUTO_KIT k = {.format = "anthropic", .replies = {{text, 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "KiB of headers", "headers without end behind %.21s", before);
}

/* Headers without end: of answers before the answer, of the answer, and behind its last chunk. */
static void headers(void)
{
	static const char *const before[] = {"HTTP/1.1 102 Processing\r\n",
		"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n",
		("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
		 "transfer-encoding: chunked\r\n\r\n3\r\n: x\r\n0\r\n")};
	static const char line[] = "x-more: 0123456789abcdef0123456789abcdef\r\n";
	enum { LINES = 20000 };
	AUTO_FREE char *many = malloc(LINES * (sizeof(line) - 1) + 1);
	for (size_t i = 0; many && i < LINES; i++)
		memcpy(many + i * (sizeof(line) - 1), line, sizeof(line));
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		refused_headers(before[i], many);
}

/* Checks that a body may be as long as a stream's content, and no longer. */
static void long_body(void)
{
	static char reply[64 * 1024] = KIT_HEAD("200 OK", "application/json") "{";
	memset(reply + strlen(reply), ' ', sizeof(reply) - 1 - strlen(reply));
	AUTO_KIT k = {.format = "openai", .replies = {{reply, 0, 170}}};
	kit_run(&k);
	has_str(kit_reason(&k), "more than 10 MiB of content", "a reply that does not stream");
	is(kit_count(k.requests, "POST "), 1, "is not asked for again");
}

/* A secret may be a word of the agent's own: the supervisor goes by these names. */
static void named_as_ours(const char *secret)
{
	AUTO_FREE char *call = NULL, *theirs = NULL;
	if (asprintf(&call, KIT_TURN("list_dir", "{\"path\":\".\",\"%s\":77}"), secret) < 0 ||
		asprintf(&theirs, "\"%s\":77", secret) < 0)
		bail("out of memory");
	AUTO_KIT k = {.format = "anthropic",
		.key = secret,
		.replies = {{call, 0, 0}, {KIT_FINISH, 0, 0}},
		.task = json_pack("{s:b}", "record", 1)};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s is a key: the agent goes on", secret);
	is(kit_count(k.output, "\"event\":\"exchange\""), 2, "its events have their names");
	is(kit_count(k.output, "\"tool_calls\":["), 4, "and their members");
	is(kit_count(k.output, "\"output_tokens\":"), 11, "which are counted");
	is(kit_count(k.output, theirs), 0, "a name that a model says is hidden");
	is(kit_count(k.output, "\"[REDACTED:key]\":77"), 2, "in its message and its exchange");
}

int main(void)
{
	calls();
	half_character();
	deep();
	results();
	thoughts();
	pauses();
	context();
	bound();
	always_thinking();
	headers();
	long_body();
	named_as_ours("exchange");
	named_as_ours("tool_calls");
	named_as_ours("output_tokens");
	return tap_done();
}
