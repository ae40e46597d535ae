/*
 * The classifier's inside: a judgement in progress, the table of programs, and their judges.
 */
#ifndef POLICY_JUDGE_H
#define POLICY_JUDGE_H
#include "agent/policy/classify.h"
#include "agent/policy/shell.h"

#include <stdint.h>

/* What a command's output or input is, for what stands beside it in a pipeline. */
enum trait {
	TRAIT_NETWORK = 1,        /* it prints what it fetched */
	TRAIT_DECODED = 2,        /* it prints what it decoded */
	TRAIT_SENSITIVE = 4,      /* it reads a file that holds secrets */
	TRAIT_RUNS_INPUT = 8,     /* it executes what it reads */
	TRAIT_CODE = 16,          /* it executes what its arguments or substitutions say */
	TRAIT_MAY_RUN_INPUT = 32, /* as TRAIT_RUNS_INPUT, where a variable is empty */
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
	/* What variables are given, the last one first; of one called "@", all arguments. */
	const struct known_value {
		const struct known_value *next;
		const char *name, *text;
	} * values;
	size_t value_count;
	int filled; /* how often values stand for variables in what is judged now */
	int depth;
	size_t work;    /* about the bytes that were looked at, each time they were */
	bool bash;      /* the text comes to bash, or a shell that reads it as bash does */
	bool connected; /* exec has opened a socket */
};

/* One command: its words, the program first. */
struct call {
	const char *name; /* of the program, without its directory */
	const struct sh_word *const *words;
	size_t count;
	const struct sh_node *node; /* with its redirections; NULL: a plain argv */
};

/* Raises level and approvals; the reason is kept (once). */
PRINTF(3, 4) void judge_raise(struct judge *j, enum level level, const char *format, ...);
/* A dangerous argument of a harmless program: named, and at least destructive. */
void judge_danger(struct judge *j, const struct call *c, const char *what);
/* Takes over a judgement that was made aside. */
void judge_adopt(struct judge *j, const struct verdict *own);
/* Whether so much more may be looked at. Readings multiply, of options that are not known and of
 * what fills a command: past a limit it is destructive, and nobody looks any more. */
bool judge_afford(struct judge *j, size_t work);
/* Judges words[0..count) as a command. Returns its traits. */
unsigned judge_words(struct judge *j, const struct sh_word *const *words, size_t count,
	const struct sh_node *node);
/* A variable that is set, as NAME or NAME=VALUE: some make a program run what they name. */
void judge_name(struct judge *j, const char *word);
/* A text that the variable may hold from now on. */
void value_add(struct judge *j, const char *name, const char *text);
/* The same of NAME=VALUE, NAME+=VALUE or NAME[SUBSCRIPT]=VALUE; of another word: nothing. */
void value_assign(struct judge *j, const char *word);
/* A variable, as NAME or with more behind it, whose value is not known from now on. */
void value_read(struct judge *j, const char *word);
/* A word that says what runs, and holds what nobody knows here, is a danger. */
void judge_computed(struct judge *j, const struct call *c, size_t at, const char *what);
/* Judges the program that is the word at `at`, or a part of it, in every reading. */
typedef void code_fn(struct judge *j, const struct call *c, const char *code);
void judge_code(struct judge *j, const struct call *c, size_t at, const char *code, code_fn *judge);
/* Judges the command with what its variables may hold. */
unsigned judge_values(struct judge *j, const struct call *c);
/* Judges shell text: unknown text is destructive, text that cannot be parsed too. Which shell `sh`
 * is, nobody knows here: text that shells read differently counts as the worse of the two. */
unsigned judge_script(struct judge *j, const char *text);
/* The same where the shell is known: `bash` or the like, and no other. */
unsigned judge_bash_script(struct judge *j, const char *text, bool bash);

/* Code of the interpreter that `c` calls. */
unsigned judge_inline_code(struct judge *j, const struct call *c, const struct sh_word *code);

typedef unsigned judge_fn(struct judge *j, const struct call *c);

/* Programs that are judged alike. */
struct program {
	enum level level;
	judge_fn *judge; /* NULL: the level is all there is to say */
	const char *const *names;
};

/* The name without its version: `python` of `python3.11`, `mkfs` of `mkfs.ext4`. */
const char *program_base(const char *name);
/* Whether a formatter's options have it look only. */
bool formatter_looks(const struct call *c);
/* NULL: not known, under this name or without its version. */
const struct program *program_find(const char *name);

/* --- words --------------------------------------------------------------------------------- */

/* A list of texts for word_in. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
bool word_in(const char *word, const char *const *list);

/* Verbs of one tool by level; the last list is NULL: every other verb. */
struct verbs {
	enum level level;
	const char *const *names;
};
enum level verb_level(const struct verbs *list, const char *verb);

/* --- arguments ----------------------------------------------------------------------------- */

static inline const char *call_text(const struct call *c, size_t at)
{
	return at < c->count ? c->words[at]->text : "";
}
/* The words of a command as an array of the judge's. Returns how many. */
size_t words_of(struct judge *j, const struct sh_node *n, const struct sh_word ***out);
/* `first` (may be "") and the words from `from` on as one text. */
const char *words_join(struct judge *j, const char *first, const struct call *c, size_t from);
/* The here-document or here-string that is the command's input. NULL: none. */
const char *call_fed(const struct call *c);
/* Whether `word` is the long option `option` or an unambiguous-looking prefix of it, with or
 * without "=value". *value: behind the "=", else NULL. */
bool arg_is_long(const char *word, const char *option, const char **value);
/* Whether a cluster like -xzf holds `flag`; `with_value` are the flags, it may be one of them,
 * whose value ends the cluster. *value: what is attached behind the flag, "" when nothing is. */
bool arg_has_flag(const char *word, char flag, const char *with_value, const char **value);
/* What the word at `at` gives the option that is `flag` in a cluster, or the long `option` (NULL:
 * there is none): what is attached, else the next word, "" where there is none. NULL: the word is
 * none of it. */
const char *arg_given(
	const struct call *c, size_t at, char flag, const char *with_value, const char *option);
/* The same, and *at moves on to the next word where that is the value. */
const char *arg_take(
	const struct call *c, size_t *at, char flag, const char *with_value, const char *option);
/* The options of a program, short and long; a list may be NULL. */
struct arg_options {
	const char *plain, *with_value; /* with_value: what follows them is theirs */
	const char *const *long_plain, *const *long_with_value;
};
enum { ARG_PLACES_MAX = 4 };
struct places {
	size_t count, at[ARG_PLACES_MAX];
	size_t last;         /* of them; the end of the call where there are none */
	const char *unknown; /* the first option that is not known, or NULL */
};
/* Where the operands may begin. One place, unless an option is not known, which may take the next
 * word or not; what would be behind more places than are told counts as destructive. */
struct places arg_places(
	struct judge *j, const struct call *c, size_t from, const struct arg_options *o);
/* A program that runs another one. */
struct wrapper {
	const char *name;
	size_t operands; /* between its options and the command */
	struct arg_options options;
};
/* One that knows no option, where there is none of that name. */
const struct wrapper *wrapper_find(const char *name);
/* The index of the first operand behind options; `with_value` short flags and `long_with_value`
 * (NULL-terminated, may be NULL) take a separate word. */
size_t arg_skip_options(const struct call *c, size_t from, const char *with_value,
	const char *const *long_with_value);
/* The first word equal to the short or long option, from index 1; 0: none. */
size_t arg_find(const struct call *c, const char *short_option, const char *long_option);

/* --- paths --------------------------------------------------------------------------------- */

enum { POLICY_PATH_BYTES = 4096 };
/* "//a/./b/../c/" -> "/a/c"; a relative path stays relative. */
void path_normalise(const char *path, char out[POLICY_PATH_BYTES]);
/* "/" or its whole content, however it is spelled. */
bool path_is_root(const char *path);
/* Home, or its whole content. */
bool path_is_home(const struct judge *j, const char *path);
/* A parent of the workspace. */
bool path_is_above(const struct judge *j, const char *path);
/* Lies outside of the workspace and /tmp, as far as the text tells. */
bool path_is_outside(const struct judge *j, const char *path);
/* Standard input by one of its names. */
bool path_is_stdin(const char *path);
/* Keys, credentials, other processes' environments. */
bool path_is_sensitive(const char *path);
/* A device that is not a sink, or a kernel setting, or the user database: nothing may write there.
 */
bool path_is_device(const char *path);
/* /dev/tcp/..., /dev/udp/... of bash. */
bool path_is_socket(const char *path);

judge_fn judge_wrapper, judge_string_option, judge_env, judge_xargs, judge_find, judge_shell,
	judge_eval, judge_source, judge_trap, judge_sudo, judge_busybox, judge_git, judge_tar,
	judge_curl, judge_wget, judge_rsync, judge_ssh, judge_rm, judge_dd, judge_chmod, judge_sed,
	judge_awk, judge_sort, judge_split, judge_python, judge_inline, judge_make, judge_npm,
	judge_pip, judge_cargo, judge_go, judge_verb, judge_openssl, judge_base64, judge_xxd,
	judge_gunzip, judge_tee, judge_copy, judge_mount, judge_init, judge_assign, judge_builtin,
	judge_printf, judge_vim, judge_zip, judge_sqlite, judge_gdb, judge_cmake, judge_network,
	judge_reader, judge_kill, judge_crontab, judge_truncate, judge_names, judge_unzip,
	judge_flags, judge_formatter, judge_date, judge_uniq, judge_runner, judge_later,
	judge_setter, judge_positional, judge_ip, judge_packages, judge_bun, judge_terminal;
#endif
