/* The published schemas and our own decoder accept and refuse the same shapes: every golden
 * machine, every example and thousands of mutations of them, against ajv, an independent validator.
 *
 * One difference cannot be expressed in JSON Schema, where 1.0 is an integer: here it is a float.
 * So floats with integral values are moved off before comparing. */
#include "ajv_kit.h"
#include "base/json.h"
#include "schema_kit.h"
#include <fcntl.h>
#include <ftw.h>
#include <math.h>

enum { CORPUS_MAX = 400, MUTATIONS = 5000, LINES_BYTES_MAX = 64 * 1024 * 1024 };

static json_t *corpus[CORPUS_MAX];
static size_t corpus_count;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static size_t below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed >> 16) % n;
}

/* --- the corpus ------------------------------------------------------------------------------- */

static void move_off_integers(json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;
	if (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)))
		json_real_set(value, json_real_value(value) + 0.5);
	json_object_foreach (value, key, inner)
		move_off_integers(inner);
	json_array_foreach (value, i, inner)
		move_off_integers(inner);
}

static void add_file(const char *path)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &len, NULL))
		return;
	struct reading r;
	reading_bytes(&r, path, text, len);
	if (r.doc.root && !r.findings.errors && corpus_count < CORPUS_MAX) {
		corpus[corpus_count] = doc_json(r.doc.root);
		move_off_integers(corpus[corpus_count++]);
	}
	reading_done(&r);
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	const char *name = path + at->base;
	bool machine = strstr(name, ".asm.") || !strncmp(name, "machine.", 8);
	if (kind == FTW_F && machine)
		add_file(path);
	return 0;
}

static void read_corpus(const char *const *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", getenv("AGENT6_SRC"), places[i]);
		nftw(path, visit, 16, FTW_PHYS);
	}
}

static void add_texts(const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		corpus[corpus_count++] = json_loads(texts[i], 0, NULL);
}

/* --- mutations -------------------------------------------------------------------------------- */

/* Every key that the schemas name somewhere, so that a mutation hits a known key at a wrong place.
 */
static const char *keys[600];
static size_t key_count;

static void collect_keys(const json_t *schema)
{
	const char *key;
	json_t *inner;
	size_t i;
	json_object_foreach (json_object_get(schema, "properties"), key, inner)
		if (key_count < ARRAY_LEN(keys))
			keys[key_count++] = key;
	json_object_foreach ((json_t *)(uintptr_t)schema, key, inner)
		collect_keys(inner);
	json_array_foreach ((json_t *)(uintptr_t)schema, i, inner)
		collect_keys(inner);
}

static const char *key_at(const json_t *object_, size_t at)
{
	json_t *object = (json_t *)(uintptr_t)object_;
	void *iter = json_object_iter(object);
	while (at--)
		iter = json_object_iter_next(object, iter);
	return json_object_iter_key(iter);
}

static json_t *some_value(const json_t *from)
{
	static const char *const palette[] = {"null", "true", "false", "0", "1", "-1", "7", "1.5",
		"-0.5", "\"\"", "\"x\"", "\"agent\"", "\"tool\"", "\"timeout\"", "\"A b\"",
		"\"/p\"", "\"http://h\"", "[]", "{}", "[\"a\",\"a\"]", "[\"a\"]", "{\"a\":1}",
		"{\"a\":\"b\"}", "[1]",
		"\"0123456789012345678901234567890123456789012345678901234567890123456789\""};
	if (below(4))
		return json_loads(palette[below(ARRAY_LEN(palette))], JSON_DECODE_ANY, NULL);
	/* Or a part of the document itself. */
	for (size_t steps = below(6); steps; steps--) {
		if (json_array_size(from))
			from = json_array_get(from, below(json_array_size(from)));
		else if (json_object_size(from))
			from = json_object_get(from, key_at(from, below(json_object_size(from))));
	}
	return json_deep_copy(from);
}

static void rename_key(json_t *object, const char *key)
{
	char other[100];
	size_t len = strlen(key);
	json_t *value = json_incref(json_object_get(object, key));
	snprintf(other, sizeof(other), "%s", below(2) ? key : keys[below(key_count)]);
	if (len && len < sizeof(other) && !strcmp(other, key))
		other[below(len)] = "aZ_-. 9"[below(7)];
	json_object_del(object, key);
	json_object_set_new(object, other, value);
}

static void mutate_object(json_t *object, const json_t *whole)
{
	size_t n = json_object_size(object);
	char key[100];
	snprintf(key, sizeof(key), "%s", n ? key_at(object, below(n)) : "");
	switch (below(n ? 5 : 1)) {
	case 0: json_object_set_new(object, keys[below(key_count)], some_value(whole)); break;
	case 1: json_object_del(object, key); break;
	case 2: rename_key(object, key); break;
	default: json_object_set_new(object, key, some_value(whole)); break;
	}
}

static void mutate(json_t *at, const json_t *whole)
{
	size_t n = json_object_size(at), m = json_array_size(at);
	if (n && below(5)) {
		json_t *inner = json_object_get(at, key_at(at, below(n)));
		if (json_is_object(inner) || json_is_array(inner)) {
			mutate(inner, whole);
			return;
		}
	}
	if (m && below(2)) {
		mutate(json_array_get(at, below(m)), whole);
		return;
	}
	if (json_is_object(at))
		mutate_object(at, whole);
	else if (m && below(2))
		json_array_set_new(at, below(m), some_value(whole));
	else if (json_is_array(at))
		json_array_append_new(at, some_value(whole));
}

/* --- both verdicts ---------------------------------------------------------------------------- */

static bool our_verdict(const struct shape *shape, const char *text, struct buf *why)
{
	struct reading r;
	reading_init(&r, "d.json", text);
	bool valid =
		!r.rc && !r.findings.count && !shape_check(shape, &r.doc, r.doc.root, &r.findings);
	buf_clear(why);
	buf_adds(why, reading_lines(&r));
	reading_done(&r);
	return valid;
}

/* Returns what the keys point into. */
static json_t *load_keys(const char *schema)
{
	char file[4096];
	snprintf(file, sizeof(file), "%s/schema/%s.schema.json", getenv("AGENT6_SRC"), schema);
	json_t *whole = json_load_file(file, 0, NULL);
	key_count = 0;
	collect_keys(whole);
	return whole;
}

/* Makes the keys required that `defaults` may give: the tables are for a machine with them filled
 * in, the published schema for one as it is written. */
static void require_defaults(json_t *schema)
{
	const char *key;
	json_t *value, *required = json_object_get(schema, "required");
	size_t i;
	json_object_foreach (json_object_get(schema, "properties"), key, value) {
		const char *comment = json_string_value(json_object_get(value, "$comment"));
		if (!comment || strcmp(comment, "required after defaults"))
			continue;
		if (!required) {
			required = json_array();
			json_object_set_new(schema, "required", required);
		}
		json_array_append_new(required, json_string(key));
	}
	json_object_foreach (schema, key, value)
		require_defaults(value);
	json_array_foreach (schema, i, value)
		require_defaults(value);
}

/* Writes the schema that a validator is given; returns its path. */
static const char *validator_schema(const char *schema)
{
	static char path[4096];
	char file[4096];
	const char *tmp = getenv("TMPDIR");
	snprintf(file, sizeof(file), "%s/schema/%s.schema.json", getenv("AGENT6_SRC"), schema);
	snprintf(path, sizeof(path), "%s/%s-%d.json", tmp ? tmp : "/tmp", schema, (int)getpid());
	json_auto_t *whole = json_load_file(file, 0, NULL);
	json_t *reference = json_object_get(json_object_get(whole, "$defs"), "reference");
	require_defaults(whole);
	/* The tables leave it to the reader to say what is wrong with a reference. */
	if (reference)
		json_object_set_new(reference, "pattern", json_string("\\{\\{"));
	if (json_dump_file(whole, path, 0))
		bail("cannot write %s", path);
	return path;
}

static void compare(const char *schema, const struct shape *shape)
{
	AUTO_BUF lines, answers, why;
	buf_init(&lines, LINES_BYTES_MAX);
	buf_init(&answers, LINES_BYTES_MAX);
	buf_init(&why, 1 << 20);
	AUTO_FREE char **texts = calloc(corpus_count + MUTATIONS, sizeof(*texts));
	size_t count = 0, valid = 0, differ = 0;
	json_auto_t *kept = load_keys(schema);
	(void)kept; /* the shapes borrow from it */
	for (size_t i = 0; i < corpus_count + MUTATIONS; i++) {
		json_auto_t *value = json_deep_copy(corpus[i % corpus_count]);
		for (size_t n = i < corpus_count ? 0 : 1 + below(3); n; n--)
			mutate(value, corpus[i % corpus_count]);
		texts[count] = json_text(value);
		buf_addf(&lines, "%s\n", texts[count++]);
	}
	const char *file = validator_schema(schema);
	is(ajv_verdicts(file, &lines, &answers), 0, "%s: the validator takes the schema", schema);
	unlink(file);
	is(answers.len, 2 * count, "%s: %zu verdicts", schema, count);
	for (size_t i = 0; i < count && answers.len == 2 * count; i++) {
		bool ours = our_verdict(shape, texts[i], &why);
		valid += ours;
		if (ours == (answers.data[2 * i] == '1'))
			continue;
		if (++differ <= 5)
			diag("we say %s: %s\n%s", ours ? "valid" : "invalid", texts[i], why.data);
	}
	is(differ, 0, "%s: the same verdict on all", schema);
	diag("%s: %zu documents, %zu of them valid", schema, count, valid);
	ok(valid > count / 50 && valid < count, "%s: both verdicts occur", schema);
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
}

static void forget_corpus(void)
{
	for (size_t i = 0; i < corpus_count; i++)
		json_decref(corpus[i]);
	corpus_count = 0;
}

int main(void)
{
	ajv_or_skip();
	static const char *const places[] = {
		"tests/golden", "examples", "machines", "../shared/data/asm-toml"};
	read_corpus(places, ARRAY_LEN(places));
	ok(corpus_count >= 40, "%zu machines", corpus_count);
	compare("machine", shape_machine);
	forget_corpus();
	static const char *const configs[] = {
		"{}",
		"{\"providers\":{\"a\":{\"api_format\":\"openai\",\"base_url\":\"http://"
		"h\",\"prices\":{\"m\":"
		"{\"input\":1,\"output\":2.5}},\"max_retries\":3,\"private_network\":true}},"
		"\"models\":{\"worker\":{\"provider\":\"a\",\"model\":\"m\"}},\"budget\":{\"max_"
		"usd\":1.5}}",
		"{\"sandbox\":{\"profile\":\"strict\",\"read\":[\"/"
		"a\"],\"limits\":{\"memory_mb\":5},\"secrets\":"
		"{\"s\":{\"env\":\"E\",\"machines\":[\"m\"]}},\"allow_urls\":[\"h\"],\"run_"
		"commands\":\"no\"},"
		"\"approval\":{\"default\":\"auto\"},\"agent\":{\"max_iterations\":5,\"summarise\":"
		"\"model\"}}",
		"{\"git\":{\"commit\":{\"name\":\"n\",\"email\":\"e\"},\"allow_push\":true},"
		"\"machine\":"
		"{\"notify\":{\"on_event\":[\"/bin/"
		"true\"]},\"state_log_keep\":3},\"audit\":{\"path\":\"/x\"},"
		"\"workflow\":{\"verify_command\":[\"make\"]},\"agent6\":{\"state_dir\":\"/s\"}}",
	};
	add_texts(configs, ARRAY_LEN(configs));
	compare("config", shape_config);
	forget_corpus();
	/* Whole literals, since clang takes a few parted ones in a list for a missing comma. */
	static const char some_files[] =
		"{\"description\":\"d\",\"params\":{\"a\":[1]},\"expect\":{\"end\":\"e\",\"path\":"
		"[\"a\"],\"vars\":{\"v\":{\"x\":1}},\"files\":{\"f\":{\"contains\":\"t\"},\"g\":"
		"{\"absent\":true}},\"egress\":[\"h:1\"],\"left_over\":2}}";
	static const char a_digest[] =
		"{\"expect\":{\"status\":\"failed\",\"exit_code\":20,\"passes\":[],\"returns\":"
		"{\"r\":null},\"files\":{\"f\":{\"sha256\":\"0123456789abcdef0123456789abcdef"
		"0123456789abcdef0123456789abcdef\"}}}}";
	static const char *const cases[] = {"{}", some_files, a_digest};
	add_texts(cases, ARRAY_LEN(cases));
	compare("case", shape_case);
	forget_corpus();
	static const char a_match[] =
		"{\"state\":\"s\",\"match\":{\"argv\":[\"a\",\"b\"],\"stdin\":\"i\"},\"fact\":"
		"{\"exit\":1,\"stdout\":\"o\",\"stderr\":\"e\"}}";
	static const char *const steps[] = {"{\"state\":\"s\",\"fact\":{}}", a_match,
		"{\"state\":\"s\",\"fact\":{\"signal\":9,\"timed_out\":false}}"};
	add_texts(steps, ARRAY_LEN(steps));
	compare("tools", shape_tools);
	forget_corpus();
	return tap_done();
}
