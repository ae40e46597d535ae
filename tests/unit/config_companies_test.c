/* Configuration: providers behind gateways, private hosts. */
#include "tests/unit/config_kit.h"

/* The keys of companies' providers and networks: what is taken, and where each fault is. */
static void test_companies(void)
{
#define CORP "providers: {p: {api_format: openai, base_url: 'https://h/v1', "
	static const struct {
		const char *more, *rules;
	} cases[] = {
		{"headers: {X-Org: acme, x-Key: {env: KEY}}, query: {api-version: v, c: {env: "
		 "C}}}}",
			""},
		{"headers: null, query: null}}", ""},
		{"headers: {X-Org: null}}}", ""},
		{"headers: {X-Org: 5}}}", "1:80 wrong-type"},
		{"headers: {X-Org: {var: KEY}}}}", "1:81 unknown-key"},
		{"headers: {X-Org: {env: 1A}}}}", "1:86 bad-name"},
		{"headers: {'X Org': a}}}", "1:73 bad-name"},
		{"headers: {X-Org: \"a\\u00e4\"}}}", "1:80 config-header"},
		{"headers: {X-Org: \"a\\nb\"}}}", "1:80 config-header"},
		{"headers: {X-Org: a, x-ORG: b}}}", "1:90 config-header"},
		{"headers: {Content-Type: a}}}", "1:87 config-header"},
		{"headers: {HOST: a, Transfer-Encoding: a}}}",
			"1:79 config-header\n1:101 config-header"},
		{"headers: {Authorization: a}}}", "1:88 config-header"},
		{"headers: {x-api-key: a}}}", ""},
		{"auth: none, headers: {Authorization: a}}}", ""},
		{"auth: x-api-key, headers: {X-API-Key: a, Authorization: a}}}",
			"1:101 config-header"},
		{"query: {'a b': c}}}", "1:71 bad-name"},
		{"token_command: [get, it]}}", ""},
		{"token_command: []}}", ""},
		{"token_command: ['']}}", "1:78 config-key"},
		{"token_command: get}}", "1:78 wrong-type"},
		{"token_command: [get], api_key_env: KEY}}", "1:78 config-key"},
		{"token_command: [get], auth: none}}", "1:78 config-key"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[256];
		snprintf(text, sizeof(text), CORP "%s", cases[i].more);
		expect_global(text, cases[i].rules);
	}
	static const char *const urls[] = {"https://h/v1/chat/completions", "https://h/messages",
		"https://h/v1/messages/", "http://127.0.0.1:1/v1/responses"};
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		char text[256];
		snprintf(text, sizeof(text), "providers: {p: {api_format: openai, base_url: '%s'}}",
			urls[i]);
		expect_global(text, "1:47 config-url");
	}
	expect_global("providers: {p: {api_format: openai, base_url: 'https://messages'}}", "");
	expect_global("providers: {p: {api_format: openai, auth: none, base_url: 'http://h', "
		      "headers: {A: {env: B}}}}",
		"1:59 config-cleartext");
	expect_global("sandbox: {private_hosts: [git.corp, '*.corp.example']}", "");
	expect_global("sandbox: {private_hosts: [git.corp:443, 10.0.0.1, '*', a.b.c]}",
		"1:27 config-url\n1:41 config-url\n1:51 config-url");
}

/* A map that is null takes away what lower layers say; a single key that is null, that key. */
static void test_sent_layers(void)
{
	put("config/config.yaml", "providers: {p: {api_format: openai, base_url: 'https://h', "
				  "headers: {A: a, B: b, C: c}, query: {q: 1a, r: 2a}}}\n");
	put("state/repo/config.yaml",
		"providers: {p: {headers: {B: {env: BEE}, C: null}, query: null}}\n");
	struct findings f;
	findings_init(&f);
	struct config_paths paths = places();
	struct config *c = config_load(&paths, &f);
	const struct config_provider *p = config_provider(c, "p");
	is(f.errors, 0, "both are fine");
	if (ok(p && p->header_count == 2 && !p->query_count, "two headers and no query remain")) {
		is_str(p->headers[0].text, "a", "the lower one's text");
		ok(!p->headers[1].text, "no text in the higher one");
		is_str(p->headers[1].env, "BEE", "which names a variable");
	}
	config_free(c);
	findings_done(&f);
	unlinkat(scratch, "state/repo/config.yaml", 0);
}

int main(void)
{
	config_kit_init();
	test_companies();
	test_sent_layers();
	return tap_done();
}
