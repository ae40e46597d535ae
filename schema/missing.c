#include "schema/missing.h"

#include "base/buf.h"
#include "schema/advice.h"
#include <string.h>

enum { NAMES_BYTES = 64 * 80 };

/* Whether it stands in the wrong place, which is then said. */
static bool is_nested(const struct lacking *l, const char *name)
{
	return advise_nested(l->f, l->d, l->map, l->place, name);
}

static void report_one(const struct lacking *l, const char *name, const struct shape *s)
{
	struct finding *it = finding_add(
		l->f, RULE_MISSING_KEY, l->d, l->where, "%s needs the key `%s`", l->place, name);
	advise_key(l->f, it, name, s);
}

void missing_key(const struct lacking *l, const char *name, const struct shape *s)
{
	if (!l->map->partial && !is_nested(l, name))
		report_one(l, name, s);
}

/* No advice but what they take, and that is the same. */
static bool alike(const struct shape *a, const struct shape *b)
{
	return a->title && b->title && !strcmp(a->title, b->title) && !a->key_count &&
	       !a->group_count && !a->value_count;
}

/* Those of `missing` that are like its first, key `i`. */
static uint64_t group(const struct shape *s, uint64_t missing, size_t i)
{
	uint64_t same = UINT64_C(1) << i;
	for (size_t k = i + 1; k < s->key_count; k++)
		if (missing >> k & 1 && alike(s->keys[i].shape, s->keys[k].shape))
			same |= UINT64_C(1) << k;
	return same;
}

static void report_group(const struct lacking *l, const struct shape *s, uint64_t same, size_t i)
{
	AUTO_BUF names = BUF_INIT(NAMES_BYTES);
	buf_addf(&names, "`%s`", s->keys[i].name);
	for (size_t k = i + 1; k < s->key_count; k++)
		if (same >> k & 1)
			buf_addf(&names, "%s`%s`", same >> k > 1 ? ", " : " and ", s->keys[k].name);
	struct finding *it = finding_add(l->f, RULE_MISSING_KEY, l->d, l->where,
		"%s needs the keys %s", l->place, names.data);
	finding_help(l->f, it, "each takes %s", s->keys[i].shape->title);
}

void missing_keys(const struct lacking *l, const struct shape *s, uint64_t missing)
{
	if (l->map->partial)
		return;
	for (size_t i = 0; i < s->key_count; i++)
		if (missing >> i & 1 && is_nested(l, s->keys[i].name))
			missing &= ~(UINT64_C(1) << i);
	for (size_t i = 0; i < s->key_count; i++) {
		uint64_t same = missing >> i & 1 ? group(s, missing, i) : 0;
		if (same & (same - 1))
			report_group(l, s, same, i);
		else if (same)
			report_one(l, s->keys[i].name, s->keys[i].shape);
		missing &= ~same;
	}
}
