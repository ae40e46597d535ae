/* A turn that the output limit cut. */
#include "agent/loop_private.h"

#include "agent/emit.h"

static int tell_cut(struct loop *loop, int64_t tokens)
{
	return loop_tell(loop,
		"your answer was cut at %lld output tokens, and nothing of it was done. Answer in "
		"smaller pieces: several short turns, a long file created with its first part and "
		"the rest added by further edits",
		(long long)tokens);
}

int64_t loop_wanted_tokens(const struct loop *loop)
{
	int64_t usual = loop->task->limits.max_output_tokens_per_call;
	return loop->doubled && !loop->no_more ? 2 * usual : usual;
}

/* Reports whether the cut came before the allowed number of tokens: by the server's own limit, or
 * because its context is full. Some servers count the last tokens differently. */
static bool is_cut_below(const struct loop *loop)
{
	int64_t wrote = loop->worker.wrote;
	return wrote && wrote + wrote / 20 < loop->output_cap;
}

/* Tells the model to write less: more room would be cut at the same place. */
static int on_cut_below(struct loop *loop)
{
	if (loop->told_cut)
		return loop_end(loop, OUTCOME_FAILED,
			"the server cut the answer again and again, at %lld output tokens, though "
			"%lld were allowed: its own limit or its context is smaller (Ollama: "
			"num_predict, num_ctx; llama.cpp: --n-predict, --ctx-size; vLLM: "
			"--max-model-len)",
			(long long)loop->worker.wrote, (long long)loop->output_cap);
	loop->told_cut = true;
	emit_notice("the server cut the answer at %lld output tokens, though %lld were allowed; "
		    "telling the model",
		(long long)loop->worker.wrote, (long long)loop->output_cap);
	return tell_cut(loop, loop->worker.wrote);
}

int loop_cut(struct loop *loop)
{
	if (is_cut_below(loop))
		return on_cut_below(loop);
	if (loop->output_cap < loop_wanted_tokens(loop))
		return loop_end(loop, OUTCOME_BUDGET_EXHAUSTED,
			"what is left of the budget cut the answer short");
	if (loop->told_cut)
		return loop_end(loop, OUTCOME_FAILED,
			"the answer was cut again and again at max_output_tokens (%lld%s)",
			(long long)loop->task->limits.max_output_tokens_per_call,
			loop->no_more ? "" : ", then double");
	if (loop->doubled || loop->no_more) {
		loop->told_cut = true;
		emit_notice("the answer was cut at %lld output tokens; telling the model",
			(long long)loop->output_cap);
		return tell_cut(loop, loop->output_cap);
	}
	loop->doubled = true;
	emit_notice("the answer was cut at %lld output tokens; asking again with twice as many",
		(long long)loop->output_cap);
	return 0;
}
