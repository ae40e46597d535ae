/*
 * The collector of a wire_stream: content blocks that grow by deltas. Private to the formats.
 */
#ifndef PROVIDER_STREAM_H
#define PROVIDER_STREAM_H
#include "provider/sse.h"
#include "provider/wire.h"

enum block_kind { BLOCK_TEXT, BLOCK_THINKING, BLOCK_CALL, BLOCK_OTHER };

struct block {
	enum block_kind kind;
	json_t *skeleton; /* the block as it was announced; NULL: it was not */
	struct buf text;  /* the text, the thinking, or the arguments */
	struct buf signature;
	char *id, *name; /* BLOCK_CALL */
	int64_t wire_index;
	/* How many bytes of the arguments were scanned, and the state there: nesting, inside a
	 * string. */
	size_t scanned;
	int64_t depth;
	bool in_string;
};

struct wire_stream {
	const struct wire_format *format;
	struct sse sse;
	struct block *blocks;
	size_t block_count, serial;
	/* Kept bytes, for the limit; written_bytes: those of them that the model wrote. */
	size_t content_bytes;
	size_t written_bytes;
	struct usage usage;
	bool input_known, output_known; /* which half of usage was reported */
	bool cost_odd;                  /* the stated charge is impossible */
	enum wire_stop stop;
	char stop_detail[256];
	bool complete;
	bool ended;          /* its last event has come */
	struct fault *fault; /* of the feed in progress */
};

/* Returns slot `at`, made if new; NULL with *fault filled if there are too many. */
struct block *stream_block(struct wire_stream *stream, size_t at, struct fault *fault);
/* Counts `len` kept bytes against the content limit. Returns -1 with *fault filled. */
int stream_count(struct wire_stream *stream, size_t len, struct fault *fault);
/* Appends within the content limit. Returns -1 with *fault filled. `text` may be NULL: nothing. */
int stream_append(struct wire_stream *stream, struct buf *to, const char *text, size_t len,
	struct fault *fault);
/* Appends a JSON string in the same way; any other value: nothing. */
int stream_add_text(
	struct wire_stream *stream, struct buf *to, const json_t *text, struct fault *fault);
/* Parses one event's JSON, without lone surrogates and NUL escapes. NULL with *fault filled. */
json_t *stream_parse(const char *data, size_t len, struct fault *fault);
/* Sets *to to the text under `key` of `object`, if it is a non-empty string and *to is unset. */
int stream_name(char **to, const json_t *object, const char *key);
/* Gives every call a name and an id that the API takes back. Ids are unique in the turn; a missing
 * or invalid one is made up. */
int stream_settle_calls(struct wire_stream *stream);
/* Returns the arguments of a call as an object that a strict server accepts: the block's own text,
 * or *made, which the caller frees. */
const char *stream_arguments(const struct block *block, char **made);
/* Appends `text` as a JSON string. */
int stream_quote(struct buf *out, const char *text);
int stream_quote_buf(struct buf *out, const struct buf *text);
/* Appends the temperature, if the request has one that the provider takes. */
void stream_temperature(struct buf *out, const struct wire_request *request);
/* Appends the members that describe a tool, its schema under the format's own key. */
void stream_tool(struct buf *out, const json_t *tool, const char *schema_key);
/* Reads a count that a stream may send repeatedly. *known says whether the last one could be read;
 * a missing one or null changes nothing. Returns whether *out was read now. */
bool stream_told(const json_t *usage, const char *key, int64_t *out, bool *known);
/* Sets usage.known from its two halves; call it again after more output. */
void stream_metered(struct wire_stream *stream);
/* Reports whether a text is blank. */
bool stream_is_blank(const struct buf *text);
/* Reports whether a stop reason has this name, in any case; Google adds text after a colon. */
bool stream_reason(const char *reason, const char *name);
/* Returns the meaning of any vendor's stop reason, since gateways pass on their upstream's. An
 * unknown one counts as an end. */
enum wire_stop stream_stop(const char *reason);
/* Reports whether a message holds `name` as a word of its own, in whatever case. */
bool stream_names(const char *message, const char *name);
/* Sets a quirk. Returns whether it was new. */
bool stream_learn(bool *quirk);
#endif
