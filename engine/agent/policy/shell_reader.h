/*
 * The state that the shell's word reader and its grammar share. Private to them.
 */
#ifndef POLICY_SHELL_READER_H
#define POLICY_SHELL_READER_H
#include "agent/policy/shell.h"

struct shell_reader {
	const char *text;
	size_t len, at, words;
	int depth;
	struct arena *arena;
	struct err *e;
	struct shell_node *subs;         /* gathered since the current command began */
	struct shell_redirect *awaiting; /* here-documents whose bodies begin at the next line */
};

/* Sets the error, with the place. Returns -1. */
int reader_fail(struct shell_reader *reader, const char *what);
bool reader_looks_at(const struct shell_reader *reader, const char *text);
/* Moves past `token` if it is ahead. */
bool reader_take(struct shell_reader *reader, const char *token);
/* Reports whether `c` ends an unquoted word. */
bool reader_is_meta(char c);
/* Adds a node of `kind` to the substitutions of the current command. */
void reader_note(struct shell_reader *reader, enum shell_kind kind, const char *text, size_t len);
/* Reads one word; a brace list or an unquoted $IFS makes several. Returns -1 if there is none
 * or it is not understood. */
int reader_word(struct shell_reader *reader, struct shell_word **out);
/* Reads the substitutions of a here-document's body. */
int reader_document(struct shell_reader *reader, const char *body);
/* Reads arithmetic after its opening brackets up to `close` and moves past it. Returns 1; 0
 * where it is something else, with nothing moved; or -1. */
int reader_arithmetic(struct shell_reader *reader, const char *close);
/* Reads a list of commands up to `close` ("": the end of the text) and moves past it. */
struct shell_node *reader_list(struct shell_reader *reader, const char *close);
#endif
