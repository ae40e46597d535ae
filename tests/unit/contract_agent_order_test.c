/* contract: an agent's order and task are written as they always were, come back the same, and are
 * refused without a member, with one more, or with one of a wrong type. */
#include "base/json.h"
#include "contract/agent_order.h"
#include "contract/agent_order_table.h"
#include "contract/row.h"
#include "tests/kit/tap.h"

#include <math.h>
#include <string.h>

static const char order_text[] =
	"{\"agent_network\":\"providers\",\"channels\":[{\"ca_file\":\"/ca\",\"endpoint\":\"h:1\","
	"\"local\":false,\"name\":\"p\",\"private\":true,\"tls\":true}],\"commands\":{"
	"\"approval\":\"confirm\",\"auto_approve\":true,\"policy\":{\"cwd\":\"/w\",\"profile\":"
	"\"strict\",\"version\":1,\"workspace\":{\"access\":\"write\",\"path\":\"/w\"}},"
	"\"run\":\"ask\",\"timeout_secs\":7,\"verify\":[\"make\"],\"verify_timeout_secs\":8},"
	"\"max_egress_bytes\":9,\"profile\":\"hardened\",\"state_dir\":\"/s\","
	"\"upstream_proxy\":\"http://x:2\",\"version\":1,\"workspace\":\"/w\"}";

#define PROVIDER_TEXT                                                                              \
	"{\"api_format\":\"openai\",\"api_version\":\"v\",\"auth\":\"bearer\",\"base_url\":"       \
	"\"http://h\",\"ca_file\":\"/ca\",\"connect_timeout_secs\":1,\"headers\":[\"A: b\"],"      \
	"\"idle_timeout_secs\":2,\"key\":\"k\",\"max_retries\":3,\"name\":\"p\",\"prices\":{"      \
	"\"cache_read\":0.5,\"cache_write\":1.5,\"input\":2.5,\"output\":3.5},"                    \
	"\"query\":\"q=1\",\"timeout_secs\":4}"
static const char task_text[] =
	"{\"hide\":[\"/h\",\"/i\"],\"limits\":{\"best_effort_microusd\":1,\"context_tokens\":2,"
	"\"max_calls_per_turn\":3,\"max_input_tokens\":4,\"max_iterations\":5,\"max_microusd\":0,"
	"\"max_output_tokens\":7,\"max_output_tokens_per_call\":8,\"timeout_secs\":9},"
	"\"mode\":\"run\",\"model\":\"m\",\"prompt\":\"Do.\",\"protect\":[],"
	"\"provider\":" PROVIDER_TEXT ",\"record\":true,\"result\":{\"name\":\"r\"},"
	"\"reviewer\":{\"model\":\"n\",\"provider\":" PROVIDER_TEXT "},\"secrets\":[\"s\"],"
	"\"temperature\":0.25,\"thinking\":\"low\",\"version\":1}";

struct member {
	const char *name; /* NULL: after the last */
	enum row_when when;
};
#define MEMBER(type, when, name, member)      {name, ROW_##when},
#define PART(type, when, name, member, shape) {name, ROW_##when},
static const struct member
	of_order[] = {AGENT_ORDER_MEMBERS(MEMBER) AGENT_ORDER_PARTS(PART){.name = NULL}},
	of_channel[] = {AGENT_CHANNEL_MEMBERS(MEMBER){.name = NULL}},
	of_commands[] = {AGENT_COMMANDS_MEMBERS(MEMBER) AGENT_COMMANDS_PARTS(PART){.name = NULL}},
	of_task[] = {AGENT_TASK_MEMBERS(MEMBER) AGENT_TASK_PARTS(PART){.name = NULL}},
	of_provider[] = {AGENT_PROVIDER_MEMBERS(MEMBER) AGENT_PROVIDER_PARTS(PART){.name = NULL}},
	of_prices[] = {AGENT_PRICES_MEMBERS(MEMBER){.name = NULL}},
	of_reviewer[] = {AGENT_REVIEWER_MEMBERS(MEMBER) AGENT_REVIEWER_PARTS(PART){.name = NULL}},
	of_limits[] = {AGENT_LIMITS_MEMBERS(MEMBER){.name = NULL}};

/* All objects that have a table, by their paths. */
static const struct object {
	const char *text, *path;
	const struct member *members;
} objects[] = {{order_text, "", of_order}, {order_text, "channels", of_channel},
	{order_text, "commands", of_commands}, {task_text, "", of_task},
	{task_text, "provider", of_provider}, {task_text, "provider.prices", of_prices},
	{task_text, "reviewer", of_reviewer}, {task_text, "reviewer.provider", of_provider},
	{task_text, "limits", of_limits}};

static json_t *parsed(const char *text)
{
	json_t *doc = json_read(text, strlen(text), 1 << 16, NULL);
	if (!doc)
		bail("not JSON: %s", text);
	return doc;
}

/* Returns the object at a path; of a list, the first. */
static json_t *object_at(json_t *from, const char *path)
{
	while (*path) {
		char name[32];
		size_t len = strcspn(path, ".");
		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		from = json_object_get(from, name);
		from = json_is_array(from) ? json_array_get(from, 0) : from;
		path += len + (path[len] == '.');
	}
	return from;
}

/* Decodes an order or a task. Returns the message; "": it was read. */
static const char *reading(const char *text, json_t *doc)
{
	static struct err e;
	struct agent_order order;
	struct agent_task task;
	e = (struct err)ERR_NONE;
	if (text == order_text && !agent_order_decode(doc, &order, &e))
		agent_order_done(&order);
	if (text == task_text && !agent_task_decode(doc, &task, &e))
		agent_task_done(&task);
	return e.text;
}

/* Reads the text with another value of a member; NULL: without the member. Takes the value. */
static const char *with(const struct object *object, const char *name, json_t *value)
{
	json_auto_t *doc = parsed(object->text);
	json_t *in = object_at(doc, object->path);
	if (value)
		json_object_set_new(in, name, value);
	else
		json_object_del(in, name);
	return reading(object->text, doc);
}

static void test_member(const struct object *object, const struct member *member, json_t *in)
{
	json_t *value = json_object_get(in, member->name);
	if (!ok(value, "%s %s is written", object->path, member->name))
		return;
	json_t *wrong = json_is_object(value) ? json_array() : json_object();
	ok(*with(object, member->name, wrong), "it is refused with a wrong type");
	is(!*with(object, member->name, json_null()), member->when != ROW_NEEDED,
		"it may be null unless it is needed");
	is(!*with(object, member->name, NULL), member->when == ROW_ELSE,
		"it may be missing if it may be left out");
}

static void test_members(const struct object *object)
{
	json_auto_t *doc = parsed(object->text);
	json_t *in = object_at(doc, object->path);
	size_t count = 0;
	for (; object->members[count].name; count++)
		test_member(object, &object->members[count], in);
	is(json_object_size(in), (int64_t)count, "%s has no other member", object->path);
	has_str(with(object, "more", json_true()), "more", "one more is refused by name");
}

static struct agent_provider provider_of(struct agent_task *task)
{
	static const char *headers[] = {"A: b", NULL};
	struct prices *prices = arena_alloc(&task->arena, sizeof(*prices));
	*prices = (struct prices){2.5, 3.5, 0.5, 1.5};
	return (struct agent_provider){.name = "p",
		.api_format = "openai",
		.base_url = "http://h",
		.auth = "bearer",
		.api_version = "v",
		.ca_file = "/ca",
		.key = "k",
		.headers = {headers, 1},
		.query = "q=1",
		.prices = prices,
		.connect_timeout_secs = 1,
		.idle_timeout_secs = 2,
		.timeout_secs = 4,
		.max_retries = 3};
}

static void make_task(struct agent_task *out)
{
	static const char *hide[] = {"/h", "/i", NULL}, *secrets[] = {"s", NULL};
	*out = (struct agent_task){.version = 1,
		.mode = "run",
		.prompt = "Do.",
		.model = "m",
		.thinking = "low",
		.temperature = 0.25,
		.limits = {.timeout_secs = 9,
			.max_iterations = 5,
			.max_output_tokens_per_call = 8,
			.context_tokens = 2,
			.max_calls_per_turn = 3,
			.max_input_tokens = 4,
			.max_output_tokens = 7,
			.max_microusd = 0,
			.best_effort_microusd = 1},
		.secrets = {secrets, 1},
		.hide = {hide, 2},
		.record = true};
	out->held = out->result = json_pack("{s:s}", "name", "r");
	out->provider = provider_of(out);
	out->reviewer = arena_alloc(&out->arena, sizeof(*out->reviewer));
	*out->reviewer = (struct agent_reviewer){provider_of(out), "n"};
}

static void make_order(struct agent_order *out)
{
	*out = (struct agent_order){.version = 1,
		.profile = "hardened",
		.agent_network = "providers",
		.workspace = "/w",
		.state_dir = "/s",
		.upstream_proxy = "http://x:2",
		.max_egress_bytes = 9,
		.channel_count = 1};
	out->channels = arena_alloc(&out->arena, sizeof(*out->channels));
	*out->channels = (struct agent_channel){"p", "h:1", "/ca", true, false, true};
	out->held = json_pack("[s]", "make");
	out->commands = arena_alloc(&out->arena, sizeof(*out->commands));
	*out->commands =
		(struct agent_commands){.policy = jail_policy_of(JAIL_STRICT, "/w", JAIL_WRITE),
			.run = "ask",
			.approval = "confirm",
			.auto_approve = true,
			.verify = out->held,
			.timeout_secs = 7,
			.verify_timeout_secs = 8};
}

static void same(json_t *object, const char *want, const char *name)
{
	AUTO_FREE char *text = json_text(object);
	is_str(text, want, "%s", name);
	json_decref(object);
}

static void test_written(void)
{
	struct agent_order order, order_back;
	struct agent_task task, task_back;
	make_order(&order);
	make_task(&task);
	same(agent_order_encode(&order), order_text, "an order is written");
	same(agent_task_encode(&task), task_text, "a task is written");
	json_auto_t *order_doc = parsed(order_text), *task_doc = parsed(task_text);
	if (agent_order_decode(order_doc, &order_back, NULL) ||
		agent_task_decode(task_doc, &task_back, NULL))
		bail("they are not read");
	same(agent_order_encode(&order_back), order_text, "it comes back");
	same(agent_task_encode(&task_back), task_text, "it comes back");
	agent_order_done(&order_back);
	agent_task_done(&task_back);
	order.workspace = "/\xff";
	task.prompt = "\xff";
	ok(!agent_order_encode(&order), "a path that is not UTF-8 is not written");
	ok(!agent_task_encode(&task), "nor is such a prompt");
	agent_order_done(&order);
	agent_task_done(&task);
}

/* A value that is unset is null or left out, and comes back unset. */
static void test_unset(void)
{
	static const char *const names[] = {
		"thinking", "temperature", "result", "reviewer", "prices", "key"};
	struct agent_task task;
	make_task(&task);
	task.thinking = NULL;
	task.temperature = NAN;
	task.result = NULL;
	task.reviewer = NULL;
	task.limits.max_microusd = -1;
	task.provider.prices = NULL;
	task.provider.key = task.provider.query = NULL;
	task.provider.headers = (struct agent_texts){NULL, 0};
	json_auto_t *doc = agent_task_encode(&task);
	json_t *provider = json_object_get(doc, "provider");
	agent_task_done(&task);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		ok(json_is_null(json_object_get(i < 4 ? doc : provider, names[i])), "%s is null",
			names[i]);
	ok(!json_object_get(provider, "query") && !json_object_get(provider, "headers"),
		"the query and the headers are left out");
	if (agent_task_decode(doc, &task, NULL))
		bail("it is not read");
	ok(!task.thinking && isnan(task.temperature) && !task.result && !task.reviewer,
		"they come back unset");
	ok(!task.provider.prices && !task.provider.key && !task.provider.headers.items,
		"those of the provider, too");
	is(task.limits.max_microusd, -1, "a limit that is null is none");
	agent_task_done(&task);
}

static void test_refused(void)
{
	const struct object *order = &objects[0], *task = &objects[3], *limits = &objects[8];
	static const char *const least[] = {"timeout_secs", "max_iterations",
		"max_output_tokens_per_call", "context_tokens", "max_calls_per_turn"};
	for (size_t i = 0; i < ARRAY_LEN(least); i++)
		is_str(with(limits, least[i], json_integer(0)),
			"the request is not understood: one of limits is below 1", "%s of 0",
			least[i]);
	is_str(with(order, "version", json_integer(2)),
		"the request has version 2; this program knows 1", "another version");
	is_str(with(task, "version", json_integer(0)),
		"the request has version 0; this program knows 1", "another version of a task");
	ok(*with(order, "max_egress_bytes", json_integer(-1)), "a cap below 0");
	ok(*with(order, "channels", json_pack("[i]", 1)), "a channel that is not an object");
	ok(*with(task, "secrets", json_pack("[s, i]", "a", 1)), "a secret that is not a text");
	has_str(with(&objects[2], "policy", json_object()), "the policy: ", "a bad policy");
	has_str(with(task, "prompt", json_integer(1)), "prompt", "the message names the member");
	for (size_t i = 0; i < 2; i++) {
		json_auto_t *list = json_array();
		ok(*reading(i ? order_text : task_text, list), "a list");
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		test_members(&objects[i]);
	test_written();
	test_unset();
	test_refused();
	return tap_done();
}
