#include "rehearse/serve.h"

#include "base/io.h"
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include <string.h>

enum { REQUEST_DEPTH_MAX = 256, LAST_BYTES_MAX = 400 };

static void tell_line(const struct player *player, json_t *line)
{
	AUTO_FREE char *text = json_text(line);
	json_decref(line);
	AUTO_FREE char *with_newline = NULL;
	if (player->report_fd < 0 || !text || asprintf(&with_newline, "%s\n", text) < 0)
		return;
	io_write(player->report_fd, with_newline, strlen(with_newline));
}

static void tell_failure(
	const struct player *player, const struct asker *who, const char *kind, const char *text)
{
	/* A cut message may end inside a character. */
	size_t len = utf8_prefix(text, strlen(text));
	tell_line(player,
		json_pack("{s:s, s:I, s:s?, s:I, s:s%}", "kind", kind, "seq", (json_int_t)who->seq,
			"state", who->state, "turn", (json_int_t)who->turn, "text", text, len));
}

/* Reads the number up to the next slash, and moves past that. */
static bool take_number(const char **at, uint64_t *out)
{
	const char *slash = strchr(*at, '/');
	int64_t number;
	if (!slash || num_int(*at, (size_t)(slash - *at), &number) || number < 0)
		return false;
	*out = (uint64_t)number;
	*at = slash + 1;
	return true;
}

/* Parses "/step/SEQ/ATTEMPT/STATE/v1/messages" and the like; `state` is heap text. Returns false
 * for any other path. */
static bool route(const char *target, struct asker *who, char **state, enum wire *wire)
{
	if (!strncmp(target, "/step/", 6)) {
		const char *at = target + 6, *end;
		if (!take_number(&at, &who->seq) || !take_number(&at, &who->attempt))
			return false;
		end = at + strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
		if (*end != '/')
			return false;
		*state = strndup(at, (size_t)(end - at));
		who->state = *state;
		target = end;
	}
	*wire = strcmp(target, "/v1/messages") ? WIRE_OPENAI : WIRE_ANTHROPIC;
	return *wire == WIRE_ANTHROPIC || !strcmp(target, "/v1/chat/completions");
}

static json_t *neutral(
	const struct http_request *request, enum wire wire, const json_t *body, struct err *e)
{
	if (!request->content_type || strncmp(request->content_type, "application/json", 16)) {
		err_set(e, "content-type: must be application/json");
		return NULL;
	}
	return wire == WIRE_ANTHROPIC ? neutral_anthropic(body, request->anthropic_version, e)
				      : neutral_openai(body, e);
}

static char *describe(const struct exchange *exchange, const json_t *differences)
{
	AUTO_BUF text = BUF_INIT(1 << 20);
	size_t i;
	json_t *line;
	buf_addf(&text, "the request does not match %s:%zu", exchange->file, exchange->line);
	json_array_foreach (differences, i, line)
		buf_addf(&text, "\n  %s", json_string_value(line));
	return buf_take(&text, NULL);
}

/* Describes a request beyond the end of the cassette, with what the model would have to answer: a
 * finish_run, a correction of a refused one, or the same as before. */
static char *describe_end(const json_t *request, const struct exchange *before)
{
	const char *last = json_get_text(request, "last");
	char shown[LAST_BYTES_MAX + 1];
	utf8_copy(shown, sizeof(shown), last);
	AUTO_BUF text = BUF_INIT(1 << 20);
	buf_adds(&text, "the cassette has no further exchange for this state, which asks");
	if (before)
		buf_addf(&text, " again what %s:%zu answered with %s", before->file, before->line,
			json_object_get(before->reply, "stop") ? "a reply that is cut"
							       : "an error");
	buf_addf(&text, ":\n  %s%s", shown, strlen(last) > LAST_BYTES_MAX ? "..." : "");
	return buf_take(&text, NULL);
}

static void note_position(
	const struct player *player, const struct asker *who, const struct exchange *exchange)
{
	char line[200];
	if (player->positions_fd < 0 || !who->state)
		return;
	int len = snprintf(line, sizeof(line), "%ju %ju %.64s %zu\n", (uintmax_t)who->seq,
		(uintmax_t)who->attempt, who->state, (size_t)(exchange - player->cassette.items));
	io_write(player->positions_fd, line, (size_t)len);
}

/* Answers a well-formed request. */
static void play(struct player *player, const struct asker *who, const json_t *request,
	struct rendering *rendering, struct rendered *out)
{
	struct exchange *x = cassette_next(&player->cassette, who);
	json_auto_t *differences = x ? cassette_differences(x->match, request) : NULL;
	if (!x || json_array_size(differences)) {
		AUTO_FREE char *text =
			x ? describe(x, differences)
			  : describe_end(request, cassette_unsettled(&player->cassette, who));
		const char *told = text ? text : "the request does not match";
		tell_failure(player, who, x ? "mismatch" : "exhausted", told);
		render_error(rendering->wire, 400, told, out);
		return;
	}
	rendering->reply = x->reply;
	rendering->number = (size_t)(x - player->cassette.items);
	cassette_served(&player->cassette, who, x);
	note_position(player, who, x);
	render_reply(rendering, out);
}

void player_serve(struct player *player, const struct http_request *q, struct rendered *out)
{
	struct asker who = {0};
	struct err e = ERR_NONE;
	AUTO_FREE char *state = NULL;
	enum wire wire = WIRE_ANTHROPIC;
	player->requests++;
	if (!route(q->target, &who, &state, &wire) || strcmp(q->method, "POST")) {
		render_error(wire, 404, "there is nothing at this path", out);
		return;
	}
	json_auto_t *body = json_read_nested(q->body, q->body_len,
		(struct json_cap){HTTP_BODY_MAX, REQUEST_DEPTH_MAX, SIZE_MAX}, &e);
	json_auto_t *request = body ? neutral(q, wire, body, &e) : NULL;
	if (!request) {
		tell_failure(player, &who, "refused", e.text);
		render_error(wire, 400, e.text, out);
		return;
	}
	who.turn = (long)json_get_int(request, "turn");
	struct rendering r = {.wire = wire, .request = body, .request_bytes = q->body_len};
	play(player, &who, request, &r, out);
}

int player_resume(struct player *player, const char *text, struct err *e)
{
	const char *begin = text;
	while (*text) {
		uintmax_t seq, attempt;
		size_t index;
		char state[65];
		int used = 0;
		if (sscanf(text, "%ju %ju %64s %zu%n", &seq, &attempt, state, &index, &used) != 4 ||
			text[used] != '\n') {
			if (*strchrnul(text, '\n'))
				return err_set(e, "the positions file is damaged");
			if (ftruncate(player->positions_fd, text - begin))
				return err_errno(e, "cannot cut the positions file");
			break;
		}
		if (index >= player->cassette.count)
			return err_set(e, "the positions file belongs to another cassette");
		cassette_served(&player->cassette,
			&(struct asker){.seq = seq, .attempt = attempt, .state = state},
			&player->cassette.items[index]);
		text += used + 1;
	}
	cassette_restart(&player->cassette);
	return 0;
}

void player_end(const struct player *player)
{
	tell_line(player, json_pack("{s:s, s:I, s:I}", "kind", "end", "requests",
				  (json_int_t)player->requests, "unused",
				  (json_int_t)cassette_unused(&player->cassette)));
}
