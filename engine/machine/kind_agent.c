#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/reader.h"

#include <string.h>

static enum thinking read_thinking(const struct reader *reader, const struct state *state)
{
	static const struct {
		const char *text;
		enum thinking thinking;
	} levels[] = {{"off", THINKING_OFF}, {"low", THINKING_LOW}, {"medium", THINKING_MEDIUM},
		{"high", THINKING_HIGH}, {"xhigh", THINKING_HIGH}, {"max", THINKING_HIGH}};
	const char *level = reader_text(reader, state->node, "thinking");
	if (!level)
		level = reader_text(reader, state->node, "effort");
	for (size_t i = 0; level && i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i].text, level) == 0)
			return levels[i].thinking;
	return THINKING_INHERIT;
}

static void note_agent_spellings(const struct reader *reader, const struct state *state)
{
	const char *effort = reader_text(reader, state->node, "effort");
	bool beyond = effort && (!strcmp(effort, "xhigh") || !strcmp(effort, "max"));
	reader_note_spelling(reader, state, "effort", "thinking",
		beyond ? "`thinking: high`, the highest level here" : "`thinking`");
	reader_note_spelling(reader, state, "max_tokens_fallback", NULL,
		"a token limit that binds when spend cannot be metered");
	const struct doc_node *prompt = reader_get(reader, state->node, "prompt", DOC_STR);
	const char *called = prompt ? strstr(prompt->text, "finish_session") : NULL;
	if (!called)
		return;
	struct site site = reader_site(reader, prompt, state);
	site_report_at(&site, RULE_OTHER_SPELLING, (size_t)(called - prompt->text),
		strlen("finish_session"),
		"`finish_session` is understood as `finish_run`, the tool that ends a session");
}

static const char *inherited(const char *name)
{
	return name && strcmp(name, "inherit") == 0 ? NULL : name;
}

static const struct template *read_prompt(const struct reader *reader, const struct state *state)
{
	const struct doc_node *node = reader_get(reader, state->node, "prompt", DOC_STR);
	struct site site = reader_site(reader, node, state);
	return node ? template_compile(&reader->scope, &site, TEMPLATE_PROMPT) : NULL;
}

/* Refuses an empty prompt: no provider takes a message without text. */
static void check_prompt(const struct reader *reader, const struct state *state)
{
	const struct agent_state *a = &state->agent;
	const char *text = a->prompt ? template_literal(a->prompt) : NULL;
	if (!text || text[strspn(text, " \t\r\n")])
		return;
	struct site site = reader_site(reader,
		reader_value(reader, state->node, a->prompt_file ? "prompt_file" : "prompt"),
		state);
	struct finding *f = site_report(
		&site, RULE_OUT_OF_RANGE, "the prompt is empty: no model can be asked nothing");
	site_help(&site, f, "say what the agent is to do");
}

static void read_agent(struct reader *reader, struct state *state)
{
	read_work(reader, state);
	struct agent_state *a = &state->agent;
	const char *mode = reader_text(reader, state->node, "mode");
	a->prompt_file = reader_text(reader, state->node, "prompt_file");
	a->prompt = a->prompt_file ? read_prompt_file(reader, state) : read_prompt(reader, state);
	check_prompt(reader, state);
	a->mode = mode && strcmp(mode, "run") == 0 ? MODE_RUN : MODE_AGENT;
	a->provider = inherited(reader_text(reader, state->node, "provider"));
	a->model = inherited(reader_text(reader, state->node, "model"));
	a->thinking = read_thinking(reader, state);
	a->temperature = reader_float(reader, state->node, "temperature");
	a->max_usd = fixed_float(reader, state, state->node, &a->usd_parameter);
	a->best_effort_usd = reader_float(reader, state->node, "best_effort_usd_limit");
	a->max_input_tokens = reader_int(reader, state->node, "max_input_tokens");
	a->max_output_tokens = reader_int(reader, state->node, "max_output_tokens");
	a->max_iterations = reader_int(reader, state->node, "max_iterations");
	a->max_tokens_fallback = reader_int(reader, state->node, "max_tokens_fallback");
	note_agent_spellings(reader, state);
	read_edges(reader, state);
}

static unsigned agent_outcomes(const struct state *state)
{
	(void)state;
	return 1u << OUTCOME_OK | 1u << OUTCOME_FAILED | 1u << OUTCOME_BUDGET_EXHAUSTED |
	       1u << OUTCOME_TIMEOUT;
}

static void agent_texts(const struct state *state, text_visitor *each, void *ctx)
{
	each(ctx, state->agent.prompt, false);
}

static bool agent_brings_untrusted(const struct state *state)
{
	(void)state;
	return true;
}

static enum writing agent_writing(const struct state *state)
{
	return state->agent.mode == MODE_RUN ? WRITES_CODE : WRITES_NOTHING;
}

static const char *agent_style(const struct state *state)
{
	(void)state;
	return "style=\"filled,rounded\", color=\"#6b4fbb\", fillcolor=\"#efeaf9\"";
}

static const struct kind_result agent_result = {
	.good = OUTCOME_OK,
	.owner = OWNER_AGENT,
	.whole = "finish_json",
	.invalid = OUTCOME_FAILED,
	.failure = &failure_work,
};

const struct kind kind_agent = {
	"agent",
	TRAIT_MODEL | TRAIT_DEFAULTS,
	&agent_result,
	read_agent,
	agent_outcomes,
	agent_texts,
	agent_brings_untrusted,
	kind_never, /* takes_files: it is untrusted anyway */
	agent_writing,
	"([\"",
	"\"])",
	agent_style,
};
