/*
 * What a model thought aloud, as servers of the openai format send it and want it back.
 *
 * None of this is in OpenAI's own description: DeepSeek, Kimi and vLLM call it `reasoning_content`,
 * Ollama and Groq `reasoning`, OpenRouter sends signed pieces in `reasoning_details`, and Gemini a
 * signature in `extra_content`. Some refuse a conversation in which it is missing behind a call.
 */
#ifndef PROVIDER_THOUGHTS_H
#define PROVIDER_THOUGHTS_H
#include "provider/stream.h"

/* Takes a delta's thoughts into `block`, the block of the text, and into blocks of their own. -1
 * with *fault filled. */
int thoughts_add(
	struct wire_stream *stream, struct block *block, const json_t *delta, struct fault *fault);
/* Whether thoughts_add would take anything of it. */
bool thoughts_in(const json_t *delta);
/* Keeps what came beside the text or a call for its replay. -1 with *fault filled. */
int thoughts_sign(
	struct wire_stream *stream, struct block *block, const json_t *from, struct fault *fault);
/* Appends the members of the message that hold them, each behind a comma. */
void thoughts_write(struct wire_stream *stream, struct buf *out);
/* The same for what was kept beside a block. */
void thoughts_write_sign(const struct block *block, struct buf *out);
/* A message as `quirks` wants it: without thoughts, or with a word that there were none. NULL: as
 * it is. Heap. */
char *thoughts_adapt(const char *message, const struct wire_quirks *quirks);
#endif
