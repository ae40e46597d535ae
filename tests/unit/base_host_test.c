/* Which hosts a rule covers: what the broker lets through, and what a review calls wider. */
#include "base/host.h"
#include "tests/kit/tap.h"

static struct host_port rule(const char *text)
{
	struct host_port p;
	struct err e = ERR_NONE;
	if (host_rule_decode(&p, text, &e) < 0)
		bail("%s: %s", text, e.text);
	return p;
}

/* Checks names that other programs take for addresses, and that no list of addresses would match
 * here. */
static void test_numbers(void)
{
	static const char *const others[] = {"127.1:80", "2130706433:80", "0x7f000001:80",
		"0X7F.1:80", "0177.0.0.1:80", "0x:80", "*.0.1:80", "a.1:80", "1.2.3.4.5:80"};
	static const char *const names[] = {
		"1a:80", "1.a:80", "0x.a:80", "a.0xg:80", "127.0.0.1:80"};
	struct host_port p;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		is(host_rule_decode(&p, others[i], NULL), -1, "%s is no host", others[i]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		is(host_rule_decode(&p, names[i], NULL), 0, "%s is one", names[i]);
}

static void test_names(void)
{
	struct host_port wide, narrow = rule("git.corp.test:8443");
	struct err e = ERR_NONE;
	is(host_name_rule_decode(&wide, "*.corp.test", &e), 0, "a name without a port");
	ok(host_name_covers(&wide, &narrow), "covers a host at any port");
	is(host_name_rule_decode(&wide, "corp.test", &e), 0, "without a wildcard");
	ok(!host_name_covers(&wide, &narrow), "none of its subdomains");
	static const char *const bad[] = {
		"10.0.0.1", "[::1]", "::1", "corp.test:80", "*", "", "http://a", "a b"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(host_name_rule_decode(&wide, bad[i], NULL) < 0, "'%s' is no name", bad[i]);
}

int main(void)
{
	static const struct {
		const char *wide, *narrow;
		bool covers;
	} rows[] = {
		{"api.test:443", "api.test:443", true},
		{"api.test:443", "API.test:443", true},
		{"api.test:443", "api.test:444", false},
		{"api.test:443", "www.api.test:443", false},
		{"api.test:443", "*.api.test:443", false},
		{"*.api.test:443", "www.api.test:443", true},
		{"*.api.test:443", "a.b.api.test:443", true},
		{"*.api.test:443", "www.api.test:80", false},
		{"*.api.test:443", "api.test:443", false},
		{"*.api.test:443", "xapi.test:443", false},
		{"*.api.test:443", "api.test.x:443", false},
		{"*.api.test:443", "test:443", false},
		{"*.api.test:443", "*.api.test:443", true},
		{"*.api.test:443", "*.API.test:443", true},
		{"*.api.test:443", "*.www.api.test:443", true},
		{"*.api.test:443", "*.api.test:80", false},
		{"*.www.api.test:443", "*.api.test:443", false},
		{"10.0.0.1:80", "10.0.0.1:80", true},
		{"10.0.0.1:80", "10.0.0.2:80", false},
		{"[::1]:80", "[0:0:0:0:0:0:0:1]:80", true},
		{"[::1]:80", "[::2]:80", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host_port wide = rule(rows[i].wide), narrow = rule(rows[i].narrow);
		is(host_rule_covers(&wide, &narrow), rows[i].covers, "%s and %s", rows[i].wide,
			rows[i].narrow);
	}
	test_names();
	test_numbers();
	return tap_done();
}
