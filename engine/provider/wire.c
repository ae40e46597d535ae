#include "provider/stream.h"

void wire_turn_done(struct wire_turn *wire_turn)
{
	for (size_t i = 0; i < wire_turn->call_count; i++) {
		free(wire_turn->calls[i].id);
		free(wire_turn->calls[i].name);
		free(wire_turn->calls[i].arguments);
	}
	for (size_t i = 0; i < wire_turn->result_count; i++) {
		free(wire_turn->results[i].id);
		free(wire_turn->results[i].name);
		free(wire_turn->results[i].text);
	}
	free(wire_turn->calls);
	free(wire_turn->results);
	free(wire_turn->text);
	free(wire_turn->raw);
	*wire_turn = (struct wire_turn){0};
}

void wire_talk_done(struct wire_talk *wire_talk)
{
	for (size_t i = 0; i < wire_talk->count; i++)
		wire_turn_done(&wire_talk->turns[i]);
	free(wire_talk->turns);
	*wire_talk = (struct wire_talk){0};
}

struct wire_turn *wire_talk_add(struct wire_talk *wire_talk, enum wire_role role)
{
	struct wire_turn *grown =
		reallocarray(wire_talk->turns, wire_talk->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	wire_talk->turns = grown;
	struct wire_turn *turn = &grown[wire_talk->count++];
	*turn = (struct wire_turn){.role = role};
	return turn;
}

const struct wire_format *wire_format(const char *name)
{
	static const struct wire_format *const all[] = {&anthropic_format, &openai_format};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

static int on_event(void *context, const char *data, size_t len, struct err *e)
{
	struct wire_stream *s = context;
	/* An event without data is like a comment. */
	if (s->ended || !data[strspn(data, " \t\r\n")])
		return 0;
	if (s->format->event(s, data, len, s->fault))
		return err_set(e, "%s", s->fault->text);
	return 0;
}

struct wire_stream *wire_stream_new(const struct wire_format *format, size_t serial)
{
	struct wire_stream *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->format = format;
	s->serial = serial;
	s->usage = USAGE_NONE;
	sse_init(&s->sse, WIRE_EVENT_CAP_BYTES, on_event, s);
	return s;
}

void wire_stream_free(struct wire_stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		json_decref(b->skeleton);
		buf_done(&b->text);
		buf_done(&b->signature);
		free(b->id);
		free(b->name);
	}
	free(stream->blocks);
	sse_done(&stream->sse);
	free(stream);
}

int wire_stream_feed(struct wire_stream *stream, const char *bytes, size_t len, struct fault *fault)
{
	struct err e = ERR_NONE;
	stream->fault = fault;
	int rc = stream->ended ? 0 : sse_feed(&stream->sse, bytes, len, &e);
	stream->fault = NULL;
	if (rc)
		return fault_set(fault, FAULT_FATAL, "%s", e.text);
	return stream->ended;
}

int wire_stream_body(struct wire_stream *stream, const char *body, size_t len, struct fault *fault)
{
	json_auto_t *doc = stream_parse(body, len, fault);
	if (!doc)
		return -1;
	if (json_object_get(doc, "error") && !json_is_null(json_object_get(doc, "error")))
		return fault_reply(fault, 0, body, len, -1);
	return stream->format->message(stream, doc, fault);
}

const struct usage *wire_stream_usage(const struct wire_stream *stream)
{
	return &stream->usage;
}

size_t wire_stream_bytes(const struct wire_stream *stream)
{
	return stream->written_bytes;
}

static int collect_calls(struct wire_stream *stream, struct wire_turn *turn)
{
	turn->calls = calloc(stream->block_count ? stream->block_count : 1, sizeof(*turn->calls));
	if (!turn->calls)
		return -1;
	for (size_t i = 0; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_CALL || !b->skeleton)
			continue;
		struct wire_call *c = &turn->calls[turn->call_count++];
		c->id = TAKE_PTR(b->id);
		c->name = TAKE_PTR(b->name);
		c->arguments = b->text.len ? buf_take(&b->text, NULL) : strdup("{}");
		if (!c->id || !c->name || !c->arguments)
			return -1;
	}
	return 0;
}

/* Returns the text of all blocks. An answer may be long, so a single one is moved, not copied. */
static char *collect_text(struct wire_stream *stream)
{
	AUTO_BUF text = BUF_INIT(WIRE_CONTENT_CAP_BYTES + WIRE_BLOCKS_MAX);
	for (size_t i = 0; i < stream->block_count; i++) {
		struct block *b = &stream->blocks[i];
		if (b->kind != BLOCK_TEXT || !b->skeleton || !b->text.len)
			continue;
		if (!text.len) {
			text = b->text;
			text.cap_bytes += WIRE_BLOCKS_MAX;
			buf_init(&b->text, 0);
			continue;
		}
		buf_addc(&text, '\n');
		buf_add(&text, b->text.data, b->text.len);
		buf_done(&b->text);
	}
	return buf_take(&text, NULL);
}

/* Finishes the last event, since some servers end it without a blank line. Half an event is
 * malformed JSON, and only shows that the stream was cut. */
static void finish_event(struct wire_stream *stream, struct fault *fault)
{
	struct err e = ERR_NONE;
	struct fault last = FAULT_INIT;
	stream->fault = &last;
	if (sse_end(&stream->sse, &e) && !stream->complete && last.kind > FAULT_RETRY)
		*fault = last;
	stream->fault = NULL;
}

int wire_stream_end(struct wire_stream *stream, struct wire_reply *out, struct fault *fault)
{
	finish_event(stream, fault);
	stream_metered(stream);
	if (!stream->complete)
		return fault_set(
			fault, FAULT_RETRY, "the provider's stream ended before its last event");
	AUTO_BUF raw = BUF_INIT(4 * (size_t)WIRE_CONTENT_CAP_BYTES);
	struct wire_turn turn = {.role = WIRE_ASSISTANT};
	int rc = stream->format->finish(stream, &raw);
	if (!rc) {
		turn.raw = buf_take(&raw, NULL);
		turn.text = collect_text(stream);
		rc = collect_calls(stream, &turn);
	}
	if (rc || !turn.raw || !turn.text) {
		wire_turn_done(&turn);
		return fault_set(fault, FAULT_FATAL, "out of memory");
	}
	*out = (struct wire_reply){.turn = turn, .stop = stream->stop};
	snprintf(out->stop_detail, sizeof(out->stop_detail), "%s", stream->stop_detail);
	return 0;
}
