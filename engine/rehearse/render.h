/*
 * A cassette's reply as the bytes of either wire format, whole or streamed.
 */
#ifndef REHEARSE_RENDER_H
#define REHEARSE_RENDER_H
#include "base/buf.h"
#include "rehearse/neutral.h"

struct rendering {
	enum wire wire;
	const json_t *request; /* the body: model, stream, stream_options */
	const json_t *reply;   /* neutral */
	size_t number;         /* unique per exchange: ids are made from it */
	size_t request_bytes;  /* usage is estimated from it when the reply gives none */
};

struct rendered {
	int status;
	bool stream;
	long delay_ms;
	long retry_after_secs; /* -1: none */
	struct buf body;       /* the caller's: buf_done */
};

void render_reply(const struct rendering *rendering, struct rendered *out);
/* Renders an error of the API: 400 invalid_request_error and the like. */
void render_error(enum wire wire, int status, const char *message, struct rendered *out);
#endif
