#include "rehearse/cassette.h"

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

/* A key that an object may hold, as schema/cassette.schema.json says. */
struct cassette_key {
	const char *name, *must_be;
	json_type type;         /* JSON_NULL: anything */
	json_int_t least, most; /* of an integer */
};

static bool fits(const json_t *value, const struct cassette_key *field)
{
	if (field->type == JSON_NULL)
		return true;
	if (json_typeof(value) != field->type)
		return false;
	return field->type != JSON_INTEGER || (json_integer_value(value) >= field->least &&
						      json_integer_value(value) <= field->most);
}

static int unknown_key(
	const char *key, const struct cassette_key *fields, size_t count, struct err *e)
{
	AUTO_BUF names = BUF_INIT(1024);
	for (size_t i = 0; i < count; i++)
		buf_addf(&names, "%s\"%s\"", i ? ", " : "", fields[i].name);
	return err_set(e, "unknown key \"%.100s\"; those there are: %s", key, names.data);
}

static int check_fields(
	const json_t *object, const struct cassette_key *fields, size_t count, struct err *e)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		size_t i = 0;
		while (i < count && strcmp(key, fields[i].name))
			i++;
		if (i == count)
			return unknown_key(key, fields, count, e);
		if (!fits(value, &fields[i]))
			return err_set(e, "\"%s\" must be %s", key, fields[i].must_be);
	}
	return 0;
}

#define TEXT(name)                                                                                 \
	{                                                                                          \
		name, "text", JSON_STRING, 0, 0                                                    \
	}
#define OBJECT(name)                                                                               \
	{                                                                                          \
		name, "an object", JSON_OBJECT, 0, 0                                               \
	}
#define COUNT(name)                                                                                \
	{                                                                                          \
		name, "an integer of 0 or more", JSON_INTEGER, 0, INT64_MAX                        \
	}

static int check_usage(const json_t *usage, struct err *e)
{
	static const struct cassette_key fields[] = {
		COUNT("input_tokens"), COUNT("output_tokens"), COUNT("cached_tokens")};
	return check_fields(usage, fields, ARRAY_LEN(fields), e) ? err_wrap(e, "reply.usage") : 0;
}

static int check_match(const json_t *match, struct err *e)
{
	static const struct cassette_key fields[] = {TEXT("model"), TEXT("system"), TEXT("prompt"),
		TEXT("last"), COUNT("turn"), {"tools", "a list", JSON_ARRAY, 0, 0},
		{"messages", "a list", JSON_ARRAY, 0, 0}};
	return check_fields(match, fields, ARRAY_LEN(fields), e) ? err_wrap(e, "match") : 0;
}

static int check_reply(const json_t *reply, struct err *e)
{
	static const struct cassette_key fields[] = {TEXT("text"),
		{"tool_calls", "a list", JSON_ARRAY, 0, 0}, TEXT("thinking"), OBJECT("usage"),
		TEXT("stop"), {"delay_ms", "an integer from 0 to 600000", JSON_INTEGER, 0, 600000},
		{"status", "an HTTP status, 200 to 599", JSON_INTEGER, 200, 599}, TEXT("error"),
		COUNT("retry_after_secs")};
	static const struct cassette_key call_fields[] = {TEXT("name"), OBJECT("arguments")};
	size_t i;
	json_t *call;
	if (check_fields(reply, fields, ARRAY_LEN(fields), e))
		return err_wrap(e, "reply");
	json_array_foreach (json_object_get(reply, "tool_calls"), i, call) {
		if (check_fields(call, call_fields, ARRAY_LEN(call_fields), e))
			return err_wrap(e, "reply.tool_calls");
		if (json_object_size(call) != ARRAY_LEN(call_fields))
			return err_set(e,
				"reply.tool_calls needs {\"name\": TEXT, \"arguments\": OBJECT}");
	}
	return check_usage(json_object_get(reply, "usage"), e);
}

/* Checks a line for a wait: the rehearsal's runner pokes, so it is not played here. */
static int check_poke(const json_t *value, struct err *e)
{
	static const struct cassette_key line[] = {TEXT("state"), OBJECT("poke")};
	static const struct cassette_key fields[] = {
		TEXT("message"), {"data", NULL, JSON_NULL, 0, 0}};
	const json_t *poke = json_object_get(value, "poke");
	if (check_fields(value, line, ARRAY_LEN(line), e))
		return err_wrap(e, "a line with \"poke\"");
	if (check_fields(poke, fields, ARRAY_LEN(fields), e))
		return err_wrap(e, "poke");
	return json_object_size(poke) > 1
		       ? err_set(e, "\"poke\" takes {\"message\": TEXT} or {\"data\": JSON}")
		       : 0;
}

static int check_exchange(const json_t *value, struct err *e)
{
	static const struct cassette_key fields[] = {
		TEXT("state"), OBJECT("match"), OBJECT("reply")};
	if (!json_is_object(value))
		return err_set(e, "a line is an object {\"state\", \"match\", \"reply\"}");
	if (!json_is_string(json_object_get(value, "state")))
		return err_set(e, "\"state\" must name a state");
	if (json_object_get(value, "poke"))
		return check_poke(value, e);
	if (check_fields(value, fields, ARRAY_LEN(fields), e) ||
		check_match(json_object_get(value, "match"), e))
		return -1;
	if (!json_object_get(value, "reply"))
		return err_set(e, "\"reply\" must be an object");
	return check_reply(json_object_get(value, "reply"), e);
}

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
	size_t len, number = 1;
	if (io_read_file(AT_FDCWD, name, CASSETTE_BYTES_MAX, &text, &len, e))
		return -1;
	/* The file is a copy, so messages use only its name. */
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	for (size_t at = 0; at < len; number++) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t line_len = newline ? (size_t)(newline - text) - at : len - at;
		bool blank = strspn(text + at, " \t\r") >= line_len;
		struct json_cap cap = {line_len, JSON_DEPTH_MAX, SIZE_MAX};
		json_auto_t *value = blank ? NULL : json_read_nested(text + at, line_len, cap, e);
		if (!blank && (!value || check_exchange(value, e) ||
				      add_exchange(cassette, value, name, number, e)))
			return err_wrap(e, "%s:%zu", name, number);
		at += line_len + 1;
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
		if (strstr(json_string_value(got), json_string_value(match)))
			return;
		AUTO_FREE char *text = json_text(match);
		AUTO_FREE char *line = NULL;
		if (asprintf(&line, "text holding %s", text ? text : "") > 0)
			add_difference(out, path, line, got);
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
