/*
 * The policy reader: every field, every refusal with the field's name; and the layout that comes of
 * a policy.
 */
#include "base/path.h"
#include "jail/layout.h"
#include "jail/policy.h"
#include "tests/kit/tap.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define AUTO_POLICY __attribute__((cleanup(policy_done))) struct policy

/* The least policy with `more` behind it. */
#define LEAST(more)                                                                                \
	"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"true\"],\"cwd\":\"/srv\","              \
	"\"workspace\":{\"path\":\"/srv\",\"access\":\"write\"},\"timeout_secs\":9" more "}"

static void test_least(void)
{
	AUTO_POLICY p;
	struct err e = ERR_NONE;
	if (!ok(!policy_decode(LEAST(""), strlen(LEAST("")), &p, &e), "the least policy: %s",
		    e.text))
		return;
	is_str(json_string_value(json_array_get(p.argv, 0)), "true", "argv");
	is(p.profile, PROFILE_STRICT, "profile");
	is(p.network, NETWORK_NONE, "offline unless asked");
	is(p.access, ACCESS_WRITE, "workspace access");
	is(p.processes, 256, "default limits");
	ok(!p.allow_root_jail && !p.bundle && !p.require, "nothing else is set");
	is_str(json_string_value(json_object_get(p.env, "PATH")), "/usr/local/bin:/usr/bin:/bin",
		"PATH is filled in");
}

/* Every field. */
static const char whole[] = LEAST(
	",\"env\":{\"LANG\":\"C\",\"A\":\"\"},\"network\":{\"proxy_fd\":5},"
	"\"read\":[\"/a\"],\"write\":[\"/b\",\"/c\"],\"protect\":[\"/srv/.git\"],"
	"\"hide\":[\"/srv/"
	".env\"],\"limits\":{\"memory_mb\":1,\"cpu_secs\":2,\"processes\":3,"
	"\"open_files\":4,\"file_mb\":5,\"tmp_mb\":6,\"memory_by\":\"watch\"},\"bundle\":\"/d\","
	"\"repositories\":[\"/srv\"],\"aside\":\"/e\","
	"\"require\":{\"landlock\":5},\"allow_root_jail\":true,\"pty\":true");

static void test_whole(void)
{
	AUTO_POLICY p;
	struct err e = ERR_NONE;
	if (!ok(!policy_decode(whole, strlen(whole), &p, &e), "every field: %s", e.text))
		return;
	is(p.proxy_fd, 5, "proxy_fd");
	is(json_array_size(p.read) + json_array_size(p.write) + json_array_size(p.protect) +
			json_array_size(p.hide),
		5, "paths");
	is_str(json_string_value(json_array_get(p.write, 1)), "/c", "in order");
	is(p.memory_mb + p.tmp_mb, 7, "limits");
	is(p.memory_by, MEMORY_BY_WATCH, "what must limit memory");
	is_str(p.bundle, "/d", "bundle");
	is_str(p.aside, "/e", "aside");
	ok(policy_frees(&p, "/srv/x"), "repositories");
	ok(p.allow_root_jail && p.pty, "flags");
	is_str(json_string_value(json_object_get(p.env, "LANG")), "C",
		"a variable of the policy replaces the default");
}

static void test_schema(void)
{
	char file[PATH_MAX];
	const char *name;
	json_t *any;
	snprintf(file, sizeof(file), "%s/schema/policy.schema.json", getenv("AGENT6_SRC"));
	json_auto_t *schema = json_load_file(file, 0, NULL), *policy = json_loads(whole, 0, NULL);
	json_t *fields = json_object_get(schema, "properties");
	json_object_foreach (fields, name, any)
		ok(json_object_get(policy, name), "a policy has the schema's field \"%s\"", name);
	is(json_object_size(fields), json_object_size(policy), "and no other");
}

static const struct {
	const char *text, *says;
} refused[] = {
	{"", "JSON"},
	{"[]", "object"},
	{"{}", "\"version\" is missing"},
	{LEAST(",\"argvs\":[]"), "no field \"argvs\""},
	{LEAST(",\"cwd\":\"/srv\""), "duplicate"},
	{LEAST(",\"read\":\"/a\""), "\"read\""},
	{LEAST(",\"read\":[1]"), "\"read\""},
	{LEAST(",\"read\":[\"a\"]"), "absolute"},
	{LEAST(",\"read\":[\"/a/../b\"]"), "absolute"},
	{LEAST(",\"read\":[\"/a/./b\"]"), "absolute"},
	{LEAST(",\"read\":[\"//a\"]"), "absolute"},
	{LEAST(",\"read\":[\"/a/\"]"), "absolute"},
	{LEAST(",\"read\":[\"/\"]"), "absolute"},
	{LEAST(",\"read\":[\"\"]"), "absolute"},
	{LEAST(",\"read\":[\"/a\\u0000b\"]"), "JSON"},
	{LEAST(",\"hide\":{}"), "\"hide\""},
	{LEAST(",\"env\":[]"), "\"env\""},
	{LEAST(",\"env\":{\"A=B\":\"\"}"), "A=B"},
	{LEAST(",\"env\":{\"\":\"\"}"), "\"env\""},
	{LEAST(",\"env\":{\"1A\":\"\"}"), "1A"},
	{LEAST(",\"env\":{\"A\":1}"), "\"env\": A"},
	{LEAST(",\"network\":\"some\""), "\"network\""},
	{LEAST(",\"network\":{\"proxy_fd\":2}"), "proxy_fd"},
	{LEAST(",\"network\":{\"proxy_fd\":5,\"x\":1}"), "no field \"network.x\""},
	{LEAST(",\"network\":{}"), "\"network.proxy_fd\" is missing"},
	{LEAST(",\"network\":\"proxy_fd\""), "\"network\""},
	{LEAST(",\"workspace.path\":\"/a\""), "no field \"workspace.path\""},
	{LEAST(",\"limits\":7"), "\"limits\" must be an object"},
	{LEAST(",\"limits\":{\"memory\":1}"), "no field \"limits.memory\""},
	{LEAST(",\"limits\":{\"memory_mb\":0}"), "limits.memory_mb"},
	{LEAST(",\"limits\":{\"memory_mb\":1.5}"), "limits.memory_mb"},
	{LEAST(",\"limits\":{\"memory_mb\":99999999999}"), "limits.memory_mb"},
	{LEAST(",\"hostname\":\"jail\""), "no field \"hostname\""},
	{LEAST(",\"bundle\":\"x\""), "\"bundle\""},
	{LEAST(",\"require\":[]"), "\"require\""},
	{LEAST(",\"allow_root_jail\":1"), "\"allow_root_jail\""},
	{LEAST("") " x", "JSON"},
	{"{\"version\":2}", "\"version\" must be 1"},
	{"{\"version\":1,\"profile\":\"none\"}", "\"strict\" or \"hardened\""},
	{"{\"version\":1,\"profile\":\"strict\\\" or \\\"hardened\"}", "\"profile\""},
	{"{\"version\":1,\"profile\":\"\"}", "\"profile\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[]}", "\"argv\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"\"]}", "\"argv\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"a\",2]}", "\"argv\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":\"a\"}", "\"argv\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"a\"],\"cwd\":\".\"}", "\"cwd\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"a\"],\"cwd\":\"/a\",\"workspace\":\"/"
	 "a\"}",
		"\"workspace\""},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"a\"],\"cwd\":\"/"
	 "a\",\"workspace\":{\"path\":"
	 "\"/a\",\"access\":\"all\"}}",
		"workspace.access"},
	{"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"a\"],\"cwd\":\"/"
	 "a\",\"workspace\":{\"path\":"
	 "\"/a\",\"access\":\"read\"},\"timeout_secs\":0}",
		"\"timeout_secs\""},
};

static void test_refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct policy p;
		struct err e = ERR_NONE;
		bool taken = !policy_decode(refused[i].text, strlen(refused[i].text), &p, &e);
		if (ok(!taken, "refused: %s", refused[i].text))
			has_str(e.text, refused[i].says, "and said why");
		else
			policy_done(&p);
		ok(!strchr(e.text, '\n'), "in one line");
	}
	size_t len = POLICY_BYTES_MAX + 1;
	AUTO_FREE char *large = malloc(len + 1);
	memset(large, ' ', len);
	large[len] = '\0';
	memcpy(large, LEAST(""), strlen(LEAST("")));
	struct policy p;
	struct err e = ERR_NONE;
	ok(policy_decode(large, len, &p, &e), "more than 256 KiB");
	ok(!policy_decode(large, len - 1, &p, &e), "exactly 256 KiB");
	policy_done(&p);
}

static const struct place *find(const struct layout *layout, const char *path)
{
	for (size_t i = 0; i < layout->count; i++)
		if (!strcmp(layout->place[i].path, path))
			return &layout->place[i];
	return NULL;
}

static char *in(const char *dir, const char *rest)
{
	char *path = NULL;
	return asprintf(&path, "%s%s", dir, rest) < 0 ? NULL : path;
}

static const struct place *deepest_above(const struct layout *layout, const char *path)
{
	const struct place *found = NULL;
	for (size_t i = 0; i < layout->count; i++)
		if (layout->place[i].kind != PLACE_PIN &&
			path_is_below(path, layout->place[i].path) &&
			(!found || strlen(layout->place[i].path) > strlen(found->path)))
			found = &layout->place[i];
	return found;
}

static void decode_layout(const char *ws, const char *more, struct policy *policy,
	struct layout *layout, struct err *e)
{
	AUTO_FREE char *text = NULL;
	if (asprintf(&text,
		    "{\"version\":1,\"profile\":\"strict\",\"argv\":[\"true\"],\"cwd\":\"%s\","
		    "\"workspace\":{\"path\":\"%s\",\"access\":\"write\"},\"timeout_secs\":9%s}",
		    ws, ws, more) < 0 ||
		policy_decode(text, strlen(text), policy, e))
		bail("%s", e->text);
	layout_init(layout, policy, true, e);
}

static void test_layout(void)
{
	const char *ws = tap_scratch();
	AUTO_FREE char *a = in(ws, "/a"), *b = in(ws, "/a/b"), *held = in(ws, "/a/b/held");
	AUTO_FREE char *fifo = in(ws, "/a/fifo"), *inner = in(ws, "/a/b/held/data"), *more = NULL;
	AUTO_POLICY p;
	static struct layout l;
	struct err e = ERR_NONE;
	if (mkdir(a, 0755) || mkdir(b, 0755) || mkdir(held, 0755) || mkdir(inner, 0755) ||
		mkfifo(fifo, 0644) ||
		asprintf(&more, ",\"protect\":[\"%s\",\"%s/missing\"],\"write\":[\"%s\"]", held, ws,
			inner) < 0)
		bail("cannot make the tree");
	decode_layout(ws, more, &p, &l, &e);
	is_str(e.text, "", "laid out");
	ok(find(&l, held) && find(&l, held)->kind == PLACE_READ, "protected is read-only");
	ok(find(&l, a) && find(&l, a)->kind == PLACE_PIN && find(&l, b)->kind == PLACE_PIN,
		"what lies between is pinned");
	ok(find(&l, ws)->kind == PLACE_WRITE && find(&l, inner)->kind == PLACE_WRITE,
		"the workspace and the inner grant are writable");
	ok(find(&l, fifo) && find(&l, fifo)->kind == PLACE_MASK, "the pipe is masked");
	is(l.missing_count, 1, "what is missing is remembered");
	for (size_t i = 1; i < l.count; i++)
		if (strcmp(l.place[i - 1].path, l.place[i].path) >= 0)
			bail("places are out of order");
	is_str(find(&l, fifo)->above->path, ws, "what contains a place");
	size_t wrong = 0;
	for (size_t i = 0; i < l.count; i++)
		wrong += l.place[i].above != deepest_above(&l, l.place[i].path);
	is(wrong, 0, "the deepest place around each, pins aside");
	layout_done(&l);
}

/* A jail that is ready is used as long as nothing differs: that a search ended early, neither. */
static void test_same(void)
{
	static struct layout one, other;
	AUTO_POLICY p, q;
	struct err e = ERR_NONE;
	decode_layout(tap_scratch(), "", &p, &one, &e);
	decode_layout(tap_scratch(), "", &q, &other, &e);
	ok(layout_same(&one, &other), "what is laid out twice is the same");
	other.scan_cut = true;
	ok(!layout_same(&one, &other), "but where there may be more sockets now");
	layout_done(&one);
	layout_done(&other);
}

/* Between a directory and its contents nothing may come that only begins with the same letters. */
static void test_hidden(void)
{
	const char *ws = tap_scratch();
	AUTO_FREE char *h = in(ws, "/h"), *beside = in(ws, "/h-x"), *inner = in(ws, "/h/y");
	AUTO_FREE char *more = NULL;
	AUTO_POLICY p;
	static struct layout l;
	struct err e = ERR_NONE;
	if (mkdir(h, 0755) || mkdir(beside, 0755) || mkdir(inner, 0755) ||
		asprintf(&more, ",\"hide\":[\"%s\",\"%s\"],\"protect\":[\"%s\"]", h, beside,
			inner) < 0)
		bail("cannot make the tree");
	decode_layout(ws, more, &p, &l, &e);
	is_str(e.text, "", "laid out");
	ok(find(&l, h) && find(&l, beside), "two hidden directories");
	ok(!find(&l, inner), "what lies in one is hidden with it");
	layout_done(&l);
}

/* Checks that a demand that cannot be met is refused by name, not ignored. */
static void refuse_layout(const char *more, const char *why)
{
	AUTO_POLICY p;
	static struct layout l;
	struct err e = ERR_NONE;
	decode_layout(tap_scratch(), more, &p, &l, &e);
	has_str(e.text, why, "not granted: %s", more);
	layout_done(&l);
}

static void test_layout_refusals(void)
{
	static const char *const bad[][2] = {{",\"read\":[\"/proc\"]", "/proc cannot be granted"},
		{",\"read\":[\"/dev/shm\"]", "/dev/shm cannot be granted"},
		{",\"read\":[\"/sys/fs\"]", "/sys/fs cannot be granted"},
		{",\"write\":[\"/tmp\"]", "/tmp cannot be granted as a whole"},
		{",\"read\":[\"/etc\"]", "/etc cannot be granted as a whole"},
		{",\"read\":[\"/run\"]", "/run cannot be granted as a whole"},
		{",\"write\":[\"/usr\"]", "/usr cannot be writable"},
		{",\"protect\":[\"/srv/a\"],\"write\":[\"/srv/a/b\"]",
			"/srv/a is protected and /srv/a/b is writable inside it"},
		{",\"protect\":[\"/srv/a\"],\"read\":[\"/srv\"],\"write\":[\"/srv/a/b\"]",
			"/srv/a is protected and /srv/a/b is writable inside it"},
		{",\"protect\":[\"/tmp/a\"],\"write\":[\"/tmp/a/b\"]",
			"/tmp/a is protected and /tmp/a/b is writable inside it"}};
	static const char *const held[] = {"protect", "hide"};
	AUTO_FREE char *link = in(tap_scratch(), "/link");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refuse_layout(bad[i][0], bad[i][1]);
	if (symlink("elsewhere", link))
		bail("cannot make a link");
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		char more[4200];
		snprintf(more, sizeof(more), ",\"%s\":[\"%s\"]", held[i], link);
		refuse_layout(more, "/link is a symbolic link");
	}
	unlink(link);
}

int main(void)
{
	test_least();
	test_whole();
	test_schema();
	test_refusals();
	test_layout();
	test_same();
	test_hidden();
	test_layout_refusals();
	return tap_done();
}
