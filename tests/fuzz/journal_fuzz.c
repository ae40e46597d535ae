/* Journals: any bytes are lines, a tear or damage; any chained events apply or are refused. */
#include "base/io.h"
#include "base/json.h"
#include "instance/position.h"
#include "journal/journal.h"
#include "tests/fuzz/run_fuzz.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that a position survives being written and read again. */
static void check_position(const struct machine *machine, const struct position *position)
{
	struct position again;
	json_auto_t *data = position_encode(position);
	if (!data || position_decode(machine, data, &again, NULL))
		abort();
	if (!json_equal(position->blackboard, again.blackboard) || again.seq != position->seq)
		abort();
	position_done(&again);
}

static void read_lines(const struct machine *machine, int fd)
{
	struct journal_mark start = journal_start();
	struct journal_reader r;
	struct position p;
	struct err e = ERR_NONE;
	const char *line;
	size_t len;
	position_init(&p, machine);
	journal_reader_init(&r, fd, &start);
	while (journal_next(&r, &line, &len, &e) > 0) {
		json_auto_t *event = journal_decode(line, len, &e);
		if (!event || position_apply_event(&p, event, &e))
			break;
		check_position(machine, &p);
	}
	if (r.mark.offset && !journal_has(fd, &r.mark))
		abort();
	json_decref(journal_last(fd, &e));
	journal_reader_done(&r);
	position_done(&p);
}

/* Each line of the input that is an event becomes a journal line with a correct hash. */
static void chain(const uint8_t *data, size_t size, struct buf *out)
{
	struct journal_mark mark = journal_start();
	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t n = nl ? (size_t)(nl - data) : size;
		json_auto_t *event = json_read((const char *)data, n, 1 << 20, NULL);
		if (json_is_object(event))
			journal_encode(event, mark.chain, out, NULL);
		data += nl ? n + 1 : n;
		size -= nl ? n + 1 : n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct machine *m = run_fuzz_machine();
	AUTO_BUF chained;
	buf_init(&chained, 1 << 24);
	chain(data, size, &chained);
	AUTO_FD int raw = memfd_create("raw", MFD_CLOEXEC), fd = memfd_create("j", MFD_CLOEXEC);
	if (io_write(raw, data, size) || io_write(fd, chained.data, chained.len))
		abort();
	read_lines(m, raw);
	read_lines(m, fd);
	return 0;
}
