/* Reads the words of a call by the row of its program: options, operands, verb, level. */
#include "agent/policy/judge.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

bool list_has(const char *list, const char *word, bool globs)
{
	char token[128];
	size_t len;
	for (const char *at = list; *(at += strspn(at, " ")); at += len) {
		len = strcspn(at, " ");
		if (len >= sizeof(token))
			continue;
		memcpy(token, at, len);
		token[len] = '\0';
		if (globs ? !fnmatch(token, word, 0) : !strcmp(token, word))
			return true;
	}
	return false;
}

/* One token of a row's options, without its mark. */
struct option_token {
	char mark; /* see programs_table.h; 0: it keeps the level */
	bool valued;
	char text[64];
};

/* Reads the token at `at`. Returns the place after it, or NULL at the end. */
static const char *next_token(const char *at, struct option_token *token)
{
	at += strspn(at, " ");
	size_t len = strcspn(at, " ");
	if (!len)
		return NULL;
	const char *end = at + len;
	token->mark = len > 2 && at[1] == ':' ? *at : '\0';
	at += token->mark ? 2 : 0;
	token->valued = end > at + 1 && end[-1] == '=' && *at == '-';
	len = (size_t)(end - at) - token->valued;
	len = len < sizeof(token->text) ? len : sizeof(token->text) - 1;
	memcpy(token->text, at, len);
	token->text[len] = '\0';
	return end;
}

/* One option as it was found in a word. */
struct found {
	bool known, valued;
	char mark;
	const char *value; /* in the same word; NULL: none there */
	char name[64];
};

/* Finds a whole option: --long, its abbreviation where the token is marked, or -word. */
static bool whole_matches(const struct option_token *token, const char *word, size_t len)
{
	char name[256];
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	if (!fnmatch(token->text, name, 0))
		return true;
	/* One dash or two, where a program takes its long options behind one. */
	if (!strncmp(name, "--", 2) && token->text[1] != '-' && token->text[1] && token->text[2] &&
		!fnmatch(token->text, name + 1, 0))
		return true;
	return token->mark && !strncmp(name, "--", 2) && len > 2 &&
	       !strncmp(token->text, name, len);
}

static struct found find_whole(const char *options, const char *word)
{
	struct found found = {.known = false};
	struct option_token token;
	const char *equals = *word == '-' ? strchr(word, '=') : NULL;
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	for (const char *at = options; (at = next_token(at, &token));) {
		bool any = *token.text != '-' && token.mark && !fnmatch(token.text, word, 0);
		bool option = *token.text == '-' && *word == '-' && len > 1 &&
			      (whole_matches(&token, word, len) || !fnmatch(token.text, word, 0));
		if (!any && !option)
			continue;
		found = (struct found){
			true, token.valued, token.mark, equals ? equals + 1 : NULL, ""};
		snprintf(found.name, sizeof(found.name), "%.*s", 60, token.text);
		break;
	}
	return found;
}

static struct found find_letter(const char *options, const char *letters)
{
	struct found found = {.known = false};
	struct option_token token;
	for (const char *at = options; !found.known && (at = next_token(at, &token));)
		if (token.text[0] == '-' && token.text[1] == *letters && !token.text[2])
			found = (struct found){true, token.valued, token.mark,
				token.valued && letters[1] ? letters + 1 : NULL, {'-', *letters}};
	return found;
}

/* A call while its words are read. */
struct gathering {
	struct judge *judge;
	const struct program_call *call;
	const struct rule *rule;
	struct reading *reading;
	enum level level;
	size_t at, unlisted; /* unlisted: the last option that is not in the row */
	bool stopped;        /* no option follows */
	bool rest_kept;      /* options that are not in the row keep the level */
};

static void add_code(struct gathering *gathering, const char *value)
{
	const struct shell_word *word = gathering->call->words[gathering->at];
	struct shell_word *code = arena_alloc(&gathering->judge->arena, sizeof(*code));
	*code = *word;
	code->text = value;
	code->next = NULL;
	const struct shell_word **tail = &gathering->reading->codes;
	while (*tail)
		tail = (const struct shell_word **)(uintptr_t) & (*tail)->next;
	*tail = code;
}

/* Judges a file that an option names to be read: code (f), or a place of the workspace (P). */
static void take_read(struct gathering *gathering, char mark, const char *path)
{
	bool input = path_is_stdin(path);
	gathering->reading->file = gathering->reading->file || mark == 'f';
	gathering->reading->input = gathering->reading->input || input;
	if (mark == 'P' && !input && path_is_outside(gathering->judge, path))
		judge_raise(gathering->judge, LEVEL_DESTRUCTIVE,
			"%s: %.80s is outside of the workspace", gathering->call->name, path);
}

/* Judges a file that an option names to be written; some programs take a command there. */
static void take_written(struct gathering *gathering, const char *option, const char *path)
{
	const char *program = gathering->call->name;
	bool outside = path_is_outside(gathering->judge, path);
	if (*path && strchr("|!", *path))
		judge_raise(gathering->judge, LEVEL_DESTRUCTIVE, "%s: %s runs a command", program,
			option);
	if (path_is_device(path))
		judge_raise(gathering->judge, LEVEL_DENIED, "%s writes to %.80s", program, path);
	judge_raise(gathering->judge, outside ? LEVEL_DESTRUCTIVE : LEVEL_WRITE,
		"%s: %s writes a file", program, option);
}

/* Acts on an option that was found, and moves to the word that is its value. */
static void take_option(struct gathering *gathering, const struct found *found)
{
	static const struct {
		char mark;
		enum level level;
	} raises[] = {{'w', LEVEL_WRITE}, {'d', LEVEL_DESTRUCTIVE}, {'p', LEVEL_PRIVILEGED},
		{'n', LEVEL_NETWORK}};
	const char *value = found->value;
	if (found->valued && !value)
		value = call_text(gathering->call, ++gathering->at);
	if (found->valued && gathering->at >= gathering->call->count)
		gathering->at = gathering->call->count - 1;
	struct found word = {.known = false};
	if (found->valued && value && *value != '-')
		word = find_whole(gathering->rule->options, value);
	if (word.known && word.mark && strchr("dn", word.mark))
		take_option(gathering, &(struct found){true, false, word.mark, NULL, "a value"});
	for (size_t i = 0; i < ARRAY_LEN(raises); i++)
		if (found->mark == raises[i].mark)
			judge_raise(gathering->judge, raises[i].level, "%s: %s",
				gathering->call->name, found->name);
	/* A word after an option that is not in the row may be that option's value. */
	if ((found->mark == 'R' || found->mark == 'B') && gathering->at != gathering->unlisted + 1)
		gathering->level = found->mark == 'R' ? LEVEL_READ_ONLY : LEVEL_BUILD;
	if (found->mark && strchr("cCm", found->mark))
		add_code(gathering, value ? value : "");
	gathering->reading->module = gathering->reading->module || found->mark == 'm';
	gathering->stopped = gathering->stopped || found->mark == 'C' || found->mark == 'm';
	if (found->mark && strchr("Pf", found->mark))
		take_read(gathering, found->mark, value ? value : "");
	if (found->mark == 'o')
		take_written(gathering, found->name, value ? value : "");
}

static void not_listed(struct gathering *gathering, const char *option)
{
	gathering->unlisted = gathering->at;
	if (gathering->rest_kept)
		return;
	gathering->reading->unknown = true;
	judge_raise(gathering->judge, LEVEL_DESTRUCTIVE, "%s: the option %.60s is not understood",
		gathering->call->name, option);
}

static void take_cluster(struct gathering *gathering, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		struct found found = find_letter(gathering->rule->options, letter);
		if (found.known)
			take_option(gathering, &found);
		else
			not_listed(gathering, word);
		if (found.valued)
			return;
	}
}

static void take_word(struct gathering *gathering)
{
	const char *word = call_text(gathering->call, gathering->at);
	struct found found = find_whole(gathering->rule->options, word);
	if (found.known)
		take_option(gathering, &found);
	else if (word[1] != '-')
		take_cluster(gathering, word);
	else
		not_listed(gathering, word);
}

/* Returns the place after the expansion at `at` where it is none that may be an option: a variable
 * of the environment, or a default that begins with a letter. NULL: it may be one. */
static const char *behind_plain(const char *at)
{
	bool braced = at[1] == '{';
	const char *name = at + 1 + braced, *end = name;
	while (shell_in_name(*end))
		end++;
	bool defaults = braced && !strncmp(end, ":-", 2) && isalnum((unsigned char)end[2]);
	if (defaults)
		end += 2 +
		       strspn(end + 2,
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/");
	if (end == name || (isdigit((unsigned char)*name) && !defaults) || (braced && *end != '}'))
		return NULL;
	return end + braced;
}

/* Reports whether a computed word may be an option. */
static bool may_be_option(const struct judge *judge, const struct shell_word *word)
{
	const char *at = word->text;
	if (!word->computed || !(*at == '$' || *at == '-' || word->splits))
		return false;
	if (judge->assigned || *at == '-')
		return true;
	while (at && *at && *at != '-')
		at = *at == '$' ? behind_plain(at) : at + 1;
	return !at || *at == '-';
}

/* Judges a computed word, which may be a dangerous option of the program. */
static void judge_computed(struct gathering *gathering)
{
	const struct shell_word *word = gathering->call->words[gathering->at];
	if (may_be_option(gathering->judge, word))
		judge_raise(gathering->judge, LEVEL_DESTRUCTIVE,
			"%s: an argument is computed: %.60s", gathering->call->name, word->text);
}

/* Reads the words of the call behind index `from`. Returns the level. */
static enum level read_call(struct judge *judge, const struct program_call *call,
	const struct rule *rule, size_t from, struct reading *reading)
{
	reading->verb = from - 1;
	struct gathering g = {judge, call, rule, reading, .level = rule->level, .at = from,
		.unlisted = call->count};
	bool leading = list_has(rule->options, "+", false), ends = false;
	bool plain = !strcmp(rule->options, "*");
	g.rest_kept = list_has(rule->options, "*", false);
	reading->skip = list_has(rule->options, "skip1", false);
	reading->operands = arena_array(&judge->arena, call->count + 1, sizeof(size_t));
	for (; g.at < call->count; g.at++) {
		const char *word = call_text(call, g.at);
		bool stopped = g.stopped || (leading && reading->operand_count);
		if (!plain && !stopped)
			judge_computed(&g);
		if (!ends && !stopped && word[0] == '-' && word[1]) {
			ends = !strcmp(word, "--") && !list_has(rule->options, "~", false);
			if (!ends && strcmp(word, "--") != 0)
				take_word(&g);
			continue;
		}
		reading->operands[reading->operand_count++] = g.at;
		struct found found = find_whole(rule->options, word);
		bool lowers = found.mark == 'R' || found.mark == 'B';
		if (found.known && !stopped && found.name[0] != '-' &&
			!(lowers && reading->operand_count > 1))
			take_option(&g, &found);
	}
	return g.level;
}

/* Finds the row of the program for this verb. */
static const struct rule *verb_rule(const struct rule *rule, const char *verb)
{
	const char *programs = rule->programs;
	while (!strcmp(rule->programs, programs) && !list_has(rule->verbs, verb, true))
		rule++;
	return rule;
}

static unsigned judge_verb(
	struct judge *judge, const struct program_call *call, const struct rule *first, size_t at)
{
	struct reading reading = {.file = false};
	const char *verb = call_text(call, at);
	const struct rule *rule = verb_rule(first + 1, verb);
	if (at < call->count && call->words[at]->computed)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "%s: the verb is computed", call->name);
	enum level level = read_call(judge, call, rule, at + 1, &reading);
	judge_raise(judge, level, "%s %.60s", call->name, verb);
	return rule->judge ? rule->judge(judge, call, &reading) : 0;
}

/* Judges a program whose level is that of its verb. Behind an option that is not understood any
 * word may be the verb. */
static unsigned judge_verbs(
	struct judge *judge, const struct program_call *call, const struct rule *first)
{
	struct reading reading = {.file = false};
	read_call(judge, call, first, 1, &reading);
	size_t at = reading.operand_count ? reading.operands[0] : call->count;
	at += *call_text(call, at) == '+'; /* the version of a tool chain */
	unsigned traits = first->judge ? first->judge(judge, call, &reading) : 0;
	if (at == call->count && !reading.unknown) {
		judge_raise(judge, first->level, "%s", call->name);
		return traits;
	}
	traits |= judge_verb(judge, call, first, at);
	for (size_t i = 1; reading.unknown && i < call->count; i++)
		traits |= judge_verb(judge, call, first, i);
	return traits;
}

unsigned judge_by_rules(
	struct judge *judge, const struct program_call *call, const struct rule *rule)
{
	struct reading reading = {.file = false};
	if (rule->verbs)
		return judge_verbs(judge, call, rule);
	enum level level = read_call(judge, call, rule, 1, &reading);
	judge_raise(judge, level, "%.80s", call->name);
	return rule->judge ? rule->judge(judge, call, &reading) : 0;
}
