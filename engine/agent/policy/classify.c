#include "agent/policy/judge.h"

#include "base/utf8.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 8, WORK_MAX = 4 * 1024 * 1024, WORK_WORD = 8, WORK_SCRIPT = 64 };

const char *level_name(enum level level)
{
	static const char *const names[] = {
#define LEVEL(level, name, needs) name,
		LEVELS(LEVEL)
#undef LEVEL
	};
	return names[level];
}

json_t *verdict_json(const struct verdict *v)
{
	static const struct {
		enum approval bit;
		const char *name;
	} known[] = {{APPROVE_CONFIRM, "confirm"}, {APPROVE_EXPLICIT, "explicit"},
		{APPROVE_TYPED_YES, "typed_yes"}, {APPROVE_DESTINATION, "destination"}};
	json_t *approvals = json_array(), *reasons = json_array();
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (v->approvals & known[i].bit)
			json_array_append_new(approvals, json_string(known[i].name));
	for (size_t i = 0; i < v->reason_count; i++)
		json_array_append_new(reasons, json_string(v->reasons[i]));
	return json_pack("{s:s, s:o, s:o}", "level", level_name(v->level), "approvals", approvals,
		"reasons", reasons);
}

static unsigned needs_of(enum level level)
{
	static const unsigned needs[] = {
#define LEVEL(level, name, needs) needs,
		LEVELS(LEVEL)
#undef LEVEL
	};
	return needs[level];
}

void judge_raise(struct judge *j, enum level level, const char *format, ...)
{
	struct verdict *v = j->verdict;
	v->level = level > v->level ? level : v->level;
	v->approvals |= needs_of(level);
	char text[VERDICT_REASON_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_copy(text, sizeof(text), text);
	for (size_t i = 0; i < v->reason_count; i++)
		if (!strcmp(v->reasons[i], text))
			return;
	if (v->reason_count < VERDICT_REASONS_MAX && level > LEVEL_READ_ONLY)
		memcpy(v->reasons[v->reason_count++], text, sizeof(text));
}

void judge_adopt(struct judge *j, const struct verdict *own)
{
	for (size_t i = 0; i < own->reason_count; i++)
		judge_raise(j, own->level, "%s", own->reasons[i]);
	j->verdict->approvals |= own->approvals;
}

void judge_danger(struct judge *j, const struct call *c, const char *what)
{
	judge_raise(j, LEVEL_DESTRUCTIVE, "%.60s: %s", c->name, what);
}

/* --- programs ------------------------------------------------------------------------------ */

/* The name under which the table may know a program: bare, or in a system directory, however that
 * is spelled. NULL: it comes from anywhere else, whatever it is called. */
static const char *trusted_name(struct judge *j, const char *path)
{
	static const char *const places[] = {"/bin", "/usr/bin", "/usr/local/bin", "/sbin",
		"/usr/sbin", "/usr/local/sbin", "/lib64", "/lib/x86_64-linux-gnu",
		"/usr/lib/x86_64-linux-gnu"};
	static const char *const roots[] = {"/proc/self/root/", "/proc/1/root/"};
	char joined[POLICY_PATH_BYTES], whole[POLICY_PATH_BYTES];
	if (!strchr(path, '/'))
		return path;
	int len = snprintf(joined, sizeof(joined), "%s/%s",
		*path != '/' && j->world->workspace ? j->world->workspace : "", path);
	if (len < 0 || len >= POLICY_PATH_BYTES) /* a cut path would be another one */
		return NULL;
	path_normalise(joined, whole);
	path = arena_copy(&j->arena, whole, strlen(whole));
	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (!strncmp(path, roots[i], strlen(roots[i])))
			path += strlen(roots[i]) - 1;
	const char *base = strrchr(path, '/');
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strlen(places[i]) == (size_t)(base - path) &&
			!strncmp(path, places[i], (size_t)(base - path)))
			return base + 1;
	return NULL;
}

static const struct known_function *function_find(const struct judge *j, const char *name)
{
	const struct known_function *f = j->functions;
	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	return f;
}

/* Asking for the version or the help runs nothing else. */
static bool only_asks(const struct call *c, enum level level)
{
	/* Where -v asks for no more words on the way, but for the version. */
	static const char *const tell[] = {
		"node", "perl", "ruby", "php", "lua", "npm", "yarn", NULL};
	const char *word = call_text(c, 1);
	bool asks = word_in(word, WORDS("--version", "--help")) ||
		    (!strcmp(word, "-v") && word_in(c->name, tell));
	return asks && c->count == 2 && level != LEVEL_PRIVILEGED && level != LEVEL_DENIED;
}

static const struct {
	const char *const *programs;
	const char *option;
} parsers[] = {
	{WORDS("sh", "bash", "dash", "ksh", "zsh"), "-n"},
	{WORDS("node", "nodejs"), "--check"},
	{WORDS("php"), "-l"},
};

/* One file is parsed, and nothing of it runs. */
static bool only_parses(const struct call *c)
{
	for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
		if (word_in(c->name, parsers[i].programs) &&
			!strcmp(call_text(c, 1), parsers[i].option))
			return c->count == 3 && !c->words[2]->dynamic && !c->words[2]->globbed &&
			       !strchr("-+", *call_text(c, 2));
	return false;
}

static unsigned judge_program(struct judge *j, struct call *c)
{
	const char *path = c->words[0]->text;
	c->name = trusted_name(j, path);
	if (!c->name || !*path) {
		judge_raise(
			j, LEVEL_WRITE, "%.80s is not a program of the system directories", path);
		return 0;
	}
	/* A function was judged where it is defined. One that is called like a program may be gone
	 * by now, or belong to another shell. */
	const struct program *p = program_find(c->name);
	if (!p) {
		bool own = c->node && c->words[0] == c->node->words;
		const struct known_function *f = own ? function_find(j, c->name) : NULL;
		if (!f)
			judge_raise(j, LEVEL_WRITE, "%.80s is not known", c->name);
		for (size_t i = 1; f && i < c->count; i++)
			value_add(j, "@", c->words[i]->text);
		return f ? f->traits : 0;
	}
	if (only_asks(c, p->level) || only_parses(c))
		return 0;
	judge_raise(j, p->level, "%.80s", c->name);
	return p->judge ? p->judge(j, c) : 0;
}

static unsigned sensitive_words(const struct call *c)
{
	for (size_t i = 1; i < c->count; i++)
		if (path_is_sensitive(c->words[i]->text))
			return TRAIT_SENSITIVE;
	return 0;
}

bool judge_afford(struct judge *j, size_t work)
{
	j->work += work;
	if (j->work > WORK_MAX)
		judge_raise(j, LEVEL_DESTRUCTIVE, "it can be read in too many ways");
	return j->work <= WORK_MAX;
}

unsigned judge_words(struct judge *j, const struct sh_word *const *words, size_t count,
	const struct sh_node *node)
{
	struct call c = {.words = words, .count = count, .node = node};
	if (!count || !judge_afford(j, WORK_WORD * count))
		return 0;
	if (++j->depth > DEPTH_MAX) {
		judge_raise(j, LEVEL_DESTRUCTIVE, "commands nested deeper than %d", DEPTH_MAX);
		j->depth--;
		return 0;
	}
	unsigned traits = 0;
	bool searched = *words[0]->text == '='; /* by zsh, for the program behind it */
	if (words[0]->dynamic || words[0]->globbed || searched) {
		judge_raise(j, LEVEL_DESTRUCTIVE, "the program's name is computed: %.80s",
			words[0]->text);
		traits = TRAIT_CODE | TRAIT_RUNS_INPUT;
	} else {
		traits = judge_program(j, &c);
	}
	traits |= judge_values(j, &c);
	j->depth--;
	return traits | sensitive_words(&c);
}

/* --- redirections and assignments ---------------------------------------------------------- */

static void judge_written(struct judge *j, const struct sh_redirect *r)
{
	const char *target = r->target->text;
	if (path_is_device(target))
		judge_raise(j, LEVEL_DENIED, "writes to %.80s", target);
	else if (path_is_socket(target))
		judge_raise(j, LEVEL_NETWORK, "connects to %.80s", target + 5);
	else if (!strncmp(target, "/dev/", 5))
		return;
	else if (r->kind == SH_APPEND)
		judge_raise(j, LEVEL_WRITE, "appends to %.80s", target);
	else
		judge_raise(j, LEVEL_DESTRUCTIVE, "overwrites %.80s", target);
}

static unsigned judge_redirects(struct judge *j, const struct sh_node *n)
{
	unsigned traits = 0;
	bool dup = false, socket = false;
	for (const struct sh_redirect *r = n->redirects; r; r = r->next) {
		dup = dup || r->kind == SH_DUP;
		socket = socket || path_is_socket(r->target->text);
		if (r->kind == SH_WRITE || r->kind == SH_APPEND) {
			judge_written(j, r);
		} else if (r->kind == SH_READ && path_is_socket(r->target->text)) {
			judge_raise(j, LEVEL_NETWORK, "connects to %.80s", r->target->text + 5);
			traits |= TRAIT_NETWORK;
		} else if (r->kind == SH_READ && path_is_sensitive(r->target->text)) {
			traits |= TRAIT_SENSITIVE;
		}
	}
	/* A shell at the other end of a connection: its input is a copy of what is connected. */
	j->connected = j->connected || (socket && n->words && !strcmp(n->words->text, "exec"));
	return traits | (dup && (socket || j->connected) ? TRAIT_NETWORK : 0u);
}

static void judge_assigns(struct judge *j, const struct sh_node *n)
{
	/* What splits the line that is read is gone behind it. */
	bool reads = n->words && word_in(n->words->text, WORDS("read", "mapfile", "readarray"));
	for (const struct sh_word *w = n->assigns; w; w = w->next) {
		const struct sh_word *words[] = {w, w};
		if (reads && !strncmp(w->text, "IFS=", 4))
			continue;
		struct call c = {.name = "assignment", .words = words, .count = 2};
		judge_assign(j, &c);
	}
}

/* --- the tree ------------------------------------------------------------------------------ */

static unsigned judge_node(struct judge *j, const struct sh_node *n);

size_t words_of(struct judge *j, const struct sh_node *n, const struct sh_word ***out)
{
	size_t count = 0;
	for (const struct sh_word *w = n->words; w; w = w->next)
		count++;
	const struct sh_word **array = arena_array(&j->arena, count + 1, sizeof(*array));
	size_t i = 0;
	for (const struct sh_word *w = n->words; w; w = w->next)
		array[i++] = w;
	*out = array;
	return count;
}

/* echo and printf print what they are given: any word of it may be where their output is. */
static void add_printed(struct judge *j, const struct sh_node *n)
{
	for (; n && n->kind != SH_SIMPLE; n = n->children)
		;
	if (!n || !n->words || !word_in(n->words->text, WORDS("echo", "printf")))
		return;
	for (const struct sh_word *w = n->words->next; w; w = w->next)
		value_add(j, "()", w->text);
}

static unsigned judge_subs(struct judge *j, const struct sh_node *n)
{
	unsigned traits = 0;
	for (const struct sh_node *s = n->subs; s; s = s->next) {
		traits |= judge_node(j, s);
		add_printed(j, s);
	}
	if (traits & TRAIT_RUNS_INPUT)
		judge_raise(
			j, LEVEL_DESTRUCTIVE, "a substitution runs what it reads from its input");
	return traits;
}

/* Code from the network, or unpacked on the way, in a place where it is run. */
static void judge_flow(struct judge *j, unsigned from)
{
	if (from & TRAIT_NETWORK)
		judge_raise(j, LEVEL_DENIED, "runs what it fetched from the network");
	else if (from & TRAIT_DECODED)
		judge_raise(j, LEVEL_DENIED, "runs what it decoded");
}

static unsigned judge_simple(struct judge *j, const struct sh_node *n)
{
	const struct sh_word **words;
	size_t count = words_of(j, n, &words);
	unsigned subs = judge_subs(j, n);
	judge_assigns(j, n);
	unsigned traits = judge_redirects(j, n);
	unsigned own = judge_words(j, words, count, n);
	if (own & (TRAIT_CODE | TRAIT_RUNS_INPUT | TRAIT_MAY_RUN_INPUT))
		judge_flow(j, subs | traits);
	if (subs & TRAIT_RUNS_INPUT)
		judge_flow(j, own);
	return own | traits | (subs & ~(unsigned)(TRAIT_CODE | TRAIT_RUNS_INPUT));
}

/* `echo TEXT | sh`: the text is known, so it can be judged instead of guessed. Escapes, options and
 * formats make another text of it. */
static const char *echoed(struct judge *j, const struct sh_node *n)
{
	if (n->kind != SH_SIMPLE || !n->words || n->redirects || n->subs)
		return NULL;
	bool formats = !strcmp(n->words->text, "printf");
	if (!formats && strcmp(n->words->text, "echo"))
		return NULL;
	for (const struct sh_word *w = n->words->next; w; w = w->next)
		if (w->dynamic || strpbrk(w->text, "\\%") ||
			(*w->text == '-' && (formats || !w->text[1 + strspn(w->text + 1, "neE")])))
			return NULL;
	const struct sh_word **words;
	size_t count = words_of(j, n, &words);
	const struct call c = {.words = words, .count = count};
	return words_join(j, "", &c, 1);
}

static bool reads_elsewhere(const struct sh_node *n)
{
	const struct sh_redirect *r = n->redirects;
	while (r && r->kind != SH_READ && r->kind != SH_HERE_DOC && r->kind != SH_HERE_STRING)
		r = r->next;
	return r;
}

/* A stage behind another one: what that prints is its input, as a here-string's text is. */
static unsigned judge_stage(struct judge *j, const struct sh_node *before,
	const struct sh_node *stage, unsigned upstream)
{
	struct sh_word text = {.text = reads_elsewhere(stage) ? NULL : echoed(j, before)};
	struct sh_redirect here = {
		.kind = SH_HERE_STRING, .target = &text, .next = stage->redirects};
	struct sh_node fed = *stage;
	bool known = text.text && stage->kind == SH_SIMPLE;
	if (known)
		fed.redirects = &here;
	unsigned own = judge_node(j, &fed);
	unsigned runs = TRAIT_RUNS_INPUT | TRAIT_MAY_RUN_INPUT;
	if (own & (known ? runs | TRAIT_CODE : runs))
		judge_flow(j, upstream);
	if (own & TRAIT_RUNS_INPUT)
		judge_raise(j, LEVEL_DESTRUCTIVE, "runs commands that another one prints");
	if ((own & TRAIT_NETWORK) && (upstream & TRAIT_SENSITIVE))
		judge_raise(j, LEVEL_NETWORK, "sends a file that holds secrets");
	return own;
}

static unsigned judge_pipeline(struct judge *j, const struct sh_node *n)
{
	const struct sh_node *before = n->children;
	unsigned first = judge_node(j, before), upstream = first;
	for (const struct sh_node *s = before->next; s; before = s, s = s->next)
		upstream |= judge_stage(j, before, s, upstream);
	/* The first stage's input is that of the pipeline. */
	return (upstream & ~(unsigned)TRAIT_RUNS_INPUT) | (first & TRAIT_RUNS_INPUT);
}

/* --- functions ----------------------------------------------------------------------------- */

struct self_calls {
	size_t all, background, piped; /* piped: in one pipeline with another call of itself */
};

static void count_self(
	const struct sh_node *n, const char *name, bool background, struct self_calls *out)
{
	if (n->kind == SH_SIMPLE && n->words && !strcmp(n->words->text, name)) {
		out->all++;
		out->background += background;
	}
	size_t before = out->all;
	for (const struct sh_node *c = n->children; c; c = c->next)
		count_self(c, name, background || n->background || c->background, out);
	if (n->kind == SH_PIPELINE && out->all - before > 1)
		out->piped++;
	for (const struct sh_node *s = n->subs; s; s = s->next)
		count_self(s, name, background, out);
}

static unsigned judge_function(struct judge *j, const struct sh_node *n)
{
	struct known_function *f = arena_alloc(&j->arena, sizeof(*f));
	*f = (struct known_function){j->functions, n->name, 0};
	j->functions = f;
	struct self_calls calls = {0};
	count_self(n->children, n->name, false, &calls);
	if (calls.piped || (calls.all > 1 && calls.background))
		judge_raise(j, LEVEL_DENIED, "a fork bomb: %.40s starts itself again and again",
			n->name);
	/* Of these it is known what they print; the others stand for programs that are missing, or
	 * run around every command. */
	if (word_in(n->name, WORDS("wc", "grep", "egrep", "fgrep", "head", "tail", "cut", "tr",
				     "seq", "command_not_found_handle", "command_not_found_handler",
				     "TRAPDEBUG", "TRAPERR", "TRAPZERR")))
		judge_raise(j, LEVEL_DESTRUCTIVE, "a function takes the place of %.40s", n->name);
	f->traits = judge_node(j, n->children);
	return 0;
}

static unsigned judge_node(struct judge *j, const struct sh_node *n)
{
	unsigned traits = 0;
	switch (n->kind) {
	case SH_SIMPLE: return judge_simple(j, n);
	case SH_PIPELINE: return judge_pipeline(j, n);
	case SH_FUNCTION: return judge_function(j, n);
	case SH_LIST: break;
	}
	traits = judge_redirects(j, n) | (judge_subs(j, n) & ~(unsigned)TRAIT_RUNS_INPUT);
	for (const struct sh_node *c = n->children; c; c = c->next)
		traits |= judge_node(j, c);
	return traits;
}

static unsigned judge_reading(struct judge *j, const char *text, bool posix)
{
	struct err e = ERR_NONE;
	size_t len = strlen(text);
	if (!judge_afford(j, WORK_SCRIPT + len))
		return 0;
	const struct sh_node *list = shell_parse(text, len, posix, &j->arena, &e);
	unsigned traits = 0;
	size_t known = 0;
	if (!list)
		judge_raise(j, LEVEL_DESTRUCTIVE, "not analysable: %s", e.text);
	/* Once more where a variable was given something behind a command that names it. */
	for (int pass = 0; list && pass < 2 && (!pass || j->value_count > known); pass++) {
		known = j->value_count;
		traits |= judge_node(j, list);
	}
	return traits;
}

unsigned judge_bash_script(struct judge *j, const char *text, bool bash)
{
	bool outer = j->bash;
	bool differs = strstr(text, "$'") || strstr(text, "$[") || strstr(text, "((") ||
		       strstr(text, "[[");
	j->bash = bash;
	unsigned traits = judge_reading(j, text, false);
	if (!bash && differs)
		traits |= judge_reading(j, text, true);
	j->bash = outer;
	return traits;
}

unsigned judge_script(struct judge *j, const char *text)
{
	return judge_bash_script(j, text, false);
}

void classify_argv(const struct classify_world *world, const char *const *argv, size_t argc,
	struct verdict *out)
{
	struct judge j = {.world = world, .verdict = out};
	*out = (struct verdict){.level = LEVEL_READ_ONLY};
	arena_init(&j.arena);
	const struct sh_word **words = arena_array(&j.arena, argc + 1, sizeof(*words));
	for (size_t i = 0; i < argc; i++) {
		struct sh_word *w = arena_alloc(&j.arena, sizeof(*w));
		w->text = argv[i];
		words[i] = w;
	}
	unsigned traits = judge_words(&j, words, argc, NULL);
	if (traits & TRAIT_RUNS_INPUT)
		judge_raise(&j, LEVEL_DESTRUCTIVE, "runs what it reads from its input");
	if ((traits & TRAIT_NETWORK) && (traits & TRAIT_SENSITIVE))
		judge_raise(&j, LEVEL_NETWORK, "names a file that holds secrets");
	arena_done(&j.arena);
}
