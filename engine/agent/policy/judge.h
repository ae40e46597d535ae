/*
 * A judgement in progress: the pieces of the classifier that its files share. Private to them.
 */
#ifndef POLICY_JUDGE_H
#define POLICY_JUDGE_H
#include "agent/policy/classify.h"
#include "agent/policy/shell.h"

/* Facts about a command that matter to its neighbours in a pipeline. */
enum trait {
	TRAIT_NETWORK = 1,    /* it prints what it fetched */
	TRAIT_DECODED = 2,    /* it prints what it decoded */
	TRAIT_SENSITIVE = 4,  /* it reads a file that holds secrets */
	TRAIT_RUNS_INPUT = 8, /* it executes its input */
	TRAIT_CODE = 16,      /* it executes its arguments or substitutions */
};

struct judge {
	struct arena arena;
	const struct classify_world *world;
	struct verdict *verdict;
	struct known_function {
		struct known_function *next;
		const char *name;
		unsigned traits;
	} * functions;
	/* Texts that variables and arguments were given, the last one first. */
	const struct known_value {
		const struct known_value *next;
		const char *text;
	} * values;
	int depth, filled;
	bool assigned;  /* a script may have given values to variables */
	size_t work;    /* bytes that were looked at */
	bool bash;      /* the script is read by bash or a shell that reads as bash does */
	bool connected; /* exec has opened a socket */
};

/* One command: its words, the program first. */
struct program_call {
	const char *name; /* of the program, without its directory and version */
	const struct shell_word *const *words;
	size_t count;
	const struct shell_node *node; /* with its redirections; NULL: a plain argv */
};

/* The words of a call as its rule reads them. */
struct reading {
	size_t *operands, operand_count, skip; /* skip: operands before what runs */
	const struct shell_word *codes;        /* values of options that are code */
	size_t verb;                           /* the verb's index; 0: there is none */
	bool module;                           /* the code is the name of a module */
	bool file;                             /* an option named a program file */
	bool input;                            /* ... which is the standard input */
	bool unknown;                          /* an option is not in the rule */
};

typedef unsigned judge_fn(
	struct judge *judge, const struct program_call *call, const struct reading *reading);

/* One row of the table of programs (programs_table.h explains the columns). */
struct rule {
	const char *programs, *verbs;
	enum level level;
	const char *options;
	judge_fn *judge;
};

/* --- verdicts ------------------------------------------------------------------------------ */

/* Raises level and approvals; keeps the reason once. */
PRINTF(3, 4)
void judge_raise(struct judge *judge, enum level level, const char *format, ...);
/* Takes over a verdict that was made aside. */
void judge_adopt(struct judge *judge, const struct verdict *aside);
/* Remembers a text that a variable may hold. */
void judge_value(struct judge *judge, const char *text);

/* --- commands ------------------------------------------------------------------------------ */

/* Judges words[0..count) as a command. Returns its traits. */
unsigned judge_words(struct judge *judge, const struct shell_word *const *words, size_t count,
	const struct shell_node *node);
/* Judges the words of `call` from index `from` on as a command. */
unsigned judge_rest(struct judge *judge, const struct program_call *call, size_t from);
/* Judges shell text. Text that is not understood is destructive. */
unsigned judge_script(struct judge *judge, const char *text, bool bash);
/* Judges shell text that is one word; computed text is destructive, with all known values. */
unsigned judge_script_word(struct judge *judge, const struct shell_word *word, bool bash);
/* Judges NAME=VALUE: some variables make a program run what they name. */
void judge_assign(struct judge *judge, const char *word);
/* Judges every NAME= inside a text that is evaluated as arithmetic or as a name. */
void judge_evaluated(struct judge *judge, const char *text);
/* Returns the text of the command's here-document or here-string, or NULL. */
const char *call_fed(const struct program_call *call);
/* Returns `first` and the words from `from` on as one text. */
const char *words_join(
	struct judge *judge, const char *first, const struct program_call *call, size_t from);

/* --- the table of programs ----------------------------------------------------------------- */

/* Returns the name without its version: python of python3.11, mkfs of mkfs.ext4. */
const char *program_base(struct judge *judge, const char *name);
/* Finds the first row of a program, or NULL. */
const struct rule *rule_find(const char *name);
/* Judges the call by the rows of its program, the first of which is `rule`. */
unsigned judge_by_rules(
	struct judge *judge, const struct program_call *call, const struct rule *rule);
/* Reports whether `word` is one of the blank-separated `list`; with patterns where `globs`. */
bool list_has(const char *list, const char *word, bool globs);

static inline const char *call_text(const struct program_call *call, size_t at)
{
	return at < call->count ? call->words[at]->text : "";
}

/* --- paths --------------------------------------------------------------------------------- */

enum { POLICY_PATH_BYTES = 4096 };
/* Writes "/a/c" for "//a/./b/../c/"; a relative path stays relative. */
void path_normalise(const char *path, char out[POLICY_PATH_BYTES]);
/* Reports whether deleting `path` deletes /, a home directory or a parent of the workspace. */
bool path_is_vital(const struct judge *judge, const char *path);
/* Reports whether `path` lies outside of the workspace and /tmp, as far as the text tells. */
bool path_is_outside(const struct judge *judge, const char *path);
/* Reports whether `path` is a name of the standard input. */
bool path_is_stdin(const char *path);
/* Reports whether `path` holds keys, credentials or another process's environment. */
bool path_is_sensitive(const char *path);
/* Reports whether `path` is a device that is no sink, a kernel setting or the user database. */
bool path_is_device(const char *path);
/* Reports whether `path` is /dev/tcp/... or /dev/udp/... of bash. */
bool path_is_socket(const char *path);

judge_fn run_rest, run_script, run_strings, run_shell, run_eval, run_source, run_trap, run_env,
	run_xargs, run_find, run_parallel, run_executed, run_python, run_pip, run_code, run_sed,
	run_awk, run_make, run_input, run_git, run_copy, run_dd, run_remove, run_written,
	run_recursive, run_names, run_decoder, run_second_file, run_tar, run_ip, run_change,
	run_network, run_statement, run_gdb, run_set;
#endif
