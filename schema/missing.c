#include "schema/missing.h"

#include "base/buf.h"
#include "schema/advice.h"
#include <string.h>

enum { NAMES_BYTES = 64 * 80 };

static const char or_defaults[] = ", here or in `defaults`";

/* Reports whether the key is in the wrong place, which then gets a finding. */
static bool is_nested(const struct lacking *lacking, const char *name)
{
	return advise_nested(lacking->f, lacking->d, lacking->map, lacking->place, name);
}

static void report_one(const struct lacking *lacking, const struct shape_key *key)
{
	struct finding *it = finding_add(lacking->f, RULE_MISSING_KEY, lacking->d, lacking->where,
		"%s needs the key `%s`", lacking->place, key->name);
	advise_key(lacking->f, it, key->name, key->shape);
	if (key->filled && it->help)
		finding_help(lacking->f, it, "%s%s", it->help, or_defaults);
}

void missing_key(const struct lacking *lacking, const char *name, const struct shape *shape)
{
	if (!lacking->map->partial && !is_nested(lacking, name))
		report_one(lacking, &(struct shape_key){.name = name, .shape = shape});
}

/* Returns those of `missing` that are like its first, key `i`: they have the same shape, and the
 * only advice is about their values. */
static uint64_t group(const struct shape *shape, uint64_t missing, size_t i)
{
	uint64_t same = UINT64_C(1) << i;
	const struct shape *first = shape->keys[i].shape;
	if (!first->title || first->key_count || first->group_count || first->value_count)
		return same;
	for (size_t k = i + 1; k < shape->key_count; k++)
		if (missing >> k & 1 && shape->keys[k].shape == first)
			same |= UINT64_C(1) << k;
	return same;
}

static void report_group(
	const struct lacking *lacking, const struct shape *shape, uint64_t same, size_t i)
{
	AUTO_BUF names = BUF_INIT(NAMES_BYTES);
	buf_addf(&names, "`%s`", shape->keys[i].name);
	for (size_t k = i + 1; k < shape->key_count; k++)
		if (same >> k & 1)
			buf_addf(&names, "%s`%s`", same >> k > 1 ? ", " : " and ",
				shape->keys[k].name);
	struct finding *it = finding_add(lacking->f, RULE_MISSING_KEY, lacking->d, lacking->where,
		"%s needs the keys %s", lacking->place, names.data);
	finding_help(lacking->f, it, "each takes %s%s", shape->keys[i].shape->title,
		shape->keys[i].filled ? or_defaults : "");
}

void missing_keys(const struct lacking *lacking, const struct shape *shape, uint64_t missing)
{
	if (lacking->map->partial)
		return;
	for (size_t i = 0; i < shape->key_count; i++)
		if (missing >> i & 1 && is_nested(lacking, shape->keys[i].name))
			missing &= ~(UINT64_C(1) << i);
	for (size_t i = 0; i < shape->key_count; i++) {
		uint64_t same = missing >> i & 1 ? group(shape, missing, i) : 0;
		if (same & (same - 1))
			report_group(lacking, shape, same, i);
		else if (same)
			report_one(lacking, &shape->keys[i]);
		missing &= ~same;
	}
}
