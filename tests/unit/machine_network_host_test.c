/* The hosts of a tool's allow_network: `check` takes those that the broker takes, which would
 * refuse the rest only when the state begins. */
#include "broker/parse/endpoint.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <string.h>

static bool check_takes(const char *host)
{
	AUTO_BUF yaml;
	struct fixture f;
	buf_init(&yaml, 4096);
	buf_addf(&yaml,
		"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 9}\nstates:\n"
		"  a: {kind: tool, command: [ls], timeout_secs: 1,\n"
		"    on: {ok: end, nonzero: end, timeout: end},\n"
		"    allow_network: ['%s']}\n"
		"  end: {kind: terminal, status: ok, reason: r}\n",
		host);
	fixture_init(&f, yaml.data);
	bool taken = f.m != NULL;
	fixture_done(&f);
	return taken;
}

static void agree(const char *host)
{
	struct endpoint rule;
	struct err e = ERR_NONE;
	bool broker_takes = !endpoint_decode(&rule, host, true, &e);
	ok(check_takes(host) == broker_takes, "%.60s: %s by both", host,
		broker_takes ? "taken" : "refused");
}

int main(void)
{
	static const char *const hosts[] = {"a.org:443", "A.Org:443", "a_b.org:1", "-a.org:65535",
		"*.a.org:443", "1.2.3.4:80", "[::1]:80", "[2001:DB8::1]:80", "localhost:80",
		"a.org:0443", "a.org", "a.org:", ":443", "a.org:0", "a.org:65536", "a.org:443/x",
		"a..org:443", ".a.org:443", "a.org.:443", "*.:443", "*:443", "*..a.org:443",
		"*.1.2.3.4:80", "*.[::1]:80", "[1.2.3.4]:80", "[:::]:80", "[]:80", "[::1:80",
		"::1:80", "[a.org]:80", "[fe80::1%lo]:80", "http://a.org:80", "a.*.org:80",
		"b\u00fc.org:80"};
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		agree(hosts[i]);
	char longest[300];
	memset(longest, 'a', sizeof(longest));
	memcpy(longest + 253, ":443", 5);
	agree(longest);
	memcpy(longest + 253, "a:443", 6);
	agree(longest);
	return tap_done();
}
