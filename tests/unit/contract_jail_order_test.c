/* contract: the jail reads what is written for it, a whole policy as well as a launcher's and its
 * orders. */
#include "base/json.h"
#include "contract/jail_policy.h"
#include "jail/policy.h"
#include "tests/kit/tap.h"

#include <stdlib.h>
#include <string.h>

static const struct jail_policy fixed = {
	.version = 1, .cwd = "/w", .workspace = "/w", .access = JAIL_READ};

static struct jail_order order(json_t *env)
{
	return (struct jail_order){
		.argv = json_pack("[s, s]", "cat", "a b"), .env = env, .timeout_secs = 7};
}

static void carries(const struct policy *policy, const char *name)
{
	AUTO_FREE char *argv = json_text(policy->argv);
	is_str(argv, "[\"cat\",\"a b\"]", "%s: the command", name);
	is(policy->timeout_secs, 7, "%s: its time", name);
	is_str(json_get_text(policy->env, "A"), "b", "%s: its environment", name);
}

static void test_whole(void)
{
	struct policy policy;
	struct err e = ERR_NONE;
	struct jail_order one = order(json_pack("{s:s}", "A", "b"));
	AUTO_FREE char *text = jail_policy_text(&fixed, &one);
	if (ok(text && !policy_decode(text, strlen(text), &policy, &e), "a policy: %s", e.text)) {
		carries(&policy, "a policy");
		policy_done(&policy);
	}
	jail_order_done(&one);
}

static void test_launcher(void)
{
	struct policy policy;
	struct err e = ERR_NONE;
	struct jail_order one = order(json_pack("{s:s}", "A", "b")), plain = order(NULL);
	AUTO_FREE char *text = jail_policy_text(&fixed, NULL), *first = jail_order_text(&one),
		       *second = jail_order_text(&plain);
	if (ok(text && !policy_decode(text, strlen(text), &policy, &e), "a launcher's policy: %s",
		    e.text)) {
		ok(!policy_order(&policy, first, strlen(first), &e), "an order: %s", e.text);
		carries(&policy, "an order");
		ok(!policy_order(&policy, second, strlen(second), &e),
			"one without an environment: %s", e.text);
		policy_done(&policy);
	}
	ok(!strstr(second, "env"), "which it does not name");
	jail_order_done(&one);
	jail_order_done(&plain);
}

/* Each member of an order, by the jail's own table, is written. */
static void test_members(void)
{
	struct jail_order one = order(json_object());
	AUTO_FREE char *text = jail_order_text(&one);
	json_auto_t *members = json_read(text, strlen(text), 4096, NULL);
	size_t count = 0;
#define MEMBER(kind, name, needed, member, least, most, what, is)                                  \
	count++;                                                                                   \
	ok(json_object_get(members, name), "%s is written", name);
	POLICY_COMMAND(MEMBER, true)
	is(json_object_size(members), count, "and nothing else");
	jail_order_done(&one);
}

int main(void)
{
	test_whole();
	test_launcher();
	test_members();
	return tap_done();
}
