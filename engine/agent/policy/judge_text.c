/* sed and awk: programs whose first argument is a program. */
#include "agent/policy/judge.h"

#include <ctype.h>
#include <string.h>

/* Behind the next `stop` that no backslash takes; at the end where there is none. */
static const char *behind(const char *at, char stop)
{
	for (; *at && *at != stop; at++)
		at += *at == '\\' && at[1];
	return at + (*at != '\0');
}

/* Behind a label, or what a, i and c print: the line's rest with every line that a backslash goes
 * on with. */
static const char *behind_argument(const char *at, char letter)
{
	if (strchr("bTt:", letter)) {
		at += strspn(at, " \t");
		return at + strcspn(at, " \t;}\n");
	}
	return strchr("aic", letter) ? behind(at, '\n') : at + strcspn(at, "\n");
}

/* The file of a sed's w: the rest of the line. Returns what is behind it. */
static const char *judge_sed_write(struct judge *j, const char *at)
{
	at += strspn(at, " \t");
	size_t len = strcspn(at, "\n");
	const char *file = arena_copy(&j->arena, at, len);
	if (path_is_device(file))
		judge_raise(j, LEVEL_DENIED, "sed: the command w writes to %.80s", file);
	else
		judge_raise(j, LEVEL_WRITE, "sed: the command w writes a file");
	return at + len;
}

/* The command letters of a sed script at places where a command may stand: a rough walk that skips
 * addresses and s/// bodies. Flags of an s that run or write something are read like commands. */
static void judge_sed_script(struct judge *j, const struct call *c, const char *script)
{
	for (const char *at = script; *at;) {
		at += strspn(at, " \t\n;{}!,$+~0123456789");
		char letter = *at, stop = letter ? at[1] : '\0';
		if (letter == 'w' || letter == 'W') {
			at = judge_sed_write(j, at + 1);
		} else if (letter == '/') {
			at = behind(at + 1, '/');
		} else if (letter && strchr("\\sy", letter) && isdigit((unsigned char)stop)) {
			/* of a number that is computed nobody knows the first digit */
			judge_danger(j, c, "a digit begins and ends a part of the program");
			return;
		} else if (letter == '\\' && stop) {
			at = behind(at + 2, stop);
		} else if ((letter == 's' || letter == 'y') && stop) {
			at = behind(behind(at + 2, stop), stop);
			at += strcspn(at, letter == 's' ? "ew;}\n " : ";}\n ");
		} else if (letter && strchr("aicrRbtT:#", letter)) {
			at = behind_argument(at + 1, letter);
		} else if (letter) {
			if (letter == 'e')
				judge_danger(j, c, "the command e runs a shell");
			at++;
		}
	}
}

/* A program that is read from the input runs what is there. */
static unsigned program_file(const char *file)
{
	return path_is_stdin(file) ? TRAIT_RUNS_INPUT | TRAIT_CODE : TRAIT_CODE;
}

static const char sed_values[] = "efil";

unsigned judge_sed(struct judge *j, const struct call *c)
{
	bool given = false;
	unsigned traits = 0;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *value;
		if (arg_given(c, i, 'i', sed_values, "--in-place"))
			judge_raise(j, LEVEL_WRITE, "sed -i changes files");
		if ((value = arg_take(c, &i, 'e', sed_values, "--expression"))) {
			judge_code(j, c, i, value, judge_sed_script);
			given = true;
		} else if ((value = arg_take(c, &i, 'f', sed_values, "--file"))) {
			judge_raise(j, LEVEL_WRITE, "sed -f runs a script file");
			traits |= program_file(value);
			given = true;
		} else if (arg_take(c, &i, 'l', sed_values, "--line-length")) {
			continue;
		} else if (word[0] != '-' && !given) {
			judge_code(j, c, i, word, judge_sed_script);
			given = true;
		}
	}
	return traits;
}

/* Whether a slash behind this much of a program divides; else a regular expression begins. */
static bool divides(const char *program, size_t len)
{
	static const char *const words[] = {
		"print", "printf", "return", "in", "case", "else", "do", "exit"};
	while (len && (strchr(" \t\r", program[len - 1]) ||
			      (program[len - 1] == '\n' && len > 1 && program[len - 2] == '\\')))
		len -= program[len - 1] == '\n' ? 2 : 1;
	size_t begin = len;
	while (begin && shell_in_name(program[begin - 1]))
		begin--;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (len - begin == strlen(words[i]) &&
			!strncmp(program + begin, words[i], len - begin))
			return false;
	bool counts =
		len > 1 && strchr("+-", program[len - 1]) && program[len - 2] == program[len - 1];
	return begin < len || counts || (len && strchr(")]\"$.", program[len - 1]));
}

/* The quote that ends what begins at `at`. NULL: none does, in a regular expression on this line.
 */
static const char *closing(const char *at, char quote)
{
	bool listed = false; /* in brackets, where a slash ends nothing */
	for (; *at && (listed || *at != quote); at++) {
		if (quote == '/' && *at == '\n')
			return NULL;
		bool opens = !listed && quote == '/' && *at == '[';
		at += opens && at[1] == '^';
		at += opens && at[1] == ']';
		listed = opens || (listed && *at != ']');
		at += *at == '\\' && at[1];
	}
	return *at ? at : NULL;
}

/* The program without comments and without what its strings and regular expressions hold. One that
 * does not end leaves all of it. `if (x) /y/` matches where `(x) / y` divides: `other` is the first
 * reading. */
static const char *awk_code(struct judge *j, const char *program, bool other)
{
	size_t len = strlen(program), used = 0;
	char *code = arena_alloc(&j->arena, len + 1);
	for (const char *at = program; *at; at++) {
		if (*at == '#') {
			at += strcspn(at, "\n") - 1;
			continue;
		}
		bool regex = *at == '/' &&
			     (!divides(code, used) || (other && used && code[used - 1] == ')'));
		const char *end = *at == '"' || regex ? closing(at + 1, *at) : NULL;
		code[used++] = *at;
		if (end) {
			code[used++] = *at == '"' ? '"' : ')';
			at = end;
		} else if (*at == '"' || (regex && !other)) {
			return program;
		}
	}
	code[used] = '\0';
	return code;
}

static bool calls_system(const char *code)
{
	while ((code = strstr(code, "system"))) {
		code += strlen("system");
		if (code[strspn(code, " \t\r\n\\")] == '(')
			return true;
	}
	return false;
}

/* A pipe that is no "or". */
static bool has_pipe(const char *code)
{
	for (; (code = strchr(code, '|')); code++)
		if (*++code != '|')
			return true;
	return false;
}

/* What is greater stands in parentheses or behind no print. */
static bool prints_to_file(const char *code)
{
	while ((code = strstr(code, "print"))) {
		for (int depth = 0; *code && !(depth <= 0 && strchr(";}\n", *code)); code++) {
			depth += (*code == '(') - (*code == ')');
			if (*code == '>' && depth <= 0)
				return true;
		}
	}
	return false;
}

static void judge_awk_code(struct judge *j, const struct call *c, const char *code)
{
	if (calls_system(code) || has_pipe(code))
		judge_danger(j, c, "the program runs commands");
	if (strchr(code, '@'))
		judge_danger(j, c, "@ loads code or calls it by a name that is computed");
	if (prints_to_file(code))
		judge_raise(j, LEVEL_WRITE, "awk: the program writes files");
}

static void judge_awk_program(struct judge *j, const struct call *c, const char *program)
{
	judge_awk_code(j, c, awk_code(j, program, false));
	judge_awk_code(j, c, awk_code(j, program, true));
	if (strstr(program, "/inet/"))
		judge_raise(j, LEVEL_NETWORK, "awk opens /inet");
}

static const char awk_values[] = "DEFLWdefilopv";

/* What an option of awk gives: `next`: its value may be the next word; the others have one in the
 * same word only. */
static const struct awk_option {
	char flag;
	bool next;
	enum { AWK_NOTHING, AWK_PROGRAM, AWK_FILE } gives;
	enum level level;
	const char *option, *what; /* what it does at that level */
} awk_options[] = {
	{'v', true, AWK_NOTHING, LEVEL_READ_ONLY, "--assign", "sets a variable"},
	{'F', true, AWK_NOTHING, LEVEL_READ_ONLY, "--field-separator", "separates fields"},
	{'e', true, AWK_PROGRAM, LEVEL_READ_ONLY, "--source", "has the program"},
	{'f', true, AWK_FILE, LEVEL_WRITE, "--file", "runs a program file"},
	{'E', true, AWK_FILE, LEVEL_WRITE, "--exec", "runs a program file"},
	{'i', true, AWK_NOTHING, LEVEL_WRITE, "--include", "runs a library"},
	{'l', true, AWK_NOTHING, LEVEL_DESTRUCTIVE, "--load", "runs native code"},
	{'W', true, AWK_NOTHING, LEVEL_DESTRUCTIVE, NULL, "gives any other option"},
	{'D', false, AWK_NOTHING, LEVEL_DESTRUCTIVE, "--debug", "runs what a file says"},
	{'o', false, AWK_NOTHING, LEVEL_WRITE, "--pretty-print", "writes a file"},
	{'p', false, AWK_NOTHING, LEVEL_WRITE, "--profile", "writes a file"},
	{'d', false, AWK_NOTHING, LEVEL_WRITE, "--dump-variables", "writes a file"},
};

/* NULL: none of them. */
static const struct awk_option *awk_option(const struct call *c, size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(awk_options); i++)
		if (arg_given(c, at, awk_options[i].flag, awk_values, awk_options[i].option))
			return &awk_options[i];
	return NULL;
}

unsigned judge_awk(struct judge *j, const struct call *c)
{
	bool given = false, ends = false;
	unsigned traits = 0;
	for (size_t i = 1; i < c->count && !(ends && given); i++) {
		const char *word = c->words[i]->text;
		const struct awk_option *o = ends ? NULL : awk_option(c, i);
		if (!o && !given && (ends || word[0] != '-')) {
			judge_code(j, c, i, word, judge_awk_program);
			given = true;
		}
		ends = ends || !strcmp(word, "--");
		if (!o)
			continue;
		judge_raise(j, o->level, "%s: %.40s %s", c->name, word, o->what);
		const char *value =
			o->next ? arg_take(c, &i, o->flag, awk_values, o->option) : NULL;
		if (value && o->gives == AWK_PROGRAM)
			judge_code(j, c, i, value, judge_awk_program);
		if (value && o->gives == AWK_FILE)
			traits |= program_file(value);
		given = given || o->gives;
	}
	return traits;
}
