/*
 * Assumptions: derives facts from a condition that holds, or does not, given only types, enums and
 * earlier assumptions. A condition that it calls impossible is impossible; of any other it knows
 * nothing.
 */
#ifndef MACHINE_ANALYSE_ASSUME_H
#define MACHINE_ANALYSE_ASSUME_H
#include "machine/predicate_node.h"

/* Facts beyond these limits are forgotten, which only makes the analysis say less. */
enum { FACTS_MAX = 16, FACT_TEXTS_MAX = 32, FACT_HOLES_MAX = 4 };

enum known_kind { KNOWN_BOOL, KNOWN_NUMBER, KNOWN_TEXT, KNOWN_LENGTH, KNOWN_PRESENT };

struct bound {
	bool set, open;
	struct value at;
};

/* The facts about one place: a reference's value, its length or its presence. */
struct known {
	enum known_kind kind;
	const struct ref *ref;
	bool may_true, may_false;           /* BOOL, PRESENT */
	bool whole;                         /* NUMBER, LENGTH: integers only */
	struct bound low, high;             /* NUMBER, LENGTH */
	struct value holes[FACT_HOLES_MAX]; /* numbers that it cannot be */
	uint32_t hole_count;
	bool listed; /* TEXT: it is one of `texts`; otherwise it is none of them */
	const char *texts[FACT_TEXTS_MAX];
	uint32_t text_count;
};

struct facts {
	struct known items[FACTS_MAX];
	uint32_t count;
};

/* Copies only the used part, since a `struct facts` is large. */
void facts_copy(struct facts *to, const struct facts *from);
/* Adds the consequences of `node` being `truth`. Returns false if that is impossible, given
 * `facts`. */
bool assume(struct facts *facts, const struct node *node, bool truth);
#endif
