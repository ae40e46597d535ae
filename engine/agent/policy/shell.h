/*
 * Shell text as a tree: what a POSIX shell or bash would run, without running it.
 *
 * Quoting, escapes, $'..' and brace lists are resolved into words; everything a substitution,
 * compound command, function or here-document holds is in the tree as well. What the grammar does
 * not know is an error, and the caller then assumes the worst.
 */
#ifndef POLICY_SHELL_H
#define POLICY_SHELL_H
#include "base/arena.h"
#include "base/err.h"
#include <stdbool.h>

enum { SHELL_CAP_BYTES = 64 * 1024, SHELL_DEPTH_MAX = 24, SHELL_WORDS_MAX = 8192 };

struct sh_word {
	struct sh_word *next;
	/* Expansions are left as written: $x, ${x}; a substitution is $(), or $# where it prints
	 * nothing but numbers. */
	const char *text;
	const char *marks; /* "x" where an expansion begins, as long as the text; NULL: any dollar
			      may */
	bool dynamic;      /* holds an expansion whose value is not known here */
	bool splits;       /* one of them is not quoted: it may make several words, or none */
	bool globbed;      /* holds an unquoted *, ? or [ */
	bool assigns;      /* begins with NAME= or its like, and nothing of that was quoted */
};

enum sh_redirect_kind { SH_READ, SH_WRITE, SH_APPEND, SH_DUP, SH_HERE_DOC, SH_HERE_STRING };
struct sh_redirect {
	struct sh_redirect *next;
	enum sh_redirect_kind kind;
	const struct sh_word *target; /* of a here-document: its delimiter */
	const char *body;             /* of a here-document */
	struct sh_redirect *waiting;  /* the reader's own */
};

enum sh_kind { SH_SIMPLE, SH_PIPELINE, SH_LIST, SH_FUNCTION };
struct sh_node {
	struct sh_node *next;
	enum sh_kind kind;
	const char *name;                /* SH_FUNCTION */
	struct sh_word *assigns, *words; /* SH_SIMPLE; assigns are NAME=VALUE */
	struct sh_redirect *redirects;
	struct sh_node *children; /* stages, items, bodies */
	struct sh_node *subs;     /* substitutions in its words, as lists */
	bool background;
};

/* What the names of variables are made of. */
bool shell_in_name(char c);

/* Whether a word's text holds a substitution that was quoted and is evaluated later all the same:
 * in a subscript, an arithmetic expression, a variable that one of these names. */
bool shell_holds_code(const char *text);

/* Parses `text` into `arena`; `posix`: as a shell does for which $'..', $[..], ((..)) and [[..]]
 * are nothing special, as dash. NULL with an error: not understood, or over a limit. */
struct sh_node *shell_parse(
	const char *text, size_t len, bool posix, struct arena *arena, struct err *e);
#endif
