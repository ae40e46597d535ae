/* A call that brought no reply. */
#include "agent/loop_private.h"

#include "agent/emit.h"

#include <string.h>

/* Reports whether the provider refused the doubled output tokens: some models have no more to give,
 * or no room for more. It took the same conversation with half of them. */
static bool refuses_more(const struct loop *loop, const struct fault *fault)
{
	return loop->doubled && !loop->no_more && fault_blames_request(fault) &&
	       (fault->kind == FAULT_CONTEXT || strcasestr(fault->text, "tokens"));
}

/* Ends the run with the provider's message, and adds whose it is and where to look. */
static int provider_failed(struct loop *loop, const struct fault *fault)
{
	const struct agent_task *t = loop->task;
	const char *name = t->provider.name, *about = "";
	if (fault->status == 402)
		about = "; pay in at the provider, or name another one in models.worker";
	else if (fault->status == 403)
		about = "; its account, or the region, may lack the model, or the key be wrong";
	else if (fault->status == 404)
		about = "; the model is the state's, else that of models.worker";
	if ((fault->status == 401 || fault->status == 403) && !strcmp(t->provider.auth, "none"))
		return loop_end(loop, OUTCOME_FAILED,
			"provider %s, model %s: %s; no key is sent: providers.%s.auth is none",
			name, t->model, fault->text, name);
	if (fault->status == 401 || fault->status == 403)
		return loop_end(loop, OUTCOME_FAILED,
			"provider %s, model %s: %s%s; %s that of the variable in "
			"providers.%s.api_key_env, else of secrets.yaml (`agent6 connect --name "
			"%s`)",
			name, t->model, fault->text, about,
			t->provider.key ? "its key is" : "no key is sent; it would be", name, name);
	return loop_end(loop, OUTCOME_FAILED, "provider %s, model %s: %s%s", name, t->model,
		fault->text, about);
}

int loop_call_failed(struct loop *loop, const struct fault *fault)
{
	if (refuses_more(loop, fault)) {
		loop->no_more = true;
		loop->output_cap = loop_wanted_tokens(loop);
		return loop_cut(loop);
	}
	switch (fault->kind) {
	case FAULT_TIMEOUT:
		return loop_end(loop, OUTCOME_TIMEOUT, "timeout_secs (%lld) is not enough: %s",
			(long long)loop->task->limits.timeout_secs, fault->text);
	case FAULT_CONTEXT:
		if (window_refused(&loop->window)) {
			emit_notice("%s; what is old was dropped", fault->text);
			return 0;
		}
		return loop_end(loop, OUTCOME_FAILED, "the conversation does not fit the model: %s",
			fault->text);
	case FAULT_NONE:
	case FAULT_RETRY:
	case FAULT_FATAL: break;
	}
	return provider_failed(loop, fault);
}
