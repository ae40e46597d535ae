/*
 * Serving: finds the exchange that answers a request, and reports on it.
 */
#ifndef REHEARSE_SERVE_H
#define REHEARSE_SERVE_H
#include "rehearse/cassette.h"
#include "rehearse/http_message.h"
#include "rehearse/render.h"

struct player {
	struct cassette cassette;
	int report_fd;    /* one JSON line per failure, and one at the end; -1: none */
	int positions_fd; /* one line "SEQ ATTEMPT STATE INDEX" per exchange; -1: none */
	size_t requests;
};

/* Fills `out`; the caller owns out->body. */
void player_serve(struct player *player, const struct http_request *request, struct rendered *out);
/* Continues where an earlier process stopped, by the lines of its positions file. An unfinished
 * last line is ignored. */
int player_resume(struct player *player, const char *text, struct err *e);
/* Reports {"kind":"end","requests":N,"unused":N}. */
void player_end(const struct player *player);
#endif
