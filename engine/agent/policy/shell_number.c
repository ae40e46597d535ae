/* What prints nothing but numbers, so that it can stand where an address may. The programs are
 * those of the system: who defines a function of the same name is judged for that. */
#include "agent/policy/shell_lex.h"

#include <string.h>

enum { STAGES_MAX = 8, NUMBER_WORDS_MAX = 6 };
static const char digits[] = "0123456789";

/* A command's words as they are; of one that says more than words, none. */
struct plain {
	const char *words[NUMBER_WORDS_MAX];
	size_t count;
};

static bool all_of(const char *word, const char *set)
{
	return *word && !word[strspn(word, set)];
}

static bool is_one_of(const char *word, const char *const *list)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

static struct plain read_plain(const struct sh_node *n)
{
	struct plain p = {.count = 0}, none = {.count = 0};
	if (n->kind != SH_SIMPLE || n->assigns)
		return none;
	/* An error message is no number. */
	for (const struct sh_redirect *r = n->redirects; r; r = r->next)
		if (r->kind == SH_DUP || r->kind == SH_APPEND ||
			(r->kind == SH_WRITE && strcmp(r->target->text, "/dev/null") != 0))
			return none;
	for (const struct sh_word *w = n->words; w; w = w->next) {
		if (p.count == NUMBER_WORDS_MAX || w->dynamic || w->globbed)
			return none;
		p.words[p.count++] = w->text;
	}
	return p;
}

/* Of what it reads: with files it names them. */
static bool counts(const struct plain *p)
{
	static const char *const options[] = {
		"-l", "-c", "-m", "-w", "--lines", "--bytes", "--chars", "--words", NULL};
	return p->count == 2 && !strcmp(p->words[0], "wc") && is_one_of(p->words[1], options);
}

static bool lists(const struct plain *p)
{
	for (size_t i = 1; i < p->count; i++)
		if (!all_of(p->words[i], digits))
			return false;
	return p->count > 1 && !strcmp(p->words[0], "seq");
}

/* grep of one file, or of its input, with the option `wanted`: -c or -n. */
static bool greps(const struct plain *p, char wanted)
{
	static const char *const names[] = {"grep", "egrep", "fgrep", NULL};
	static const char files[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
	bool asked = false;
	size_t i = 1;
	for (; i < p->count && p->words[i][0] == '-'; i++) {
		const char *flags = p->words[i] + 1;
		if (!all_of(flags, "EFGPinvwxsoc") && !(*flags == 'm' && all_of(flags + 1, digits)))
			return false;
		asked = asked || strchr(flags, wanted);
	}
	size_t operands = p->count - i;
	return asked && is_one_of(p->words[0], names) && operands && operands < 3 &&
	       (operands == 1 || (all_of(p->words[i + 1], files) && p->words[i + 1][0] != '-'));
}

/* head and tail of what they read. */
static bool picks(const struct plain *p)
{
	for (size_t i = 1; i < p->count; i++) {
		const char *word = p->words[i];
		word += *word == '-';
		word += *word == 'n';
		if (*word && !all_of(word, digits))
			return false;
	}
	/* A word that is a number alone is a value, of -n. */
	return p->count > 1 && p->count < 4 && p->words[1][0] == '-' &&
	       (p->count == 2 || !strcmp(p->words[1], "-n")) &&
	       (!strcmp(p->words[0], "head") || !strcmp(p->words[0], "tail"));
}

/* The part before the first colon. */
static bool cuts(const struct plain *p)
{
	static const char *const ways[] = {
		"-d: -f1", "-f1 -d:", "-d : -f 1", "-d : -f1", "-d: -f 1", "-f 1 -d:", NULL};
	char joined[16] = "";
	for (size_t i = 1; i < p->count; i++) {
		size_t used = strlen(joined), more = strlen(p->words[i]);
		if (used + more + 2 > sizeof(joined))
			return false;
		if (used)
			joined[used++] = ' ';
		memcpy(joined + used, p->words[i], more + 1);
	}
	return p->count && !strcmp(p->words[0], "cut") && is_one_of(joined, ways);
}

static bool deletes(const struct plain *p)
{
	return p->count == 3 && !strcmp(p->words[0], "tr") && !strcmp(p->words[1], "-d");
}

bool sh_prints_numbers(const struct sh_node *list)
{
	const struct sh_node *item = list->children;
	struct plain stages[STAGES_MAX];
	size_t n = 0;
	if (!item || item->next || item->kind != SH_PIPELINE || item->background)
		return false;
	for (const struct sh_node *s = item->children; s; s = s->next) {
		if (n == STAGES_MAX)
			return false;
		stages[n++] = read_plain(s);
	}
	while (n > 1 && (deletes(&stages[n - 1]) || picks(&stages[n - 1])))
		n--;
	if (counts(&stages[n - 1]) || lists(&stages[n - 1]) || greps(&stages[n - 1], 'c'))
		return true;
	if (!cuts(&stages[n - 1]))
		return false;
	for (n--; n > 1 && picks(&stages[n - 1]);)
		n--;
	return n && greps(&stages[n - 1], 'n');
}

const char *sh_value(const struct sh_word *w)
{
	bool sequence = w->dynamic && strstr(w->text, "..") && strchr(w->text, '{');
	if (sequence && all_of(w->text, "{}0123456789.-"))
		return "$#";
	return w->globbed || sequence ? "$()" : w->text;
}
