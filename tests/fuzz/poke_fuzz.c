/*
 * The file of a poke, any bytes: it is set aside, or it wakes the wait, and then the step that says
 * so is a journal line that is read as it was written and leaves a position that a snapshot keeps.
 */
#include "base/json.h"
#include "instance/pokes.h"
#include "journal/journal.h"
#include "tests/fuzz/dir_fuzz.h"
#include "tests/fuzz/run_fuzz.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "00000000000000000001-00000000.json"
#define TIME "\"ts\":\"2026-11-21T00:00:00Z\""

static void require(bool held)
{
	if (!held)
		abort();
}

static void apply(struct position *position, json_t *line)
{
	struct err e = ERR_NONE;
	require(line && !position_apply_event(position, line, &e));
	json_decref(line);
}

/* Goes as far as the wait, which only a poke ends. */
static void wait_armed(struct position *position)
{
	static const char *const lines[] = {"{\"t\":\"begin\"," TIME
					    ",\"seq\":0,\"machine\":\"m\",\"format\":1}",
		"{\"t\":\"step\"," TIME ",\"seq\":1,\"state\":\"t\",\"attempt\":1,\"label\":\"ok\","
		"\"goto\":\"b\",\"fact\":{\"exit\":0,\"signal\":null,\"timed_out\":false,"
		"\"stdout\":\"{\\\"n\\\":1}\",\"stderr_tail\":\"\"}}",
		"{\"t\":\"step\"," TIME
		",\"seq\":2,\"state\":\"b\",\"attempt\":1,\"label\":\"else\","
		"\"goto\":\"w\",\"fact\":{\"clause\":1}}",
		"{\"t\":\"wait.armed\"," TIME ",\"seq\":3,\"state\":\"w\","
		"\"wake\":\"2030-01-01T00:00:00Z\"}"};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		apply(position, json_loads(lines[i], 0, NULL));
}

/* Written and read again. */
static json_t *journaled(json_t *line)
{
	AUTO_BUF text;
	struct journal_mark start = journal_start();
	buf_init(&text, 1 << 24);
	require(!journal_encode(line, start.chain, &text, NULL));
	json_t *again = journal_decode(text.data, text.len - 1, NULL);
	require(again && json_equal(again, line));
	json_decref(line);
	return again;
}

static void wake(json_t *payload)
{
	struct position p, again;
	position_init(&p, run_fuzz_machine());
	wait_armed(&p);
	apply(&p, journaled(json_pack("{s:s,s:s,s:i,s:s,s:i,s:s,s:s,s:{s:s,s:s,s:s,s:O}}", "t",
			  "step", "ts", "2026-11-21T00:00:00Z", "seq", 3, "state", "w", "attempt",
			  1, "label", "signal", "goto", "f", "fact", "wake", "2030-01-01T00:00:00Z",
			  "woke_by", "poke", "poke", NAME, "payload", payload)));
	json_auto_t *kept = position_encode(&p);
	require(!position_decode(p.machine, kept, &again, NULL));
	require(json_equal(again.poke, payload));
	position_done(&again);
	position_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct instance i = INSTANCE_NONE;
	char name[POSITION_NAME_BYTES], bad[POSITION_NAME_BYTES];
	json_t *payload = NULL;
	i.dir_fd = open(fuzz_dir_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(!pokes_init(&i, NULL));
	fuzz_dir_put("pokes/" NAME, data, size);
	int found = pokes_first(&i, name, &payload, bad, NULL);
	require(found >= 0 && found != !strcmp(bad, NAME) && json_is_object(payload) == found);
	require(pokes_count(&i) == found);
	if (found)
		wake(payload);
	json_decref(payload);
	fuzz_dir_clear();
	own_close(&i.dir_fd);
	return 0;
}
