/* Golden streams of both wire formats: whole, byte by byte, split in two at every offset, with
 * every kind of line end, and cut at every offset. */
#include "provider/wire.h"
#include "tests/kit/tap.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { CASE_CAP_BYTES = 1 << 20, SERIAL = 7 };
static const char *const stops[] = {"end", "tools", "length", "context", "pause", "refusal"};
static const char *const faults[] = {"none", "retry", "context", "fatal", "timeout"};

/* Returns the result of a stream in the form of the expectation files. */
static json_t *outcome_of(struct wire_stream *stream, int fed, struct fault *fault)
{
	struct wire_reply r = {.stop = WIRE_STOP_END};
	if (fed || wire_stream_end(stream, &r, fault))
		return json_pack("{s:s, s:s}", "fault", faults[fault->kind], "says", fault->text);
	json_t *calls = json_array();
	for (size_t i = 0; i < r.turn.call_count; i++)
		json_array_append_new(calls,
			json_pack("{s:s, s:s, s:s}", "id", r.turn.calls[i].id, "name",
				r.turn.calls[i].name, "arguments", r.turn.calls[i].arguments));
	const struct usage *u = wire_stream_usage(stream);
	json_t *usage = json_null();
	if (u->known)
		usage = json_pack("{s:I, s:I, s:I, s:I}", "input", (json_int_t)u->input, "output",
			(json_int_t)u->output, "cache_read", (json_int_t)u->cache_read,
			"cache_write", (json_int_t)u->cache_write);
	if (u->known && u->cost_microusd >= 0)
		json_object_set_new(usage, "cost", json_integer(u->cost_microusd));
	json_t *out = json_pack("{s:s, s:o, s:s, s:o, s:s}", "text", r.turn.text, "calls", calls,
		"stop", stops[r.stop], "usage", usage, "raw", r.turn.raw);
	if (r.stop_detail[0])
		json_object_set_new(out, "detail", json_string(r.stop_detail));
	wire_turn_done(&r.turn);
	return out;
}

/* Feeds `text` in pieces of `piece` bytes, the first one `first` bytes long. */
static json_t *play(
	const struct wire_format *format, const char *text, size_t len, size_t first, size_t piece)
{
	struct wire_stream *s = wire_stream_new(format, SERIAL);
	struct fault f = FAULT_INIT;
	int rc = 0;
	for (size_t at = 0, n = first; at < len && rc >= 0; at += n, n = piece) {
		n = n < len - at ? n : len - at;
		/* A copy of exactly these bytes, so that a read beyond them is seen. */
		char *copy = malloc(n ? n : 1);
		memcpy(copy, text + at, n);
		rc = wire_stream_feed(s, copy, n, &f);
		free(copy);
	}
	json_t *out = outcome_of(s, rc < 0, &f);
	wire_stream_free(s);
	return out;
}

static bool meets(const json_t *got, const json_t *want)
{
	const json_t *fault = json_object_get(want, "fault");
	if (!fault)
		return json_equal(got, want);
	const char *says = json_string_value(json_object_get(got, "says"));
	return json_equal(json_object_get(got, "fault"), fault) && says &&
	       strstr(says, json_string_value(json_object_get(want, "says")));
}

static void show(const json_t *got)
{
	AUTO_FREE char *text = json_text(got);
	diag("got %s", text);
}

static char *with_ends(const char *text, size_t len, const char *end, size_t *out_len)
{
	struct buf b;
	buf_init(&b, 4 * CASE_CAP_BYTES);
	for (size_t i = 0; i < len; i++)
		text[i] == '\n' ? buf_adds(&b, end) : buf_addc(&b, text[i]);
	return buf_take(&b, out_len);
}

static void splits(const struct wire_format *format, const char *name, const char *text, size_t len,
	const json_t *want)
{
	json_auto_t *bytes = play(format, text, len, 1, 1);
	ok(meets(bytes, want), "%s: one byte per read", name);
	bool all = true;
	for (size_t at = 1; at < len && all; at++) {
		json_auto_t *got = play(format, text, len, at, len);
		all = meets(got, want);
		if (!all)
			diag("split at %zu", at), show(got);
	}
	ok(all, "%s: every two-way split", name);
}

/* A stream that stops early is a passing fault or, past its terminal event, the same reply; never
 * another reply and never fatal. */
static void cuts(const struct wire_format *format, const char *name, const char *text, size_t len,
	const json_t *whole)
{
	bool all = true;
	const char *fault = json_string_value(json_object_get(whole, "fault"));
	for (size_t at = 0; at < len && all; at++) {
		json_auto_t *got = play(format, text, at, at, at);
		const char *kind = json_string_value(json_object_get(got, "fault"));
		json_auto_t *billed = json_copy(got), *full = json_copy((json_t *)(uintptr_t)whole);
		json_object_del(billed, "usage");
		json_object_del(full, "usage");
		all = kind ? !strcmp(kind, "retry") || (fault && !strcmp(kind, fault))
			   : json_equal(billed, full);
		if (!all)
			diag("cut at %zu", at), show(got);
	}
	ok(all, "%s: cut at every offset", name);
}

static void run_case(const struct wire_format *format, int dir, const char *name)
{
	AUTO_FREE char *text = NULL, *expect = NULL, *file = NULL;
	size_t len, expect_len;
	struct err e = ERR_NONE;
	if (asprintf(&file, "%.*s.json", (int)(strlen(name) - 4), name) < 0 ||
		io_read_file(dir, name, CASE_CAP_BYTES, &text, &len, &e) ||
		io_read_file(dir, file, CASE_CAP_BYTES, &expect, &expect_len, &e))
		bail("%s: %s", name, e.text);
	json_auto_t *want = json_read(expect, expect_len, CASE_CAP_BYTES, &e);
	if (!want)
		bail("%s: %s", file, e.text);
	json_auto_t *whole = play(format, text, len, len, len);
	if (!ok(meets(whole, want), "%s %s: whole", format->name, name))
		show(whole);
	splits(format, name, text, len, want);
	cuts(format, name, text, len, whole);
	static const char *const ends[] = {"\r\n", "\r"};
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t other_len;
		AUTO_FREE char *other = with_ends(text, len, ends[i], &other_len);
		json_auto_t *got = play(format, other, other_len, 3, 5);
		ok(meets(got, want), "%s: line ends %zu", name, i);
	}
}

static void run_format(const struct wire_format *format)
{
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/tests/golden/streams/%s", getenv("AGENT6_SRC"), format->name) < 0)
		bail("out of memory");
	struct dirent **entries;
	AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = scandir(path, &entries, NULL, alphasort), cases = 0;
	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(entries[i]->d_name, '.');
		if (dot && !strcmp(dot, ".sse")) {
			run_case(format, dir, entries[i]->d_name);
			cases++;
		}
		free(entries[i]);
	}
	free(entries);
	ok(cases >= 10, "%s has its cases", format->name);
}

static void whole_bodies(void)
{
	static const char anthropic[] =
		"{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
		"\"text\","
		"\"text\":\"hi\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{"
		"\"a\":1}}],"
		"\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}";
	static const char openai[] =
		"{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\",\"tool_"
		"calls\":[{"
		"\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{"
		"\\\"a\\\":1}"
		"\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,"
		"\"completion_tokens\":4}}";
	const struct wire_format *formats[] = {&anthropic_format, &openai_format};
	const char *const bodies[] = {anthropic, openai};
	for (size_t i = 0; i < 2; i++) {
		struct wire_stream *s = wire_stream_new(formats[i], SERIAL);
		struct fault f = FAULT_INIT;
		int rc = wire_stream_body(s, bodies[i], strlen(bodies[i]), &f);
		json_auto_t *got = outcome_of(s, rc, &f);
		const json_t *call = json_array_get(json_object_get(got, "calls"), 0);
		is_str(json_string_value(json_object_get(got, "text")), "hi", "%s: unstreamed text",
			formats[i]->name);
		is_str(json_string_value(json_object_get(call, "arguments")), "{\"a\":1}",
			"%s: unstreamed call", formats[i]->name);
		is(wire_stream_usage(s)->input, 3, "%s: unstreamed usage", formats[i]->name);
		wire_stream_free(s);
		s = wire_stream_new(formats[i], SERIAL);
		f = FAULT_INIT;
		ok(wire_stream_body(s, "{\"chaos\":", 9, &f) && f.kind == FAULT_RETRY,
			"%s: a broken body is a passing fault", formats[i]->name);
		wire_stream_free(s);
	}
}

/* The reply to one event of text, or of a call with this name and id, as JSON. */
static json_t *reply_to(const char *member, const char *value)
{
	AUTO_BUF event;
	buf_init(&event, 4096);
	buf_addf(&event, "data: {\"choices\":[{\"delta\":{%s%s}}]}\n\ndata: [DONE]\n\n", member,
		value);
	return play(&openai_format, event.data, event.len, event.len, 1);
}

/* Half a surrogate pair and NUL become the sign for what cannot be shown, and nothing else does. */
static void half_characters(void)
{
	static const char *const rows[][2] = {{"\\ud800", "\xef\xbf\xbd"},
		{"\\udbff", "\xef\xbf\xbd"}, {"\\udc00", "\xef\xbf\xbd"},
		{"\\udfff", "\xef\xbf\xbd"}, {"\\u0000", "\xef\xbf\xbd"},
		{"\\ud7ff", "\xed\x9f\xbf"}, {"\\ue000", "\xee\x80\x80"}, {"\\u0001", "\x01"},
		{"\\ud800\\udc00", "\xf0\x90\x80\x80"}, {"\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf"},
		{"\\ud800\\ue000", "\xef\xbf\xbd\xee\x80\x80"},
		{"\\ud800\\ud7ff", "\xef\xbf\xbd\xed\x9f\xbf"},
		{"\\ud800\\ud800\\udc00", "\xef\xbf\xbd\xf0\x90\x80\x80"},
		{"\\udc00\\ud800", "\xef\xbf\xbd\xef\xbf\xbd"}, {"\\ud800\\n", "\xef\xbf\xbd\n"},
		{"\\ud800x\\udc00", "\xef\xbf\xbdx\xef\xbf\xbd"}, {"\\\\u0000", "\\u0000"},
		{"\\\\\\u0000", "\\\xef\xbf\xbd"}, {"\\ud800\\\\udc00", "\xef\xbf\xbd\\udc00"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *value = NULL;
		if (asprintf(&value, "\"%s\"", rows[i][0]) < 0)
			bail("out of memory");
		json_auto_t *got = reply_to("\"content\":", value);
		is_str(json_string_value(json_object_get(got, "text")), rows[i][1], "%s",
			rows[i][0]);
	}
}

/* Checks names and ids that no API would take back. */
static void odd_names(void)
{
	char name[67], id[204];
	memset(name, 'n', sizeof(name));
	memset(id, 'i', sizeof(id));
	static const struct {
		int name_len;
		const char *name; /* NULL: that many letters */
		int id_len;
		const char *id;
		bool own;
		const char *want;
	} rows[] = {
		{0, "ls-1_A", 0, "call_1", true, "ls-1_A"},
		{0, "a.b c/\xc3\xa9", 0, "!~", true, "________"},
		{0, "ls", 0, "a b", false, "ls"},
		{0, "ls", 0, "\xc3\xa9", false, "ls"},
		{0, "ls", 0, "", false, "ls"},
		{64, NULL, 200, NULL, true, NULL},
		{65, NULL, 201, NULL, false, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *call = NULL;
		const char *own = rows[i].id ? rows[i].id : id;
		int own_len = rows[i].id ? (int)strlen(rows[i].id) : rows[i].id_len;
		if (asprintf(&call,
			    "[{\"id\":\"%.*s\",\"function\":{\"name\":\"%.*s\",\"arguments\":\"\"}}"
			    "]",
			    own_len, own,
			    rows[i].name ? (int)strlen(rows[i].name) : rows[i].name_len,
			    rows[i].name ? rows[i].name : name) < 0)
			bail("out of memory");
		json_auto_t *got = reply_to("\"tool_calls\":", call);
		const json_t *one = json_array_get(json_object_get(got, "calls"), 0);
		const char *said = json_string_value(json_object_get(one, "name"));
		const char *told = json_string_value(json_object_get(one, "id"));
		if (rows[i].want)
			is_str(said, rows[i].want, "the name, row %zu", i);
		else
			is(said ? strlen(said) : 0, 64, "as much of a name as is taken");
		is(told && (int)strlen(told) == own_len && !strncmp(told, own, (size_t)own_len),
			rows[i].own, "its own id, row %zu: %s", i, told ? told : "none");
		ok(told && *told, "there is one");
	}
}

/* An event of `bytes` bytes of text, and then what the parser says. */
static void big_event(size_t bytes, enum fault_kind want)
{
	struct wire_stream *s = wire_stream_new(&openai_format, SERIAL);
	struct fault f = FAULT_INIT;
	char chunk[4096];
	memset(chunk, 'a', sizeof(chunk));
	int rc = wire_stream_feed(s, "data: {\"x\":\"", 12, &f);
	for (size_t n = 0; n < bytes && rc >= 0; n += sizeof(chunk))
		rc = wire_stream_feed(s, chunk, sizeof(chunk), &f);
	if (rc >= 0)
		rc = wire_stream_feed(s, "\"}\n\n", 4, &f);
	is(f.kind, want, "an event of %zu bytes", bytes);
	wire_stream_free(s);
}

/* Many small events: the content cap ends it, long before memory does. */
static void endless(void)
{
	struct wire_stream *s = wire_stream_new(&openai_format, SERIAL);
	struct fault f = FAULT_INIT;
	AUTO_BUF event;
	buf_init(&event, 1 << 20);
	buf_adds(&event, "data: {\"choices\":[{\"delta\":{\"content\":\"");
	for (int i = 0; i < 60000; i++)
		buf_addc(&event, 'x');
	buf_adds(&event, "\"}}]}\n\n");
	int rc = 0, events = 0;
	for (; rc >= 0 && events < 1000; events++)
		rc = wire_stream_feed(s, event.data, event.len, &f);
	ok(rc < 0 && f.kind == FAULT_FATAL && events < 200, "content beyond 10 MiB is refused");
	has_str(f.text, "10 MiB", "and says so");
	wire_stream_free(s);
}

/* Checks that blocks kept as they were announced count like text: as values in memory they take
 * most. */
static void kept(const char *what, const char *type, int step, const char *rest)
{
	struct wire_stream *s = wire_stream_new(&anthropic_format, SERIAL);
	struct fault f = FAULT_INIT;
	static const char first[] = "data: {\"type\":\"content_block_start\",\"index\":0,"
				    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	for (int i = 0; i < 300000; i++)
		buf_adds(&text, i ? ",0" : "0");
	int rc = wire_stream_feed(s, first, sizeof(first) - 1, &f), events = 0;
	for (; rc >= 0 && events < 60; events++) {
		AUTO_BUF event;
		buf_init(&event, 1 << 20);
		buf_addf(&event, "data: {\"type\":\"%s\",\"index\":%d,%s[%s]}}\n\n", type,
			step * (events + 1), rest, text.data);
		rc = wire_stream_feed(s, event.data, event.len, &f);
	}
	ok(rc < 0 && f.kind == FAULT_FATAL && events < 20, "%s beyond 10 MiB are refused", what);
	has_str(f.text, "10 MiB", "and it says so");
	wire_stream_free(s);
}

/* Checks that thoughts sent in pieces, which may have any members, count as well. */
static void kept_thoughts(void)
{
	struct wire_stream *s = wire_stream_new(&openai_format, SERIAL);
	struct fault f = FAULT_INIT;
	AUTO_BUF list;
	buf_init(&list, 1 << 20);
	for (int i = 0; i < 300000; i++)
		buf_adds(&list, i ? ",0" : "0");
	int rc = 0, events = 0;
	for (; rc >= 0 && events < 60; events++) {
		AUTO_BUF event;
		buf_init(&event, 1 << 20);
		buf_addf(&event,
			"data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":"
			"\"reasoning.text\",\"text\":\"x\",\"k%d\":[%s]}]}}]}\n\n",
			events, list.data);
		rc = wire_stream_feed(s, event.data, event.len, &f);
	}
	ok(rc < 0 && f.kind == FAULT_FATAL && events < 20, "thoughts beyond 10 MiB are refused");
	has_str(f.text, "10 MiB", "and it says so");
	wire_stream_free(s);
}

/* A call whose long arguments go on piece by piece, each with the name again, and a brace that does
 * not end them. */
static void named_pieces(void)
{
	struct wire_stream *s = wire_stream_new(&openai_format, SERIAL);
	struct fault f = FAULT_INIT;
	AUTO_BUF first, piece;
	buf_init(&first, 1 << 20);
	buf_init(&piece, 1000);
	buf_adds(&piece, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
			 "\"function\":{\"name\":\"a\",\"arguments\":\"");
	buf_add(&first, piece.data, piece.len);
	buf_adds(&first, "{\\\"k\\\":\\\"");
	for (int i = 0; i < 900000; i++)
		buf_addc(&first, 'x');
	buf_adds(&first, "\"}}]}}]}\n\n");
	buf_adds(&piece, "\\\\}\"}}]}}]}\n\n");
	int64_t begun_ms = clock_monotonic_ms();
	int rc = wire_stream_feed(s, first.data, first.len, &f);
	for (int i = 0; i < 10000 && rc >= 0; i++)
		rc = wire_stream_feed(s, piece.data, piece.len, &f);
	ok(!rc && clock_monotonic_ms() - begun_ms < 3000,
		"a name in each piece does not make a long call slow");
	wire_stream_free(s);
}

static void is_text(
	const struct wire_format *format, const char *stream, size_t len, const char *what)
{
	bool all = true;
	for (size_t at = 1; at <= len && all; at++) {
		json_auto_t *got = play(format, stream, len, at, len);
		const char *text = json_string_value(json_object_get(got, "text"));
		all = text && !strcmp(text, "hi");
		if (!all)
			diag("split at %zu", at), show(got);
	}
	ok(all, "%s: %s", format->name, what);
}

#define SAID(text)                                                                                 \
	"data: "                                                                                   \
	"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","      \
	"\"text\":\"" text "\"}}\n\n"
#define CHUNK(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"

/* How a stream may end, and what may stand behind its end. */
static void endings(void)
{
	static const char padded[] = SAID("hi") "data: {\"type\":\"message_stop\"}\n\n\0\0\n\0";
	static const char done[] = CHUNK("hi") "data: [DONE]\n\ndata: [DONE]\n\n\0data: x\n\n";
	is_text(&anthropic_format, padded, sizeof(padded) - 1, "nothing behind the end is read");
	is_text(&openai_format, done, sizeof(done) - 1, "nothing behind the end is read");
	static const char *const last[] = {"", "\n", "\r\n", "\r"};
	for (size_t i = 0; i < ARRAY_LEN(last); i++) {
		AUTO_BUF a, o;
		buf_init(&a, 1000);
		buf_init(&o, 1000);
		buf_addf(&a, SAID("hi") "event: message_stop\ndata: {\"type\":\"message_stop\"}%s",
			last[i]);
		buf_addf(&o, CHUNK("hi") "data: [DONE]%s", last[i]);
		is_text(&anthropic_format, a.data, a.len, "the last event without a blank line");
		is_text(&openai_format, o.data, o.len, "the last event without a blank line");
	}
	static const char error[] = "data: {\"type\":\"error\",\"error\":{\"type\":"
				    "\"authentication_error\",\"message\":\"no\"}}";
	json_auto_t *got = play(&anthropic_format, error, sizeof(error) - 1, 1, 7);
	has_str(json_string_value(json_object_get(got, "says")), "authentication_error",
		"an error without one is told, too");
}

/* Checks that bytes after the last event are ignored, in whatever pieces they come. */
static void behind_the_end(void)
{
	static const char rest[] = "data: {\n\ndata: a\0b\n\n";
	AUTO_BUF a, o;
	buf_init(&a, 4096);
	buf_init(&o, 4096);
	buf_adds(&a, SAID("hi") "data: {\"type\":\"message_stop\"}\n\n");
	buf_adds(&o, CHUNK("hi") "data: [DONE]\n\n");
	size_t a_end = a.len, o_end = o.len;
	buf_add(&a, rest, 9);
	buf_add(&o, rest, 9);
	is_text(&anthropic_format, a.data, a.len, "an event behind the end");
	is_text(&openai_format, o.data, o.len, "an event behind the end");
	a.len = a_end;
	o.len = o_end;
	buf_add(&a, rest, sizeof(rest) - 1);
	buf_add(&o, rest, sizeof(rest) - 1);
	json_auto_t *one = play(&anthropic_format, a.data, a.len, a_end, a.len);
	json_auto_t *two = play(&openai_format, o.data, o.len, o_end, o.len);
	is_str(json_string_value(json_object_get(one, "text")), "hi", "nor what is no text");
	is_str(json_string_value(json_object_get(two, "text")), "hi", "nor what is no text");
}

#define STARTS(index, id)                                                                          \
	"data: {\"type\":\"content_block_start\",\"index\":" index ",\"content_block\":{\"type\":" \
	"\"tool_use\",\"id\":\"" id "\",\"name\":\"n\",\"input\":{}}}\n\n"

static void same_again(void)
{
	static const char twice[] = STARTS("0", "t") STARTS("0", "u");
	static const char ids[] =
		STARTS("0", "t") STARTS("1", "t") "data: {\"type\":\"message_stop\"}\n\n";
	json_auto_t *refused = play(&anthropic_format, twice, sizeof(twice) - 1, 9, 99);
	has_str(json_string_value(json_object_get(refused, "says")), "malformed content block",
		"a block begins once");
	json_auto_t *taken = play(&anthropic_format, ids, sizeof(ids) - 1, 9, 99);
	const json_t *calls = json_object_get(taken, "calls");
	is_str(json_get_text(json_array_get(calls, 0), "id"), "t", "a call keeps its id");
	is_str(json_get_text(json_array_get(calls, 1), "id"), "c00007001", "which no other has");
}

/* Checks null counts, as from gateways that report everything in each chunk before they know it. */
static void told_nothing(void)
{
	static const char stream[] =
		CHUNK("hi") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,"
			    "\"completion_tokens\":3}}\n\n"
			    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":null,"
			    "\"completion_tokens\":null}}\n\ndata: [DONE]\n\n";
	json_auto_t *got = play(&openai_format, stream, sizeof(stream) - 1, 1, 50);
	is(json_get_int(json_object_get(got, "usage"), "input"), 7,
		"null does not take back a count");
}

/* Some gateways send a call whole and never end the block. */
static void unended_call(void)
{
	static const char stream[] =
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
		"\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"a\":1}}}\n\n"
		"data: {\"type\":\"message_stop\"}\n\n";
	json_auto_t *got = play(&anthropic_format, stream, sizeof(stream) - 1, 1, 50);
	const json_t *call = json_array_get(json_object_get(got, "calls"), 0);
	is_str(json_string_value(json_object_get(call, "arguments")), "{\"a\":1}",
		"the input of a call whose block never ends");
}

int main(void)
{
	run_format(&anthropic_format);
	run_format(&openai_format);
	endings();
	behind_the_end();
	same_again();
	told_nothing();
	unended_call();
	whole_bodies();
	half_characters();
	odd_names();
	big_event(900 * 1024, FAULT_NONE);
	big_event(2 * 1024 * 1024, FAULT_FATAL);
	endless();
	kept("announced blocks", "content_block_start", 1,
		"\"content_block\":{\"type\":\"x\",\"d\":");
	kept("citations", "content_block_delta", 0,
		"\"delta\":{\"type\":\"citations_delta\",\"citation\":");
	kept_thoughts();
	named_pieces();
	return tap_done();
}
