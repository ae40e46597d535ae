#include "agent/room.h"

#include "agent/emit.h"
#include "agent/tools/tool.h"

enum { DIGEST_CAP_BYTES = 8 * 1024 * 1024, ESTIMATE_TRUSTED_TOKENS = 8192, SCALE_MAX = 4000 };

void room_sent(struct room *r)
{
	r->sent = evict_estimate(r->talk);
}

/* Estimates are corrected by what the provider counted last; never downwards, because a small
 * server that cuts a conversation silently counts what is left of it. */
static void learn_scale(struct room *r, int64_t counted)
{
	if (!counted || r->sent < ESTIMATE_TRUSTED_TOKENS)
		return;
	if (counted * 2 < r->sent && !r->warned)
		emit_notice("the provider counted %lld tokens where about %lld were sent: its "
			    "context may be smaller than agent.context_tokens says",
			(long long)counted, (long long)r->sent);
	r->warned = r->warned || counted * 2 < r->sent;
	int64_t scale = counted * 1000 / r->sent;
	r->scale = scale < 1000 ? 1000 : scale > SCALE_MAX ? SCALE_MAX : scale;
}

void room_answered(struct room *r, int64_t counted)
{
	r->refusals = 0;
	learn_scale(r, counted);
}

static int64_t scale_of(const struct room *r)
{
	return r->scale ? r->scale : 1000;
}

static int64_t estimate(const struct room *r)
{
	return evict_estimate(r->talk) * scale_of(r) / 1000;
}

/* Whole turns give way to a digest of what was done in them, so that `keep_tokens` are left. */
static bool compact(struct room *r, int64_t keep_tokens)
{
	struct evict_range range = evict_range(r->talk, keep_tokens);
	AUTO_BUF text;
	buf_init(&text, DIGEST_CAP_BYTES);
	if (range.from >= range.to)
		return false;
	AUTO_FREE char *summary = summary_write(r->summary, r->talk, range, r->deadline_ms);
	buf_addf(&text,
		TOOL_DATA_MARK "[agent6: %zu older messages were dropped to make room. What was "
			       "done until now:]\n",
		range.to - range.from);
	/* About an eighth of the context. */
	digest_write(r->digest, (size_t)r->context_tokens * 7 / 16, &text);
	if (summary)
		buf_addf(&text, "[agent6: a summary of them, written by a model:]\n%s\n", summary);
	char *digest = buf_take(&text, NULL);
	if (!digest)
		return false;
	evict_turns(r->talk, range, digest);
	emit_notice("%zu older messages were replaced by a digest%s", range.to - range.from,
		summary ? " and a summary" : "");
	return true;
}

/* Eviction begins at 80 % and frees a quarter, so that the cached prefix then lives for a while. */
bool room_keep(struct room *r)
{
	int64_t window = r->context_tokens, begin = window * 8 / 10, before = estimate(r);
	if (before < begin)
		return false;
	int64_t gained = evict_results(r->talk, window / 4);
	if (gained)
		emit_notice(
			"the conversation (about %lld tokens) nears the limit of %lld; old tool "
			"results of about %lld tokens were dropped",
			(long long)before, (long long)window, (long long)gained);
	return estimate(r) >= begin && compact(r, window * 4 / 10 * 1000 / scale_of(r));
}

/* The provider knows better how much is too much. What the model has asked for last goes last. */
bool room_refused(struct room *r)
{
	if (!r->refusals++ && evict_results(r->talk, INT64_MAX))
		return true;
	return (r->refusals <= 2 && compact(r, 0)) || evict_newest(r->talk);
}
