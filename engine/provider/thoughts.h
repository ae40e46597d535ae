/*
 * A model's thoughts, in the form in which servers of the openai format send them and want them
 * back.
 *
 * None of this is in OpenAI's own description: DeepSeek, Kimi and vLLM call it `reasoning_content`,
 * Ollama and Groq `reasoning`, OpenRouter sends signed pieces in `reasoning_details`, and Gemini a
 * signature in `extra_content`. Some refuse a conversation in which it is missing after a call.
 */
#ifndef PROVIDER_THOUGHTS_H
#define PROVIDER_THOUGHTS_H
#include "provider/stream.h"

/* Takes a delta's thoughts into `block`, the block of the text, and into blocks of their own.
 * Returns -1 with *fault filled. */
int thoughts_add(
	struct wire_stream *stream, struct block *block, const json_t *delta, struct fault *fault);
/* Reports whether thoughts_add would take anything from the delta. */
bool thoughts_in(const json_t *delta);
/* Keeps members beside the text or a call for its replay. Returns -1 with *fault filled. */
int thoughts_sign(
	struct wire_stream *stream, struct block *block, const json_t *from, struct fault *fault);
/* Appends the message members that hold the thoughts, each after a comma. */
void thoughts_write(struct wire_stream *stream, struct buf *out);
/* Appends those kept beside a block. */
void thoughts_write_sign(const struct block *block, struct buf *out);
/* Returns a message as `quirks` demands: without thoughts, or with an empty member. NULL:
 * unchanged. Heap. */
char *thoughts_adapt(const char *message, const struct wire_quirks *quirks);
#endif
