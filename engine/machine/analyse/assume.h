/*
 * Assumptions: what must be so for a condition to hold, or not to hold, given only types, enums and
 * what was assumed before. What it calls impossible is impossible; of the rest it cannot say.
 */
#ifndef MACHINE_ANALYSE_ASSUME_H
#define MACHINE_ANALYSE_ASSUME_H
#include "machine/predicate_node.h"

/* What does not fit is forgotten, which only makes it say less. */
enum { FACTS_MAX = 16, FACT_TEXTS_MAX = 32, FACT_HOLES_MAX = 4 };

enum fact_kind { FACT_BOOL, FACT_NUMBER, FACT_TEXT, FACT_LENGTH, FACT_PRESENT };

struct bound {
	bool set, open;
	struct value at;
};

/* What is known about one place: a reference's value, its length or its presence. */
struct fact {
	enum fact_kind kind;
	const struct ref *ref;
	bool may_true, may_false;           /* BOOL, PRESENT */
	bool whole;                         /* NUMBER, LENGTH: integers only */
	struct bound low, high;             /* NUMBER, LENGTH */
	struct value holes[FACT_HOLES_MAX]; /* numbers it is not */
	uint32_t hole_count;
	bool listed; /* TEXT: it is one of `texts`; otherwise it is none of them */
	const char *texts[FACT_TEXTS_MAX];
	uint32_t text_count;
};

struct facts {
	struct fact items[FACTS_MAX];
	uint32_t count;
};

/* Copies what is used of it; a `struct facts` is large. */
void facts_copy(struct facts *to, const struct facts *from);
/* Adds what follows from `node` being `truth`. False: it cannot be, given `facts`. */
bool assume(struct facts *facts, const struct node *node, bool truth);
#endif
