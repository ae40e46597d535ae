/*
 * The types of journal lines, on any JSON, one value a line: whatever it is, it becomes a line of a
 * known type or of none, every word in it is one of its list or none, and a line that is written
 * again comes back as it was written.
 */
#include "base/json.h"
#include "contract/line.h"
#include "tests/fuzz/lines_fuzz.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool held)
{
	if (!held)
		abort();
}

static void check_fact(const struct fact *fact)
{
	if (fact->kind == FACT_TOOL)
		require(fact->tool.output);
	if (fact->kind == FACT_NOT_RUN)
		require(fact->not_run);
	if (fact->kind == FACT_AGENT)
		require(fact->agent.outcome < OUTCOME_COUNT && fact->agent.spend.microusd >= 0);
	if (fact->kind == FACT_WAIT)
		require(fact->wait.woke_by < WAKER_COUNT);
}

static void check_words(const struct line *line)
{
	if (line->type == LINE_END)
		require(line->end.cause <= END_CAUSE_COUNT && line->end.status <= OUTCOME_COUNT);
	if (line->type == LINE_STOP)
		require(line->stop <= STOPPER_COUNT);
	if (line->type == LINE_NOTIFY)
		require(line->notify.level <= NOTIFY_LEVEL_COUNT && line->notify.message);
	if (line->type == LINE_STEP)
		require(line->label && line->go_to);
}

/* A member that was missing is written as its type's nothing, so only the second writing is the
 * same. */
static void check_again(const struct line *line)
{
	AUTO_LINE again;
	struct err e = ERR_NONE;
	json_auto_t *written = line_encode(line);
	require(written && !line_decode(written, &again, &e) && again.type == line->type);
	json_auto_t *same = line_encode(&again);
	require(json_equal(written, same));
}

static void take(const char *text, size_t len)
{
	AUTO_LINE line;
	struct err e = ERR_NONE;
	json_auto_t *value = json_read(text, len, 1 << 20, NULL);
	int rc = line_decode(value, &line, &e);
	require(!rc == !*e.text);
	require(line.type <= LINE_TYPE_COUNT && line.ts && line.state && line.label);
	if (line.type == LINE_TYPE_COUNT)
		return;
	check_words(&line);
	if (line.type == LINE_STEP || line.type == LINE_RETRY)
		check_fact(&line.fact);
	if (!rc)
		check_again(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	lines_each(data, len, take);
	return 0;
}
