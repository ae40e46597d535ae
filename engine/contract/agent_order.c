#include "contract/agent_order.h"

#include "base/json.h"
#include "contract/agent_order_table.h"
#include "contract/row.h"

#include <string.h>

/* The type of a part, and of its place in the struct. */
enum part_type {
	PART_INSIDE,   /* an object: a struct */
	PART_APART,    /* an object: a pointer to a struct in the arena */
	PART_CHANNELS, /* those of struct agent_order */
	PART_TEXTS,    /* struct agent_texts */
	PART_POLICY,   /* struct jail_policy */
};

struct part {
	enum part_type type;
	enum row_when when;
	const char *name; /* NULL: after the last */
	size_t at;
	const struct agent_shape *shape;
};

/* All members of an object, and the size of its struct. */
struct agent_shape {
	const struct row *rows;
	const struct part *parts;
	size_t bytes;
};

#define NO_PARTS(X)
#define ROW(type, when, name, member) {ROW_##type, ROW_##when, name, offsetof(struct OF, member)},
#define PART(type, when, name, member, shape)                                                      \
	{PART_##type, ROW_##when, name, offsetof(struct OF, member), shape},
#define SHAPE(MEMBERS, PARTS)                                                                      \
	{                                                                                          \
		.rows = (const struct row[]){MEMBERS(ROW){.name = NULL}},                          \
		.parts = (const struct part[]){PARTS(PART){.name = NULL}},                         \
		.bytes = sizeof(struct OF)                                                         \
	}

#define OF agent_channel
static const struct agent_shape channel_shape = SHAPE(AGENT_CHANNEL_MEMBERS, NO_PARTS);
#undef OF
#define OF agent_commands
static const struct agent_shape commands_shape =
	SHAPE(AGENT_COMMANDS_MEMBERS, AGENT_COMMANDS_PARTS);
#undef OF
#define OF agent_order
static const struct agent_shape order_shape = SHAPE(AGENT_ORDER_MEMBERS, AGENT_ORDER_PARTS);
#undef OF
#define OF agent_limits
static const struct agent_shape limits_shape = SHAPE(AGENT_LIMITS_MEMBERS, NO_PARTS);
#undef OF
#define OF prices
static const struct agent_shape prices_shape = SHAPE(AGENT_PRICES_MEMBERS, NO_PARTS);
#undef OF
#define OF agent_provider
static const struct agent_shape provider_shape =
	SHAPE(AGENT_PROVIDER_MEMBERS, AGENT_PROVIDER_PARTS);
#undef OF
#define OF agent_reviewer
static const struct agent_shape reviewer_shape =
	SHAPE(AGENT_REVIEWER_MEMBERS, AGENT_REVIEWER_PARTS);
#undef OF
#define OF agent_task
static const struct agent_shape task_shape = SHAPE(AGENT_TASK_MEMBERS, AGENT_TASK_PARTS);
#undef OF

/* --- reading ---------------------------------------------------------------------------------- */

static int refuse(const char *name, const char *why, struct err *e)
{
	return err_set(e, "the request is not understood: %s %s", name, why);
}

bool agent_texts_of(const json_t *list, struct arena *arena, struct agent_texts *out)
{
	size_t count = json_array_size(list);
	*out = (struct agent_texts){arena_array(arena, count + 1, sizeof(*out->items)), count};
	for (size_t i = 0; i < count; i++)
		if (!(out->items[i] = json_string_value(json_array_get(list, i))))
			return false;
	return json_is_array(list);
}

void agent_texts_copy(const struct path_list *paths, struct arena *arena, struct agent_texts *out)
{
	*out = (struct agent_texts){
		arena_array(arena, paths->count + 1, sizeof(*out->items)), paths->count};
	for (size_t i = 0; i < paths->count; i++)
		out->items[i] = arena_copy(arena, paths->items[i], strlen(paths->items[i]));
}

static int read_row(const struct row *row, const json_t *from, void *into, struct err *e)
{
	json_t *value = json_object_get(from, row->name);
	bool may_lack = row->when == ROW_ELSE || (row->when == ROW_ALWAYS && value);
	if (row_read(row, value, into) || (may_lack && (!value || json_is_null(value))))
		return 0;
	return refuse(row->name, value ? "is of a wrong type" : "is missing", e);
}

static int read_object(const struct agent_shape *shape, json_t *from, void *into,
	struct arena *arena, struct err *e);

static int read_channels(
	struct agent_order *order, json_t *list, const struct part *part, struct err *e)
{
	if (!json_is_array(list))
		return refuse(part->name, "is of a wrong type", e);
	order->channel_count = json_array_size(list);
	order->channels = arena_array(&order->arena, order->channel_count, part->shape->bytes);
	for (size_t i = 0; i < order->channel_count; i++)
		if (read_object(part->shape, json_array_get(list, i), &order->channels[i],
			    &order->arena, e))
			return -1;
	return 0;
}

static int read_part(
	const struct part *part, json_t *value, void *into, struct arena *arena, struct err *e)
{
	void *at = (char *)into + part->at;
	switch (part->type) {
	case PART_INSIDE: return read_object(part->shape, value, at, arena, e);
	case PART_APART:
		*(void **)at = arena_alloc(arena, part->shape->bytes);
		return read_object(part->shape, value, *(void **)at, arena, e);
	case PART_CHANNELS: return read_channels(into, value, part, e);
	case PART_TEXTS:
		return agent_texts_of(value, arena, at)
			       ? 0
			       : refuse(part->name, "is no list of texts", e);
	case PART_POLICY: return jail_policy_decode(value, at, e) ? err_wrap(e, "the policy") : 0;
	}
	return -1;
}

static int read_parts(const struct agent_shape *shape, const json_t *from, void *into,
	struct arena *arena, struct err *e)
{
	for (const struct part *part = shape->parts; part->name; part++) {
		json_t *value = json_object_get(from, part->name);
		if (!value && part->when != ROW_ELSE)
			return refuse(part->name, "is missing", e);
		if (part->when != ROW_NEEDED && (!value || json_is_null(value)))
			continue;
		if (read_part(part, value, into, arena, e))
			return -1;
	}
	return 0;
}

static bool is_member(const struct agent_shape *shape, const char *name)
{
	const struct row *row = shape->rows;
	const struct part *part = shape->parts;
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	while (part->name && strcmp(part->name, name) != 0)
		part++;
	return row->name || part->name;
}

static int read_object(const struct agent_shape *shape, json_t *from, void *into,
	struct arena *arena, struct err *e)
{
	const char *name;
	json_t *value;
	if (!json_is_object(from))
		return err_set(e, "the request is not understood: a value is not an object");
	json_object_foreach (from, name, value)
		if (!is_member(shape, name))
			return refuse(name, "is not known", e);
	for (const struct row *row = shape->rows; row->name; row++)
		if (read_row(row, from, into, e))
			return -1;
	return read_parts(shape, from, into, arena, e);
}

static int check_version(int64_t version, struct err *e)
{
	return version == AGENT_ORDER_VERSION
		       ? 0
		       : err_set(e, "the request has version %lld; this program knows %d",
				 (long long)version, AGENT_ORDER_VERSION);
}

int agent_order_decode(json_t *from, struct agent_order *out, struct err *e)
{
	*out = (struct agent_order){.held = json_incref(from)};
	if (!read_object(&order_shape, from, out, &out->arena, e) &&
		!check_version(out->version, e))
		return 0;
	agent_order_done(out);
	return -1;
}

static int check_limits(const struct agent_limits *limits, struct err *e)
{
	bool bad = limits->timeout_secs < 1 || limits->max_iterations < 1 ||
		   limits->max_output_tokens_per_call < 1 || limits->context_tokens < 1 ||
		   limits->max_calls_per_turn < 1;
	return bad ? refuse("one of limits", "is below 1", e) : 0;
}

int agent_task_decode(json_t *from, struct agent_task *out, struct err *e)
{
	*out = (struct agent_task){.held = json_incref(from)};
	if (!read_object(&task_shape, from, out, &out->arena, e) &&
		!check_version(out->version, e) && !check_limits(&out->limits, e))
		return 0;
	agent_task_done(out);
	return -1;
}

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *write_object(const struct agent_shape *shape, const void *from);

static json_t *write_channels(const struct agent_order *order)
{
	json_auto_t *list = json_array();
	for (size_t i = 0; i < order->channel_count; i++)
		if (json_array_append_new(list, write_object(&channel_shape, &order->channels[i])))
			return NULL;
	return json_incref(list);
}

static json_t *write_texts(const struct agent_texts *texts)
{
	json_auto_t *list = json_array();
	for (size_t i = 0; i < texts->count; i++)
		if (json_array_append_new(list, json_string(texts->items[i])))
			return NULL;
	return json_incref(list);
}

static json_t *write_part(const struct part *part, const void *from)
{
	const void *at = (const char *)from + part->at;
	switch (part->type) {
	case PART_INSIDE: return write_object(part->shape, at);
	case PART_APART: return write_object(part->shape, *(const void *const *)at);
	case PART_CHANNELS: return write_channels(from);
	case PART_TEXTS: return write_texts(at);
	case PART_POLICY: return jail_policy_encode(at);
	}
	return NULL;
}

static bool is_utf8(const struct row *row, const void *from, const json_t *out)
{
	const void *at = (const char *)from + row->at;
	return row->type != ROW_TEXT || !*(const char *const *)at ||
	       json_is_string(json_object_get(out, row->name));
}

static json_t *write_object(const struct agent_shape *shape, const void *from)
{
	json_auto_t *out = json_object();
	for (const struct row *row = shape->rows; row->name; row++) {
		row_write(row, from, out);
		if (!is_utf8(row, from, out))
			return NULL;
	}
	for (const struct part *part = shape->parts; part->name; part++) {
		/* A part that may be missing begins with a pointer. */
		const void *at = (const char *)from + part->at;
		bool any = part->when == ROW_NEEDED || *(const void *const *)at;
		if (!any && part->when == ROW_ELSE)
			continue;
		if (json_object_set_new(
			    out, part->name, any ? write_part(part, from) : json_null()))
			return NULL;
	}
	return json_incref(out);
}

json_t *agent_order_encode(const struct agent_order *order)
{
	return write_object(&order_shape, order);
}

json_t *agent_task_encode(const struct agent_task *task)
{
	return write_object(&task_shape, task);
}

void agent_order_done(struct agent_order *order)
{
	if (order->commands)
		jail_policy_done(&order->commands->policy);
	json_decref(order->held);
	arena_done(&order->arena);
	*order = (struct agent_order){.held = NULL};
}

void agent_task_done(struct agent_task *task)
{
	json_decref(task->held);
	arena_done(&task->arena);
	*task = (struct agent_task){.held = NULL};
}
