#include "machine/kind.h"
#include "machine/reader.h"

#include <string.h>

static void read_terminal(struct reader *reader, struct state *state)
{
	const char *status = reader_text(reader, state->node, "status");
	state->terminal.ok = status && strcmp(status, "ok") == 0;
	state->terminal.exit_code = (int)reader_int(reader, state->node, "exit_code").value;
	state->terminal.reason = reader_template(reader, state->node, "reason", state);
	read_returns(reader, state);
}

static void terminal_texts(const struct state *state, text_visitor *each, void *ctx)
{
	each(ctx, state->terminal.reason, false);
	for (size_t i = 0; i < state->terminal.return_count; i++)
		each(ctx, state->terminal.returns[i].value, false);
}

static const char *terminal_style(const struct state *state)
{
	return state->terminal.ok ? "style=\"filled,rounded\", peripheries=2, color=\"#0a7550\", "
				    "fillcolor=\"#e4f3ec\""
				  : "style=\"filled,rounded\", peripheries=2, color=\"#b3261e\", "
				    "fillcolor=\"#fbe9e7\"";
}

const struct kind kind_terminal = {
	"terminal",
	TRAIT_ENDS | TRAIT_RESTS,
	NULL, /* result */
	read_terminal,
	kind_no_outcomes,
	terminal_texts,
	kind_never, /* brings_untrusted */
	kind_never, /* takes_files */
	kind_writes_nothing,
	"[[\"",
	"\"]]",
	terminal_style,
};
