/* Scripts and pipelines: which commands run, and what flows between them. */
#include "agent/policy/judge.h"

#include "base/utf8.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 16, WORK_MAX = 4 * 1024 * 1024, WORK_WORD = 8, WORK_SCRIPT = 64 };

static const struct {
	const char *name;
	unsigned approvals;
} levels[] = {
#define LEVEL(level, name, needs) {name, needs},
	LEVELS(LEVEL)
#undef LEVEL
};

const char *level_name(enum level level)
{
	return levels[level].name;
}

json_t *verdict_json(const struct verdict *verdict)
{
	static const char *const names[] = {"confirm", "explicit", "typed_yes", "destination"};
	json_t *approvals = json_array(), *reasons = json_array();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (verdict->approvals & 1U << i)
			json_array_append_new(approvals, json_string(names[i]));
	for (size_t i = 0; i < verdict->reason_count; i++)
		json_array_append_new(reasons, json_string(verdict->reasons[i]));
	return json_pack("{s:s, s:o, s:o}", "level", level_name(verdict->level), "approvals",
		approvals, "reasons", reasons);
}

void judge_raise(struct judge *judge, enum level level, const char *format, ...)
{
	struct verdict *verdict = judge->verdict;
	char text[VERDICT_REASON_BYTES];
	va_list args;
	verdict->level = level > verdict->level ? level : verdict->level;
	verdict->approvals |= levels[level].approvals;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_copy(text, sizeof(text), text);
	for (size_t i = 0; i < verdict->reason_count; i++)
		if (!strcmp(verdict->reasons[i], text))
			return;
	if (verdict->reason_count < VERDICT_REASONS_MAX && level > LEVEL_READ_ONLY)
		memcpy(verdict->reasons[verdict->reason_count++], text, sizeof(text));
}

void judge_adopt(struct judge *judge, const struct verdict *aside)
{
	for (size_t i = 0; i < aside->reason_count; i++)
		judge_raise(judge, aside->level, "%s", aside->reasons[i]);
	judge->verdict->approvals |= aside->approvals;
}

void judge_value(struct judge *judge, const char *text)
{
	struct known_value *value = arena_alloc(&judge->arena, sizeof(*value));
	*value = (struct known_value){judge->values, text};
	judge->values = value;
	judge->assigned = true;
}

static bool afford(struct judge *judge, size_t work)
{
	judge->work += work;
	if (judge->work > WORK_MAX)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "it can be read in too many ways");
	return judge->work <= WORK_MAX;
}

/* --- one command --------------------------------------------------------------------------- */

/* Returns the name under which the table may know a program: bare, or in a system directory. NULL:
 * it comes from elsewhere, whatever it is called. */
static const char *trusted_name(struct judge *judge, const char *path)
{
	char joined[POLICY_PATH_BYTES], whole[POLICY_PATH_BYTES];
	if (!strchr(path, '/'))
		return path;
	const char *workspace = *path != '/' ? judge->world->workspace : NULL;
	int len = snprintf(joined, sizeof(joined), "%s/%s", workspace ? workspace : "", path);
	if (len < 0 || len >= POLICY_PATH_BYTES) /* a cut path would be another one */
		return NULL;
	path_normalise(joined, whole);
	char *at = whole, *base;
	at += !strncmp(at, "/proc/self/root/", 16) ? 15
	      : !strncmp(at, "/proc/1/root/", 13)  ? 12
						   : 0;
	base = strrchr(at, '/');
	*base = '\0';
	bool trusted =
		list_has("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /lib64 "
			 "/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu",
			at, false);
	return trusted ? arena_copy(&judge->arena, base + 1, strlen(base + 1)) : NULL;
}

/* Reports whether the call only asks for the version or the help, or only parses one file. */
static bool only_asks(const struct program_call *call, enum level level)
{
	const char *word = call_text(call, 1);
	bool asks = list_has("--version --help", word, false) ||
		    (!strcmp(word, "-v") &&
			    list_has("node perl ruby php lua npm yarn", call->name, false));
	if (asks && call->count == 2)
		return level != LEVEL_PRIVILEGED && level != LEVEL_DENIED;
	bool parses =
		(!strcmp(word, "-n") && list_has("sh bash dash ksh zsh", call->name, false)) ||
		(!strcmp(word, "--check") && list_has("node nodejs", call->name, false));
	return parses && call->count == 3 && !call->words[2]->computed &&
	       !call->words[2]->globbed && !strchr("-+", *call_text(call, 2));
}

static unsigned judge_function_call(struct judge *judge, const struct program_call *call)
{
	const struct known_function *f = judge->functions;
	while (f && strcmp(f->name, call->name) != 0)
		f = f->next;
	bool own = call->node && call->words[0] == call->node->words;
	if (!f || !own)
		judge_raise(judge, LEVEL_WRITE, "%.80s is not known", call->name);
	for (size_t i = 1; f && i < call->count; i++)
		judge_value(judge, call->words[i]->text);
	return f && own ? f->traits : 0;
}

static unsigned judge_program(struct judge *judge, struct program_call *call)
{
	const char *path = call->words[0]->text, *name = trusted_name(judge, path);
	if (!name || !*name) {
		judge_raise(judge, LEVEL_WRITE, "%.80s is not a program of the system directories",
			path);
		return 0;
	}
	call->name = program_base(judge, name);
	const struct rule *rule = rule_find(call->name);
	if (!rule)
		return judge_function_call(judge, call);
	return only_asks(call, rule->level) ? 0 : judge_by_rules(judge, call, rule);
}

unsigned judge_words(struct judge *judge, const struct shell_word *const *words, size_t count,
	const struct shell_node *node)
{
	struct program_call call = {.words = words, .count = count, .node = node};
	unsigned traits = 0;
	if (!count || !afford(judge, WORK_WORD * count))
		return 0;
	if (++judge->depth > DEPTH_MAX) {
		judge_raise(judge, LEVEL_DESTRUCTIVE, "commands nested deeper than %d", DEPTH_MAX);
	} else if (words[0]->computed || (words[0]->globbed && strcmp(words[0]->text, "[") != 0) ||
		   *words[0]->text == '=') {
		judge_raise(judge, LEVEL_DESTRUCTIVE, "the program's name is computed: %.80s",
			words[0]->text);
		traits = TRAIT_CODE | TRAIT_RUNS_INPUT;
		if (words[0]->splits && count > 1) /* it may be nothing */
			traits |= judge_words(judge, words + 1, count - 1, node);
	} else {
		traits = judge_program(judge, &call);
	}
	judge->depth--;
	for (size_t i = 1; i < count; i++) {
		traits |= path_is_sensitive(words[i]->text) ? TRAIT_SENSITIVE : 0u;
		if (path_is_socket(words[i]->text))
			judge_raise(judge, LEVEL_NETWORK, "connects to %.80s", words[i]->text + 5);
	}
	if ((traits & TRAIT_NETWORK) && (traits & TRAIT_SENSITIVE))
		judge_raise(judge, LEVEL_NETWORK, "sends a file that holds secrets");
	return traits;
}

unsigned judge_rest(struct judge *judge, const struct program_call *call, size_t from)
{
	return from < call->count
		       ? judge_words(judge, call->words + from, call->count - from, call->node)
		       : 0;
}

const char *call_fed(const struct program_call *call)
{
	const struct shell_redirect *r = call->node ? call->node->redirects : NULL;
	while (r && r->kind != SHELL_FED)
		r = r->next;
	return r ? r->body : NULL;
}

const char *words_join(
	struct judge *judge, const char *first, const struct program_call *call, size_t from)
{
	size_t len = strlen(first) + 1;
	for (size_t i = from; i < call->count; i++)
		len += strlen(call->words[i]->text) + 1;
	char *text = arena_alloc(&judge->arena, len), *to = stpcpy(text, first);
	for (size_t i = from; i < call->count; i++) {
		if (to > text)
			*to++ = ' ';
		to = stpcpy(to, call->words[i]->text);
	}
	return text;
}

/* --- the tree ------------------------------------------------------------------------------ */

static unsigned judge_node(struct judge *judge, const struct shell_node *node);

static unsigned judge_redirects(struct judge *judge, const struct shell_node *node)
{
	unsigned traits = 0;
	bool copies = false, socket = false;
	for (const struct shell_redirect *r = node->redirects; r; r = r->next) {
		bool writes = r->kind == SHELL_WRITE || r->kind == SHELL_APPEND;
		copies = copies || r->kind == SHELL_DUP;
		if (r->kind != SHELL_FED && path_is_socket(r->target)) {
			socket = true;
			judge_raise(judge, LEVEL_NETWORK, "connects to %.80s", r->target + 5);
			traits |= writes ? 0u : TRAIT_NETWORK;
		} else if (writes && path_is_device(r->target)) {
			judge_raise(judge, LEVEL_DENIED, "writes to %.80s", r->target);
		} else if (writes && strncmp(r->target, "/dev/", 5) != 0) {
			bool appends = r->kind == SHELL_APPEND;
			judge_raise(judge, appends ? LEVEL_WRITE : LEVEL_DESTRUCTIVE, "%s %.80s",
				appends ? "appends to" : "overwrites", r->target);
		} else if (r->kind == SHELL_READ && path_is_sensitive(r->target)) {
			traits |= TRAIT_SENSITIVE;
		}
	}
	/* A shell at the other end of a connection: its input is a copy of the socket. */
	bool opens = socket && node->words && !strcmp(node->words->text, "exec");
	judge->connected = judge->connected || opens;
	return traits | (copies && (socket || judge->connected) ? TRAIT_NETWORK : 0u);
}

static unsigned judge_subs(struct judge *judge, const struct shell_node *node)
{
	unsigned traits = 0;
	for (const struct shell_node *sub = node->subs; sub; sub = sub->next)
		traits |= judge_node(judge, sub);
	if (traits & TRAIT_RUNS_INPUT)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "a substitution runs its input");
	return traits;
}

/* Denies code from the network, or unpacked on the way, where it is run. */
static void judge_flow(struct judge *judge, unsigned from)
{
	if (from & TRAIT_NETWORK)
		judge_raise(judge, LEVEL_DENIED, "runs what it fetched from the network");
	else if (from & TRAIT_DECODED)
		judge_raise(judge, LEVEL_DENIED, "runs what it decoded");
}

static unsigned judge_simple(struct judge *judge, const struct shell_node *node)
{
	size_t count = 0;
	for (const struct shell_word *word = node->words; word; word = word->next)
		count++;
	const struct shell_word **words = arena_array(&judge->arena, count + 1, sizeof(*words));
	count = 0;
	for (const struct shell_word *word = node->words; word; word = word->next)
		words[count++] = word;
	unsigned subs = judge_subs(judge, node);
	bool reads = node->words && list_has("read mapfile readarray", node->words->text, false);
	for (const struct shell_word *word = node->assigns; word; word = word->next)
		if (!reads || strncmp(word->text, "IFS=", 4) != 0)
			judge_assign(judge, word->text);
	unsigned traits = judge_redirects(judge, node);
	unsigned own = judge_words(judge, words, count, node);
	if (own & (TRAIT_CODE | TRAIT_RUNS_INPUT))
		judge_flow(judge, subs | traits);
	if (subs & TRAIT_RUNS_INPUT)
		judge_flow(judge, own);
	return own | traits | (subs & ~(unsigned)(TRAIT_CODE | TRAIT_RUNS_INPUT));
}

/* Returns the text that `echo TEXT` prints, or NULL where escapes or options make another one. */
static const char *echoed(struct judge *judge, const struct shell_node *node)
{
	if (node->kind != SHELL_SIMPLE || !node->words || node->redirects || node->subs ||
		strcmp(node->words->text, "echo") != 0)
		return NULL;
	size_t count = 0;
	const struct shell_word *words[32];
	for (const struct shell_word *word = node->words; word; word = word->next) {
		if (count == ARRAY_LEN(words) || word->computed || strpbrk(word->text, "\\%") ||
			(*word->text == '-' && !word->text[1 + strspn(word->text + 1, "neE")]))
			return NULL;
		words[count++] = word;
	}
	return words_join(judge, "", &(struct program_call){.words = words, .count = count}, 1);
}

/* Judges a stage behind another one: the text that the first prints is fed to the second. */
static unsigned judge_stage(struct judge *judge, const struct shell_node *before,
	const struct shell_node *stage, unsigned upstream)
{
	struct shell_redirect fed = {.kind = SHELL_FED, .target = "", .next = stage->redirects};
	struct shell_node with = *stage;
	bool elsewhere = false;
	for (const struct shell_redirect *r = stage->redirects; r; r = r->next)
		elsewhere = elsewhere || r->kind == SHELL_READ || r->kind == SHELL_FED;
	fed.body = elsewhere || stage->kind != SHELL_SIMPLE ? NULL : echoed(judge, before);
	if (fed.body)
		with.redirects = &fed;
	unsigned own = judge_node(judge, &with);
	if (own & (fed.body ? TRAIT_RUNS_INPUT | TRAIT_CODE : TRAIT_RUNS_INPUT))
		judge_flow(judge, upstream);
	if (own & TRAIT_RUNS_INPUT)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "runs commands that another one prints");
	if ((own & TRAIT_NETWORK) && (upstream & TRAIT_SENSITIVE))
		judge_raise(judge, LEVEL_NETWORK, "sends a file that holds secrets");
	return own;
}

static unsigned judge_pipeline(struct judge *judge, const struct shell_node *node)
{
	const struct shell_node *before = node->children;
	unsigned first = judge_node(judge, before), upstream = first;
	for (const struct shell_node *s = before->next; s; before = s, s = s->next)
		upstream |= judge_stage(judge, before, s, upstream);
	/* The first stage's input is that of the pipeline. */
	return (upstream & ~(unsigned)TRAIT_RUNS_INPUT) | (first & TRAIT_RUNS_INPUT);
}

struct self_calls {
	size_t all, background, piped; /* piped: in one pipeline with another call of itself */
};

static void count_self(
	const struct shell_node *node, const char *name, bool background, struct self_calls *out)
{
	if (node->kind == SHELL_SIMPLE && node->words && !strcmp(node->words->text, name)) {
		out->all++;
		out->background += background;
	}
	size_t before = out->all;
	for (const struct shell_node *c = node->children; c; c = c->next)
		count_self(c, name, background || node->background || c->background, out);
	out->piped += node->kind == SHELL_PIPELINE && out->all - before > 1;
	for (const struct shell_node *s = node->subs; s; s = s->next)
		count_self(s, name, background, out);
}

static unsigned judge_list(struct judge *judge, const struct shell_node *node)
{
	unsigned traits = judge_subs(judge, node) | judge_redirects(judge, node);
	for (const struct shell_node *child = node->children; child; child = child->next)
		traits |= judge_node(judge, child);
	return traits;
}

/* Judges a function where it is defined; its traits are those of each call. */
static unsigned judge_function(struct judge *judge, const struct shell_node *node)
{
	struct known_function *f = arena_alloc(&judge->arena, sizeof(*f));
	*f = (struct known_function){judge->functions, node->name, 0};
	judge->functions = f;
	struct self_calls calls = {0};
	count_self(node->children, node->name, false, &calls);
	if (calls.piped || (calls.all > 1 && calls.background))
		judge_raise(judge, LEVEL_DENIED, "a fork bomb: %.40s starts itself again and again",
			node->name);
	if (!strncmp(node->name, "TRAP", 4) || list_has("command_not_found*", node->name, true))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "%.40s runs around commands", node->name);
	f->traits = judge_list(judge, node);
	return 0;
}

static unsigned judge_evaluation(struct judge *judge)
{
	static const struct shell_word computed = {.text = "$x", .computed = true};
	judge_script_word(judge, &computed, judge->bash);
	return TRAIT_CODE;
}

static unsigned judge_node(struct judge *judge, const struct shell_node *node)
{
	switch (node->kind) {
	case SHELL_SIMPLE: return judge_simple(judge, node);
	case SHELL_PIPELINE: return judge_pipeline(judge, node);
	case SHELL_LIST: return judge_list(judge, node);
	case SHELL_FUNCTION: return judge_function(judge, node);
	case SHELL_ARITHMETIC: judge_evaluated(judge, node->name); return 0;
	case SHELL_EVALUATION: return judge_evaluation(judge);
	}
	return 0;
}

/* --- scripts ------------------------------------------------------------------------------- */

/* Looks for commands of the level `least` or above in text that is not understood: every piece
 * between operators, quotes and brackets is read as a command. */
static void judge_pieces(struct judge *judge, const char *text, enum level least)
{
	struct verdict aside = {.level = LEVEL_READ_ONLY}, *whole = judge->verdict;
	char *copy = arena_copy(&judge->arena, text, strlen(text)), *rest = copy, *piece;
	judge->verdict = &aside;
	while ((piece = strsep(&rest, ";&|()<>{}[]`\"'\\\n"))) {
		size_t count = 0;
		const struct shell_word *words[16];
		char *word;
		while (count < ARRAY_LEN(words) && (word = strsep(&piece, " \t$")))
			if (*word) {
				struct shell_word *made = arena_alloc(&judge->arena, sizeof(*made));
				made->text = word;
				words[count++] = made;
			}
		judge_words(judge, words, count, NULL);
	}
	judge->verdict = whole;
	if (aside.level >= least)
		judge_adopt(judge, &aside);
}

/* Reports whether a script may give a value to a variable anywhere, a loop's end included. */
static bool may_assign(const char *text)
{
	bool begins = true;
	for (const char *at = text; *at; at++) {
		size_t len = 0;
		while (begins && shell_in_name(at[len]))
			len++;
		if (len && (at[len] == '=' || (at[len] == '+' && at[len + 1] == '=')))
			return true;
		begins = strchr(" \t\n;&|(){}", *at);
	}
	return strstr(text, "read") || strstr(text, "mapfile") || strstr(text, "getopts");
}

unsigned judge_script(struct judge *judge, const char *text, bool bash)
{
	struct err e = ERR_NONE;
	size_t len = strlen(text);
	bool outer = judge->bash;
	if (!afford(judge, WORK_SCRIPT + len))
		return TRAIT_CODE;
	if (++judge->depth > DEPTH_MAX) {
		judge_raise(judge, LEVEL_DESTRUCTIVE, "commands nested deeper than %d", DEPTH_MAX);
		judge->depth--;
		return TRAIT_CODE;
	}
	struct shell_node *list = shell_parse(text, len, &judge->arena, &e);
	bool odd = strstr(text, "((") || strstr(text, "[[") || strstr(text, "$[") ||
		   strstr(text, "$'");
	judge->bash = bash;
	if (!list)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "not understood: %s", e.text);
	if (!list || (odd && !bash))
		judge_pieces(judge, text, list ? LEVEL_DESTRUCTIVE : LEVEL_PRIVILEGED);
	judge->assigned = judge->assigned || may_assign(text);
	unsigned traits = list ? judge_node(judge, list) : TRAIT_CODE | TRAIT_RUNS_INPUT;
	if (traits & TRAIT_RUNS_INPUT)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "runs its input");
	judge->bash = outer;
	judge->depth--;
	return traits;
}

unsigned judge_script_word(struct judge *judge, const struct shell_word *word, bool bash)
{
	unsigned traits = judge_script(judge, word->text, bash);
	if (!word->computed)
		return traits;
	judge_raise(judge, LEVEL_DESTRUCTIVE, "runs text that is computed: %.80s", word->text);
	if (judge->filled++ == 0)
		for (const struct known_value *v = judge->values; v; v = v->next)
			judge_script(judge, v->text, bash);
	judge->filled--;
	return traits;
}

void classify_argv(const struct classify_world *world, const char *const *argv, size_t argc,
	struct verdict *out)
{
	struct judge judge = {.world = world, .verdict = out, .bash = true};
	*out = (struct verdict){.level = LEVEL_READ_ONLY};
	arena_init(&judge.arena);
	const struct shell_word **words = arena_array(&judge.arena, argc + 1, sizeof(*words));
	for (size_t i = 0; i < argc; i++) {
		struct shell_word *word = arena_alloc(&judge.arena, sizeof(*word));
		word->text = argv[i];
		words[i] = word;
	}
	if (judge_words(&judge, words, argc, NULL) & TRAIT_RUNS_INPUT)
		judge_raise(&judge, LEVEL_DESTRUCTIVE, "runs its input");
	arena_done(&judge.arena);
}
