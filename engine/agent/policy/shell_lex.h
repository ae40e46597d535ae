/*
 * The state that the shell's word reader, its redirections and its grammar share. Private to them.
 */
#ifndef POLICY_SHELL_LEX_H
#define POLICY_SHELL_LEX_H
#include "agent/policy/shell.h"

#include "base/buf.h"

struct sh_reader {
	const char *text;
	size_t len, at;
	int depth;
	bool posix; /* see shell_parse */
	size_t words;
	struct arena *arena;
	struct err *e;
	struct sh_node *subs;        /* gathered since the current command began */
	struct sh_redirect *waiting; /* here-documents whose bodies begin at the next line */
};

/* A word while it grows: one mask byte per text byte, u where it is not quoted, so that only such
 * braces expand, and x where an expansion begins. */
struct draft {
	struct buf text, mask;
	bool dynamic, globbed, any, split; /* split: an unquoted $IFS separates fields */
	bool assigns, dollar;              /* dollar: one stands for itself */
	bool splits;                       /* see sh_word */
};

int sh_fail(struct sh_reader *r, const char *what);
/* Where the text goes on at `at`: behind line ends that a backslash takes away. */
size_t sh_joined(const struct sh_reader *r, size_t at);
/* Blanks, line continuations and comments. */
void sh_skip_blank(struct sh_reader *r);
bool sh_looking_at(const struct sh_reader *r, const char *text);
/* The same, and the reader goes on behind it. */
bool sh_take(struct sh_reader *r, const char *token);
bool sh_is_meta(char c);
/* Whether a backslash takes away the end of the line before `line`, and with what it leaves this
 * one, of `len` bytes, may be the delimiter: shells disagree on when it is. */
bool sh_hides_delimiter(
	const struct sh_reader *r, const char *line, size_t len, const char *delimiter);
/* Behind "((": whether its end are two brackets that stand together, `len` bytes on. Otherwise it
 * is a subshell in a subshell. */
bool sh_is_arithmetic(const struct sh_reader *r, size_t *len);
/* The words that one makes: as many as its brace lists and fields. */
int sh_expand(struct sh_reader *r, const struct draft *d, struct sh_word **out);
/* Reads one word (brace lists make several). -1: there is none here, or it is not understood. */
int sh_read_word(struct sh_reader *r, struct sh_word **out);
/* Blank lines, and the bodies of here-documents that begin there. */
int sh_skip_newlines(struct sh_reader *r);
bool sh_at_redirect(const struct sh_reader *r);
/* Adds the redirection that is ahead to the command. */
int sh_read_redirect(struct sh_reader *r, struct sh_node *n);
/* Adds 2>&1, which is what |& stands for. */
void sh_add_errors(struct sh_reader *r, struct sh_node *n);
/* Substitutions inside text that is otherwise data: here-documents, arithmetic. */
int sh_read_inside(struct sh_reader *r, const char *text, size_t len);
/* A list up to the end of the text. */
struct sh_node *sh_read_list(struct sh_reader *r);
/* Adds what is evaluated without being an eval to the current command, as a substitution. */
int sh_add_eval(struct sh_reader *r);
/* Whether a substitution prints nothing but numbers and line ends, whatever files and variables
 * hold. */
bool sh_prints_numbers(const struct sh_node *list);
/* What a variable holds that is given the word: $() where nobody knows. */
const char *sh_value(const struct sh_word *w);
/* Adds what sets the variable `name` in another way than NAME=VALUE, as a substitution that does.
 */
void sh_add_assign(struct sh_reader *r, const char *name, size_t len, const char *value);
/* The same for every name that is assigned to in a text which may be taken for arithmetic. */
void sh_add_names(struct sh_reader *r, const char *text, size_t len);
#endif
