/*
 * An audit trail as a person, a full disk or somebody else may leave it. What is chained is read
 * whole; a line that is added to it is there afterwards, with all that was; to what is damaged
 * nothing is added that makes it look whole; and what is shown of it is clean.
 *
 * A line of the input that is an object is chained, any other stands there as it is; behind the
 * last newline is a torn one.
 */
#include "audit/audit.h"
#include "base/json.h"
#include "cli/verb/verb.h"
#include "journal/journal.h"
#include "tests/fuzz/dir_fuzz.h"
#include "tests/fuzz/shown_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

extern const struct verb verb_audit;

struct trail {
	struct buf text;
	char chain[SHA256_HEX + 1];
	uint64_t lines;
	bool damaged, torn;
};

/* An object whose members are not a line's has the right hash all the same. */
static void chain(struct trail *trail, const json_t *line)
{
	size_t from = trail->text.len;
	if (journal_encode(line, trail->chain, &trail->text, NULL)) {
		trail->damaged = true;
		return;
	}
	json_auto_t *again =
		journal_decode(trail->text.data + from, trail->text.len - from - 1, NULL);
	trail->damaged |= !again;
	trail->lines++;
}

static void begin(struct trail *trail)
{
	struct journal_mark start = journal_start();
	memcpy(trail->chain, start.chain, sizeof(trail->chain));
	json_auto_t *first = json_pack("{s:s, s:s, s:i, s:s}", "t", "opened", "ts",
		"2999-01-01T00:00:00Z", "seq", 0, "prev", trail->chain);
	chain(trail, first);
}

static void spell(struct trail *trail, const char *data, size_t len)
{
	for (size_t at = 0, n; at < len; at += n + 1) {
		const char *nl = memchr(data + at, '\n', len - at);
		n = nl ? (size_t)(nl - data) - at : len - at;
		json_auto_t *line = nl ? json_read(data + at, n, 1 << 16, NULL) : NULL;
		if (json_is_object(line)) {
			chain(trail, line);
			continue;
		}
		trail->damaged |= nl != NULL;
		trail->torn |= !nl;
		buf_add(&trail->text, data + at, n + (nl != NULL));
	}
}

/* -1, or how many lines. */
static int64_t count(const struct audit *audit, bool *torn)
{
	struct audit_reader r = {0};
	struct err e = ERR_NONE;
	int rc = audit_read(audit, &r, &e);
	shown_require(!rc == !*e.text);
	*torn = r.torn_bytes > 0;
	return rc ? -1 : (int64_t)r.lines;
}

static void print(const void *call)
{
	verb_audit.run(call);
}

static void check(const struct trail *trail, const struct audit *audit)
{
	bool torn;
	int64_t before = count(audit, &torn);
	shown_require(trail->damaged || (before == (int64_t)trail->lines && torn == trail->torn));
	struct call all = {.verb = &verb_audit};
	shown_printed(print, &all);
	json_auto_t *more = json_pack("[{s:s, s:i}]", "t", "proposed", "seq", 1);
	int rc = audit_append(audit, more, NULL);
	int64_t after = count(audit, &torn);
	shown_require(before < 0 ? after < 0 : !rc && after == before + 1 && !torn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct trail t = {0};
	struct audit a;
	char path[4200];
	const char *dir = fuzz_dir_path();
	setenv("HOME", dir, 1);
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("AGENT6_STATE_HOME", dir, 1);
	snprintf(path, sizeof(path), "%s/audit.jsonl", dir);
	buf_init(&t.text, 1 << 24);
	begin(&t);
	spell(&t, (const char *)data, len);
	fuzz_dir_put("audit.jsonl", t.text.data, t.text.len);
	if (audit_open(path, &a, NULL))
		abort();
	check(&t, &a);
	audit_done(&a);
	buf_done(&t.text);
	fuzz_dir_clear();
	return 0;
}
