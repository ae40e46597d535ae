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
		{"*.0.1:80", "10.0.0.1:80", false},
		{"*.0.1:80", "a.0.1:80", true},
		{"[::1]:80", "[0:0:0:0:0:0:0:1]:80", true},
		{"[::1]:80", "[::2]:80", false},
		{"*.1:80", "[::ffff:0.0.0.1]:80", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host_port wide = rule(rows[i].wide), narrow = rule(rows[i].narrow);
		is(host_rule_covers(&wide, &narrow), rows[i].covers, "%s and %s", rows[i].wide,
			rows[i].narrow);
	}
	return tap_done();
}
