/* contract: the engine's policy, the published schema and the jail's own reader agree on every
 * field; and the jail reads what is written. */
#include "base/fields.h"
#include "base/json.h"
#include "contract/jail_policy.h"
#include "contract/jail_policy_table.h"
#include "jail/policy.h"
#include "tests/kit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
	const char *kind, *name;
	bool needed;
	int64_t least, most;
	const char *what;
};
#define OURS(kind, name, needed, member, least, most, what)                                        \
	{#kind, name, needed, least, most, what},
#define THEIRS(kind, name, needed, member, least, most, what, is)                                  \
	{#kind, name, needed, least, most, what},
#define LIMIT(name, initial, largest) {"NUMBER", "limits." #name, false, 1, largest, NULL},

static const struct member ours[] = {JAIL_POLICY_MEMBERS(OURS){.name = NULL}};
static const struct member theirs[] = {
	POLICY_FIELDS(THEIRS) POLICY_LIMITS(LIMIT) POLICY_COMMAND(THEIRS, true){.name = NULL}};

/* The jail's fields that no policy of the engine has: those of an order, and a demand that only a
 * policy written by hand makes. */
static const char *const not_ours[] = {"argv", "timeout_secs", "require", NULL};

static const struct member *find(const struct member *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}

static bool is_ours(const char *name)
{
	for (const char *const *other = not_ours; *other; other++)
		if (!strcmp(*other, name))
			return false;
	return true;
}

static json_t *schema_read(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/schema/policy.schema.json", getenv("AGENT6_SRC"));
	return json_load_file(path, 0, NULL);
}

/* Returns the object, among the forms that the schema gives a field; NULL: it has none. */
static json_t *object_form(const json_t *field)
{
	size_t i;
	json_t *form;
	json_array_foreach (json_object_get(field, "anyOf"), i, form)
		if (json_object_get(form, "properties"))
			return form;
	return json_object_get(field, "properties") ? (json_t *)(uintptr_t)field : NULL;
}

/* Returns the schema of a field, and in `in` the object that it belongs to. */
static json_t *field_of(json_t *schema, const char *name, json_t **in)
{
	char object[64];
	const char *dot = strchr(name, '.');
	*in = schema;
	if (!dot)
		return json_object_get(json_object_get(schema, "properties"), name);
	snprintf(object, sizeof(object), "%.*s", (int)(dot - name), name);
	*in = object_form(json_object_get(json_object_get(schema, "properties"), object));
	return json_object_get(json_object_get(*in, "properties"), dot + 1);
}

static bool has_text(const json_t *list, const char *text)
{
	size_t i;
	json_t *one;
	json_array_foreach (list, i, one)
		if (!strcmp(json_string_value(one), text))
			return true;
	return false;
}

/* Returns the words of a choice as a table has them. */
static char *words_of(const json_t *field)
{
	size_t i;
	json_t *word;
	const json_t *words = json_object_get(field, "enum");
	size_t len;
	AUTO_BUF text = BUF_INIT(256);
	buf_adds(&text, "one of");
	if (!words)
		words = json_object_get(json_array_get(json_object_get(field, "anyOf"), 0), "enum");
	json_array_foreach (words, i, word)
		buf_addf(&text, " \"%s\"", json_string_value(word));
	return buf_take(&text, &len);
}

static void same_bounds(const json_t *field, const struct member *member, const char *type)
{
	static const struct {
		const char *kind, *type, *most;
	} kinds[] = {{"NUMBER", "integer", "maximum"}, {"OBJECT", "object", "maxProperties"},
		{"LIST", "array", "maxItems"}};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].kind, member->kind)) {
			is_str(type, kinds[i].type, "%s is of its type", member->name);
			is(json_get_int(field, kinds[i].most), member->most, "%s has its most",
				member->name);
		}
	if (!strcmp(member->kind, "NUMBER"))
		is(json_get_int(field, "minimum"), member->least, "%s has its least", member->name);
	if (!strcmp(member->kind, "FLAG"))
		is_str(type, "boolean", "%s is a flag", member->name);
	if (!strcmp(member->kind, "TEXT"))
		is_str(json_get_text(field, "$ref"), "#/$defs/path", "%s is a path", member->name);
}

static void test_schema(void)
{
	json_auto_t *schema = schema_read();
	for (const struct member *m = ours; m->name; m++) {
		json_t *in, *field = field_of(schema, m->name, &in);
		const char *last = strrchr(m->name, '.') ? strrchr(m->name, '.') + 1 : m->name;
		ok(field, "%s is in the schema", m->name);
		is(m->needed, has_text(json_object_get(in, "required"), last),
			"%s is needed as the schema says", m->name);
		if (!strcmp(m->name, "version"))
			is(json_get_int(field, "const"), m->most, "the version");
		else
			same_bounds(field, m, json_get_text(field, "type"));
		if (strcmp(m->kind, "WORD") != 0)
			continue;
		AUTO_FREE char *words = words_of(field);
		is_str(words, m->what, "%s is one of the schema's words", m->name);
	}
}

static void in_table(const char *object, const json_t *properties)
{
	const char *name;
	json_t *field;
	json_object_foreach ((json_t *)(uintptr_t)properties, name, field) {
		char whole[128];
		snprintf(whole, sizeof(whole), "%s%s%s", object, *object ? "." : "", name);
		is(find(ours, whole) != NULL, is_ours(whole), "%s of the schema has its row",
			whole);
		ok(find(theirs, whole), "%s of the schema is read by the jail", whole);
		if (!*object && object_form(field))
			in_table(name, json_object_get(object_form(field), "properties"));
	}
}

static void test_no_other(void)
{
	json_auto_t *schema = schema_read();
	in_table("", json_object_get(schema, "properties"));
	for (const struct member *m = theirs; m->name; m++) {
		json_t *in;
		ok(field_of(schema, m->name, &in), "%s of the jail is in the schema", m->name);
	}
}

static void test_reader(void)
{
	for (const struct member *m = theirs; m->name; m++) {
		const struct member *own = find(ours, m->name);
		is(own != NULL, is_ours(m->name), "the jail's %s has its row", m->name);
		if (!own)
			continue;
		is_str(own->kind, m->kind, "%s has the jail's kind", m->name);
		is(own->needed, m->needed, "%s is needed as the jail says", m->name);
		is(own->most, m->most, "%s has the jail's most", m->name);
		if (!strcmp(m->kind, "NUMBER"))
			is(own->least, m->least, "%s has the jail's least", m->name);
	}
	is(JAIL_PATHS_MAX, POLICY_PATHS_MAX, "the most paths");
}

/* A policy in which every member has a value that is not the jail's own. */
static struct jail_policy whole(void)
{
	struct jail_policy policy = jail_policy_of(JAIL_HARDENED, "/w", JAIL_WRITE);
	struct path_list *const lists[] = {
		&policy.read, &policy.write, &policy.protect, &policy.hide, &policy.repositories};
	int64_t *const numbers[] = {&policy.memory_mb, &policy.cpu_secs, &policy.processes,
		&policy.open_files, &policy.file_mb, &policy.tmp_mb};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		path_list_addf(lists[i], "/list/%d", (int)i);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		*numbers[i] = 11 + (int64_t)i;
	policy.env = json_pack("{s:s}", "A", "b");
	policy.cwd = "/cwd";
	policy.aside = "/aside";
	policy.bundle = "/bundle";
	policy.memory_by = JAIL_BY_CGROUP;
	policy.allow_root_jail = policy.pty = true;
	policy.network = JAIL_HOST;
	return policy;
}

static void same_list(const json_t *theirs_list, const struct path_list *list, const char *name)
{
	json_auto_t *encoded = path_list_encode(list);
	ok(json_equal(theirs_list, encoded), "%s", name);
}

static void test_jail_reads(void)
{
	AUTO_JAIL_POLICY given = whole();
	struct policy read;
	struct err e = ERR_NONE;
	AUTO_FREE char *text = jail_policy_text(&given, NULL);
	if (!ok(text && !policy_decode(text, strlen(text), &read, &e), "the jail reads it: %s",
		    e.text))
		return;
	is_str(read.cwd, given.cwd, "cwd");
	is_str(read.workspace, given.workspace, "workspace");
	is_str(read.aside, given.aside, "aside");
	is_str(read.bundle, given.bundle, "bundle");
	ok(json_equal(read.given_env, given.env), "env");
	same_list(read.read, &given.read, "read");
	same_list(read.write, &given.write, "write");
	same_list(read.protect, &given.protect, "protect");
	same_list(read.hide, &given.hide, "hide");
	same_list(read.repositories, &given.repositories, "repositories");
#define SAME_LIMIT(name, initial, largest) is(read.name, given.name, #name);
	POLICY_LIMITS(SAME_LIMIT)
	is(read.profile, PROFILE_HARDENED, "profile");
	is(read.access, ACCESS_WRITE, "access");
	is(read.network, NETWORK_HOST, "network");
	is(read.memory_by, MEMORY_BY_CGROUP, "memory_by");
	ok(read.allow_root_jail && read.pty, "flags");
	policy_done(&read);
}

static void test_proxy(void)
{
	AUTO_JAIL_POLICY given = jail_policy_of(JAIL_STRICT, "/w", JAIL_READ);
	struct policy read;
	given.proxy_fd = 5;
	AUTO_FREE char *text = jail_policy_text(&given, NULL);
	if (ok(text && !policy_decode(text, strlen(text), &read, NULL), "one with a proxy")) {
		is(read.network, NETWORK_PROXY, "has no other network");
		is(read.proxy_fd, 5, "and its descriptor");
		is(read.access, ACCESS_READ, "it reads the workspace");
		policy_done(&read);
	}
}

/* Every member that the schema has is written, and comes back. */
static void test_back(void)
{
	AUTO_JAIL_POLICY given = whole(), back = {.cwd = NULL};
	struct err e = ERR_NONE;
	json_auto_t *first = jail_policy_encode(&given), *second = NULL;
	for (const struct member *m = ours; m->name; m++) {
		char name[64], *dot;
		snprintf(name, sizeof(name), "%s", m->name);
		dot = strchr(name, '.');
		if (dot)
			*dot = '\0';
		const json_t *in = dot ? json_object_get(first, name) : first;
		if (strcmp(m->name, "network.proxy_fd") != 0)
			ok(json_object_get(in, dot ? dot + 1 : name), "%s is written", m->name);
	}
	if (ok(!jail_policy_decode(first, &back, &e), "it is read again: %s", e.text))
		second = jail_policy_encode(&back);
	ok(json_equal(first, second), "and is the same");
}

static void test_refused(void)
{
	static const char *const texts[] = {"[]", "{}", "{\"version\":2}",
#define LEAST                                                                                      \
	"{\"version\":1,\"profile\":\"strict\",\"cwd\":\"/w\",\"workspace\":{\"path\":\"/w\","     \
	"\"access\":\"none\"}"
		LEAST ",\"more\":1}", LEAST ",\"read\":{}}", LEAST ",\"read\":[1]}",
		LEAST ",\"network\":\"some\"}", LEAST ",\"network\":{}}", LEAST ",\"pty\":1}",
		LEAST ",\"limits\":{\"memory\":1}}", LEAST ",\"argv\":[\"true\"]}"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct jail_policy policy;
		struct err e = ERR_NONE;
		json_auto_t *given = json_loads(texts[i], 0, NULL);
		ok(jail_policy_decode(given, &policy, &e) && *e.text, "refused: %s", texts[i]);
		ok(!policy.cwd && !policy.read.items, "and nothing is left of it");
	}
	AUTO_JAIL_POLICY policy;
	json_auto_t *least = json_loads(LEAST "}", 0, NULL);
	ok(!jail_policy_decode(least, &policy, NULL), "the least one is read");
	AUTO_JAIL_POLICY not_utf8 = jail_policy_of(JAIL_STRICT, "/\xff", JAIL_READ);
	ok(!jail_policy_encode(&not_utf8), "a path that is not UTF-8 is not written");
	AUTO_JAIL_POLICY listed = jail_policy_of(JAIL_STRICT, "/w", JAIL_READ);
	path_list_add(&listed.hide, "/\xff");
	ok(!jail_policy_encode(&listed), "nor one without a path of a list that is not UTF-8");
	AUTO_JAIL_POLICY no_profile = jail_policy_of(JAIL_PROFILE_COUNT, "/w", JAIL_READ);
	ok(!jail_policy_encode(&no_profile), "nor an unknown profile");
}

int main(void)
{
	test_schema();
	test_no_other();
	test_reader();
	test_jail_reads();
	test_proxy();
	test_back();
	test_refused();
	return tap_done();
}
