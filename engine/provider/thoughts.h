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

/* Takes a delta's thoughts into `b`, the block of the text, and into blocks of their own. -1 with
 * *f filled. */
int thoughts_add(struct wire_stream *s, struct block *b, const json_t *delta, struct fault *f);
/* Whether thoughts_add would take anything of it. */
bool thoughts_in(const json_t *delta);
/* Keeps what came beside the text or a call for its replay. -1 with *f filled. */
int thoughts_sign(struct wire_stream *s, struct block *b, const json_t *from, struct fault *f);
/* Appends the members of the message that hold them, each behind a comma. */
void thoughts_write(struct wire_stream *s, struct buf *out);
/* The same for what was kept beside a block. */
void thoughts_write_sign(const struct block *b, struct buf *out);
/* A message as `q` wants it: without thoughts, or with a word that there were none. NULL: as it
 * is. Heap. */
char *thoughts_adapt(const char *message, const struct wire_quirks *q);
#endif
