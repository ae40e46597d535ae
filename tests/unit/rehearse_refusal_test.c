/* The loopback provider refuses what the real APIs refuse, and both formats read as one form. */
#include "rehearse/neutral.h"

#include "base/json.h"
#include "tests/kit/tap.h"
#include <string.h>

static json_t *parse(const char *text)
{
	struct err e = ERR_NONE;
	json_t *value = json_read(text, strlen(text), 1 << 20, &e);
	if (!value)
		bail("%s in %s", e.text, text);
	return value;
}

/* `extra` completes {"model","max_tokens", ...}. */
static json_t *request(const char *messages, const char *extra)
{
	json_auto_t *all = parse(messages);
	json_auto_t *more = parse(extra);
	json_t *body =
		json_pack("{s:s, s:i, s:O}", "model", "m", "max_tokens", 100, "messages", all);
	json_object_update(body, more);
	return body;
}

static void anthropic(const char *messages, const char *extra, const char *refusal)
{
	struct err e = ERR_NONE;
	json_auto_t *body = request(messages, extra);
	json_auto_t *neutral = neutral_anthropic(body, "2023-06-01", &e);
	if (refusal)
		has_str(neutral ? "accepted" : e.text, refusal, "%s %s", messages, extra);
	else
		is_str(e.text, "", "%s %s", messages, extra);
}

static void openai(const char *messages, const char *extra, const char *refusal)
{
	struct err e = ERR_NONE;
	json_auto_t *body = request(messages, extra);
	json_auto_t *neutral = neutral_openai(body, &e);
	if (refusal)
		has_str(neutral ? "accepted" : e.text, refusal, "%s %s", messages, extra);
	else
		is_str(e.text, "", "%s %s", messages, extra);
}

#define USER "{\"role\":\"user\",\"content\":\"go\"}"
#define CALL                                                                                       \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"      \
	"\"x\",\"input\":{}}]}"
#define RESULT "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"r\"}"

static void test_versions(void)
{
	struct err e = ERR_NONE;
	json_auto_t *body = request("[" USER "]", "{}");
	json_auto_t *cold = request("[" USER "]", "{\"temperature\":0.5}");
	is(neutral_anthropic(body, NULL, &e) == NULL, 1, "the version header is required");
	has_str(e.text, "anthropic-version", "and named");
	e = ERR_NONE;
	is(neutral_anthropic(body, "2020-01-01", &e) == NULL, 1, "an unknown version");
	e = ERR_NONE;
	is(neutral_anthropic(cold, "2026-10-21", &e) == NULL, 1, "sampling under 2026-10-21");
	has_str(e.text, "temperature", "names the parameter");
	e = ERR_NONE;
	json_auto_t *fine = neutral_anthropic(cold, "2023-06-01", &e);
	ok(fine, "sampling before it");
}

static void test_anthropic(void)
{
	anthropic("[" USER "]", "{}", NULL);
	anthropic("[" USER "]", "{\"max_tokens\":0}", "max_tokens");
	anthropic("[" USER "]", "{\"model\":\"\"}", "model");
	anthropic("[]", "{}", "at least one message");
	anthropic("[{\"role\":\"assistant\",\"content\":\"x\"}]", "{}", "first message");
	anthropic("[{\"role\":\"tool\",\"content\":\"x\"}]", "{}", "role");
	anthropic("[{\"role\":\"user\",\"content\":\"\"}]", "{}", "non-empty");
	anthropic("[{\"role\":\"user\",\"content\":[]}]", "{}", "must have content");
	anthropic("[" USER ",{\"role\":\"assistant\",\"content\":[]}]", "{}", "must have content");
	anthropic("[" USER "," CALL ",{\"role\":\"user\",\"content\":[" RESULT "]}]", "{}", NULL);
	anthropic("[" USER "," CALL "]", "{}", "without `tool_result`");
	anthropic("[" USER "," CALL "," USER "]", "{}", "without `tool_result`");
	anthropic("[" USER ",{\"role\":\"user\",\"content\":[" RESULT "]}]", "{}",
		"unexpected tool_use_id");
	anthropic("[" USER "," CALL
		  ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}," RESULT
		  "]}]",
		"{}", "come first");
	anthropic("[" USER "," CALL ",{\"role\":\"user\",\"content\":[" RESULT "," RESULT "]}]",
		"{}", "a single result");
	anthropic("[" USER "," CALL ",{\"role\":\"user\",\"content\":[" RESULT "]}," CALL
		  ",{\"role\":\"user\",\"content\":[" RESULT "]}]",
		"{}", "must be unique");
	anthropic("[" USER ",{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
		  "\"t1\",\"name\":\"x y\",\"input\":{}}]},{\"role\":\"user\",\"content\":[" RESULT
		  "]}]",
		"{}", "tool_use.name");
	anthropic("[" USER
		  ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{"
		  "\"type\":\"redacted_thinking\",\"data\":\"x\"}]}," USER "]",
		"{}", "may not be a thought");
	anthropic("[" USER "]",
		"{\"tools\":[{\"name\":\"a b\",\"input_schema\":{\"type\":\"object\"}}]}", "name");
	anthropic("[" USER "]",
		"{\"tools\":[{\"name\":\"a\",\"input_schema\":{\"type\":\"array\"}}]}",
		"input_schema");
	anthropic("[" USER "]", "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5}}",
		"budget_tokens");
	anthropic("[" USER "]",
		"{\"max_tokens\":4000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000},"
		"\"tool_choice\":{\"type\":\"any\"}}",
		"forced tool use");
	anthropic("[" USER
		  ",{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\","
		  "\"signature\":\"b\"},{\"type\":\"text\",\"text\":\"x\"}]}," USER "]",
		"{}", "was modified");
}

#define O_CALL                                                                                     \
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"t1\",\"type\":"        \
	"\"function\","                                                                            \
	"\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}"
#define O_RESULT "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"r\"}"

static void test_openai(void)
{
	openai("[" USER "]", "{}", NULL);
	openai("[" USER "]", "{\"max_tokens\":0}", "max_tokens");
	openai("[" USER "]", "{\"model\":\"o3-mini\"}", "max_completion_tokens");
	openai("[]", "{}", "at least one user message");
	openai("[" USER "," O_CALL "," O_RESULT "]", "{}", NULL);
	openai("[" USER "," O_CALL "]", "{}", "missing: t1");
	openai("[" USER "," O_CALL "," USER "]", "{}", "missing: t1");
	openai("[" USER "," O_RESULT "]", "{}", "must follow");
	openai("[" USER "," O_CALL "," O_RESULT "," O_RESULT "]", "{}", "must follow");
	openai("[" USER ",{\"role\":\"assistant\",\"content\":null}]", "{}", "not null");
	openai("[" USER ",{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[]}]", "{}",
		"empty list");
	openai("[" USER "]", "{\"stream_options\":{\"include_usage\":true}}", "stream_options");
	openai("[" USER "]", "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}}]}",
		"parameters");
	openai("[{\"role\":\"robot\",\"content\":\"x\"}]", "{}", "not a role");
}

static void test_one_form(void)
{
	struct err e = ERR_NONE;
	json_auto_t *a = request("[" USER "," CALL ",{\"role\":\"user\",\"content\":[" RESULT
				 ",{\"type\":\"text\",\"text\":\"and?\"}]}]",
		"{\"system\":\"be\",\"tools\":[{\"name\":\"x\",\"input_schema\":{\"type\":"
		"\"object\"}}]}");
	json_auto_t *o = request("[{\"role\":\"system\",\"content\":\"be\"}," USER "," O_CALL
				 "," O_RESULT ",{\"role\":\"user\",\"content\":\"and?\"}]",
		"{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"x\",\"parameters\":{}}"
		"}]}");
	json_auto_t *from_a = neutral_anthropic(a, "2023-06-01", &e);
	json_auto_t *from_o = neutral_openai(o, &e);
	AUTO_FREE char *text = json_text(from_a);
	is_str(text,
		"{\"last\":\"r\\nand?\",\"messages\":[{\"role\":\"user\",\"text\":\"go\"},{"
		"\"role\":"
		"\"assistant\",\"tool_calls\":[{\"arguments\":{},\"name\":\"x\"}]},{\"role\":"
		"\"user\",\"text\":"
		"\"and?\",\"tool_results\":[\"r\"]}],\"model\":\"m\",\"prompt\":\"go\",\"system\":"
		"\"be\","
		"\"tools\":[\"x\"],\"turn\":1}",
		"the neutral form");
	ok(json_equal(from_a, from_o), "is the same for both");
}

int main(void)
{
	test_versions();
	test_anthropic();
	test_openai();
	test_one_form();
	return tap_done();
}
