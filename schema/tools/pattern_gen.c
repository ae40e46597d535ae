/* Patterns: the part of regular expressions that can be decided by one look at each character. */
#include "schema/tools/shape_gen.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

struct pattern_step {
	bool set[128], other;
	unsigned least, most;
};

/* Returns the character after a backslash: punctuation stands for itself; letters, which would mean
 * a class, are refused. */
static unsigned char escaped(char c, const char *place)
{
	if (!ispunct((unsigned char)c))
		fail(place, "the escape `\\%c` in a pattern is not supported", c);
	return (unsigned char)c;
}

static const char *pattern_class(const char *p, struct pattern_step *step, const char *place)
{
	bool negated = *p == '^';
	p += negated;
	while (*p && *p != ']') {
		unsigned char from = (unsigned char)*p++, to = from;
		if (from == '\\')
			from = to = escaped(*p++, place);
		if (*p == '-' && p[1] != ']') {
			to = (unsigned char)p[1];
			p += 2;
		}
		if (from >= 128 || to >= 128 || to < from)
			fail(place, "a pattern's class must be ASCII");
		for (unsigned c = from; c <= to; c++)
			step->set[c] = true;
	}
	if (*p != ']')
		fail(place, "a class in the pattern is not closed");
	for (int c = 0; negated && c < 128; c++)
		step->set[c] = !step->set[c];
	step->other = negated;
	return p + 1;
}

static const char *pattern_step(const char *p, struct pattern_step *step, const char *place)
{
	*step = (struct pattern_step){.least = 1, .most = 1};
	if (*p == '[') {
		p = pattern_class(p + 1, step, place);
	} else if (strchr("(){}|*+?.^$", *p)) {
		fail(place, "`%c` in a pattern is not supported", *p);
	} else {
		unsigned char c = *p == '\\' ? escaped(*++p, place) : (unsigned char)*p;
		if (c >= 128)
			fail(place, "a pattern must be ASCII");
		step->set[c] = true;
		p++;
	}
	if (*p == '*' || *p == '?')
		step->least = 0;
	if (*p == '*' || *p == '+')
		step->most = UINT32_MAX;
	return p + (*p == '*' || *p == '+' || *p == '?');
}

/* Requires that a repeated set and the next one have nothing in common: only then is greedy
 * matching without backtracking exact. */
static void pattern_disjoint(
	const struct pattern_step *a, const struct pattern_step *b, const char *place)
{
	if (a->least == a->most)
		return;
	bool common = a->other && b->other;
	for (int c = 0; c < 128; c++)
		common |= a->set[c] && b->set[c];
	if (common)
		fail(place, "neighbours in the pattern overlap; that would need backtracking");
}

static void print_step(const struct pattern_step *step)
{
	uint64_t bits[2] = {0, 0};
	for (int c = 0; c < 128; c++)
		if (step->set[c])
			bits[c / 64] |= UINT64_C(1) << c % 64;
	printf("{{0x%llxu, 0x%llxu}, %d, %uu, %uu}, ", (unsigned long long)bits[0],
		(unsigned long long)bits[1], step->other, step->least, step->most);
}

void emit_pattern(const char *text, int id, const char *place)
{
	struct pattern_step steps[16];
	size_t count = 0;
	const char *p = text;
	if (*p++ != '^')
		fail(place, "a pattern must begin with ^");
	for (; *p && strcmp(p, "$"); count++) {
		if (count == ARRAY_LEN(steps))
			fail(place, "the pattern is too long");
		p = pattern_step(p, &steps[count], place);
		if (count)
			pattern_disjoint(&steps[count - 1], &steps[count], place);
	}
	printf("static const struct shape_step %s_steps_%d[] = {", prefix, id);
	for (size_t i = 0; i < count; i++)
		print_step(&steps[i]);
	printf("};\nstatic const struct shape_pattern %s_pattern_%d = {%s_steps_%d, %zu, %s};\n",
		prefix, id, prefix, id, count, *p ? "true" : "false");
}
