/*
 * Shell text as a tree: the commands that a POSIX shell or bash would run, without running them.
 *
 * The reader gives up early. Whatever it does not understand is an error, and the caller then
 * assumes the worst. Quotes, escapes, $'..' and simple brace lists are resolved into words; all
 * substitutions, compound commands, functions and here-documents are in the tree.
 */
#ifndef POLICY_SHELL_H
#define POLICY_SHELL_H
#include "base/arena.h"
#include "base/err.h"
#include <stdbool.h>

enum { SHELL_CAP_BYTES = 64 * 1024, SHELL_DEPTH_MAX = 24, SHELL_WORDS_MAX = 8192 };

struct shell_word {
	struct shell_word *next;
	const char *text; /* expansions stay as written: $x, ${x}; a substitution is $() */
	bool computed;    /* holds an expansion whose value is not known here */
	bool splits;      /* an unquoted expansion may make several words of it, or none */
	bool globbed;     /* holds an unquoted *, ? or [ */
	bool assigns;     /* begins with NAME=, NAME+= or NAME[..]=, unquoted */
};

enum shell_redirect_kind { SHELL_READ, SHELL_WRITE, SHELL_APPEND, SHELL_DUP, SHELL_FED };
struct shell_redirect {
	struct shell_redirect *next;
	enum shell_redirect_kind kind;
	const char *target;
	const char *body;                /* SHELL_FED: the here-document's or here-string's text */
	bool plain, strip;               /* the reader's own: of a here-document */
	struct shell_redirect *awaiting; /* the reader's own: the next one without its body */
};

enum shell_kind {
	SHELL_SIMPLE,
	SHELL_PIPELINE,
	SHELL_LIST,
	SHELL_FUNCTION,
	SHELL_ARITHMETIC, /* `name` is text that the shell evaluates as arithmetic or as a name */
	SHELL_EVALUATION, /* an expansion that evaluates the value of a variable as code */
};
struct shell_node {
	struct shell_node *next;
	enum shell_kind kind;
	const char *name;                   /* SHELL_FUNCTION, SHELL_ARITHMETIC */
	struct shell_word *assigns, *words; /* SHELL_SIMPLE; assigns are NAME=VALUE */
	struct shell_redirect *redirects;
	struct shell_node *children; /* stages, items, bodies */
	struct shell_node *subs;     /* substitutions in its words */
	bool background;
};

/* Reports whether `c` may be a part of a variable's name. */
bool shell_in_name(char c);

/* Parses `text` into `arena` as bash reads it. Returns NULL with an error where it is not
 * understood or over a limit. */
struct shell_node *shell_parse(const char *text, size_t len, struct arena *arena, struct err *e);
#endif
