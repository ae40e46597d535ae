#include "cli/verbs.h"

#include "base/cleanup.h"
#include "base/suggest.h"
#include <stdio.h>
#include <string.h>

#define X(name) extern const struct verb verb_##name;
VERBS(X)
#undef X

#define X(name) &verb_##name,
static const struct verb *const table[] = {VERBS(X)};
#undef X

const struct verb *const *verbs(size_t *count)
{
	*count = ARRAY_LEN(table);
	return table;
}

/* Returns how many leading words of argv spell `path`; 0: they do not. */
static int words_match(const char *path, char **argv)
{
	int words = 0;
	for (; *path; words++) {
		size_t len = strcspn(path, " ");
		if (!argv[words] || strlen(argv[words]) != len || strncmp(path, argv[words], len))
			return 0;
		path += len;
		path += *path == ' ';
	}
	return words;
}

/* Returns the verb whose second word is `word`: `run` for `machine run`. NULL: none. */
static const char *without_group(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *second = strchr(table[i]->path, ' ');
		if (second && !strcmp(second + 1, word))
			return table[i]->path;
	}
	return NULL;
}

/* Returns the verb of the group that resembles `word` most. NULL: none. */
static const char *near_in_group(const char *group, const char *word)
{
	const char *seconds[ARRAY_LEN(table)];
	size_t len = strlen(group);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *path = table[i]->path;
		bool inside = !strncmp(path, group, len) && path[len] == ' ';
		seconds[i] = inside ? path + len + 1 : NULL;
	}
	const char *near = suggest_word(word, seconds, ARRAY_LEN(seconds));
	return near ? near - len - 1 : NULL;
}

/* Commands of the first agent6, which drove one coding agent, and advice for each. Remove a row
 * when a verb gets that name. */
static const struct {
	const char *word, *answer;
} successors[] = {
	{"run", "did you mean 'agent6 machine run'? A task in words belongs into a machine: "
		"`agent6 machine new NAME --from agent` begins one"},
	{"plan", "a plan is the result of an agent state now: `agent6 machine new NAME --from "
		 "agent` begins a machine with one, 'agent6 machine run' runs it"},
	{"review", "reviewing is a machine now: `agent6 machine new NAME --from review` begins it, "
		   "'agent6 machine run' runs it"},
	{"resume", "did you mean 'agent6 machine run'? The command that began an instance also "
		   "goes on with it"},
	{"history", "did you mean 'agent6 machine replay'? `agent6 machine list` shows the "
		    "instances, 'agent6 machine report' one of them"},
	{"memory", "nothing is remembered from one run to the next: what agents are to know "
		   "belongs into a machine's prompts"},
};

static const char *successor(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(successors); i++)
		if (!strcmp(successors[i].word, word))
			return successors[i].answer;
	return NULL;
}

bool verbs_is_group(const char *word)
{
	size_t len = strlen(word);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strncmp(table[i]->path, word, len) && table[i]->path[len] == ' ')
			return true;
	return false;
}

/* Returns advice for `check flow`, which leaves out `machine`, the group with most of the verbs;
 * `check` is a group as well. */
static const char *without_machine(const char *word)
{
	const char *path = without_group(word);
	return path && !strncmp(path, "machine ", 8) ? path : NULL;
}

/* Sets the message for a group without a verb of it. */
static void unknown_in_group(const char *group, const char *word, struct err *e)
{
	const char *near = word ? near_in_group(group, word) : NULL;
	if (word && !near)
		near = without_machine(group);
	if (!word)
		err_set(e, "'%s' needs a command after it; `agent6 %s --help` lists them", group,
			group);
	else if (near)
		err_set(e, "there is no command '%s %.80s'; did you mean 'agent6 %s'?", group, word,
			near);
	else
		err_set(e, "there is no command '%s %.80s'; `agent6 %s --help` lists them", group,
			word, group);
}

/* Sets the message for words that name no verb, with the nearest one. */
static void unknown_verb(char **argv, struct err *e)
{
	const char *names[ARRAY_LEN(table)];
	char word[160];
	bool two_words = argv[1] && argv[1][0] != '-';
	if (verbs_is_group(argv[0])) {
		unknown_in_group(argv[0], two_words ? argv[1] : NULL, e);
		return;
	}
	const char *answer = successor(argv[0]);
	if (answer) {
		err_set(e, "there is no command '%s'; %s", argv[0], answer);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		names[i] = table[i]->path;
		if (!strcmp(names[i], argv[0])) {
			err_set(e, "'%s' is one word here: leave out the quotes round it", argv[0]);
			return;
		}
	}
	two_words = two_words && strlen(argv[0]) > 4;
	snprintf(word, sizeof(word), "%s%s%s", argv[0], two_words ? " " : "",
		two_words ? argv[1] : "");
	const char *near = suggest_word(word, names, ARRAY_LEN(names));
	if (!near) {
		snprintf(word, sizeof(word), "%.150s", argv[0]);
		near = suggest_word(argv[0], names, ARRAY_LEN(names));
	}
	if (!near)
		near = without_group(argv[0]);
	if (!near)
		near = near_in_group("machine", argv[0]);
	if (near)
		err_set(e, "there is no command '%s'; did you mean 'agent6 %s'?", word, near);
	else
		err_set(e, "there is no command '%s'; `agent6 --help` lists all of them", word);
}

const struct verb *verbs_find(char **argv, int *words, struct err *e)
{
	const struct verb *found = NULL;
	*words = 0;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		int matched = words_match(table[i]->path, argv);
		if (matched > *words) {
			*words = matched;
			found = table[i];
		}
	}
	if (!found)
		unknown_verb(argv, e);
	return found;
}
