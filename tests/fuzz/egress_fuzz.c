/*
 * A broker's facts, any bytes: however they are cut they come to the same sums, which only rise;
 * the journal lines made of them follow in a run, and what people are shown of those is clean.
 */
#include "base/json.h"
#include "journal/journal.h"
#include "report/show.h"
#include "run/egress.h"
#include "tests/fuzz/run_fuzz.h"
#include "tests/fuzz/shown_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* How often connections and bytes were counted must be whole numbers that never fell. */
static void check_sums(const json_t *by_endpoint)
{
	static const char *const sums[] = {"connections", "up", "down"};
	const char *key;
	json_t *sum, *count;
	shown_require(json_object_size(by_endpoint) <= EGRESS_ENDPOINTS_MAX);
	json_object_foreach ((json_t *)(uintptr_t)by_endpoint, key, sum) {
		for (size_t i = 0; i < ARRAY_LEN(sums); i++)
			shown_require(json_get_int(sum, sums[i]) >= !i);
		const char *why;
		json_object_foreach (json_object_get(sum, "refusals"), why, count)
			shown_require(json_integer_value(count) > 0);
	}
}

static json_t *take(const uint8_t *data, size_t len, size_t step)
{
	struct egress g = EGRESS_NONE;
	buf_init(&g.line, 4096);
	g.by_endpoint = json_object();
	for (size_t at = 0; at < len; at += step)
		egress_take(&g, (const char *)data + at, len - at < step ? len - at : step);
	egress_done(&g);
	check_sums(g.by_endpoint);
	return g.by_endpoint;
}

static void show(const void *fields)
{
	struct show s = {.mode = SHOW_PLAIN, .terminal_fd = -1};
	AUTO_LINE line;
	line_decode(fields, &line, NULL);
	show_event(&s, &line);
}

/* Commits a line like the drive does: applies it to the position first, then writes it. */
static void commit(struct position *position, struct line_egress egress)
{
	char chain[SHA256_HEX + 1];
	struct journal_mark start = journal_start();
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	memcpy(chain, start.chain, sizeof(chain));
	json_auto_t *line = line_encode(&(struct line){.type = LINE_EGRESS,
		.ts = "2026-11-21T00:00:00Z",
		.seq = 1,
		.state = "t",
		.egress = egress});
	shown_require(!position_apply_event(position, line, NULL));
	shown_require(!journal_encode(line, chain, &text, NULL));
	json_auto_t *again = journal_decode(text.data, text.len - 1, NULL);
	shown_require(again && json_equal(again, line));
	shown_printed(show, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char begin[] = "{\"t\":\"begin\",\"ts\":\"2026-11-21T00:00:00Z\",\"seq\":0,"
				    "\"machine\":\"m\",\"format\":1}";
	const char *endpoint;
	json_t *sums;
	struct position p;
	json_auto_t *whole = take(data, len, len ? len : 1), *cut = take(data, len, 7);
	shown_require(json_equal(whole, cut));
	json_auto_t *first = json_loads(begin, 0, NULL);
	position_init(&p, run_fuzz_machine());
	shown_require(!position_apply_event(&p, first, NULL));
	json_object_foreach (whole, endpoint, sums)
		commit(&p, egress_line(endpoint, sums));
	position_done(&p);
	return 0;
}
