/*
 * Runs the real agent6-agent, through the real agent6-broker, against a server on loopback that
 * plays a script of raw replies; for the tests of the agent as a whole.
 */
#ifndef TESTS_KIT_AGENT_H
#define TESTS_KIT_AGENT_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { KIT_REPLIES_MAX = 16, KIT_CAP_BYTES = 128 * 1024 * 1024 };

/* One connection's answer; a NULL text ends the script (the last reply is repeated). */
struct kit_reply {
	const char *text; /* raw bytes behind the status line and headers as written here */
	int stall_secs;   /* before closing */
	size_t repeat;    /* the text again, this many times */
};

struct kit {
	struct kit_reply replies[KIT_REPLIES_MAX];
	const char *format, *profile, *key;
	const char *ca_file,
		*tls_pem;    /* both: TLS is put in front, with this certificate and key */
	const char *proxies; /* it is the upstream proxy, too, of this scheme */
	const char *trace;   /* strace's log of every socket call */
	const char *base;    /* the path of base_url; NULL: "/v1" */
	int pause_ms;        /* of the server, before it says a text again */
	const char *last;    /* what it says behind each text and its repeats */
	bool deaf;           /* the server reads nothing of a request */
	int keep;            /* requests that the server answers on one connection; 0: one */
	bool slams;          /* it closes behind them when the next has begun to come */
	json_t *task, *limits, *provider; /* members to merge into the second line; taken */
	json_t *order;                    /* the same for the first */
	char workspace[256];
	/* results */
	int exit;
	json_t *events, *result; /* result: borrowed from events */
	char *requests; /* everything the server received, a line per connection before it */
	char *output;   /* everything the agent wrote */
	long max_rss_kib;
};

void kit_done(struct kit *kit);
/* Runs the agent to its end. */
void kit_run(struct kit *kit);
const char *kit_outcome(const struct kit *kit);
const char *kit_reason(const struct kit *kit);
int64_t kit_usage(const struct kit *kit, const char *name);
size_t kit_count(const char *text, const char *part);

#define AUTO_KIT __attribute__((cleanup(kit_done))) struct kit
/* --- replies, in Anthropic's form --- */
#define KIT_HEAD(status, type)                                                                     \
	"HTTP/1.1 " status "\r\ncontent-type: " type "\r\nconnection: close\r\n\r\n"
#define KIT_REFUSED(status, text)                                                                  \
	KIT_HEAD(status " No", "application/json") "{\"error\":{\"message\":\"" text "\"}}"
#define KIT_STREAM KIT_HEAD("200 OK", "text/event-stream")
/* Behind the status line: a stream that leaves the connection open, for printf. */
#define KIT_SIZED "content-type: text/event-stream\r\ncontent-length: %zu\r\n\r\n%s"
#define KIT_BEGIN                                                                                  \
	"data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":100,"          \
	"\"cache_read_input_tokens\":50,\"output_tokens\":1}}}\n\n"
#define KIT_TEXT(text)                                                                             \
	"data: "                                                                                   \
	"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","      \
	"\"text\":\"" text "\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
#define KIT_CALL(at, id, name, input)                                                              \
	"data: {\"type\":\"content_block_start\",\"index\":" #at                                   \
	",\"content_block\":{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name             \
	"\",\"input\":" input "}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":" #at        \
	"}\n\n"
#define KIT_END(stop)                                                                              \
	"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" stop                     \
	"\"},\"usage\":{\"output_tokens\":20}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
#define KIT_TURN(name, input)                                                                      \
	KIT_STREAM KIT_BEGIN KIT_CALL(0, "t1", name, input) KIT_END("tool_use")
#define KIT_FINISH KIT_TURN("finish_run", "{\"summary\":\"done\"}")
#endif
