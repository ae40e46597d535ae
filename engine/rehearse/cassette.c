#include "rehearse/cassette.h"

#include "rehearse/excerpt.h"
#include "rehearse/json_lines.h"

#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include <fcntl.h>
#include <string.h>

/* The part of its state's queue that an attempt of a step has played. */
struct played {
	uint64_t seq, attempt;
	char *state;
	size_t first;   /* its first exchange */
	size_t last;    /* the newest one served */
	bool unsettled; /* the newest reply was an error or was cut: the same turn comes again */
};

/* --- reading ---------------------------------------------------------------------------------- */

static int add_exchange(
	struct cassette *cassette, json_t *value, const char *file, size_t line, struct err *e)
{
	if (json_object_get(value, "poke"))
		return 0;
	if (cassette->count == CASSETTE_LINES_MAX)
		return err_set(e, "more than %d exchanges", CASSETTE_LINES_MAX);
	cassette->items = own_room(
		cassette->items, cassette->count, &cassette->room, sizeof(*cassette->items));
	cassette->items[cassette->count++] = (struct exchange){.file = file,
		.line = line,
		.state = json_string_value(json_object_get(value, "state")),
		.match = json_object_get(value, "match"),
		.reply = json_object_get(value, "reply"),
		.value = json_incref(value)};
	return 0;
}

int cassette_read(struct cassette *cassette, const char *name, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, name, CASSETTE_BYTES_MAX, &text, &len, e))
		return -1;
	/* The file is a copy, so messages use only its name. */
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	struct json_lines lines = {.text = text, .len = len};
	while (json_lines_next(&lines)) {
		json_auto_t *value = cassette_line(lines.line, lines.line_len, e);
		if (!value || add_exchange(cassette, value, name, lines.number, e))
			return err_wrap(e, "%s:%u", name, lines.number);
	}
	return 0;
}

void cassette_done(struct cassette *cassette)
{
	for (size_t i = 0; i < cassette->count; i++)
		json_decref(cassette->items[i].value);
	for (size_t i = 0; i < cassette->step_count; i++)
		free(cassette->steps[i].state);
	free(cassette->items);
	free(cassette->steps);
	*cassette = (struct cassette){0};
}

/* --- playing ---------------------------------------------------------------------------------- */

static struct played *find_step(const struct cassette *cassette, const struct asker *who)
{
	for (size_t i = cassette->step_count; i-- > 0;)
		if (cassette->steps[i].seq == who->seq &&
			cassette->steps[i].attempt == who->attempt &&
			!strcmp(cassette->steps[i].state, who->state))
			return &cassette->steps[i];
	return NULL;
}

/* Returns the first unused line, for requests that name no state. */
static struct exchange *next_unused(struct cassette *cassette)
{
	for (size_t i = 0; i < cassette->count; i++)
		if (!cassette->items[i].used)
			return &cassette->items[i];
	return NULL;
}

static struct exchange *from(struct cassette *cassette, size_t at, const char *state)
{
	for (; at < cassette->count; at++)
		if (!strcmp(cassette->items[at].state, state))
			return &cassette->items[at];
	return NULL;
}

/* Returns the place after the newest exchange that any step of this state was served. */
static size_t queue_position(const struct cassette *cassette, const char *state)
{
	size_t position = 0;
	for (size_t i = 0; i < cassette->step_count; i++)
		if (!strcmp(cassette->steps[i].state, state) &&
			cassette->steps[i].last + 1 > position)
			position = cassette->steps[i].last + 1;
	return position;
}

struct exchange *cassette_next(struct cassette *cassette, const struct asker *who)
{
	if (!who->state)
		return next_unused(cassette);
	const struct played *step = find_step(cassette, who);
	if (!step)
		return from(cassette, queue_position(cassette, who->state), who->state);
	bool again = !who->turn && !step->unsettled;
	return from(cassette, again ? step->first : step->last + 1, who->state);
}

/* Reports whether the turn is done. After an error, and after a reply cut by its token limit, a
 * client asks again. */
static bool settles(const struct exchange *exchange)
{
	const char *stop = json_string_value(json_object_get(exchange->reply, "stop"));
	json_int_t status = json_get_int(exchange->reply, "status");
	return status < 300 && !json_object_get(exchange->reply, "error") &&
	       (!stop || strcmp(stop, "max_tokens"));
}

void cassette_served(struct cassette *cassette, const struct asker *who, struct exchange *exchange)
{
	exchange->used = true;
	if (!who->state)
		return;
	size_t at = (size_t)(exchange - cassette->items);
	struct played *step = find_step(cassette, who);
	if (step) {
		step->last = at;
		step->unsettled = !settles(exchange);
		return;
	}
	cassette->steps = own_room(cassette->steps, cassette->step_count, &cassette->step_room,
		sizeof(*cassette->steps));
	cassette->steps[cassette->step_count++] = (struct played){
		who->seq, who->attempt, strdup(who->state), at, at, !settles(exchange)};
}

const struct exchange *cassette_unsettled(const struct cassette *cassette, const struct asker *who)
{
	const struct played *step = who->state ? find_step(cassette, who) : NULL;
	return step && step->unsettled ? &cassette->items[step->last] : NULL;
}

void cassette_restart(struct cassette *cassette)
{
	for (size_t i = 0; i < cassette->step_count; i++)
		cassette->steps[i].unsettled = false;
}

size_t cassette_unused(const struct cassette *cassette)
{
	size_t unused = 0;
	for (size_t i = 0; i < cassette->count; i++)
		unused += !cassette->items[i].used;
	return unused;
}

/* --- matching --------------------------------------------------------------------------------- */

enum { SHOWN_BYTES = 400 };

static void add_difference(json_t *out, const char *path, const char *wanted, const json_t *got)
{
	AUTO_FREE char *text = got ? json_text(got) : NULL;
	char want[SHOWN_BYTES + 1], have[SHOWN_BYTES + 1];
	utf8_copy(want, sizeof(want), wanted);
	utf8_copy(have, sizeof(have), text ? text : "nothing");
	json_array_append_new(
		out, json_sprintf("%s: expected %s%s, got %s%s", *path ? path : "request", want,
			     strlen(wanted) > SHOWN_BYTES ? "..." : "", have,
			     text && strlen(text) > SHOWN_BYTES ? "..." : ""));
}

/* Adds a text that another one does not hold: both around the place where the longest beginning of
 * it that is there ends. */
static void add_text_difference(json_t *out, const char *path, const char *wanted, const char *got)
{
	char want[EXCERPT_BYTES], have[EXCERPT_BYTES];
	size_t end, len = excerpt_longest(wanted, got, &end);
	excerpt_show(wanted, len, true, want);
	excerpt_show(got, end, true, have);
	json_array_append_new(out, json_sprintf("%s: expected text holding %s, got %s",
					   *path ? path : "request", want, have));
}

static void compare(const json_t *match, const json_t *got, const char *path, json_t *out);

static void compare_object(const json_t *match, const json_t *got, const char *path, json_t *out)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)match, key, value) {
		char below[512];
		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
		utf8_copy(below, sizeof(below), below);
		compare(value, json_object_get(got, key), below, out);
	}
}

static bool matches(const json_t *match, const json_t *got)
{
	json_auto_t *none = json_array();
	compare(match, got, "", none);
	return !json_array_size(none);
}

/* Compares a list: each wanted item takes the first match after the item taken before. */
static void compare_array(const json_t *match, const json_t *got, const char *path, json_t *out)
{
	size_t at = 0, count = json_array_size(got);
	for (size_t i = 0; i < json_array_size(match); i++) {
		const json_t *wanted = json_array_get(match, i);
		while (at < count && !matches(wanted, json_array_get(got, at)))
			at++;
		if (at++ < count)
			continue;
		AUTO_FREE char *text = json_text(wanted);
		AUTO_FREE char *line = NULL;
		if (asprintf(&line, "an item %s (in order)", text ? text : "") > 0)
			add_difference(out, path, line, got);
		return;
	}
}

static void compare(const json_t *match, const json_t *got, const char *path, json_t *out)
{
	if (json_is_object(match) && json_is_object(got)) {
		compare_object(match, got, path, out);
	} else if (json_is_array(match) && json_is_array(got)) {
		compare_array(match, got, path, out);
	} else if (json_is_string(match) && json_is_string(got)) {
		if (!strstr(json_string_value(got), json_string_value(match)))
			add_text_difference(
				out, path, json_string_value(match), json_string_value(got));
	} else if (!json_equal(match, got)) {
		AUTO_FREE char *text = json_text(match);
		add_difference(out, path, text ? text : "", got);
	}
}

json_t *cassette_differences(const json_t *match, const json_t *request)
{
	json_t *out = json_array();
	if (match)
		compare(match, request, "", out);
	return out;
}
