/* Programs that talk to other hosts: the destination is named, and what else they would do. */
#include "agent/policy/judge.h"

#include <string.h>

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* "user@host:path", "host::module", "scheme://host/...": the host; false: a local path. */
static bool remote_host(const char *word, char host[128])
{
	const char *scheme = strstr(word, "://");
	const char *begin = scheme ? scheme + 3 : word;
	size_t len = strcspn(begin, scheme ? "/?#" : ":");
	if (!scheme && (begin[len] != ':' || memchr(begin, '/', len) || !len))
		return false;
	const char *at = memchr(begin, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - begin);
		begin = at + 1;
	}
	if (len > 127)
		len = 127;
	memcpy(host, begin, len);
	host[len] = '\0';
	return len > 0;
}

static void name_destination(struct judge *j, const struct call *c, const char *word)
{
	char host[128];
	if (remote_host(word, host))
		judge_raise(j, LEVEL_NETWORK, "%s connects to %s", c->name, host);
	else
		judge_raise(j, LEVEL_NETWORK, "%s connects to %.100s", c->name, word);
}

/* Any network program without a judge of its own: its operands are destinations. */
unsigned judge_network(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (!is_option(word) && !c->words[i]->dynamic && strpbrk(word, ".:@"))
			name_destination(j, c, word);
	}
	judge_flags(j, c);
	if (arg_find(c, "-e", "--exec") || arg_find(c, "-c", "--sh-exec"))
		judge_danger(j, c, "an option that runs a command");
	for (size_t i = 1; i < c->count; i++)
		if (strcasestr(c->words[i]->text, "exec:") ||
			strcasestr(c->words[i]->text, "system:"))
			judge_danger(j, c, "an address that runs a command");
	return TRAIT_NETWORK;
}

/* option (short letter or 0, long), what its value must hold (NULL: anything) */
static const struct {
	char letter;
	const char *option, *what, *holds;
} curl_dangers[] = {
	{'F', "--form", "-F sends files", NULL},
	{0, "--form-string", "--form-string sends a form", NULL},
	{'d', "--data", "-d @file sends a file", "@"},
	{0, "--data-binary", "--data-binary @file sends a file", "@"},
	{0, "--data-ascii", "--data-ascii @file sends a file", "@"},
	{0, "--data-raw", "--data-raw sends data", "@"},
	{0, "--data-urlencode", "--data-urlencode @file sends a file", "@"},
	{0, "--json", "--json @file sends a file", "@"},
	{'T', "--upload-file", "-T sends a file", NULL},
	{'K', "--config", "-K reads options from a file", NULL},
	{0, "--unix-socket", "--unix-socket talks to a local service", NULL},
	{0, "--abstract-unix-socket", "--abstract-unix-socket talks to a local service", NULL},
	{'x', "--proxy", "-x goes through a proxy", NULL},
	{0, "--socks5", "--socks5 goes through a proxy", NULL},
	{0, "--socks5-hostname", "--socks5 goes through a proxy", NULL},
	{0, "--socks4", "--socks4 goes through a proxy", NULL},
	{0, "--preproxy", "--preproxy goes through a proxy", NULL},
	{'H', "--header", "-H @file sends a file", "@"},
	{0, "--variable", "--variable sends a file or what the environment holds", NULL},
	{0, "--engine", "--engine loads a library", NULL},
	{'Q', "--quote", "-Q gives orders to the server", NULL},
	{'X', "--request", "-X DELETE deletes there", "DELETE"},
	{'w', "--write-out", "-w writes files", "%output"},
};

/* Of curl and wget: options that name a file or a directory that is written. */
static const struct {
	const char *program;
	char letter;
	const char *option;
} written[] = {
	{"curl", 'o', "--output"},
	{"curl", 0, "--output-dir"},
	{"curl", 'c', "--cookie-jar"},
	{"curl", 'D', "--dump-header"},
	{"curl", 0, "--trace"},
	{"curl", 0, "--trace-ascii"},
	{"curl", 0, "--stderr"},
	{"curl", 0, "--libcurl"},
	{"curl", 0, "--etag-save"},
	{"curl", 0, "--hsts"},
	{"curl", 0, "--alt-svc"},
	{"wget", 'O', "--output-document"},
	{"wget", 'P', "--directory-prefix"},
	{"wget", 'o', "--output-file"},
	{"wget", 'a', "--append-output"},
	{"wget", 0, "--save-cookies"},
	{"wget", 0, "--warc-file"},
	{"wget", 0, "--hsts-file"},
	{"wget", 0, "--rejected-log"},
};

static void judge_written(struct judge *j, const struct call *c, size_t at, const char *with_value)
{
	for (size_t i = 0; i < ARRAY_LEN(written); i++) {
		if (strncmp(c->name, written[i].program, strlen(written[i].program)))
			continue;
		const char *to = arg_given(c, at, written[i].letter, with_value, written[i].option);
		if (to && strcmp(to, "-") && path_is_device(to))
			judge_raise(j, LEVEL_DENIED, "%s writes to %.80s", c->name, to);
		else if (to && strcmp(to, "-") && path_is_outside(j, to))
			judge_raise(j, LEVEL_DESTRUCTIVE, "%s: %s writes outside the workspace",
				c->name, written[i].option);
	}
}

static const char curl_values[] = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";

static void judge_curl_word(struct judge *j, const struct call *c, size_t at)
{
	for (size_t k = 0; k < ARRAY_LEN(curl_dangers); k++) {
		const char *given = arg_given(
			c, at, curl_dangers[k].letter, curl_values, curl_dangers[k].option);
		if (given && (!curl_dangers[k].holds || strstr(given, curl_dangers[k].holds)))
			judge_danger(j, c, curl_dangers[k].what);
	}
	judge_written(j, c, at, curl_values);
}

unsigned judge_curl(struct judge *j, const struct call *c)
{
	unsigned traits = TRAIT_NETWORK;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		judge_curl_word(j, c, i);
		if (is_option(word))
			continue;
		if (!strncmp(word, "file://", 7))
			judge_danger(j, c, "file:// reads a local file");
		else if (strstr(word, "://") || (strchr(word, '.') && i + 1 == c->count))
			name_destination(j, c, word);
	}
	return traits;
}

static const char wget_values[] = "OPaoieUQtTwl";

unsigned judge_wget(struct judge *j, const struct call *c)
{
	static const char *const dangers[] = {"--post-file", "--body-file", "--input-file",
		"--execute", "--use-askpass", "--config", "--load-cookies"};
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		judge_written(j, c, i, wget_values);
		for (size_t k = 0; k < ARRAY_LEN(dangers); k++)
			if (arg_is_long(word, dangers[k], NULL))
				judge_danger(j, c, dangers[k]);
		if (arg_has_flag(word, 'i', wget_values, NULL) ||
			arg_has_flag(word, 'e', wget_values, NULL))
			judge_danger(j, c, "-i or -e takes orders from elsewhere");
		if (arg_is_long(word, "--method", NULL) && strstr(word, "DELETE"))
			judge_danger(j, c, "--method=DELETE deletes there");
		if (!is_option(word) && strstr(word, "://"))
			name_destination(j, c, word);
	}
	return TRAIT_NETWORK;
}

static const char ssh_values[] = "BbcDEeFIiJLlmOopQRSWw";

unsigned judge_ssh(struct judge *j, const struct call *c)
{
	static const char *const keys[] = {"proxycommand", "localcommand", "knownhostscommand",
		"pkcs11provider", "securitykeyprovider", "match", "proxyusefdpass", "include"};
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		const char *setting = arg_given(c, i, 'o', ssh_values, NULL);
		setting = setting ? setting + strspn(setting, " \t\"") : "";
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			if (!strncasecmp(setting, keys[k], strlen(keys[k])))
				judge_danger(j, c, "an -o setting that runs a local command");
		if (arg_has_flag(word, 'F', ssh_values, NULL) ||
			arg_has_flag(word, 'E', ssh_values, NULL) ||
			arg_has_flag(word, 'S', ssh_values, NULL))
			judge_danger(j, c, "-F, -E or -S names a local file");
	}
	size_t at = arg_skip_options(c, 1, ssh_values, NULL);
	char host[128];
	bool copies = !strcmp(c->name, "scp");
	for (size_t i = at; i < (copies ? c->count : at + 1) && i < c->count; i++)
		if (!copies || remote_host(c->words[i]->text, host))
			name_destination(j, c, c->words[i]->text);
	return TRAIT_NETWORK;
}

unsigned judge_rsync(struct judge *j, const struct call *c)
{
	bool remote = false;
	char host[128];
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (arg_has_flag(word, 'e', "fBTM", NULL) || arg_is_long(word, "--rsh", NULL)) {
			judge_raise(j, LEVEL_NETWORK, "rsync starts a remote shell");
			judge_danger(j, c, "-e runs a command");
		}
		if (arg_is_long(word, "--rsync-path", NULL))
			judge_danger(j, c, "--rsync-path runs a command");
		if (!strncmp(word, "--del", 5) || arg_is_long(word, "--remove-source-files", NULL))
			judge_danger(j, c, "removes files");
		if (!is_option(word) && remote_host(word, host)) {
			remote = true;
			name_destination(j, c, word);
		}
	}
	return remote ? TRAIT_NETWORK : 0;
}

unsigned judge_openssl(struct judge *j, const struct call *c)
{
	bool decodes = arg_find(c, "-d", NULL) && word_in(call_text(c, 1), WORDS("enc", "base64"));
	return judge_flags(j, c) | (decodes ? TRAIT_DECODED : 0u);
}
