/* Address classes: the table against one address inside and outside of each range. */
#include "broker/parse/address.h"
#include "tests/kit/tap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static const struct row {
	const char *text;
	enum address_class class;
} rows[] = {
	{"8.8.8.8", ADDRESS_PUBLIC},
	{"1.0.0.0", ADDRESS_PUBLIC},
	{"0.0.0.0", ADDRESS_SPECIAL},
	{"0.255.255.255", ADDRESS_SPECIAL},
	{"9.255.255.255", ADDRESS_PUBLIC},
	{"10.0.0.0", ADDRESS_PRIVATE},
	{"10.255.255.255", ADDRESS_PRIVATE},
	{"11.0.0.0", ADDRESS_PUBLIC},
	{"100.63.255.255", ADDRESS_PUBLIC},
	{"100.64.0.1", ADDRESS_PRIVATE},
	{"100.100.100.200", ADDRESS_SPECIAL},
	{"100.127.255.255", ADDRESS_PRIVATE},
	{"100.128.0.0", ADDRESS_PUBLIC},
	{"127.0.0.1", ADDRESS_LOOPBACK},
	{"127.255.255.255", ADDRESS_LOOPBACK},
	{"128.0.0.0", ADDRESS_PUBLIC},
	{"168.63.129.16", ADDRESS_SPECIAL},
	{"168.63.129.17", ADDRESS_PUBLIC},
	{"169.254.0.1", ADDRESS_SPECIAL},
	{"169.254.169.254", ADDRESS_SPECIAL},
	{"172.15.255.255", ADDRESS_PUBLIC},
	{"172.16.0.0", ADDRESS_PRIVATE},
	{"172.31.255.255", ADDRESS_PRIVATE},
	{"172.32.0.0", ADDRESS_PUBLIC},
	{"192.0.0.192", ADDRESS_SPECIAL},
	{"192.0.2.1", ADDRESS_SPECIAL},
	{"192.88.99.1", ADDRESS_SPECIAL},
	{"192.168.0.1", ADDRESS_PRIVATE},
	{"192.169.0.1", ADDRESS_PUBLIC},
	{"198.18.0.1", ADDRESS_PRIVATE},
	{"198.51.100.7", ADDRESS_SPECIAL},
	{"203.0.113.7", ADDRESS_SPECIAL},
	{"223.255.255.255", ADDRESS_PUBLIC},
	{"224.0.0.251", ADDRESS_SPECIAL},
	{"240.0.0.1", ADDRESS_SPECIAL},
	{"255.255.255.255", ADDRESS_SPECIAL},
	{"::", ADDRESS_SPECIAL},
	{"::1", ADDRESS_LOOPBACK},
	{"::2", ADDRESS_SPECIAL},
	{"::127.0.0.1", ADDRESS_SPECIAL},
	{"::ffff:127.0.0.1", ADDRESS_SPECIAL},
	{"::ffff:8.8.8.8", ADDRESS_SPECIAL},
	{"64:ff9b::8.8.8.8", ADDRESS_PUBLIC},
	{"64:ff9b::127.0.0.1", ADDRESS_SPECIAL},
	{"64:ff9b::10.0.0.1", ADDRESS_SPECIAL},
	{"64:ff9b::169.254.169.254", ADDRESS_SPECIAL},
	{"64:ff9b:1::8.8.8.8", ADDRESS_SPECIAL},
	{"100::1", ADDRESS_SPECIAL},
	{"2001::1", ADDRESS_SPECIAL},
	{"2001:1ff::1", ADDRESS_SPECIAL},
	{"2001:200::1", ADDRESS_PUBLIC},
	{"2001:db8::1", ADDRESS_SPECIAL},
	{"2002:7f00:1::", ADDRESS_SPECIAL},
	{"2606:4700::1111", ADDRESS_PUBLIC},
	{"3fff:fff::1", ADDRESS_SPECIAL},
	{"3fff:1000::1", ADDRESS_PUBLIC},
	{"4000::1", ADDRESS_SPECIAL},
	{"5f00::1", ADDRESS_SPECIAL},
	{"fc00::1", ADDRESS_PRIVATE},
	{"fd00:ec2::254", ADDRESS_SPECIAL},
	{"fd20:ce::254", ADDRESS_SPECIAL},
	{"fdff::1", ADDRESS_PRIVATE},
	{"fe80::1", ADDRESS_SPECIAL},
	{"fec0::1", ADDRESS_SPECIAL},
	{"ff02::1", ADDRESS_SPECIAL},
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
	}
}

int main(void)
{
	struct sockaddr_un named = {.sun_family = AF_UNIX};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is(address_class(parse(rows[i].text)), rows[i].class, "%s", rows[i].text);
	is(address_class((struct sockaddr *)&named), ADDRESS_SPECIAL, "another family");
	test_reach();
	return tap_done();
}
