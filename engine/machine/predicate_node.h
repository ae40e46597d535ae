/*
 * The compiled form of a predicate: a tree of nodes in the machine's arena. Internal to this
 * module and its analyses: the parser builds it, the type check annotates it, evaluation and
 * analyses walk it.
 */
#ifndef MACHINE_PREDICATE_NODE_H
#define MACHINE_PREDICATE_NODE_H
#include "machine/predicate.h"

/* Limits: how deep brackets, `not`, signs and calls nest, and how long a condition is. */
enum { PREDICATE_DEPTH_MAX = 64, PREDICATE_BYTES_MAX = 64 * 1024 };

enum node_kind {
	NODE_OR,      /* two children or more */
	NODE_AND,     /* two children or more */
	NODE_NOT,     /* one */
	NODE_COMPARE, /* two or more, each but the first with the `op` in front of it */
	NODE_NEGATE,  /* one */
	NODE_PLUS,    /* one */
	NODE_LEN,     /* one */
	NODE_HAS,     /* `ref` */
	NODE_REF,     /* `ref` */
	NODE_LITERAL, /* `value` */
	NODE_LIST     /* children are NODE_LITERAL */
};

enum compare_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_IN, OP_NOT_IN };

enum value_kind {
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_STR,
	VALUE_JSON,
	VALUE_LIST
};

struct value {
	enum value_kind kind;
	size_t len; /* VALUE_STR */
	union {
		bool boolean;
		int64_t integer;
		double number;
		const char *text;
		const json_t *json;       /* an array or object, borrowed */
		const struct node *items; /* VALUE_LIST: a NODE_LIST */
	};
};

struct node {
	enum node_kind kind : 8;
	enum compare_op op : 8;
	/* `typed` false: an error below was reported. `null`: the literal null. */
	bool typed, null;
	uint32_t at, len; /* in the source text */
	uint32_t count;   /* children */
	struct node *first, *next;
	union {
		const struct ref *ref;
		struct value value;
	};
	/* The static type; a NODE_LIST has kind TYPE_LIST, and its items tell the rest. */
	struct type type;
};

struct predicate {
	const char *source;
	struct node *root;
};

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_SIGN, /* punctuation, one of the lexer's table */
	TOKEN_BAD   /* reported */
};

struct predicate_token {
	enum token_kind kind;
	size_t at, len;
	struct value value; /* TOKEN_STRING */
};

struct predicate_lexer {
	const struct scope *scope;
	const struct site *site;
	const char *text;
	size_t len, next;
	bool failed; /* the first problem was reported */
};

struct predicate_token predicate_token(struct predicate_lexer *lexer);
/* Reports the first problem only: the rest of a broken condition is guesswork. */
struct finding *predicate_fail(struct predicate_lexer *lexer, enum rule rule, size_t at, size_t len,
	const char *format, ...) PRINTF(5, 6);
/* Parses a condition. NULL: an error was reported. */
struct node *predicate_parse(struct predicate_lexer *lexer);
/* Sets the types and reports every contradiction once. Returns -1 if there is an error. */
int predicate_type(struct node *root, const struct site *site);

/* Returns <0, 0 or >0 without rounding, for any mix of ints and floats. */
int number_compare(const struct value *a, const struct value *b);
bool value_equal(const struct value *a, const struct value *b);
bool value_truth(const struct value *value);
/* Evaluates a node. Returns -1 if a field is missing. */
int node_eval(const struct node *node, const json_t *blackboard, struct value *out, struct err *e);
#endif
