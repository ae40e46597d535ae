/* The limits that hold for every syntax: bytes, depth, nodes; and large maps. */
#include "base/buf.h"
#include "schema/build.h"
#include "schema_kit.h"

static const char *const syntaxes[] = {"a.yaml", "a.json", "a.toml"};

static void expect_rule(
	const char *file, const struct buf *text, const char *rule, const char *what)
{
	struct reading r;
	reading_bytes(&r, file, text->data, text->len);
	const char *lines = reading_lines(&r);
	if (*rule)
		has_str(lines, rule, "%s: %s", file, what);
	else
		is_str(lines, "", "%s: %s", file, what);
	is(r.rc, *rule ? -1 : 0, "%s: %s: the tree", file, what);
	reading_done(&r);
}

/* A list nested `depth` levels deep; in TOML below a key, whose map is a level too. */
static void nested(struct buf *buf, const char *file, size_t depth)
{
	bool toml = strstr(file, "toml") != NULL;
	buf_clear(buf);
	buf_adds(buf, toml ? "a = " : "");
	for (size_t i = toml; i < depth; i++)
		buf_addc(buf, '[');
	buf_addc(buf, '1');
	for (size_t i = toml; i < depth; i++)
		buf_addc(buf, ']');
}

static void test_depth(void)
{
	AUTO_BUF b;
	buf_init(&b, 1 << 24);
	for (size_t i = 0; i < ARRAY_LEN(syntaxes); i++) {
		nested(&b, syntaxes[i], 64);
		expect_rule(syntaxes[i], &b, "", "64 levels");
		nested(&b, syntaxes[i], 65);
		expect_rule(syntaxes[i], &b, "too-deep", "65 levels");
		nested(&b, syntaxes[i], 40000);
		expect_rule(syntaxes[i], &b, "too-deep", "40,000 levels");
	}
	buf_clear(&b);
	for (int i = 0; i < 100; i++)
		buf_adds(&b, i ? ".a" : "a");
	buf_adds(&b, " = 1\n");
	expect_rule("a.toml", &b, "too-deep", "a key of 100 parts");
}

static void test_nodes(void)
{
	AUTO_BUF b;
	buf_init(&b, 1 << 24);
	for (size_t i = 0; i < ARRAY_LEN(syntaxes); i++) {
		buf_clear(&b);
		buf_adds(&b, strstr(syntaxes[i], "toml") ? "a = [" : "[");
		for (int n = 0; n < DOC_NODES_MAX + 1; n++)
			buf_adds(&b, n ? ",1" : "1");
		buf_adds(&b, "]\n");
		expect_rule(syntaxes[i], &b, "too-many-nodes", "a million and one");
	}
}

static void test_bytes(void)
{
	AUTO_BUF b;
	buf_init(&b, 1 << 24);
	for (size_t n = 0; n < DOC_BYTES_MAX - 6; n++)
		buf_addc(&b, n % 100 ? '#' : '\n');
	struct buf text = b;
	memcpy(text.data, "a: 1\n#", 6);
	expect_rule("a.yaml", &text, "", "just below 8 MiB");
	buf_adds(&b, "#######");
	expect_rule("a.yaml", &b, "too-large", "a byte more than 8 MiB");
}

static void test_large_map(void)
{
	AUTO_BUF b;
	buf_init(&b, 1 << 24);
	for (int i = 0; i < 50000; i++)
		buf_addf(&b, "k%d: %d\n", i * 7919 % 50000, i);
	buf_adds(&b, "k17: x\n");
	struct reading r;
	reading_bytes(&r, "a.yaml", b.data, b.len);
	is_str(reading_lines(&r), "50001:1-50001:4 duplicate-key", "one duplicate of 50,000 keys");
	is(r.doc.root->count, 50000, "it is dropped");
	size_t found = 0;
	for (int i = 0; i < 50000; i++) {
		char key[16];
		snprintf(key, sizeof(key), "k%d", i);
		const struct doc_node *v = doc_get(r.doc.root, key);
		found += v && (i == 17 ? v->kind == DOC_BROKEN
				       : v->kind == DOC_INT && v->integer * 7919 % 50000 == i);
	}
	is(found, 50000, "every key is found with its own value, the doubtful one without");
	ok(!doc_get(r.doc.root, "k50000"), "and no other");
	reading_done(&r);
}

/* "costarring" and "liquid" (and more) have the same FNV-1a hash of 32 bits. */
static void test_colliding_keys(void)
{
	static const char *const keys[] = {"costarring", "liquid", "declinate", "macallums",
		"altarage", "zinke", "a", "b", "c", "d", "e"};
	AUTO_BUF b;
	buf_init(&b, 4096);
	is(map_hash("liquid", 6), map_hash("costarring", 10), "two keys share a hash");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		buf_addf(&b, "%s: %zu\n", keys[i], i);
	buf_adds(&b, "liquid: 1\n");
	struct reading r;
	reading_bytes(&r, "a.yaml", b.data, b.len);
	is_str(reading_lines(&r), "12:1-12:7 duplicate-key", "only the same key is a duplicate");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct doc_node *v = doc_get(r.doc.root, keys[i]);
		is(v ? v->integer : -1, (int64_t)i, "%s", keys[i]);
	}
	reading_done(&r);
}

int main(void)
{
	test_depth();
	test_nodes();
	test_bytes();
	test_large_map();
	test_colliding_keys();
	return tap_done();
}
