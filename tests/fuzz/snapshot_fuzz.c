/*
 * Snapshots: any JSON is a position of this machine, and then a whole one, or it is refused.
 * Written as a file it is read again as itself; where one bit of that file fell over, or with any
 * bytes in its place, there is no snapshot.
 */
#include "base/json.h"
#include "instance/snapshot.h"
#include "tests/fuzz/dir_fuzz.h"
#include "tests/fuzz/run_fuzz.h"
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool held)
{
	if (!held)
		abort();
}

/* The position in the file, encoded; NULL: there is none. */
static json_t *read_back(const struct instance *instance)
{
	struct position p;
	struct journal_mark at;
	struct totals totals;
	AUTO_FD int journal = memfd_create("journal", MFD_CLOEXEC);
	require(journal >= 0 && !ftruncate(journal, 1 << 16));
	bool quick = snapshot_totals(instance, journal, &totals, &at);
	if (!snapshot_read(instance, run_fuzz_machine(), journal, &p, &at))
		return NULL;
	json_auto_t *told = totals_encode(&totals), *held = totals_encode(&p.totals);
	require(quick && json_equal(told, held));
	json_t *spelled = position_encode(&p);
	position_done(&p);
	return spelled;
}

/* Bit by bit would take too long: which one differs from input to input. */
static void spoil(const struct instance *instance, size_t seed)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	require(!io_read_plain(instance->dir_fd, "snapshot.json", 1 << 24, &text, &len, NULL));
	text[seed * 7919 % len] ^= (char)(1 << seed % 8);
	fuzz_dir_put("snapshot.json", text, len);
	json_auto_t *spoilt = read_back(instance);
	require(!spoilt);
}

static void check_file(
	const struct instance *instance, const struct position *position, size_t seed)
{
	struct journal_mark start = journal_start();
	json_auto_t *spelled = position_encode(position);
	require(!snapshot_write(instance, position, &start, NULL));
	json_auto_t *again = read_back(instance);
	require(again && json_equal(spelled, again));
	spoil(instance, seed);
}

static void check_position(const struct instance *instance, const uint8_t *data, size_t size)
{
	const struct machine *m = run_fuzz_machine();
	struct position p, again;
	json_auto_t *json = json_read((const char *)data, size, 1 << 20, NULL);
	if (!json || position_decode(m, json, &p, NULL))
		return;
	json_auto_t *spelled = position_encode(&p);
	if (!spelled || position_decode(m, spelled, &again, NULL))
		abort();
	json_auto_t *twice = position_encode(&again);
	require(json_equal(spelled, twice));
	check_file(instance, &p, size);
	position_done(&p);
	position_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct instance i = INSTANCE_NONE;
	i.dir_fd = open(fuzz_dir_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_dir_put("snapshot.json", data, size);
	json_decref(read_back(&i));
	check_position(&i, data, size);
	own_close(&i.dir_fd);
	return 0;
}
