/* The command line: what a channel may say, and that everything else is refused with a reason. */
#include "broker/parse/options.h"
#include "tests/kit/tap.h"

static int decode(struct options *options, struct err *e, const char *option, const char *value)
{
	char name[64], text[400];
	snprintf(name, sizeof(name), "%s", option);
	snprintf(text, sizeof(text), "%s", value);
	char *argv[] = {(char[]){"agent6-broker"}, name, text, NULL};
	*e = ERR_NONE;
	return options_decode(options, 3, argv, e);
}

static void reads(const char *value, const char *text, enum reach reach, bool tls)
{
	struct options o;
	struct err e;
	const struct endpoint *p = &o.channels[0].endpoint;
	if (!ok(decode(&o, &e, "--channel", value) == 0, "%s", value))
		diag("%s", e.text);
	is_str(p->at.text, text, "%s: its endpoint", value);
	is(p->reach, reach, "%s: its reach", value);
	is(p->tls, tls, "%s: tls", value);
}

static void refuses(const char *value, const char *reason)
{
	struct options o;
	struct err e;
	ok(decode(&o, &e, "--channel", value) < 0, "refused: %s", value);
	has_str(e.text, reason, "because: %s", reason);
}

static void test_channels(void)
{
	reads("5=API.Example.com:443,tls", "api.example.com:443", REACH_PUBLIC, true);
	reads("5=localhost:80,plain,local", "localhost:80", REACH_LOCAL, false);
	reads("0=model.lan:8080,plain,private", "model.lan:8080", REACH_PRIVATE, false);
	reads("5=127.0.0.1:80,plain", "127.0.0.1:80", REACH_LOCAL, false);
	reads("5=127.0.0.1:80,plain,private", "127.0.0.1:80", REACH_LOCAL, false);
	reads("5=[::1]:80,plain", "[::1]:80", REACH_LOCAL, false);
	reads("5=10.0.0.7:80,plain", "10.0.0.7:80", REACH_PRIVATE, false);
	reads("5=10.0.0.7:80,plain,local", "10.0.0.7:80", REACH_LOCAL, false);
	reads("5=[fd00::7]:80,tls", "[fd00::7]:80", REACH_PRIVATE, true);
	refuses("5=api.example.com,tls", "HOST:PORT");
	refuses("5=api.example.com:0,tls", "port");
	refuses("5=api.example.com:65536,tls", "port");
	refuses("5=api.example.com:+443,tls", "port");
	refuses("5=api.example.com:443", "FD=HOST:PORT,tls");
	refuses("5=api.example.com:443,ssl", "tls or plain");
	refuses("5=api.example.com:443,tls,public", "local or private");
	refuses("5=api.example.com:443,tls,local,private", "local or private");
	refuses("5=api.example.com.:443,tls", "neither a host name");
	refuses("5=a..b:443,tls", "neither a host name");
	refuses("5=:443,tls", "neither a host name");
	refuses("5=a/b:443,tls", "neither a host name");
	refuses("5=user@b:443,tls", "neither a host name");
	refuses("5=::1:443,tls", "neither a host name");
	refuses("5=[127.0.0.1]:443,tls", "neither a host name");
	refuses("5=[fe80::1%eth0]:443,tls", "neither a host name");
	refuses("5=127.1:443,tls", "neither a host name");
	refuses("5=0x7f.1:443,tls", "neither a host name");
	refuses("5=2130706433:443,tls", "neither a host name");
	refuses("x=api.example.com:443,tls", "descriptor");
	refuses("-1=api.example.com:443,tls", "descriptor");
	refuses("1048577=api.example.com:443,tls", "descriptor");
	refuses("4294967301=api.example.com:443,tls", "descriptor");
}

static void test_others(void)
{
	struct options o;
	struct err e = ERR_NONE;
	char *argv[] = {(char[]){"agent6-broker"}, (char[]){"--channel=7=a.test:443,tls"},
		(char[]){"--control"}, (char[]){"9"}, (char[]){"--max-bytes"}, (char[]){"1000"},
		(char[]){"--upstream-proxy=http://proxy.test:3128"}, NULL};
	is(options_decode(&o, 7, argv, &e), 0, "all options");
	is(o.control_fd, 9, "--control");
	is(o.max_bytes, 1000, "--max-bytes");
	is_str(o.upstream_proxy, "http://proxy.test:3128", "--upstream-proxy");
	is_str(argv[6] + strlen("--upstream-proxy="), "", "is wiped from the command line");
	is(o.port_count, 2, "no port may be connected to but that of DNS");
	is(o.ports[1], 3128, "and the proxy's");
	free(o.upstream_proxy);
	static const char *const proxies[] = {
		"http://p.test:3128/", "socks5://p.test:1080", "socks5h://u:p@p.test:1080"};
	for (size_t i = 0; i < ARRAY_LEN(proxies); i++) {
		decode(&o, &e, "--upstream-proxy", proxies[i]);
		is_str(o.upstream_proxy, proxies[i], "%s is taken", proxies[i]);
		free(o.upstream_proxy);
	}
	is(decode(&o, &e, "--channel", "7=a.test:443,tls"), 0, "a channel alone");
	ok(o.max_bytes == INT64_MAX && o.control_fd == -1 && !o.upstream_proxy, "and its defaults");
	ok(options_decode(&o, 1, argv, &e) < 0, "no channel at all is refused");
	decode(&o, &e, "--max-bytes", "-1");
	has_str(e.text, "expected a number of bytes", "a negative number of bytes is refused");
	decode(&o, &e, "--upstream-proxy", "https://proxy.test:443");
	has_str(e.text, "expected http://", "a TLS proxy is refused");
	ok(decode(&o, &e, "--chanel", "1") < 0, "an unknown option is refused");
	has_str(e.text, "--chanel", "and named");
	char *alone[] = {(char[]){"agent6-broker"}, (char[]){"--bogus"}, NULL};
	e = ERR_NONE;
	ok(options_decode(&o, 2, alone, &e) < 0, "so is one without a value");
	is_str(e.text, "--bogus: there is no such option", "as that");
	alone[1] = (char[]){"--channel"};
	e = ERR_NONE;
	ok(options_decode(&o, 2, alone, &e) < 0, "and a known one without a value");
	has_str(e.text, "--channel: expected FD=", "for what it expects");
	char channel[32], controls[FDS_MAX][24], *all[FDS_MAX + 2] = {(char[]){"x"}, channel};
	for (int fds = FDS_MAX; fds <= FDS_MAX + 1; fds++) {
		snprintf(channel, sizeof(channel), "--channel=999=a.test:1,tls");
		for (int i = 0; i < FDS_MAX; i++) {
			snprintf(controls[i], sizeof(controls[i]), "--control=%d", i);
			all[i + 2] = controls[i];
		}
		e = ERR_NONE;
		is(options_decode(&o, fds + 1, all, &e), fds == FDS_MAX ? 0 : -1, "%d descriptors",
			fds);
	}
	has_str(e.text, "more than 66", "are refused with their number");
	e = ERR_NONE;
	char *twice[] = {(char[]){"x"}, (char[]){"--channel=7=a.test:443,tls"},
		(char[]){"--channel=7=b.test:443,tls"}, NULL};
	ok(options_decode(&o, 3, twice, &e) < 0, "one descriptor for two channels is refused");
}

static void test_rules(void)
{
	struct options o;
	struct err e;
	ok(decode(&o, &e, "--proxy", "7=a.test:443,*.b.test:80,localhost:1,*.localhost:1") == 0,
		"four hosts");
	is(o.rule_count, 4, "are four rules");
	is(o.rules[3].reach, REACH_PUBLIC, "what lies below it is anybody's name");
	is(o.rules[2].reach, REACH_LOCAL, "localhost is on the loopback interface");
	ok(decode(&o, &e, "--proxy", "7=") < 0, "an empty list is refused");
	decode(&o, &e, "--private", "a.test,*.B.test");
	is(o.near_count, 2, "two names that may resolve to private addresses");
	ok(!strcmp(o.near[1].host, "b.test") && o.near[1].wildcard, "the second is a wildcard");
	decode(&o, &e, "--private", "10.0.0.1");
	has_str(e.text, "an address needs no permission", "an address is refused as one");
	decode(&o, &e, "--private", "a.test:443");
	has_str(e.text, "neither a host name", "and a port");
	ok(decode(&o, &e, "--proxy", "7=*.10.0.0.1:80") < 0, "a wildcard address is refused");
	ok(decode(&o, &e, "--proxy", "7=*:80") < 0, "any host at all is refused");
	ok(decode(&o, &e, "--proxy", "7=a.*.test:80") < 0, "a wildcard in the middle is refused");
	static const char more[] = ",a.test:1";
	char list[2 + sizeof(more) * (RULES_MAX + 1)] = "7=a.test:1", *end = list + strlen(list);
	for (int i = 1; i < RULES_MAX; i++, end += sizeof(more) - 1)
		memcpy(end, more, sizeof(more));
	char *argv[] = {(char[]){"x"}, (char[]){"--proxy"}, list, NULL};
	e = ERR_NONE;
	is(options_decode(&o, 3, argv, &e), 0, "%d hosts", RULES_MAX);
	is(o.port_count, 1 + RULES_MAX, "whose ports are listed, and that of DNS");
	e = ERR_NONE;
	memcpy(end, more, sizeof(more));
	ok(options_decode(&o, 3, argv, &e) < 0, "one host more is refused");
	has_str(e.text, "more than 64 hosts", "by number");
	char *two[] = {argv[0], (char[]){"--proxy=7=a.test:1"}, (char[]){"--proxy=8=b.test:1"}};
	ok(options_decode(&o, 3, two, &e) < 0, "a second proxy is refused");
}

int main(void)
{
	test_channels();
	test_rules();
	test_others();
	return tap_done();
}
