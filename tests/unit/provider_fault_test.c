/* Tests the meaning of error replies, the waits, and the price of tokens. */
#include "provider/fault.h"
#include "provider/stream.h"
#include "provider/usage.h"
#include "tests/kit/tap.h"

#include <string.h>

static const struct {
	long status;
	const char *body;
	int should_retry;
	enum fault_kind want;
} replies[] = {
	{400,
		"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
		"\"x\"}}",
		-1, FAULT_FATAL},
	{400,
		"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: "
		"9 > 8\"}}",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\"}}",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"n\"}}", -1,
		FAULT_CONTEXT},
	{401, "{\"error\":{\"type\":\"authentication_error\"}}", -1, FAULT_FATAL},
	{402, "{\"error\":{\"type\":\"billing_error\"}}", -1, FAULT_FATAL},
	{403, "", -1, FAULT_FATAL},
	{404, "{\"error\":{\"type\":\"not_found_error\"}}", -1, FAULT_FATAL},
	{408, "", -1, FAULT_RETRY},
	{409, "{\"error\":{\"type\":\"conflict_error\"}}", -1, FAULT_FATAL},
	{413, "<html>too large</html>", -1, FAULT_CONTEXT},
	{422, "", -1, FAULT_FATAL},
	{429, "{\"error\":{\"type\":\"rate_limit_error\"}}", -1, FAULT_RETRY},
	{429, "{\"error\":{\"type\":\"overloaded_error\"}}", -1, FAULT_RETRY},
	{429, "{\"error\":{\"code\":\"insufficient_quota\"}}", -1, FAULT_FATAL},
	{500, "{\"error\":{\"type\":\"api_error\"}}", -1, FAULT_RETRY},
	{500, "{\"error\":{\"type\":\"api_error\"}}", 0, FAULT_FATAL},
	{502, "<html><body>Bad Gateway</body></html>", -1, FAULT_RETRY},
	{503,
		"{\"error\":{\"code\":503,\"message\":\"Loading "
		"model\",\"type\":\"unavailable_error\"}}",
		-1, FAULT_RETRY},
	{504, "{\"error\":{\"type\":\"timeout_error\"}}", -1, FAULT_RETRY},
	{529, "{\"error\":{\"type\":\"overloaded_error\"}}", -1, FAULT_RETRY},
	{400, "{\"error\":{\"type\":\"invalid_request_error\"}}", 1, FAULT_RETRY},
	{302, "", -1, FAULT_FATAL},
	{404, "{\"error\":\"model \\\"x\\\" not found\"}", -1, FAULT_FATAL},
	{0, "{\"error\":{\"type\":\"overloaded_error\"}}", -1, FAULT_RETRY},
	{0, "{\"error\":{\"code\":502}}", -1, FAULT_RETRY},
	{0, "{\"error\":{\"code\":\"invalid_api_key\"}}", -1, FAULT_FATAL},
	{0, "{\"error\":{\"message\":\"who knows\"}}", -1, FAULT_RETRY},
	/* Too long, as each of them says it. */
	{400, "{\"object\":\"error\",\"message\":\"the maximum context length is 4096\"}", -1,
		FAULT_CONTEXT},
	{400, "{\"detail\":\"prompt is too long\"}", -1, FAULT_CONTEXT},
	{400,
		"[{\"error\":{\"code\":400,\"message\":\"The input token count (1196265) exceeds "
		"the maximum number of tokens allowed (1048575).\",\"status\":"
		"\"INVALID_ARGUMENT\"}}]",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 9\"}}",
		-1, FAULT_CONTEXT},
	{400,
		"{\"error\":\"This model's maximum prompt length is 131072 but the request "
		"contains "
		"537812 tokens.\"}",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"Your request exceeded model token limit: 9\"}}", -1,
		FAULT_CONTEXT},
	{400, "{\"message\":\"Input is too long for requested model.\"}", -1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"Please reduce the length of the messages.\"}}", -1,
		FAULT_CONTEXT},
	{422, "{\"detail\":\"the prompt exceeds the context window\"}", -1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"tokens in request more than max tokens allowed\"}}", -1,
		FAULT_CONTEXT},
	{400,
		"{\"error\":{\"message\":\"prompt token count of 168929 exceeds the limit of "
		"168000\",\"code\":\"model_max_prompt_tokens_exceeded\"}}",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"Range of input length should be [1, 202745]\"}}", -1,
		FAULT_CONTEXT},
	{400,
		"{\"message\":\"too many tokens: total number of tokens in the prompt cannot "
		"exceed 4\"}",
		-1, FAULT_CONTEXT},
	{400, "{\"error\":{\"message\":\"Range of max_tokens should be [1, 8192]\"}}", -1,
		FAULT_FATAL},
	{413,
		"{\"error\":{\"message\":\"Request too large for model m on tokens per minute "
		"(TPM): Limit 6000, Requested 8000\",\"code\":\"rate_limit_exceeded\"}}",
		-1, FAULT_CONTEXT},
	{429,
		"{\"error\":{\"message\":\"Request too large for m on tokens per min (TPM): Limit "
		"30000, Requested 45000\",\"type\":\"tokens\",\"code\":"
		"\"rate_limit_exceeded\"}}",
		-1, FAULT_CONTEXT},
	{429,
		"{\"error\":{\"message\":\"Rate limit reached for m on tokens per min (TPM): Limit "
		"30000, Used 29000\",\"code\":\"rate_limit_exceeded\"}}",
		-1, FAULT_RETRY},
	{429, "{\"error\":{\"message\":\"daily token limit reached\"}}", -1, FAULT_RETRY},
	{401, "{\"error\":{\"message\":\"your context window plan has ended\"}}", -1, FAULT_FATAL},
	{400, "[]", -1, FAULT_FATAL},
	/* The type precedes the words, and the status precedes the type of a broken server. */
	{0, "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"too many tokens\"}}", -1,
		FAULT_RETRY},
	{503, "{\"error\":{\"type\":\"invalid_request_error\"}}", -1, FAULT_RETRY},
	{413, "", 1, FAULT_CONTEXT},
	/* A request that is wrong stays so, whatever the type says. */
	{400, "{\"error\":{\"type\":\"server_error\"}}", -1, FAULT_FATAL},
	{400, "{\"error\":{\"type\":\"api_error\"}}", -1, FAULT_FATAL},
	{400, "{\"error\":{\"type\":\"overloaded_error\"}}", -1, FAULT_FATAL},
	{400, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}", -1, FAULT_FATAL},
	{400, "{\"error\":{\"code\":429}}", -1, FAULT_FATAL},
	{422, "{\"error\":{\"code\":503,\"type\":\"server_error\"}}", -1, FAULT_FATAL},
	{404, "{\"error\":{\"type\":\"api_error\"}}", -1, FAULT_FATAL},
	{0, "{\"error\":{\"code\":400,\"type\":\"server_error\"}}", -1, FAULT_FATAL},
	{400, "{\"error\":{\"type\":\"server_error\",\"message\":\"the context size is 9\"}}", -1,
		FAULT_CONTEXT},
	{408, "{\"error\":{\"type\":\"server_error\"}}", -1, FAULT_RETRY},
};

static void classes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
		struct fault f = FAULT_INIT;
		fault_reply(&f, replies[i].status, replies[i].body, strlen(replies[i].body),
			replies[i].should_retry);
		is(f.kind, replies[i].want, "%ld %.60s", replies[i].status, replies[i].body);
	}
	struct fault f = FAULT_INIT;
	fault_reply(&f, 404, "{\"error\":\"no such model\"}", 25, -1);
	has_str(f.text, "no such model", "a bare string is a message");
	f = FAULT_INIT;
	fault_reply(&f, 400, "[{\"error\":{\"message\":\"no such tool\"}}]", 38, -1);
	is_str(f.text, "the provider answered 400: no such tool", "Google's list of one is read");
	f = FAULT_INIT;
	fault_reply(&f, 422, "{\"detail\":[{\"msg\":\"odd\"}]}", 25, -1);
	has_str(f.text, "[{\"msg\":\"odd\"}]", "what is no text is shown as it came");
	f = FAULT_INIT;
	fault_reply(&f, 502, "<html>\x1b[31mgone", 15, -1);
	ok(!strchr(f.text, 0x1b), "control characters do not reach a person");
	f = FAULT_INIT;
	fault_reply(&f, 502, "gone \xe9t\xe9 away", 14, -1);
	has_str(f.text, "gone  t  away", "what is no UTF-8 does not hide the rest");
	f = FAULT_INIT;
	fault_reply(&f, 302, "", 0, -1);
	has_str(f.text, "is base_url right?", "a redirect is explained");
	f = FAULT_INIT;
	fault_reply(&f, 404, "<html>Not found", 15, -1);
	has_str(f.text, "404; are base_url and the model right?: <html>", "as is nothing there");
	f = FAULT_INIT;
	ok(!stream_parse("<html>Welcome", 13, &f), "a page is no reply");
	has_str(f.text, "<html>Welcome", "and is shown");
	f = FAULT_INIT;
	ok(!stream_parse(" ", 1, &f), "nothing is no reply");
	ok(f.text[strlen(f.text) - 1] != ' ', "and is not shown: %s", f.text);
	f = FAULT_INIT;
	char big[5000];
	memset(big, 'x', sizeof(big));
	fault_reply(&f, 500, big, sizeof(big), -1);
	ok(strlen(f.text) < 500, "a long body is cut");
}

/* An error in what began as an answer, as the operator reads it. */
static void in_stream(void)
{
	static const struct {
		const char *body, *want;
	} table[] = {
		{"{\"error\":{\"message\":\"No credits\",\"code\":402}}",
			"the provider reported an error (402): No credits"},
		{"{\"error\":{\"message\":\"bad\",\"code\":\"invalid_api_key\"}}",
			"the provider reported an error (invalid_api_key): bad"},
		{"{\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}",
			"the provider reported an error (overloaded_error): busy"},
		{"{\"error\":\"busy\"}", "the provider reported an error: busy"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fault f = FAULT_INIT;
		fault_reply(&f, 0, table[i].body, strlen(table[i].body), -1);
		is_str(f.text, table[i].want, "an error with what names it");
	}
	struct fault f = FAULT_INIT;
	ok(!stream_parse("", 0, &f), "an empty body is no reply");
	is_str(f.text, "the provider's reply is empty", "and called what it is");
}

/* The status whose advice the operator needs, wherever it stands. */
static void stands_for(void)
{
	static const struct {
		long status, want;
		const char *body;
	} table[] = {
		{402, 402, "{\"error\":{\"message\":\"No credits\"}}"},
		{0, 402, "{\"error\":{\"message\":\"No credits\",\"code\":402}}"},
		{0, 401, "{\"error\":{\"message\":\"bad\",\"code\":\"invalid_api_key\"}}"},
		{0, 403, "{\"type\":\"error\",\"error\":{\"type\":\"permission_error\"}}"},
		{0, 400, "{\"error\":{\"message\":\"no temperature\",\"code\":400}}"},
		{0, 0, "{\"error\":{\"message\":\"busy\",\"code\":1302}}"},
		{0, 0, "{\"error\":\"busy\"}"},
		{429, 402, "{\"error\":{\"code\":\"insufficient_quota\"}}"},
		{429, 429, "{\"error\":{\"type\":\"rate_limit_error\"}}"},
		{400, 404, "{\"error\":{\"code\":\"model_not_found\"}}"},
		{400, 401,
			"[{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a "
			"valid "
			"API key.\",\"status\":\"INVALID_ARGUMENT\"}}]"},
		{400, 401,
			"{\"code\":\"invalid argument\",\"error\":\"Incorrect API key provided: "
			"x\"}"},
		{500, 500, "{\"error\":{\"message\":\"our API key store is down\"}}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fault f = FAULT_INIT;
		fault_reply(&f, table[i].status, table[i].body, strlen(table[i].body), -1);
		is(f.status, table[i].want, "%ld %s", table[i].status, table[i].body);
	}
}

static void waits(void)
{
	is(fault_retry_after("2", false, 0), 2000, "seconds");
	is(fault_retry_after("0.5", false, 0), 500, "a fraction");
	is(fault_retry_after("250", true, 0), 250, "milliseconds");
	is(fault_retry_after("2 \t", false, 0), 2000, "blanks behind it");
	is(fault_retry_after("-1", false, 0), -1, "negative says nothing");
	is(fault_retry_after("soon", false, 0), -1, "nor do words");
	is(fault_retry_after("Thu, 01 Jan 1970 00:01:40 GMT", false, 40), 60000, "an HTTP date");
	is(fault_retry_after("Thu, 01 Jan 1970 00:00:10 GMT", false, 40), -1, "one that is over");
	ok(fault_retry_after("1e300", false, 0) > 120000, "an absurd one stays absurd");
	uint64_t seed = 42;
	struct fault f = FAULT_INIT;
	bool in_range = true;
	for (int attempt = 0; attempt < 12; attempt++) {
		int64_t base = attempt < 5 ? 1000LL << attempt : 30000;
		int64_t got = fault_delay_ms(&f, attempt, &seed);
		in_range = in_range && got >= base * 3 / 4 && got <= base * 5 / 4;
	}
	ok(in_range, "doubling from 1 s to 30 s, a quarter of jitter");
	f.retry_after_ms = 60000;
	is(fault_delay_ms(&f, 3, &seed), 60000, "a longer wish wins");
	f.retry_after_ms = 0;
	ok(fault_delay_ms(&f, 3, &seed) >= 6000, "a shorter one makes no burst of attempts");
	f.retry_after_ms = 120000;
	is(fault_delay_ms(&f, 3, &seed), 120000, "however long,");
	f.retry_after_ms = 120001;
	is(fault_delay_ms(&f, 3, &seed), -1, "up to the ceiling");
}

static void counts(void)
{
	static const struct {
		const char *json;
		int64_t want; /* -1: refused */
	} values[] = {{"0", 0}, {"17", 17}, {"17.0", 17}, {"17.5", -1}, {"-1", -1}, {"null", -1},
		{"true", -1}, {"\"5\"", -1}, {"1e30", -1}, {"-1e300", -1}, {"-1.0", -1},
		{"1000000000001", -1}};
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		json_t *v = json_loads(values[i].json, JSON_DECODE_ANY, NULL);
		int64_t got = -1;
		int rc = usage_count(v, &got);
		ok(rc ? values[i].want < 0 && got == -1 : got == values[i].want, "count %s",
			values[i].json);
		json_decref(v);
	}
	struct prices p = {3, 15, 0.3, 3.75};
	struct usage u = {.input = 1000,
		.output = 10,
		.cache_read = 900,
		.cache_write = 50,
		.cost_microusd = -1};
	is(usage_microusd(&u, &p), 150 + 270 + 188 + 150, "each kind at its own price, rounded up");
	is(usage_microusd(&u, NULL), -1, "unpriced is unknown, not free");
	u.cost_microusd = 5;
	is(usage_microusd(&u, &p), 5, "the provider's own figure wins");
	u.cost_microusd = 0;
	is(usage_microusd(&u, &p), 150 + 270 + 188 + 150,
		"one of nothing does not, against a price");
	is(usage_microusd(&u, NULL), 0, "but without a price");
	u = (struct usage){.input = 10, .cache_read = 50, .cost_microusd = -1};
	is(usage_microusd(&u, &p), 15, "cached tokens beyond the input do not lower the bill");
}

static void shown_clean(void)
{
	static const char body[] = "{\"error\":{\"type\":\"\\u001b[2Jover\\u009bx\",\"message\":"
				   "\"a\\nb\\u001b]0;\\u202ec\"}}";
	struct fault f = FAULT_INIT;
	fault_reply(&f, 500, body, sizeof(body) - 1, -1);
	is_str(f.text,
		"the provider answered 500  [2Jover x: a b ]0; "
		"c",
		"no control character of a provider reaches a terminal");
	f = FAULT_INIT;
	stream_parse("\xef\xbb\xbf{}", 5, &f);
	has_str(f.text, "invalid token near ' ':  {}", "and nothing unseen, within quotes either");
}

static void shown_whole(void)
{
	char room[] = "......";
	fault_show(room, 4, "abcdef", 6);
	is_mem(room, sizeof(room), "abc\0..", sizeof(room),
		"what is shown ends where its room does");
	fault_show(room, 4, "ab\xe2\x82\xac", 5);
	is_str(room, "ab", "before a character that does not fit");
}

int main(void)
{
	shown_clean();
	shown_whole();
	classes();
	in_stream();
	stands_for();
	waits();
	counts();
	return tap_done();
}
