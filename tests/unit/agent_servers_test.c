/* The agent with servers that differ from the first vendors': what they refuse, where they answer,
 * how long a connection lasts. */
#include "tests/kit/agent.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "tests/kit/tap.h"
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define OPENAI_CALL(name, arguments)                                                               \
	KIT_STREAM "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","    \
		   "\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments                \
		   "\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
#define OPENAI_FINISH OPENAI_CALL("finish_run", "{\\\"summary\\\":\\\"x\\\"}")
#define OPENAI_LIST   OPENAI_CALL("list_dir", "{\\\"path\\\":\\\".\\\"}")

/* Checks what a 400 teaches, and the next request. */
static void openai_quirks(void)
{
	AUTO_KIT off = {.format = "openai",
		.replies = {{KIT_REFUSED("400",
				     "Function tools with reasoning_effort are not supported "
				     "for m in /v1/chat/completions. Use /v1/responses or "
				     "set reasoning_effort to 'none'."),
				    0, 0},
			{OPENAI_FINISH, 0, 0}}};
	kit_run(&off);
	is_str(kit_outcome(&off), "ok", "a model that thinks without being asked is told not to");
	is(kit_count(off.requests, "\"reasoning_effort\":\"none\""), 1, "in so many words");
	has_str(off.output, "asking again as the provider wants it: ", "no failure is reported");
	AUTO_KIT every = {.format = "openai",
		.replies = {{OPENAI_LIST, 0, 0},
			{KIT_REFUSED("400",
				 "thinking is enabled but reasoning_content is missing in "
				 "assistant tool call message at index 2"),
				0, 0},
			{OPENAI_FINISH, 0, 0}}};
	kit_run(&every);
	is_str(kit_outcome(&every), "ok", "a turn without thoughts says so where it must");
	is(kit_count(every.requests, "\"reasoning_content\":\"\""), 1, "from then on");
	AUTO_KIT never = {.format = "openai",
		.replies = {{KIT_STREAM "data: {\"choices\":[{\"delta\":{\"reasoning_content\":"
					"\"deep\",\"tool_calls\":[{\"index\":0,\"id\":\"c\","
					"\"function\":{\"name\":\"list_dir\",\"arguments\":"
					"\"{\\\"path\\\":\\\".\\\"}\"}}]},\"finish_reason\":"
					"\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
				    0, 0},
			{KIT_REFUSED("422",
				 "'messages.2': property 'reasoning_content' is unsupported"),
				0, 0},
			{OPENAI_FINISH, 0, 0}}};
	kit_run(&never);
	is_str(kit_outcome(&never), "ok", "thoughts that a server does not take stay here");
	is(kit_count(never.requests, "\"reasoning_content\":\"deep\""), 1,
		"once they were refused");
}

/* A refusal that names a member of the request is repaired once, and not asked for again. */
static void repaired(const char *refusal, const char *want, const char *unwanted)
{
	AUTO_KIT k = {.format = "openai",
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{refusal, 0, 0}, {OPENAI_LIST, 0, 0}, {OPENAI_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s: %s", refusal, kit_reason(&k));
	is(kit_count(k.requests, "POST "), 3, "it costs one request");
	is(kit_count(k.requests, want), want == unwanted ? 1 : 2, "of the others each has %s",
		want);
	is(kit_count(k.requests, unwanted), 1, "and %s stands in the first alone", unwanted);
	AUTO_KIT stubborn = {.format = "openai",
		.provider = json_pack("{s:i}", "max_retries", 3),
		.replies = {{refusal, 0, 0}}};
	kit_run(&stubborn);
	is_str(kit_outcome(&stubborn), "failed", "a server that refuses on is believed");
	is(kit_count(stubborn.requests, "POST "), 2, "at the second time");
}

static void members(void)
{
	repaired(KIT_REFUSED("400", "Unrecognized request argument: stream_options"),
		"\"stream\":true,\"tools\"", "\"stream_options\"");
	repaired(KIT_REFUSED("422", "'system' role is not supported"),
		"\"role\":\"user\",\"content\":\"You are one step", "\"role\":\"system\"");
	repaired(KIT_REFUSED("404", "No endpoints found that support this 'tool_choice' value"),
		"],\"tool_choice\":\"auto\"", "}}],\"messages\"");
	repaired(KIT_REFUSED("422", "tools.0.function.strict: Field required"),
		"\"strict\":false}}],\"messages\"", "}}}],\"messages\"");
}

/* An answer of nothing: Mistral and Anthropic do not take it back. */
static void silent(const char *format, const char *list, const char *nothing, const char *finish)
{
	AUTO_KIT k = {.format = format, .replies = {{list, 0, 0}, {nothing, 0, 0}, {finish, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s: a model that says nothing is asked on", format);
	is(kit_count(k.requests, "\"role\":\"assistant\""), 2, "its nothing is not sent back");
	has_str(k.requests, "\\n[agent6: Go on with the task.", "and it hears so in the results");
	is(kit_count(k.requests, "\"role\":\"user\",\"content\":\"Go on"), 0, "not behind them");
}

/* Checks the path of a call for each base_url. */
static void paths(void)
{
	static const struct {
		const char *format, *base, *want;
	} table[] = {
		{"openai", "", "POST /v1/chat/completions HTTP"},
		{"openai", "/api/v1/", "POST /api/v1/chat/completions HTTP"},
		{"openai", "/v1beta/openai", "POST /v1beta/openai/chat/completions HTTP"},
		{"openai", "/api/paas/v4/", "POST /api/paas/v4/chat/completions HTTP"},
		{"openai", "/v4/ai/v1", "POST /v4/ai/v1/chat/completions HTTP"},
		{"openai", "/v1x/vendor", "POST /v1x/vendor/v1/chat/completions HTTP"},
		{"anthropic", "/anthropic", "POST /anthropic/v1/messages HTTP"},
		{"anthropic", "/v1/gateway", "POST /v1/gateway/v1/messages HTTP"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO_KIT k = {.format = table[i].format, .base = table[i].base};
		k.replies[0] = (struct kit_reply){KIT_REFUSED("404", "nothing here"), 0, 0};
		kit_run(&k);
		has_str(k.requests, table[i].want, "the path for %s %s", table[i].format,
			table[i].base);
	}
}

#define SIZED_CALL(name, arguments) KIT_BEGIN KIT_CALL(0, "t", name, arguments) KIT_END("tool_use")

/* Two turns whose replies leave the connection open. */
struct two_turns {
	char first[2000], last[2000];
};

static struct two_turns two_turns(void)
{
	static const char list[] = SIZED_CALL("list_dir", "{\"path\":\".\"}");
	static const char end[] = SIZED_CALL("finish_run", "{\"summary\":\"x\"}");
	struct two_turns t;
	snprintf(t.first, sizeof(t.first), "HTTP/1.1 200 OK\r\n" KIT_SIZED, strlen(list), list);
	snprintf(t.last, sizeof(t.last), "HTTP/1.1 200 OK\r\n" KIT_SIZED, strlen(end), end);
	return t;
}

/* A handshake less per turn; and what the server closed while a command ran is not used again. */
static void one_connection(void)
{
	struct two_turns t = two_turns();
	AUTO_KIT k = {.format = "anthropic",
		.keep = 3,
		.replies = {{t.first, 0, 0}, {t.first, 0, 0}, {t.last, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "three turns");
	is(kit_count(k.requests, "POST "), 3, "are three requests");
	is(kit_count(k.requests, "CONNECTION"), 1, "on one connection");
	AUTO_KIT closed = {.format = "anthropic",
		.keep = 2,
		.replies = {{t.first, 0, 0}, {t.first, 0, 0}, {t.last, 0, 0}}};
	kit_run(&closed);
	is_str(kit_outcome(&closed), "ok", "a connection that was closed between turns");
	is(kit_count(closed.requests, "POST "), 3, "costs no request");
	is(kit_count(closed.requests, "CONNECTION"), 2, "but another connection");
	is(kit_count(closed.output, "retry 1 of"), 0, "and no retry");
}

/* The server closes what was kept just as it is used again. */
static void closed_just_then(size_t prompt_bytes)
{
	struct two_turns t = two_turns();
	AUTO_FREE char *prompt = calloc(1, prompt_bytes + 1);
	memset(prompt, 'x', prompt_bytes);
	AUTO_KIT k = {.format = "anthropic",
		.slams = true,
		.task = json_pack("{s:s}", "prompt", prompt),
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{t.first, 0, 0}, {t.last, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "closed in %zu bytes: %s", prompt_bytes, kit_reason(&k));
	is(kit_count(k.requests, "POST "), 2, "each request is answered once");
	is(kit_count(k.requests, "CONNECTION"), 2, "the second on a connection of its own");
}

static void unnamed_stream(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_HEAD("200 OK", "text/plain") KIT_BEGIN KIT_CALL(0, "t",
				     "finish_run", "{\"summary\":\"x\"}") KIT_END("tool_use"),
			0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a stream is known by how it begins, whatever its type says");
}

static void misnamed_charset(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{KIT_HEAD("200 OK", "text/event-stream\r\ncontent-encoding: UTF-8")
				     KIT_BEGIN KIT_CALL(0, "t", "finish_run", "{\"summary\":\"x\"}")
					     KIT_END("tool_use"),
			0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a charset where a compression belongs hinders nothing");
}

/* Nothing compressed was asked for: what it grows to would be beyond every limit. */
static void compressed(void)
{
	AUTO_KIT k = {.format = "anthropic",
		.replies = {{"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
			     "content-encoding: gzip\r\nconnection: close\r\n\r\n\x1f\x8b",
			0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "compressed its answer", "a compressed answer is named");
	is(kit_count(k.requests, "POST "), 1, "and not asked for again");
}

static void compressed_error(void)
{
	AUTO_KIT k = {.format = "openai",
		.replies = {{"HTTP/1.1 400 No\r\ncontent-type: application/json\r\n"
			     "content-encoding: gzip\r\nconnection: close\r\n\r\n\x1f\x8bKNOT",
			0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "answered 400: (compressed)", "an error nobody can read says so");
	ok(!strstr(kit_reason(&k), "KNOT"), "and shows no bytes of it");
}

/* Checks that headers after a body do not change its meaning. */
static void trailers(void)
{
	static const char turn[] = SIZED_CALL("finish_run", "{\"summary\":\"x\"}");
	char reply[2000];
	snprintf(reply, sizeof(reply),
		"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
		"transfer-encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n"
		"content-type: application/json\r\ncontent-encoding: gzip\r\n\r\n",
		strlen(turn), turn);
	AUTO_KIT k = {.format = "anthropic",
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{reply, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "trailers turn no reply around: %s", kit_reason(&k));
}

/* More than libcurl takes of one header. */
static void long_header(void)
{
	static char reply[200 * 1024] = "HTTP/1.1 200 OK\r\nx: ";
	memset(reply + strlen(reply), 'x', sizeof(reply) - 1 - strlen(reply));
	AUTO_KIT k = {.format = "openai", .replies = {{reply, 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "a header of the provider's reply is too long", "a long header");
	is(kit_count(k.requests, "POST "), 1, "is not asked for again");
}

#define FAILED(headers) "HTTP/1.1 500 No\r\nconnection: close\r\n" headers "\r\n"

/* Headers of replies that have an effect, and those that have none. */
static const struct {
	const char *reply, *reason;
	size_t requests;
} heads_sent[] = {
	{"HTTP/1.1 103 Early Hints\r\ncontent-type: application/json\r\n"
	 "content-encoding: gzip\r\n\r\n" KIT_FINISH,
		"finish_run", 1},
	{FAILED("x-should-retry: false\r\n"), "answered 500", 1},
	{FAILED("retry-after: 999\r\n"), "999 s", 1},
	{FAILED("retry-after-ms: 5\r\nretry-after: 999\r\n"), "finish_run", 2},
	{FAILED("retry-after: 999\r\nretry-after-ms: 5\r\n"), "finish_run", 2},
	{KIT_HEAD("200 OK", "text/event-stream\r\ncontent-encodings: gzip") KIT_BEGIN KIT_CALL(
		 0, "t", "finish_run", "{\"summary\":\"x\"}") KIT_END("tool_use"),
		"finish_run", 1},
	{FAILED("x-should-retry: false\r\nx-request-id: r-7.b\r\n"), "(request r-7.b)", 1},
	{FAILED("x-should-retry: false\r\nrequest-id: a b\r\n"), "answered 500", 1},
};

static void heads(void)
{
	for (size_t i = 0; i < ARRAY_LEN(heads_sent); i++) {
		AUTO_KIT k = {
			.format = "anthropic", .provider = json_pack("{s:i}", "max_retries", 1)};
		k.replies[0] = (struct kit_reply){heads_sent[i].reply, 0, 0};
		k.replies[1] = (struct kit_reply){KIT_FINISH, 0, 0};
		kit_run(&k);
		has_str(kit_reason(&k), heads_sent[i].reason, "what follows from head %zu", i);
		ok(!strstr(kit_reason(&k), "a b"), "with no id that is none");
		is(kit_count(k.requests, "POST "), (int64_t)heads_sent[i].requests,
			"which is so many");
	}
}

/* Some gateways call everything a stream that answers a request for one. */
static void misnamed_whole(void)
{
	AUTO_KIT refused = {.format = "openai",
		.replies = {{KIT_STREAM "{\"error\":{\"message\":\"no credit left\","
					"\"type\":\"insufficient_quota\"}}\n",
			0, 0}}};
	kit_run(&refused);
	has_str(kit_reason(&refused), "(insufficient_quota): no credit left",
		"an error that is called a stream");
	is(kit_count(refused.requests, "POST "), 1, "is not asked for again");
	AUTO_KIT whole = {.format = "openai",
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{KIT_STREAM "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c\","
					"\"function\":{\"name\":\"finish_run\",\"arguments\":"
					"\"{\\\"summary\\\":\\\"x\\\"}\"}}]},"
					"\"finish_reason\":\"tool_calls\"}]}",
			0, 0}}};
	kit_run(&whole);
	is_str(kit_outcome(&whole), "ok", "and so is a reply: %s", kit_reason(&whole));
}

#define MARK "\xef\xbb\xbf"
#define WHOLE                                                                                      \
	"{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":"        \
	"\"finish_run\",\"arguments\":\"{\\\"summary\\\":\\\"x\\\"}\"}}]}}]}"

/* A byte-order mark before JSON says nothing (RFC 8259, 8.1). */
static void marked(const char *reply, const char *want)
{
	AUTO_KIT k = {.format = "openai",
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{reply, 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), want, "behind a mark: %s", want);
}

/* The broker says of both that nothing was reached. */
static void unreached(const char *proxy, const char *want)
{
	AUTO_KIT k = {.format = "openai",
		.order = json_pack("{s:s?}", "upstream_proxy", proxy),
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{"", 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), want, "where to look when nothing answers %s",
		proxy ? "behind a proxy" : "");
	is(kit_count(k.output, "proxy"), proxy != NULL, "which is named where there is one");
}

/* A wait in milliseconds is exacter than one in seconds, wherever it stands. */
static void asked_to_wait(const char *headers)
{
	char reply[500];
	snprintf(reply, sizeof(reply), "HTTP/1.1 429 No\r\n%s\r\nconnection: close\r\n\r\nslow",
		headers);
	AUTO_KIT k = {.format = "openai", .replies = {{reply, 0, 0}, {OPENAI_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s: asked again", headers);
	has_str(k.output, "retry 1 of 2 in 1.6 s: ", "after that time");
}

/* One message has the cause, in each retry and in the end. */
static void not_dialled(const char *endpoint, int retries, const char *want)
{
	AUTO_KIT k = {.format = "openai",
		.order = json_pack("{s:[{s:s, s:s, s:b, s:b, s:b}]}", "channels", "name", "p",
			"endpoint", endpoint, "tls", 0, "local", 1, "private", 0),
		.provider = json_pack("{s:i}", "max_retries", retries),
		.replies = {{"", 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), want, "%s", endpoint);
	is(kit_count(k.output, want), (size_t)retries + 1, "in each retry's notice, too");
	is(kit_count(k.output, "mpty reply"), 0, "and nothing else is said of it");
}

/* A server whose queue is full answers nobody. The broker waits for ten seconds. */
static void not_answered(void)
{
	enum { QUEUED = 2 };
	int queued[QUEUED];
	char endpoint[64];
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&a, len) || listen(fd, 0) ||
		getsockname(fd, (struct sockaddr *)&a, &len))
		bail("cannot listen on loopback");
	for (int i = 0; i < QUEUED; i++) {
		queued[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (!connect(queued[i], (struct sockaddr *)&a, len) || errno != EINPROGRESS)
			diag("connection %d to the full queue: %m", i);
	}
	snprintf(endpoint, sizeof(endpoint), "127.0.0.1:%d", ntohs(a.sin_port));
	not_dialled(endpoint, 0, "no answer from the provider: nothing answered in time; look");
	for (int i = 0; i < QUEUED; i++)
		close(queued[i]);
}

/* Checks that a refusal by the proxy is reported, with advice for whoever runs it. */
static void refused_by_proxy(
	const char *scheme, const char *reply, const char *want, const char *next)
{
	AUTO_KIT k = {.format = "openai",
		.proxies = scheme,
		.deaf = !strcmp(scheme, "socks5h"),
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{reply, strcmp(scheme, "http") ? 60 : 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), want, "a proxy's own answer is told");
	has_str(kit_reason(&k), next, "and what to do next");
}

/* Which of the two times was over. */
static void own_time(void)
{
	AUTO_KIT k = {.format = "openai",
		.provider = json_pack("{s:i, s:i}", "timeout_secs", 5, "max_retries", 0),
		.replies = {{"HTTP/1.1 200 OK\r\n", 20, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), "took longer than its timeout_secs", "the provider's own time-out");
	ok(kit_usage(&k, "input_tokens") > 100, "and what was asked was paid for");
}

/* Between what ends the turn and what it cost. */
static void broken_before_usage(void)
{
	AUTO_KIT k = {.format = "openai",
		.limits = json_pack("{s:i}", "max_input_tokens", 1000000),
		.replies = {{"HTTP/1.1 200 OK\r\n"
			     "content-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
			     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
			     "\"id\":\"c\",\"function\":{\"name\":\"finish_run\",\"arguments\":"
			     "\"{\\\"summary\\\":\\\"x\\\"}\"}}]},"
			     "\"finish_reason\":\"tool_calls\"}]}\n\n",
			0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a connection that breaks there has delivered the turn");
	ok(kit_usage(&k, "input_tokens") > 100, "whose input is estimated (%lld)",
		(long long)kit_usage(&k, "input_tokens"));
	ok(kit_usage(&k, "output_tokens") > 0, "and its output");
}

/* Nothing more is to come, and the server does not say so. */
static void held_open(const char *format, const char *reply)
{
	AUTO_KIT k = {.format = format,
		.limits = json_pack("{s:i}", "timeout_secs", 20),
		.replies = {{reply, 60, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s: the turn that ended counts: %s", format, kit_reason(&k));
}

/* An agent that is killed then has lost nothing of it. */
static void counts_under_way(void)
{
	AUTO_KIT k = {.format = "openai",
		.provider = json_pack("{s:i}", "max_retries", 0),
		.replies = {{KIT_STREAM "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],"
					"\"usage\":{\"prompt_tokens\":5000,"
					"\"completion_tokens\":1}}\n\n",
			0, 0}}};
	kit_run(&k);
	has_str(k.output, "\"most\":{\"cached_tokens\":0,\"input_tokens\":5000,",
		"what a server counts while it answers is told at once");
}

/* However many pieces it answers in: before the call, and when it has counted. */
static void told_once(const char *counted, size_t times)
{
	enum { PIECES = 20000 };
	AUTO_BUF reply;
	buf_init(&reply, 1 << 20);
	buf_adds(&reply, KIT_STREAM);
	for (size_t i = 0; i < PIECES; i++)
		buf_adds(&reply, i == PIECES / 2 ? counted : ": a comment\n\n");
	buf_adds(&reply, "data: [DONE]\n\n");
	AUTO_KIT k = {.format = "openai",
		.limits = json_pack("{s:i}", "max_iterations", 1),
		.replies = {{reply.data, 0, 0}}};
	kit_run(&k);
	is(kit_count(k.output, "\"most\":"), times, "what a call can come to is told %zu times",
		times);
}

static void advises(void)
{
	static const struct {
		struct kit_reply reply;
		const char *want;
	} table[] = {
		{{KIT_REFUSED("402", "no credit"), 0, 0}, "name another one in models.worker"},
		{{KIT_REFUSED("403", "not in your region"), 0, 0},
			"the region, may lack the model"},
		{{KIT_REFUSED("404", "no such model"), 0, 0}, "else that of models.worker"},
		{{KIT_REFUSED("401", "no such key"), 0, 0}, "api_key_env"},
		{{KIT_STREAM "data: {\"error\":{\"message\":\"no credit\",\"code\":402}}\n\n", 0,
			 0},
			"name another one in models.worker"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO_KIT k = {.format = "openai", .replies = {table[i].reply}};
		kit_run(&k);
		has_str(kit_reason(&k), "provider p, model test-model: the provider ",
			"a refusal says whose it is");
		has_str(kit_reason(&k), table[i].want, "and what to look at");
	}
}

static void advises_without_key(const char *auth, const char *want)
{
	AUTO_KIT k = {.format = "openai",
		.provider = json_pack("{s:s, s:n}", "auth", auth, "key"),
		.replies = {{KIT_REFUSED("401", "who are you"), 0, 0}}};
	kit_run(&k);
	has_str(kit_reason(&k), want, "a key that is not wanted is not one that is nowhere");
}

int main(void)
{
	openai_quirks();
	members();
	silent("openai", OPENAI_LIST,
		KIT_STREAM "data: {\"choices\":[{\"delta\":{\"content\":\"\\n\"},"
			   "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		OPENAI_FINISH);
	silent("anthropic", KIT_TURN("list_dir", "{\"path\":\".\"}"),
		KIT_STREAM KIT_BEGIN KIT_END("end_turn"), KIT_FINISH);
	paths();
	one_connection();
	closed_just_then(10);
	closed_just_then(8 << 20);
	unnamed_stream();
	misnamed_charset();
	compressed();
	compressed_error();
	trailers();
	long_header();
	heads();
	misnamed_whole();
	marked(KIT_HEAD("200 OK", "application/json") MARK WHOLE, "finish_run");
	marked(KIT_HEAD("200 OK", "text/plain") MARK WHOLE, "finish_run");
	marked(KIT_STREAM MARK WHOLE, "finish_run");
	marked(KIT_HEAD("400 No", "text/plain") MARK "{\"error\":{\"message\":\"no flag\"}}",
		"answered 400: no flag");
	own_time();
	unreached(NULL, "is right and something answers there");
	asked_to_wait("retry-after-ms: 1600");
	asked_to_wait("retry-after-ms: 1600\r\nretry-after: 100");
	asked_to_wait("retry-after: 100\r\nx-ms-retry-after-ms: 1600.0");
	not_dialled("127.0.0.1:1", 1,
		"no answer from the provider: the connection is refused; look whether base_url");
	not_dialled("nowhere.invalid:80", 1,
		"no answer from the provider: its host name is not found; look");
	/* No connection goes to a broadcast address, not even that of loopback. */
	not_dialled("127.255.255.255:80", 1,
		"no answer from the provider: no way leads to its host; look");
	not_answered();
	unreached("http://user:word@127.0.0.1:1",
		"no answer from sandbox.upstream_proxy: the connection is refused; look whether it "
		"runs, takes");
	refused_by_proxy("http", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
		"sandbox.upstream_proxy answers 407", "http://USER:PASSWORD@PROXY:PORT");
	refused_by_proxy("http", "HTTP/1.1 502 Bad Gateway\r\n\r\n",
		"sandbox.upstream_proxy answers 502", "lets this host through and reaches it");
	refused_by_proxy("socks5h", "\5\xff", "sandbox.upstream_proxy answers with a SOCKS error",
		"as socks5h://USER:PASSWORD@PROXY:PORT");
	broken_before_usage();
	counts_under_way();
	told_once("data: "
		  "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
		2);
	told_once("data: {\"choices\":[]}\n\n", 1);
	held_open("openai", OPENAI_FINISH);
	held_open("anthropic", KIT_FINISH);
	advises();
	advises_without_key("none", "no key is sent: providers.p.auth is none");
	advises_without_key(
		"bearer", "no key is sent; it would be that of the variable in providers.p");
	return tap_done();
}
