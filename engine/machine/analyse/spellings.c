/*
 * Finds references in the spelling of another language: `{ name }`, `${name}`, `<name>`, or an
 * argument `$name` for a declared variable, all of which are plain text here; a statement such as
 * `{% if name %}`, which is plain text, too; a reference in a place that has none; and a prompt
 * that is the name of a file.
 */
#include "machine/analyse/analyse.h"
#include "machine/kind.h"
#include "machine/site.h"
#include "machine/visit.h"
#include <string.h>

/* Reports in one text: an author who made more of these mistakes has seen the first. */
enum { SEEN_MAX = 20 };

/* A text of a state. */
struct text {
	const struct machine *m;
	const struct state *s;
	struct findings *findings;
	const char *source;
	bool code; /* a program reads it, which may use { } and < > itself */
};

/* A name with its braces; `len` covers them. */
struct spelt {
	const char *at;
	size_t len;
	const char *name;
	size_t name_len;
};

static const struct variable *variable_of(const struct machine *machine, const struct spelt *spelt)
{
	char name[80];
	const char *dot = memchr(spelt->name, '.', spelt->name_len);
	size_t len = dot ? (size_t)(dot - spelt->name) : spelt->name_len;
	snprintf(name, sizeof(name), "%.*s", len < sizeof(name) ? (int)len : 0, spelt->name);
	return machine_variable(machine, name);
}

/* Takes OPEN name CLOSE, with or without blanks inside. */
static bool take(const char *at, const char *open, const char *close, struct spelt *out)
{
	size_t len = strlen(open);
	if (strncmp(at, open, len) != 0)
		return false;
	const char *name = at + len + strspn(at + len, " ");
	size_t name_len = ref_span(name, 0, SIZE_MAX);
	const char *end = name + name_len + strspn(name + name_len, " ");
	if (!name_len || strncmp(end, close, strlen(close)) != 0)
		return false;
	*out = (struct spelt){at, (size_t)(end - at) + strlen(close), name, name_len};
	return true;
}

static bool writes(const struct state *state, const struct variable *variable)
{
	bool found = state->capture.whole == variable;
	for (size_t i = 0; i < state->capture.set_count; i++)
		found |= state->capture.set[i].target == variable;
	for (size_t i = 0; i < state->failure.set_count; i++)
		found |= state->failure.set[i].target == variable;
	return found;
}

/* Reports whether the text uses the name properly elsewhere: in a reference, an end tag, or a
 * script that sets it. A `{name}` in prose is a mistake in any case: nothing fills it in. */
static bool is_known(const struct text *text, const struct variable *variable)
{
	size_t len = strlen(variable->name);
	for (const char *at = text->source; (at = strstr(at, variable->name)); at += len) {
		const char *before = at;
		while (before > text->source && before[-1] == ' ')
			before--;
		char sign = before > text->source ? before[-1] : '\0';
		bool referred = sign == '{' && before - 1 > text->source && before[-2] == '{';
		if (referred || sign == '/' || (text->code && sign != '{' && sign != '$'))
			return true;
	}
	return false;
}

static bool is_set(const struct state *state, const char *name)
{
	bool found = false;
	const struct tool_state *tool = state_tool(state);
	for (size_t i = 0; tool && i < tool->env_count; i++)
		found |= !strcmp(tool->env[i].name, name);
	return found;
}

/* Reports the spelling. `pass`: how to pass the reference instead; NULL: it is written in the same
 * place. */
static void report(
	const struct text *text, const struct spelt *spelt, const char *what, const char *pass)
{
	bool inside;
	struct site site = {
		.findings = text->findings, .doc = text->m->doc, .state = text->s->name};
	site.node = state_text_node(text->s, text->source, &inside);
	/* The unused variable is the same mistake. */
	findings_drop(text->findings, text->m->doc, &variable_of(text->m, spelt)->node->pos);
	struct finding *f = site_report_at(&site, RULE_PLAIN_REFERENCE,
		inside ? (size_t)(spelt->at - text->source) : 0,
		inside ? spelt->len : site.node->count, "`%.*s` %s",
		spelt->len < 100 ? (int)spelt->len : 100, spelt->at, what);
	site_help(&site, f, "%s {{ %.*s }}%s", pass ? "pass" : "write", (int)spelt->name_len,
		spelt->name, pass ? pass : "");
}

/* Returns how to pass a reference: a script must not contain text that somebody else may have
 * written. */
static const char *way_of(const struct text *text)
{
	return text->code && strpbrk(text->source, " ;\n")
		       ? " as an argument of its own, a shell's $1"
		       : NULL;
}

/* Reports whether a dollar sign before the variable may mean money: not before a text. */
static bool is_amount(const struct variable *variable)
{
	return variable->type.kind != TYPE_STR && variable->type.kind != TYPE_BOOL;
}

/* Looks at the name in braces at `at`, if there is one. Returns the number of bytes to skip. */
static size_t look_once(const struct text *text, const char *at, size_t *seen)
{
	static const char plain[] = "is plain text here, no reference";
	struct spelt p;
	bool dollar = take(at, "${{", "}}", &p);
	const char *end = dollar || strncmp(at, "{{", 2) != 0 ? NULL : strstr(at, "}}");
	if (end)
		return (size_t)(end + 2 - at);
	bool argument = text->code && at == text->source && take(at, "$", "", &p) && !at[p.len];
	if (!dollar && !argument && !take(at, "${", "}", &p) &&
		(text->code || (!take(at, "{", "}", &p) && !take(at, "<", ">", &p))))
		return 1;
	const struct variable *v = variable_of(text->m, &p);
	*seen += v != NULL;
	if (v && dollar && !is_amount(v))
		report(text, &p, "is a reference after a `$`, which stays", way_of(text));
	else if (v && !dollar && !writes(text->s, v) && !is_set(text->s, v->name) &&
		 (*p.at == '{' || !is_known(text, v)))
		report(text, &p, plain, way_of(text));
	return p.len;
}

static void look_through(const struct text *text)
{
	size_t seen = 0;
	const char *at = text->source;
	while (*(at += strcspn(at, "${<")) && seen < SEEN_MAX)
		at += look_once(text, at, &seen);
}

/* Returns what to do instead of a statement that begins with this word; NULL: it is none. */
static const char *instead_of(const char *word, size_t len)
{
	static const char branch[] = "decide in a branch state, and give each way its own state";
	static const char list[] = "write {{ NAME | json }}, or let a tool make the text and "
				   "capture it";
	static const char made[] = "write the text out, or let a tool make it and capture it";
	static const struct {
		const char *word, *instead;
	} words[] = {{"if", branch}, {"elif", branch}, {"else", branch}, {"endif", branch},
		{"unless", branch}, {"case", branch}, {"for", list}, {"endfor", list},
		{"set", made}, {"assign", made}, {"include", made}, {"extends", made},
		{"block", made}, {"macro", made}, {"raw", made}, {"with", made}};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].word) == len && !memcmp(words[i].word, word, len))
			return words[i].instead;
	return NULL;
}

/* Reports the first statement of another template language. A program may take such a text. */
static void look_for_statement(const struct text *text)
{
	for (const char *at = text->source; (at = strstr(at, "{%")); at += 2) {
		const char *word = at + 2 + strspn(at + 2, "-+ ");
		const char *instead = instead_of(word, strspn(word, "abcdefghijklmnopqrstuvwxyz"));
		if (!instead)
			continue;
		/* Only for a word: looked for at every `{%`, the end would cost a search each. */
		const char *end = strstr(at, "%}");
		if (!end)
			return;
		struct site site = {
			.findings = text->findings, .doc = text->m->doc, .state = text->s->name};
		bool inside;
		site.node = state_text_node(text->s, text->source, &inside);
		size_t len = (size_t)(end + 2 - at);
		struct finding *f = site_report_at(&site, RULE_TEMPLATE_STATEMENT,
			inside ? (size_t)(at - text->source) : 0, inside ? len : site.node->count,
			"`%.*s` is plain text here: templates have no statements",
			len < 60 ? (int)len : 60, at);
		site_help(&site, f, "%s", instead);
		return;
	}
}

static void look_at(void *ctx, const struct template *template, bool is_code)
{
	struct text text = *(const struct text *)ctx;
	text.source = template ? template_source(template) : "";
	text.code = is_code;
	look_through(&text);
	if (!text.code)
		look_for_statement(&text);
}

/* Looks at the values of `env`, which are literal. */
static void look_at_env(struct text t)
{
	const struct tool_state *tool = state_tool(t.s);
	for (size_t i = 0; tool && i < tool->env_count; i++) {
		struct spelt p;
		const char *at = strstr(tool->env[i].text, "{{");
		t.source = tool->env[i].text;
		if (at && take(at, "{{", "}}", &p) && variable_of(t.m, &p))
			report(&t, &p, "is no reference: `env` is literal",
				" as an argument, or on stdin");
	}
}

/* Looks for a `prompt` that is a file's name: the model would be asked just that name. */
static void look_at_prompt(const struct text *text)
{
	const struct agent_state *agent = state_agent(text->s);
	const char *path = agent && agent->prompt ? template_literal(agent->prompt) : NULL;
	if (!path || strncmp(path, "prompts/", 8) != 0 || strpbrk(path, " \t\n"))
		return;
	struct site site = {
		.findings = text->findings, .doc = text->m->doc, .state = text->s->name};
	site.node = doc_get(text->s->node, "prompt");
	struct finding *f = site.node
				    ? site_report(&site, RULE_PROMPT_IS_PATH,
					      "the model is asked \"%s\", and shown no file", path)
				    : NULL;
	site_help(&site, f, "write `prompt_file: %s`", path);
}

void analyse_spellings(const struct machine *machine, struct findings *findings)
{
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *s = &machine->states[i];
		struct text t = {.m = machine, .s = s, .findings = findings};
		look_at(&t, s->notify, false);
		for (size_t k = 0; k < s->capture.set_count; k++)
			look_at(&t, s->capture.set[k].value, false);
		for (size_t k = 0; k < s->failure.set_count; k++)
			look_at(&t, s->failure.set[k].value, false);
		kind_of(s)->texts(s, look_at, &t);
		look_at_prompt(&t);
		look_at_env(t);
	}
}
