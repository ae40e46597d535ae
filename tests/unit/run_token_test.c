/* run: the keys that a command prints, by a clock that the test holds. */
#include "base/clock.h"
#include "run/token.h"
#include "tests/unit/config_kit.h"
#include <time.h>

static int64_t now_ms = 1000000, tick_ms;

/* Replace base/clock.c. Each look at the clock may cost a tick, so that no test waits for long. */
int64_t clock_monotonic_ms(void)
{
	now_ms += tick_ms;
	return now_ms;
}

int64_t clock_realtime_us(void)
{
	return 1700000000000000;
}

static int runs(void)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	if (io_read_file(scratch, "count", 1000, &text, &len, NULL))
		return 0;
	return (int)len / 2;
}

/* Writes the command, which counts its runs. */
static void put_command(const char *script)
{
	char text[4096];
	snprintf(text, sizeof(text), "#!/bin/sh\necho x >>'%s/count'\n%s\n", tap_scratch(), script);
	put("token", text);
	unlinkat(scratch, "count", 0);
	if (fchmodat(scratch, "token", 0700, 0))
		bail("the command cannot be made a program");
}

static void expect_token(
	const struct config *config, const char *provider, int kept_fd, const char *expected)
{
	char *token = NULL;
	struct err e = ERR_NONE;
	is(token_take(config, config_provider(config, provider), kept_fd, &token, &e), 0,
		"a token of %s%s%s", provider, e.text[0] ? ": " : "", e.text);
	is_str(token, expected, "which is %s", expected);
	free(token);
}

static void expect_none(const struct config *config, const char *script, const char *why)
{
	char *token = NULL, expected[4096];
	struct err e = ERR_NONE;
	put_command(script);
	snprintf(expected, sizeof(expected),
		"there is no key for the provider a: its token_command, %s/token, %s",
		tap_scratch(), why);
	is(token_take(config, config_provider(config, "a"), -1, &token, &e), -1, "%s", why);
	is_str(e.text, expected, "%s: its one message", why);
}

static void test_causes(const struct config *config)
{
	expect_none(config, "exit 7", "failed with exit status 7");
	expect_none(config, "echo 'log in' >&2; exit 1", "failed with exit status 1: log in");
	expect_none(config, "kill -TERM $$", "was killed by signal 15");
	expect_none(config, "exit 0", "printed nothing");
	expect_none(config, "printf ' \\n\\t\\n'", "printed nothing");
	expect_none(config, "exec head -c 65537 /dev/zero", "printed more than 64 KiB");
	tick_ms = 29900;
	expect_none(config, "exec sleep 600", "took longer than 30 s");
	expect_none(config, "exec >&- 2>&-; exec sleep 600", "took longer than 30 s");
	tick_ms = 0;
}

static void test_expiry(const struct config *config)
{
	struct err e = ERR_NONE;
	AUTO_FD int kept_fd = token_open(&e);
	put_command("printf first");
	ok(!token_kept(config_provider(config, "a"), kept_fd), "nothing is kept at first");
	is(runs(), 0, "and looking for it runs nothing");
	expect_token(config, "a", kept_fd, "first");
	put_command("printf second");
	now_ms += 269999;
	expect_token(config, "a", kept_fd, "first");
	is(runs(), 0, "a text is kept for five minutes but the last 30 seconds");
	expect_token(config, "b", kept_fd, "second");
	is(runs(), 1, "another provider's token is another");
	now_ms += 1;
	ok(!token_kept(config_provider(config, "a"), kept_fd), "no longer");
	expect_token(config, "a", kept_fd, "second");
	is(runs(), 2, "then it is fetched again");
	expect_token(config, "a", -1, "second");
	is(runs(), 3, "nothing is kept where there is no memory for it");
}

static void test_lifetimes(const struct config *config)
{
	static const struct {
		const char *expires_in;
		int64_t secs;
	} rows[] = {
		{"3600", 3570},
		{"\"3600\"", 3570},
		{"100", 90}, /* a tenth, where that is less than 30 seconds */
		{"\"soon\"", 270},
		{"null", 270},
		{"1e300", 365 * 24 * 3600 - 30},
		{"0", 0},
		{"-5", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char script[200];
		struct err e = ERR_NONE;
		AUTO_FD int kept_fd = token_open(&e);
		snprintf(script, sizeof(script),
			"echo '{\"access_token\":\"word\",\"expires_in\":%s}'", rows[i].expires_in);
		put_command(script);
		expect_token(config, "a", kept_fd, "word");
		now_ms += rows[i].secs ? rows[i].secs * 1000 - 1 : 0;
		char *kept = token_kept(config_provider(config, "a"), kept_fd);
		ok(!kept == !rows[i].secs, "expires_in %s: %d s are not over", rows[i].expires_in,
			(int)rows[i].secs);
		free(kept);
		now_ms += 1;
		ok(!token_kept(config_provider(config, "a"), kept_fd), "now they are");
	}
}

int main(void)
{
	config_kit_init();
	char text[8192];
	snprintf(text, sizeof(text),
		"providers:\n"
		"  a: {api_format: openai, base_url: \"https://h\", token_command: "
		"[\"%s/token\"]}\n"
		"  b: {api_format: openai, base_url: \"https://h\", token_command: "
		"[\"%s/token\"]}\n",
		tap_scratch(), tap_scratch());
	put("config/config.yaml", text);
	struct config_paths paths = places();
	struct findings findings;
	findings_init(&findings);
	struct config *config = config_load(&paths, &findings);
	if (!config || !config_provider(config, "b"))
		bail("no configuration");
	test_causes(config);
	test_expiry(config);
	test_lifetimes(config);
	config_free(config);
	findings_done(&findings);
	return tap_done();
}
