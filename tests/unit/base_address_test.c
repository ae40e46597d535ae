/* Address classes: the table against one address inside and outside of each range. */
#include "base/address.h"
#include "tests/kit/tap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static const struct row {
	const char *text;
	enum reach reach;
} rows[] = {
	{"8.8.8.8", REACH_PUBLIC},
	{"1.0.0.0", REACH_PUBLIC},
	{"0.0.0.0", REACH_NEVER},
	{"0.255.255.255", REACH_NEVER},
	{"9.255.255.255", REACH_PUBLIC},
	{"10.0.0.0", REACH_PRIVATE},
	{"10.255.255.255", REACH_PRIVATE},
	{"11.0.0.0", REACH_PUBLIC},
	{"100.63.255.255", REACH_PUBLIC},
	{"100.64.0.1", REACH_PRIVATE},
	{"100.100.100.200", REACH_NEVER},
	{"100.127.255.255", REACH_PRIVATE},
	{"100.128.0.0", REACH_PUBLIC},
	{"127.0.0.1", REACH_LOCAL},
	{"127.255.255.255", REACH_LOCAL},
	{"128.0.0.0", REACH_PUBLIC},
	{"168.63.129.16", REACH_NEVER},
	{"168.63.129.17", REACH_PUBLIC},
	{"169.254.0.1", REACH_NEVER},
	{"169.254.169.254", REACH_NEVER},
	{"172.15.255.255", REACH_PUBLIC},
	{"172.16.0.0", REACH_PRIVATE},
	{"172.31.255.255", REACH_PRIVATE},
	{"172.32.0.0", REACH_PUBLIC},
	{"192.0.0.192", REACH_NEVER},
	{"192.0.2.1", REACH_NEVER},
	{"192.88.99.1", REACH_NEVER},
	{"192.168.0.1", REACH_PRIVATE},
	{"192.169.0.1", REACH_PUBLIC},
	{"198.18.0.1", REACH_PRIVATE},
	{"198.51.100.7", REACH_NEVER},
	{"203.0.113.7", REACH_NEVER},
	{"223.255.255.255", REACH_PUBLIC},
	{"224.0.0.251", REACH_NEVER},
	{"240.0.0.1", REACH_NEVER},
	{"255.255.255.255", REACH_NEVER},
	{"::", REACH_NEVER},
	{"::1", REACH_LOCAL},
	{"::2", REACH_NEVER},
	{"::127.0.0.1", REACH_NEVER},
	{"::ffff:127.0.0.1", REACH_NEVER},
	{"::ffff:8.8.8.8", REACH_NEVER},
	{"64:ff9b::8.8.8.8", REACH_PUBLIC},
	{"64:ff9b::127.0.0.1", REACH_NEVER},
	{"64:ff9b::10.0.0.1", REACH_NEVER},
	{"64:ff9b::169.254.169.254", REACH_NEVER},
	{"64:ff9b:1::8.8.8.8", REACH_NEVER},
	{"100::1", REACH_NEVER},
	{"2001::1", REACH_NEVER},
	{"2001:1ff::1", REACH_NEVER},
	{"2001:200::1", REACH_PUBLIC},
	{"2001:db8::1", REACH_NEVER},
	{"2002:7f00:1::", REACH_NEVER},
	{"2606:4700::1111", REACH_PUBLIC},
	{"3fff:fff::1", REACH_NEVER},
	{"3fff:1000::1", REACH_PUBLIC},
	{"4000::1", REACH_NEVER},
	{"5f00::1", REACH_NEVER},
	{"fc00::1", REACH_PRIVATE},
	{"fd00:ec2::254", REACH_NEVER},
	{"fd20:ce::254", REACH_NEVER},
	{"fdff::1", REACH_PRIVATE},
	{"fe80::1", REACH_NEVER},
	{"fec0::1", REACH_NEVER},
	{"ff02::1", REACH_NEVER},
};

static const struct sockaddr *parse(const char *text)
{
	static union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address;
	address.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
	if (inet_pton(AF_INET6, text, &address.in6.sin6_addr) == 1)
		return &address.any;
	address.in = (struct sockaddr_in){.sin_family = AF_INET};
	if (inet_pton(AF_INET, text, &address.in.sin_addr) != 1)
		bail("%s is no address", text);
	return &address.any;
}

static void test_reach(void)
{
	static const struct {
		const char *text;
		bool public, private, local;
	} cases[] = {
		{"8.8.8.8", true, true, false},
		{"10.1.2.3", false, true, false},
		{"fd12::1", false, true, false},
		{"127.0.0.1", false, false, true},
		{"::1", false, false, true},
		{"169.254.169.254", false, false, false},
		{"::ffff:127.0.0.1", false, false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct sockaddr *a = parse(cases[i].text);
		is(address_allowed(a, REACH_PUBLIC), cases[i].public, "%s, public", cases[i].text);
		is(address_allowed(a, REACH_PRIVATE), cases[i].private, "%s, private",
			cases[i].text);
		is(address_allowed(a, REACH_LOCAL), cases[i].local, "%s, local", cases[i].text);
		is(address_allowed(a, REACH_NEAR),
			cases[i].public || cases[i].private || cases[i].local, "%s, any of these",
			cases[i].text);
	}
}

int main(void)
{
	struct sockaddr_un named = {.sun_family = AF_UNIX};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is(address_reach(parse(rows[i].text)), rows[i].reach, "%s", rows[i].text);
	is(address_reach((struct sockaddr *)&named), REACH_NEVER, "another family");
	test_reach();
	return tap_done();
}
