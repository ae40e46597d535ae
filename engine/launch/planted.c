#include "launch/planted.h"

#include "base/json.h"

#include <limits.h>
#include <string.h>

enum { NAMED_MAX = 3, LISTED_MAX = 100 };

static void add_quoted(struct buf *out, const char *word)
{
	buf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *word);
	buf_addc(out, '\'');
}

void planted_restore(const char *path, const char *to, struct buf *out)
{
	buf_adds(out, "chmod u+rwX ");
	add_quoted(out, to);
	buf_adds(out, " && mv -T ");
	add_quoted(out, to);
	buf_addc(out, ' ');
	add_quoted(out, path);
}

static void add_one(const json_t *one, struct buf *out)
{
	const char *path = json_get_text(one, "path"), *to = json_get_text(one, "to");
	buf_adds(out, path);
	if (!*to)
		return;
	buf_addf(out, ", now %s (back with: ", to);
	planted_restore(path, to, out);
	buf_addc(out, ')');
}

static bool is_bounded(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) < PATH_MAX;
}

json_t *planted_checked(const struct jail_status *status)
{
	json_t *list = json_array(), *one;
	const char *left = status->left;
	size_t i;
	json_array_foreach (status->planted, i, one) {
		json_t *path = json_object_get(one, "path"), *to = json_object_get(one, "to");
		if (i < LISTED_MAX && is_bounded(path) && (!to || is_bounded(to)))
			json_array_append_new(
				list, json_pack("{s:O, s:O*}", "path", path, "to", to));
	}
	return json_pack("{s:o, s:s*, s:b}", "planted", list, "left",
		left && strlen(left) < PATH_MAX ? left : NULL, "stuck", status->stuck);
}

struct jail_status planted_of_lost(const struct jail_status *status)
{
	return status->stage
		       ? jail_status_copy(status)
		       : (struct jail_status){.given = true,
				 .stuck = true,
				 .left = "the launcher was lost before it had looked for "
					 "repositories that its command made; remove what you did "
					 "not make, and go on with `agent6 machine run`"};
}

const char *planted_stuck(const struct jail_status *status)
{
	return status->stuck ? status->left : NULL;
}

bool planted_reason(const struct jail_status *status, const char *allowed, struct buf *out)
{
	const json_t *planted = status->planted;
	const char *left = status->left;
	size_t count = json_array_size(planted);
	if (count)
		buf_addf(out, "it made a repository; %s is where one may be made: ", allowed);
	for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
		buf_adds(out, i ? "; " : "");
		add_one(json_array_get(planted, i), out);
	}
	if (count > NAMED_MAX)
		buf_addf(out, "; and %zu more", count - NAMED_MAX);
	if (left)
		buf_addf(out, "%sno other command begins: %s", count ? "; " : "", left);
	return count || left;
}
