/*
 * The interface of the two wire formats: they turn a conversation into a request body, and a
 * streamed reply into a turn.
 *
 * Pure: bytes in, bytes out, no sockets. An assistant turn keeps the provider's own message as raw
 * text and is replayed verbatim, so that signatures, ids and number spellings survive; the loop
 * works with the neutral fields.
 */
#ifndef PROVIDER_WIRE_H
#define PROVIDER_WIRE_H
#include "provider/fault.h"
#include "provider/usage.h"

#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>

enum wire_role { WIRE_USER, WIRE_ASSISTANT, WIRE_RESULTS };

struct wire_call {
	char *id, *name; /* a name has at most 64 letters, digits, _ and - */
	char *arguments; /* JSON text as the model wrote it; not necessarily valid */
};

/* Returns the arguments of a call as an object, also if the model put it into a string. NULL: *e
 * says why, and distinguishes invalid JSON from valid JSON that no tool takes. New reference. */
json_t *wire_arguments(const char *text, struct err *e);

struct wire_result {
	char *id, *name, *text;
	bool failed, pinned; /* pinned: its text is never dropped to make room */
};

/* Owned by the conversation. */
struct wire_turn {
	enum wire_role role;
	char *text; /* USER: the user's text; ASSISTANT: its plain text, never NULL */
	char *raw;  /* ASSISTANT: the format's own content; "": nothing to send back */
	struct wire_call *calls;
	struct wire_result *results;
	size_t call_count, result_count;
	bool stale; /* ASSISTANT: an earlier turn has changed since */
};

struct wire_talk {
	struct wire_turn *turns;
	size_t count;
};

void wire_talk_done(struct wire_talk *wire_talk);
/* Adds a last turn, zeroed; the caller fills it with heap memory. NULL: out of memory. */
struct wire_turn *wire_talk_add(struct wire_talk *wire_talk, enum wire_role role);
void wire_turn_done(struct wire_turn *turn);

/* Request features that a provider does not accept: learned from one refusal, then kept. */
struct wire_quirks {
	bool no_temperature;
	bool manual_thinking; /* anthropic: a token budget instead of adaptive */
	bool no_thinking;
	bool bound_thinking;    /* anthropic: it refuses thoughts of stale turns */
	bool completion_tokens; /* openai: max_completion_tokens instead of max_tokens */
	bool thinking_off;      /* openai: no thinking in requests with tools */
	bool no_thoughts;       /* openai: thoughts are not sent back */
	bool every_thought;     /* openai: every turn needs thoughts, even empty ones */
	bool no_stream_options; /* openai: stream_options are left out */
	bool no_stream;         /* openai: replies are not streamed */
	bool no_system;         /* openai: the first user message contains the system prompt */
	bool tool_choice;       /* openai: tool_choice is sent */
	bool strict;            /* openai: each tool says that its schema is not strict */
	bool no_cache;          /* anthropic: nothing is marked for caching */
};

struct wire_request {
	const char *model, *system;
	const struct wire_talk *talk;
	const json_t *tools; /* array of {name, description, input_schema} */
	int64_t max_tokens;
	const char *thinking;      /* off, low, medium, high; NULL: leave it out */
	const double *temperature; /* NULL: leave it out */
	struct wire_quirks quirks;
};

enum wire_stop {
	WIRE_STOP_END,
	WIRE_STOP_TOOLS,
	WIRE_STOP_LENGTH,
	WIRE_STOP_CONTEXT,
	WIRE_STOP_PAUSE,
	WIRE_STOP_REFUSAL,
};

struct wire_reply {
	struct wire_turn turn; /* ASSISTANT */
	enum wire_stop stop;
	char stop_detail[256]; /* of a refusal */
};

struct wire_stream;

struct wire_format {
	const char *name, *path;
	int (*encode)(const struct wire_request *r, struct buf *body);
	/* Takes one event's data; takes one whole body from a server that does not stream. */
	int (*event)(struct wire_stream *s, const char *data, size_t len, struct fault *f);
	int (*message)(struct wire_stream *s, const json_t *body, struct fault *f);
	/* Fill turn.raw from the collected blocks (with nothing if they are empty), or for a call
	 * that no model made. */
	int (*finish)(struct wire_stream *s, struct buf *raw);
	int (*made_up)(const struct wire_call *call, struct buf *raw);
	/* Reports whether a quirk that is not set yet would cure a refusal with this text, and sets
	 * it. */
	bool (*adapt)(struct wire_quirks *q, const char *message);
};

extern const struct wire_format anthropic_format, openai_format;
/* Returns the format called "anthropic" or "openai"; NULL: neither. */
const struct wire_format *wire_format(const char *name);

enum {
	WIRE_EVENT_CAP_BYTES = 1024 * 1024,
	WIRE_CONTENT_CAP_BYTES = 10 * 1024 * 1024,
	WIRE_BLOCKS_MAX = 256,
};

/* Makes a stream. `serial` makes ids unique for calls to which the server gave none. */
struct wire_stream *wire_stream_new(const struct wire_format *format, size_t serial);
void wire_stream_free(struct wire_stream *stream);
/* Takes streamed bytes, in any pieces. 0: go on; 1: the last event was among them; -1: *fault says
 * why. */
int wire_stream_feed(
	struct wire_stream *stream, const char *bytes, size_t len, struct fault *fault);
/* Takes a whole, unstreamed reply. */
int wire_stream_body(struct wire_stream *stream, const char *body, size_t len, struct fault *fault);
/* Ends the input and returns the reply, or FAULT_RETRY if the last event never came. */
int wire_stream_end(struct wire_stream *stream, struct wire_reply *out, struct fault *fault);
/* Returns the usage seen so far, also of a stream that failed: it was charged. */
const struct usage *wire_stream_usage(const struct wire_stream *stream);
/* Returns the bytes that the model has written so far. */
size_t wire_stream_bytes(const struct wire_stream *stream);
#endif
