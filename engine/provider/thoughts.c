#include "provider/thoughts.h"

#include "base/json.h"

static const char details[] = "reasoning_details", sign[] = "extra_content";
static const char *const plain[] = {"reasoning_content", "reasoning"};

bool thoughts_in(const json_t *delta)
{
	bool in = json_array_size(json_object_get(delta, details)) ||
		  json_is_object(json_object_get(delta, sign));
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		in = in || json_is_string(json_object_get(delta, plain[i]));
	return in;
}

static int count_value(struct wire_stream *stream, const json_t *value, struct fault *fault)
{
	AUTO_FREE char *text = json_text(value);
	return text ? stream_count(stream, strlen(text), fault)
		    : fault_set(fault, FAULT_FATAL, "out of memory");
}

int thoughts_sign(
	struct wire_stream *stream, struct block *block, const json_t *from, struct fault *fault)
{
	json_t *value = json_object_get(from, sign);
	if (!json_is_object(value))
		return 0;
	json_object_set(block->skeleton, sign, value);
	return count_value(stream, value, fault);
}

/* Adds plain thoughts. Some gateways send the same text under both names: the first one with text
 * is kept. */
static int add_plain(
	struct wire_stream *stream, struct block *block, const json_t *delta, struct fault *fault)
{
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		const json_t *text = json_object_get(delta, plain[i]);
		size_t len = json_string_length(text);
		if (!json_is_string(text))
			continue;
		if (!block->name || (len && !block->signature.len)) {
			free(block->name);
			block->name = strdup(plain[i]);
		}
		if (block->name && !strcmp(block->name, plain[i]) &&
			stream_add_text(stream, &block->signature, text, fault))
			return -1;
	}
	return 0;
}

/* Returns the member of a piece that grows; NULL: it comes whole. */
static const char *growing(const json_t *piece)
{
	const char *type = json_get_text(piece, "type");
	if (!strcmp(type, "reasoning.text"))
		return "text";
	return strcmp(type, "reasoning.summary") ? NULL : "summary";
}

static struct block *newest_piece(const struct wire_stream *stream)
{
	for (size_t i = stream->block_count; i > 1; i--)
		if (stream->blocks[i - 1].kind == BLOCK_OTHER && stream->blocks[i - 1].skeleton)
			return &stream->blocks[i - 1];
	return NULL;
}

static bool continues(const struct block *block, const json_t *piece)
{
	const json_t *mine = json_object_get(block->skeleton, "index"),
		     *its = json_object_get(piece, "index");
	return growing(piece) &&
	       !strcmp(json_get_text(block->skeleton, "type"), json_get_text(piece, "type")) &&
	       (mine == its || json_equal(mine, its));
}

static struct block *begin_piece(struct wire_stream *stream, struct fault *fault)
{
	struct block *b = stream_block(stream, stream->block_count, fault);
	if (!b || !(b->skeleton = json_object()))
		return NULL;
	b->kind = BLOCK_OTHER;
	return b;
}

/* Adds a member. Each piece repeats those of the first; new ones are kept, except nulls. */
static int add_member(struct wire_stream *stream, struct block *block, const char *key,
	json_t *value, struct fault *fault)
{
	const json_t *mine = json_object_get(block->skeleton, key);
	if (mine && (json_is_null(value) || json_equal(mine, value)))
		return 0;
	json_object_set(block->skeleton, key, value);
	return stream_count(stream, strlen(key), fault) || count_value(stream, value, fault) ? -1
											     : 0;
}

static int add_piece(struct wire_stream *stream, const json_t *piece, struct fault *fault)
{
	const char *key, *grows = growing(piece);
	json_t *value;
	struct block *b = newest_piece(stream);
	if (!b || !continues(b, piece))
		b = begin_piece(stream, fault);
	if (!b)
		return fault_set(fault, FAULT_FATAL, "out of memory");
	json_object_foreach ((json_t *)(uintptr_t)piece, key, value) {
		int rc = grows && !strcmp(key, grows)
				 ? stream_add_text(stream, &b->text, value, fault)
				 : add_member(stream, b, key, value, fault);
		if (rc)
			return -1;
	}
	return 0;
}

int thoughts_add(
	struct wire_stream *stream, struct block *block, const json_t *delta, struct fault *fault)
{
	const json_t *list = json_object_get(delta, details), *piece;
	size_t i;
	if (add_plain(stream, block, delta, fault) || thoughts_sign(stream, block, delta, fault))
		return -1;
	json_array_foreach (list, i, piece)
		if (json_is_object(piece) && add_piece(stream, piece, fault))
			return -1;
	return 0;
}

void thoughts_write_sign(const struct block *block, struct buf *out)
{
	const json_t *value = json_object_get(block->skeleton, sign);
	if (value) {
		buf_addf(out, ",\"%s\":", sign);
		json_write(out, value);
	}
}

static size_t write_pieces(struct wire_stream *stream, struct buf *out)
{
	size_t count = 0;
	for (size_t i = 1; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_OTHER || !b->skeleton)
			continue;
		const char *grows = growing(b->skeleton);
		if (grows)
			json_object_set_new(
				b->skeleton, grows, json_stringn(b->text.data, b->text.len));
		buf_addf(out, count++ ? "," : ",\"%s\":[", details);
		json_write(out, b->skeleton);
	}
	return count;
}

void thoughts_write(struct wire_stream *stream, struct buf *out)
{
	const struct block *b = stream->block_count ? &stream->blocks[0] : NULL;
	if (!b || !b->skeleton)
		return;
	if (write_pieces(stream, out)) {
		buf_addc(out, ']');
	} else if (b->name) {
		buf_addf(out, ",\"%s\":", b->name);
		stream_quote_buf(out, &b->signature);
	}
	thoughts_write_sign(b, out);
}

char *thoughts_adapt(const char *message, const struct wire_quirks *quirks)
{
	if (!quirks->no_thoughts && !quirks->every_thought)
		return NULL;
	json_auto_t *doc = json_read_nested(message, strlen(message),
		(struct json_cap){SIZE_MAX, JSON_DEPTH_MAX, SIZE_MAX}, NULL);
	if (!json_is_object(doc))
		return NULL;
	if (quirks->every_thought && !thoughts_in(doc))
		json_object_set_new(doc, plain[0], json_string(""));
	if (quirks->no_thoughts) {
		json_object_del(doc, details);
		for (size_t i = 0; i < ARRAY_LEN(plain); i++)
			json_object_del(doc, plain[i]);
	}
	return json_text(doc);
}
