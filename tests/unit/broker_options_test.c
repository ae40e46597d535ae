/* The command line: what a channel may say, and that everything else is refused with a reason. */
#include "broker/parse/options.h"
#include "tests/kit/tap.h"

static int decode(struct options *o, struct err *e, const char *option, const char *value)
{
	char name[64], text[400];
	snprintf(name, sizeof(name), "%s", option);
	snprintf(text, sizeof(text), "%s", value);
	char *argv[] = {(char[]){"agent6-broker"}, name, text, NULL};
	*e = ERR_NONE;
	return options_decode(o, 3, argv, e);
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
	free(o.upstream_proxy);
	is(decode(&o, &e, "--channel", "7=a.test:443,tls"), 0, "a channel alone");
	ok(o.max_bytes == UINT64_MAX && o.control_fd == -1 && !o.upstream_proxy,
		"and its defaults");
	ok(options_decode(&o, 1, argv, &e) < 0, "no channel at all is refused");
	ok(decode(&o, &e, "--max-bytes", "-1") < 0, "a negative number of bytes is refused");
	ok(decode(&o, &e, "--upstream-proxy", "https://proxy.test:443") < 0,
		"a TLS proxy is refused");
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
	char *many[] = {(char[]){"x"}, (char[]){"--channel=999=a.test:1,tls"}, NULL};
	char controls[FDS_MAX][24], *all[FDS_MAX + 2] = {many[0], many[1]};
	for (int i = 0; i < FDS_MAX; i++) {
		snprintf(controls[i], sizeof(controls[i]), "--control=%d", i);
		all[i + 2] = controls[i];
	}
	e = ERR_NONE;
	ok(options_decode(&o, FDS_MAX + 2, all, &e) < 0, "more descriptors than fit are refused");
	has_str(e.text, "more than 66", "with their number");
	e = ERR_NONE;
	char *twice[] = {(char[]){"x"}, (char[]){"--channel=7=a.test:443,tls"},
		(char[]){"--channel=7=b.test:443,tls"}, NULL};
	ok(options_decode(&o, 3, twice, &e) < 0, "one descriptor for two channels is refused");
}

static void test_rules(void)
{
	struct options o;
	struct err e;
	ok(decode(&o, &e, "--proxy", "7=a.test:443,*.b.test:80,localhost:1") == 0, "three hosts");
	is(o.rule_count, 3, "are three rules");
	is(o.rules[2].reach, REACH_LOCAL, "localhost is on the loopback interface");
	ok(decode(&o, &e, "--proxy", "7=") < 0, "an empty list is refused");
	ok(decode(&o, &e, "--proxy", "7=*.10.0.0.1:80") < 0, "a wildcard address is refused");
	ok(decode(&o, &e, "--proxy", "7=*:80") < 0, "any host at all is refused");
	ok(decode(&o, &e, "--proxy", "7=a.*.test:80") < 0, "a wildcard in the middle is refused");
}

int main(void)
{
	test_channels();
	test_rules();
	test_others();
	return tap_done();
}
