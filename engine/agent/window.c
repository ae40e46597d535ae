#include "agent/window.h"

#include "agent/emit.h"
#include "agent/tools/tool.h"

enum { DIGEST_CAP_BYTES = 8 * 1024 * 1024, ESTIMATE_TRUSTED_TOKENS = 8192, SCALE_MAX = 4000 };

void window_sent(struct window *window)
{
	window->sent = evict_estimate(window->talk);
}

/* Corrects the estimate by the provider's last count, but never downwards: a small server that
 * silently cuts a conversation counts only the rest. */
void window_answered(struct window *window, int64_t counted)
{
	if (!counted || window->sent < ESTIMATE_TRUSTED_TOKENS)
		return;
	if (counted * 2 < window->sent && !window->warned)
		emit_notice("the provider counted %lld tokens where about %lld were sent: its "
			    "context may be smaller than agent.context_tokens says",
			(long long)counted, (long long)window->sent);
	window->warned = window->warned || counted * 2 < window->sent;
	int64_t scale = counted * 1000 / window->sent;
	window->scale = scale < 1000 ? 1000 : scale > SCALE_MAX ? SCALE_MAX : scale;
}

static int64_t scale_of(const struct window *window)
{
	return window->scale ? window->scale : 1000;
}

static int64_t estimate(const struct window *window)
{
	return evict_estimate(window->talk) * scale_of(window) / 1000;
}

/* Replaces whole turns by a digest, so that `keep_tokens` are left. */
static bool compact(struct window *window, int64_t keep_tokens)
{
	struct evict_range range = evict_range(window->talk, keep_tokens);
	AUTO_BUF text = BUF_INIT(DIGEST_CAP_BYTES);
	if (range.from >= range.to)
		return false;
	const char *summary = turn_summary_write(window->summary, window->talk, range);
	buf_addf(&text,
		TOOL_DATA_MARK "[agent6: %zu older messages were dropped to make room. Done "
			       "until now:]\n",
		range.to - range.from);
	/* About an eighth of the context, in bytes. */
	digest_write(window->digest, (size_t)window->context_tokens * 7 / 16, &text);
	if (summary)
		buf_addf(&text, "[agent6: a summary of them, written by a model:]\n%s\n", summary);
	char *digest = buf_take(&text, NULL);
	if (!digest)
		return false;
	evict_turns(window->talk, range, digest);
	emit_notice("%zu older messages were replaced by a digest%s", range.to - range.from,
		summary ? " and a summary" : "");
	return true;
}

/* Begins to evict at 80 % and frees a quarter, so that the cached prefix then lasts for a while. */
bool window_keep(struct window *window)
{
	int64_t limit = window->context_tokens, begin = limit * 8 / 10, before = estimate(window);
	if (before < begin)
		return false;
	int64_t gained = evict_results(window->talk, limit / 4);
	if (gained)
		emit_notice(
			"the conversation (about %lld tokens) nears the limit of %lld; old tool "
			"results of about %lld tokens were dropped",
			(long long)before, (long long)limit, (long long)gained);
	return estimate(window) >= begin &&
	       compact(window, limit * 4 / 10 * 1000 / scale_of(window));
}

/* Drops more than the estimate demands, since the provider's limit is what counts. The results of
 * the newest calls go last. */
bool window_refused(struct window *window)
{
	return evict_results(window->talk, INT64_MAX) || compact(window, 0) ||
	       evict_newest(window->talk);
}
