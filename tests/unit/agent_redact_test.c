/* Secrets go, everything else stays: labelled texts, and every encoding of a configured key. */
#include "agent/policy/redact.h"
#include "agent/policy/scrub.h"
#include "agent/policy/wording.h"
#include "tests/kit/tap.h"

#include <string.h>

enum { CAP_BYTES = 1 << 20 };
#define ALNUM36 "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

static const struct {
	const char *text, *want; /* NULL: unchanged */
} cases[] = {
	/* vendor prefixes */
	{"key sk-abcdefghij0123456789 end", "key [REDACTED:token] end"},
	{"(sk-ant-api03-abcdefghij0123456789)", "([REDACTED:token])"},
	{"pk-abcdefghij0123456789", "[REDACTED:token]"},
	{"\"ghp_" ALNUM36 "\"", "\"[REDACTED:token]\""},
	{"gho_" ALNUM36 ".", "[REDACTED:token]."},
	{"ghs_" ALNUM36 ",", "[REDACTED:token],"},
	{"AKIAIOSFODNN7EXAMPLE", "[REDACTED:token]"},
	{"xoxb-1234567890-abcdefghij", "[REDACTED:token]"},
	{"xoxp-1234567890-abcdefghij", "[REDACTED:token]"},
	{"xoxa-1234567890-abcdefghij", "[REDACTED:token]"},
	{"glpat-abcdefghij0123456789", "[REDACTED:token]"},
	{"npm_" ALNUM36, "[REDACTED:token]"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123_-x", "[REDACTED:token]"},
	{"AKIAQWERTYUIOPASDFGH", "[REDACTED:token]"},
	{"ghp_qwertyuiopasdfghjklzxcvbnmqwertyuiop", "[REDACTED:token]"},
	{"npm_qwertyuiopasdfghjklzxcvbnmqwertyuiop", "[REDACTED:token]"},
	{"glpat-QwertyuiopAsdfghjklz", "[REDACTED:token]"},
	{"task-abcdefghij0123456789", NULL},
	{"sk-estimator-doc-link-Fitted", NULL},
	{"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NULL},
	{"sk-learn", NULL},
	{"pip install sk-something-very-long-but-no-digit", NULL},
	{"npm_config_cache=/x", NULL},
	{"sk-xxxxxxxxxxxxxxxxxxxxxxxx", NULL},
	{"AKIA is a prefix", NULL},
	{"eyJ", NULL},
	{"eyJhbGciOiJIUzI1NiJ9 has no dots", NULL},
	/* private keys */
	{"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
		"a\n[REDACTED:private-key]\nb"},
	{"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "[REDACTED:private-key]"},
	{"-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----",
		"[REDACTED:private-key]"},
	{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", NULL},
	{"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", NULL},
	/* headers and URLs */
	{"Authorization: Bearer abc123def\n", "Authorization: Bearer [REDACTED:authorization]\n"},
	{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic [REDACTED:authorization]"},
	{"curl -H 'x-api-key: hunter2x'", "curl -H 'x-api-key: [REDACTED:authorization]'"},
	{"Set-Cookie: sid=31d4d96e407aad42", "Set-Cookie: [REDACTED:authorization]"},
	{"Authorization: Bearer $TOKEN", NULL},
	{"curl -u user:hunter2x https://h/", "curl -u user:[REDACTED:authorization] https://h/"},
	{"curl -s -uuser:hunter2x h", "curl -s -uuser:[REDACTED:authorization] h"},
	{"+ curl --user 'user:hunter2x' h", "+ curl --user 'user:[REDACTED:authorization]' h"},
	{"curl --user=user:hunter2x", "curl --user=user:[REDACTED:authorization]"},
	{"curl -sSu user:hunter2x h", "curl -sSu user:[REDACTED:authorization] h"},
	{"my-curl: curl 'h?a;b&c' \\\n -u user:hunter2x",
		"my-curl: curl 'h?a;b&c' \\\n -u user:[REDACTED:authorization]"},
	{"curl h --proxy-user user:hunter2x", "curl h --proxy-user user:[REDACTED:authorization]"},
	{"curl -s h | sort -u f:1", NULL},
	{"apk add curl && adduser -u 1000:1000 x", NULL},
	{"which curl; docker run -u 1000:1000 x", NULL},
	{"curl -u user:$PASS h", NULL},
	{"curl -u user h:80", NULL},
	{"docker run -u 1000:1000 x", NULL},
	{"curl x\ndocker run -u 1000:1000 x", NULL},
	{"https://user:hunter2@host/x", "https://user:[REDACTED:url-password]@host/x"},
	{"postgres://app:s3cr3t@db:5432/x", "postgres://app:[REDACTED:url-password]@db:5432/x"},
	{"https://glpat-abcdefghij0123456789:x-oauth-basic@host/a",
		"https://[REDACTED:token]:[REDACTED:url-password]@host/a"},
	{"https://host:8080/x@y", NULL},
	{"https://user:$PASS@host/", NULL},
	{"https://user:PASSWORD@host/", NULL},
	{"https://user:p@ssw\xc3\xb6rd@host/x@y", "https://user:[REDACTED:url-password]@host/x@y"},
	/* names */
	{"AWS_SECRET_ACCESS_KEY=abc/def", "AWS_SECRET_ACCESS_KEY=[REDACTED:credential]"},
	{"export DB_PASSWORD='p w'", "export DB_PASSWORD='[REDACTED:credential]'"},
	{"GITHUB_TOKEN: abcd", "GITHUB_TOKEN: [REDACTED:credential]"},
	{"\"api_key\": \"abc123\"", "\"api_key\": \"[REDACTED:credential]\""},
	{"client_secret = 'abcdef'", "client_secret = '[REDACTED:credential]'"},
	{"MY_CREDENTIALS=x1", "MY_CREDENTIALS=[REDACTED:credential]"},
	{"API_KEY=$OTHER", NULL},
	{"API_KEY=", NULL},
	{"API_KEY=<your key>", NULL},
	{"API_KEY=%API_KEY%", NULL},
	{"API_KEY=xxxx", NULL},
	{"DB_PASSWORD=changeme", NULL},
	{"\"password\": \"string\"", NULL},
	{"api_key = os.environ['API_KEY']", NULL},
	{"api_key: str", NULL},
	{"password = getpass.getpass()", NULL},
	{"primary_key = True", NULL},
	{"primary_key = user_id", NULL},
	{"sort_key=name", NULL},
	{"max_token = 5", NULL},
	/* entropy */
	{"x Zk9vQ2xhc3NpZmllZFRleHRXaXRoTWFueURpZ2l0czEyMzQ1 y", "x [REDACTED:high-entropy] y"},
	{"commit 2f1a9c0b7d3e4f5a6b7c8d9e0f1a2b3c4d5e6f70", NULL},
	{"550e8400-e29b-41d4-a716-446655440000", NULL},
	{"\"integrity\": \"sha512-Zk9vQ2xhc3NpZmllZFRleHRXaXRoTWFueURpZ2l0czEyMzQ1==\"", NULL},
	{"golang.org/x h1:Zk9vQ2xhc3NpZmllZFRleHRXaXRoTWFueURpZ2l0czEyMzQ1=", NULL},
	{"SHA256:Zk9vQ2xhc3NpZmllZFRleHRXaXRoTWFueURpZ2l0czEyMzQ1", NULL},
	{"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA1x9KpS2QeTyUiO", NULL},
	{"/usr/lib/x86_64-linux-gnu/Some/Very/Long/Path/With/Upper1/And2/Digits3", NULL},
	{"========================================================", NULL},
	{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAaaaa1111", NULL},
	{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file", NULL},
	{"plain text with nothing in it", NULL},
	{"", NULL},
	/* what was redacted stays as it is */
	{"API_KEY=[REDACTED:credential]", NULL},
	{"Authorization: Bearer [REDACTED:key]", NULL},
};

static char *redacted(const struct redact *redact, const char *text, struct redact_tally *tally)
{
	struct buf out;
	buf_init(&out, CAP_BYTES);
	buf_adds(&out, "");
	redact_text(redact, text, strlen(text), &out, tally);
	return buf_take(&out, NULL);
}

static void labelled(void)
{
	struct redact none = {0};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *got = redacted(&none, cases[i].text, NULL);
		is_str(got, cases[i].want ? cases[i].want : cases[i].text, "%.60s", cases[i].text);
		AUTO_FREE char *twice = redacted(&none, got, NULL);
		is_str(twice, got, "and again changes nothing");
	}
}

/* The key inside other text, base64-coded by a plain encoder at each alignment. */
static char *base64(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text);
	char *out = calloc(len * 2 + 8, 1), *at = out;
	for (size_t i = 0; i < len; i += 3) {
		unsigned v = 0;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < len ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			*at++ = i + k <= len ? digits[v >> (18 - 6 * k) & 63] : '=';
	}
	return out;
}

/* Checks that nothing is left of two secrets with the same beginning. */
static void nested(void)
{
	struct redact r = {0};
	redact_add(&r, "hunter22");
	redact_add(&r, "hunter22hunter23");
	AUTO_FREE char *got = redacted(&r, "a hunter22hunter23, b hunter22", NULL);
	is_str(got, "a [REDACTED:key], b [REDACTED:key]", "the longest secret counts");
	redact_done(&r);
}

/* However many secrets begin alike, each is found by all of it, and by no less. */
static void alike(void)
{
	static const char beginning[] = "the same/for all of them ";
	struct redact r = {0};
	char secret[64], text[64];
	for (unsigned i = 300; i-- > 100;) {
		snprintf(secret, sizeof(secret), "%s%u", beginning, i * 7919 % 10000);
		redact_add(&r, secret);
	}
	size_t found = 0;
	for (unsigned i = 100; i < 300; i++)
		for (unsigned escaped = 0; escaped < 2; escaped++) {
			snprintf(text, sizeof(text), "the%ssame%sfor all of them %u",
				escaped ? "%20" : " ", escaped ? "\\/" : "/", i * 7919 % 10000);
			AUTO_FREE char *got = redacted(&r, text, NULL);
			found += !strcmp(got, "[REDACTED:key]");
		}
	is(found, 400, "each of 200 secrets that begin alike, as it is and escaped");
	AUTO_FREE char *rest = redacted(&r, beginning, NULL);
	is_str(rest, beginning, "and what they begin with is none");
	redact_done(&r);
}

/* Checks text that looks like a secret and begins or ends inside a known one. */
static void overlapping(void)
{
	static const char *const rows[][2] = {
		{"https://known;secret=1:pass@host/",
			"https://[REDACTED:key]:[REDACTED:url-password]@host/"},
		{"API_KEY=known;secret=1 z", "API_KEY=[REDACTED:credential] z"},
		{"API_KEY=is-known;secret=1 z", "API_KEY=[REDACTED:credential] z"},
		{"://known;secret=1known;secret=1:b@h",
			"://[REDACTED:key][REDACTED:key]:[REDACTED:url-password]@h"},
		{"Cookie: a'known;secret=1'", "Cookie: a'[REDACTED:key]'"},
		{"Cookie: abcdknown;secret=1'", "Cookie: [REDACTED:authorization]'"},
		{"sk-abcdefghij012345known;secret=1", "[REDACTED:token]"}};
	struct redact r = {0};
	redact_add(&r, "known;secret=1");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *got = redacted(&r, rows[i][0], NULL);
		is_str(got, rows[i][1], "%s", rows[i][0]);
	}
	redact_done(&r);
}

/* Checks redaction that keeps positions, as for read_file, with a secret of several lines. */
static void over(void)
{
	static const char text[] = "a: https://u:pässword@h\n-----BEGIN PRIVATE KEY-----\r\nAA\n"
				   "-----END PRIVATE KEY-----\n{{ x }}";
	AUTO_BUF out;
	buf_init(&out, CAP_BYTES);
	redact_over(NULL, text, strlen(text), &out, NULL);
	is_str(out.data,
		"a: https://u:*********@h\n***************************\r\n**\n"
		"*************************\n{{ x }}",
		"every place outside of secrets stays where it was");
}

/* Checks that names stay in a person's own text, and random words do not. */
static void own(void)
{
	static const char *const names[] = {"scripts/Build-And-Publish-Docker-Image-for-amd64",
		"parseHTTPResponse2WithRetriesAndBackoffPolicy",
		"buildAndPublishDockerImageForQuayRegistryV2x"};
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	enum { WORDS = 50000, WORD_BYTES = 40 };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_BUF shown, told;
		buf_init(&shown, CAP_BYTES);
		buf_init(&told, CAP_BYTES);
		redact_own(NULL, names[i], strlen(names[i]), &shown, NULL);
		redact_text(NULL, names[i], strlen(names[i]), &told, NULL);
		is_str(shown.data, names[i], "a name");
		is_str(told.data, "[REDACTED:high-entropy]", "which no model is told");
	}
	size_t taken = 0;
	uint64_t seed = 42;
	for (size_t i = 0; i < WORDS; i++) {
		char word[WORD_BYTES];
		for (size_t k = 0; k < WORD_BYTES; k++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			word[k] = letters[seed >> 58];
		}
		taken += wording_is(word, WORD_BYTES);
	}
	is(taken, 0, "of %d random words none is a name", WORDS);
	static const char *const keys[] = {"kJ8sQ2mZx7Lp4Rt9Vb3Nc6Hd1Fg5Yw0Ua8Ei2Op7As",
		"my-company-production-service-account-token-DNoCAEpPU3T-G74BAY0HeA",
		"vK3yWpuUd3f1FZ935WFvz8cJ-internalBillingServiceProductionDatabase"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		AUTO_BUF shown;
		buf_init(&shown, CAP_BYTES);
		redact_own(NULL, keys[i], strlen(keys[i]), &shown, NULL);
		is_str(shown.data, "[REDACTED:high-entropy]",
			"a key is hidden, words beside it or not");
	}
}

static void numbered(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"1\tx\n2\tone of two\n3\ttwo of two\n4\ty\n", "1\tx\n2\t[REDACTED:key]\n4\ty\n"},
		{"one of two\ntwo of two", "[REDACTED:key]"},
		{"9\tone of two\n10\ttwo of two", "9\t[REDACTED:key]"},
		{"1\tone of two\n2\ttwo of", "1\tone of two\n2\ttwo of"},
		{"one of two\n2\t3\ttwo of two", "one of two\n2\t3\ttwo of two"}};
	struct redact r = {0};
	redact_add(&r, "one of two\ntwo of two");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out;
		buf_init(&out, CAP_BYTES);
		redact_text(&r, rows[i].text, strlen(rows[i].text), &out, NULL);
		is_str(out.data, rows[i].want, "%s", rows[i].text);
	}
	redact_done(&r);
}

/* Wherever it falls, a cut leaves no half of a secret that would not be found. */
static void cut(void)
{
	static const char text[] = "before sesame;open1 API_KEY=q1w2e3 after";
	struct redact r = {0};
	bool whole = true;
	redact_add(&r, "sesame;open1");
	for (size_t at = 0; at <= strlen(text); at++) {
		AUTO_BUF seen;
		buf_init(&seen, CAP_BYTES);
		size_t head = redact_cut(&r, text, strlen(text), at, false),
		       tail = redact_cut(&r, text, strlen(text), at, true);
		redact_text(&r, text, head, &seen, NULL);
		buf_addc(&seen, '|');
		redact_text(&r, text + tail, strlen(text) - tail, &seen, NULL);
		bool kept = head <= at && tail >= at && !strstr(seen.data, "se") &&
			    !strstr(seen.data, "en1") && !strstr(seen.data, "q1") &&
			    !strstr(seen.data, "e3");
		whole = whole && kept;
		if (!kept)
			diag("at %zu: %s", at, seen.data);
	}
	ok(whole, "at every place");
	enum { LONG_BYTES = 20000 };
	AUTO_BUF far;
	buf_init(&far, CAP_BYTES);
	for (size_t i = 0; i < LONG_BYTES / 5; i++)
		buf_addf(&far, "%05zu", i);
	redact_add(&r, far.data);
	is(redact_cut(&r, far.data, far.len, LONG_BYTES - 5, false), 0, "and of a long one");
	is(redact_cut(&r, text, strlen(text), 10, false), 7, "before it");
	is(redact_cut(&r, text, strlen(text), 10, true), 19, "behind it");
	is(redact_cut(&r, text, strlen(text), 3, true), 3, "and where none is, where it was");
	redact_done(&r);
}

/* Checks secrets in JSON: slashes escaped or not, line ends as letters. */
static void as_json(void)
{
	static const char *const forms[] = {"say \\\"a/b\\\"\\nand c", "say \\\"a\\/b\\\"\\nand c",
		"say \"a/b\"\nand c", "gr\xc3\xbc\xc3\x9f-\xf0\x9f\x99\x82-a\\b",
		"gr\\u00fc\\u00DF-\\ud83d\\ude42-a\\\\b", "its own %25 and \\\"quotes\\\"",
		"its%20own%20%2525%20and%20\"quotes\"",
		/* JSON in JSON, in a URL, a URL in another */
		"say \\\\\\\"a/b\\\\\\\"\\\\nand c", "say \\\\\\\"a\\\\/b\\\\\\\"\\\\nand c",
		"gr\xc3\xbc\\\\u00DF-\\\\ud83d\\\\ude42-a\\\\\\\\b",
		"gr\xc3\xbc\\u00df-\\ud83d\\ude42-a\\\\\\\\b", "say%20%5C%22a%2Fb%5C%22%5Cnand%20c",
		"say%2520%2522a%252Fb%2522%250Aand%2520c",
		"its own %25 and \\\\\\\"quotes\\\\\\\""};
	struct redact r = {0};
	redact_add(&r, "say \"a/b\"\nand c");
	redact_add(&r, "gr\xc3\xbc\xc3\x9f-\xf0\x9f\x99\x82-a\\b");
	redact_add(&r, "its own %25 and \"quotes\"");
	ok(!r.secrets.begins['%'] && !r.secrets.begins['\\'],
		"a text of escapes is looked at as any other");
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		AUTO_FREE char *got = redacted(&r, forms[i], NULL);
		is_str(got, "[REDACTED:key]", "%s", forms[i]);
	}
	redact_done(&r);
}

static void configured(void)
{
	static const char key[] = "topsecret/value+1";
	struct redact r = {0};
	redact_add(&r, key);
	redact_add(&r, "short");
	static const char *const forms[] = {"topsecret/value+1", "topsecret\\/value+1",
		"topsecret%2Fvalue%2B1", "topsecret/value%2b1", "topsecret/value\\u002b1",
		"\\u0074opsecret\\/value\\u002B1", "746f707365637265742f76616c75652b31",
		"746F707365637265742F76616C75652B31",
		/* as base64, xxd -p and fold wrap it, in a file, a page of one, and JSON */
		"dG9wc2VjcmV0\nL3ZhbHVlKz", "dG9wc2VjcmV0\r\nL3ZhbHVlKz",
		"dG9wc2VjcmV0\\nL3ZhbHVlKz", "746f707365637265742f\n12\t76616c75652b31",
		"topsecret/\nvalue\n+1"};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char text[200];
		snprintf(text, sizeof(text), "a%sb", forms[i]);
		AUTO_FREE char *got = redacted(&r, text, NULL);
		is_str(got, "a[REDACTED:key]b", "the key as %s", forms[i]);
	}
	/* The digits of the second are those in which the two alphabets differ. */
	static const char *const around[] = {"", "x", "xy", "xyz", "user:"};
	static const char *const keys[] = {key, ">?~>?~>?~>?~"};
	redact_add(&r, keys[1]);
	for (size_t i = 0; i < 2 * ARRAY_LEN(around); i++) {
		char text[200];
		size_t before = i / 2;
		snprintf(text, sizeof(text), "%s%stail", around[before], keys[i % 2]);
		AUTO_FREE char *coded = base64(text);
		AUTO_FREE char *got = redacted(&r, coded, NULL);
		has_str(got, "[REDACTED:key]", "%s in base64 behind %zu bytes", keys[i % 2],
			strlen(around[before]));
		for (char *c = coded; *c; c++)
			*c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
		AUTO_FREE char *url = redacted(&r, coded, NULL);
		has_str(url, "[REDACTED:key]", "and in that of URLs");
	}
	AUTO_FREE char *text = redacted(&r, "a short word", NULL);
	is_str(text, "a short word", "a short secret would match everywhere");
	struct redact_tally tally = {{0}};
	AUTO_FREE char *two = redacted(&r, "topsecret/value+1 API_KEY=abc", &tally);
	is(tally.of[REDACT_KEY], 1, "counted by kind");
	is(tally.of[REDACT_VALUE], 1, "each");
	AUTO_BUF known;
	buf_init(&known, CAP_BYTES);
	static const char vague[] = "password: x1y2 topsecret/value+1 AKIAIOSFODNN7EXAMPLE "
				    "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9";
	redact_known(&r, vague, strlen(vague), &known, NULL);
	is_str(known.data,
		"password: x1y2 [REDACTED:key] [REDACTED:token] "
		"aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9",
		"what only looks like a secret stays where the text goes on being used");
	ok(redact_is_marked(two) && !redact_is_marked("[REDACTED"), "placeholders are recognised");
	redact_done(&r);
}

static void markers(void)
{
	static const struct {
		const char *text, *want;
	} texts[] = {{"Ignore Previous\n  Instructions and", SCRUB_MARK " and"},
		{"IGNORE ALL PREVIOUS", SCRUB_MARK},
		{"please disregard previous", "please " SCRUB_MARK},
		{"You are now root. you are now", SCRUB_MARK " root. " SCRUB_MARK},
		{"new system prompt", SCRUB_MARK},
		{"IMPORTANT: x\nCritical: y", SCRUB_MARK " x\n" SCRUB_MARK " y"},
		{"from the developer", SCRUB_MARK}, {"admin override", SCRUB_MARK},
		{"System Message: hi", SCRUB_MARK " hi"}, {"important things", "important things"},
		{"you arenow", "you arenow"}};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_BUF out;
		buf_init(&out, CAP_BYTES);
		buf_adds(&out, "");
		size_t count = 0, len = strlen(texts[i].text);
		scrub_text(texts[i].text, len, &out, &count);
		is_str(out.data, texts[i].want, "%s", texts[i].text);
		is(count, scrub_count(texts[i].text, len), "counted the same");
	}
}

/* Text that begins a secret at every few bytes and ends none of them: the largest result of a tool,
 * which took minutes and more. */
static void endless(void)
{
	enum { BYTES = 512 * 1024 };
	static const struct {
		const char *text;
		bool hidden;
	} rows[] = {{"eyJa.", true}, {"eyJa=", true}, {"SG.", true}, {"a_token=x", true},
		{"A_KEY=$", false}, {"A_KEY=a.", false}, {"cookie:$", false}, {"curl;-u;", false},
		{"curl;-u:$;", true}};
	struct redact none = {0};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF text;
		buf_init(&text, 2 * BYTES);
		while (text.len < BYTES)
			buf_adds(&text, rows[i].text);
		AUTO_FREE char *got = redacted(&none, text.data, NULL);
		ok(!strcmp(got, text.data) != rows[i].hidden, "%s again and again", rows[i].text);
	}
}

int main(void)
{
	endless();
	labelled();
	configured();
	as_json();
	over();
	own();
	numbered();
	cut();
	nested();
	alike();
	overlapping();
	markers();
	return tap_done();
}
