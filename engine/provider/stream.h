/*
 * The collector behind a wire_stream: content blocks that grow by deltas. Private to the formats.
 */
#ifndef PROVIDER_STREAM_H
#define PROVIDER_STREAM_H
#include "provider/sse.h"
#include "provider/wire.h"

enum block_kind { BLOCK_TEXT, BLOCK_THINKING, BLOCK_CALL, BLOCK_OTHER };

struct block {
	enum block_kind kind;
	json_t *skeleton; /* the block as it was announced; NULL: this slot was never announced */
	struct buf text;  /* of the text, the thinking, or the arguments */
	struct buf signature;
	char *id, *name; /* BLOCK_CALL */
	int64_t wire_index;
	/* Bytes of the arguments that were looked at, and where those end: in how many objects. */
	size_t scanned;
	int64_t depth;
	bool in_string;
};

struct wire_stream {
	const struct wire_format *format;
	struct sse sse;
	struct block *blocks;
	size_t block_count, serial;
	size_t content_bytes; /* kept, for the limit; written_bytes: of it, what the model wrote */
	size_t written_bytes;
	struct usage usage;
	bool input_known, output_known; /* of usage: that half was reported */
	bool cost_odd;                  /* it states a charge that cannot be one */
	enum wire_stop stop;
	char stop_detail[256];
	bool complete;
	bool ended;          /* its last event has come: there is nothing more to wait for */
	struct fault *fault; /* of the feed in progress */
};

/* Slot `at`, made when new; NULL with *fault filled when there are too many. */
struct block *stream_block(struct wire_stream *stream, size_t at, struct fault *fault);
/* Counts `len` bytes that are kept against the content limit. -1 with *fault filled. */
int stream_count(struct wire_stream *stream, size_t len, struct fault *fault);
/* Appends within the content limit. -1 with *fault filled. `text` may be NULL: nothing. */
int stream_append(struct wire_stream *stream, struct buf *to, const char *text, size_t len,
	struct fault *fault);
/* The same of a JSON string; anything else: nothing. */
int stream_add_text(
	struct wire_stream *stream, struct buf *to, const json_t *text, struct fault *fault);
/* One event's JSON, cleaned of lone surrogates and NUL escapes. NULL with *fault filled. */
json_t *stream_parse(const char *data, size_t len, struct fault *fault);
/* Sets *to to the text under `key` of `object` when it is a non-empty string and *to is unset. */
int stream_name(char **to, const json_t *object, const char *key);
/* Gives every call a name and an id that the API takes back: unique in the turn, made up where the
 * server's is missing or is none. */
int stream_settle_calls(struct wire_stream *stream);
/* The arguments of a call as an object, for a replay that a strict server accepts: the block's own
 * text, or *made, which the caller frees. */
const char *stream_arguments(const struct block *block, char **made);
/* Appends `text` as a JSON string. */
int stream_quote(struct buf *out, const char *text);
int stream_quote_buf(struct buf *out, const struct buf *text);
/* Appends the member of that name where the request has one that the provider takes. */
void stream_temperature(struct buf *out, const struct wire_request *request);
/* Appends the members that describe a tool, its schema under the format's own key. */
void stream_tool(struct buf *out, const json_t *tool, const char *schema_key);
/* A count that a stream may tell more than once: *known says whether the last could be read; none
 * and null tell nothing. Returns whether *out was read now. */
bool stream_told(const json_t *usage, const char *key, int64_t *out, bool *known);
/* Sets usage.known from its halves, anew when more was written. */
void stream_metered(struct wire_stream *stream);
/* Whether a text says nothing. */
bool stream_is_blank(const struct buf *text);
/* Whether a stop reason has this name, in whatever case; Google says more behind a colon. */
bool stream_reason(const char *reason, const char *name);
/* What a stop reason says, whoever's: gateways pass on their upstream's. An unknown one is an end.
 */
enum wire_stop stream_stop(const char *reason);
/* Reports whether a message holds `name` as a word of its own, in whatever case. */
bool stream_names(const char *message, const char *name);
/* Sets a quirk; whether it was not yet. */
bool stream_learn(bool *quirk);
#endif
