#include "agent/policy/redact_match.h"

#include "base/secret_name.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool in_alnum(char c)
{
	return isalnum((unsigned char)c);
}

/* Reports whether a word may begin here: the byte before does not belong to one. */
static bool at_word(struct text_place p)
{
	return p.at == 0 || !is_word(p.text[p.at - 1]);
}

static const char *here(struct text_place p)
{
	return p.text + p.at;
}

static size_t left(struct text_place p)
{
	return p.len - p.at;
}

/* Compares letters without case. Called for every byte of every text, so most answers need no
 * call. */
static bool same_letter(char a, char b)
{
	return !((a ^ b) & ~0x20);
}

static bool starts(struct text_place p, const char *with)
{
	if (!left(p) || !same_letter(*here(p), *with))
		return false;
	size_t n = strlen(with);
	return left(p) >= n && !strncasecmp(here(p), with, n);
}

/* Returns the length of the run at `text` for which `in` holds. */
static size_t run_of(const char *text, size_t len, bool (*in)(char))
{
	size_t n = 0;
	while (n < len && in(text[n]))
		n++;
	return n;
}

/* A run this long without an end counts as a secret. Examining it at each of its places would take
 * time by its length squared, which an attacker could use. */
enum { ENDLESS_BYTES = 8 * 1024 };

/* --- PEM ----------------------------------------------------------------------------------- */

enum { PEM_LINE_BYTES = 100 };

bool match_pem(struct text_place p, struct match *out)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	if (!starts(p, begin))
		return false;
	size_t line = left(p) < PEM_LINE_BYTES ? left(p) : PEM_LINE_BYTES;
	const char *stop = memchr(here(p), '\n', line);
	line = stop ? (size_t)(stop - here(p)) : line;
	if (!memmem(here(p), line, "PRIVATE KEY", 11))
		return false;
	const char *close = memmem(here(p), left(p), end, sizeof(end) - 1);
	size_t len = left(p);
	if (close) {
		const char *dashes =
			memmem(close + 9, (size_t)(p.text + p.len - close) - 9, "-----", 5);
		len = dashes ? (size_t)(dashes + 5 - here(p)) : len;
	}
	*out = (struct match){0, len};
	return true;
}

/* --- headers ------------------------------------------------------------------------------- */

static bool in_header_value(char c)
{
	return c != '\n' && c != '\r' && c != '"' && c != '\'' && c != '\\';
}

static bool in_blank(char c)
{
	return c == ' ' || c == '\t' || c == '"' || c == '\'';
}

static bool in_password(char c)
{
	return isgraph((unsigned char)c) && !strchr("\"'`<>", c);
}

static bool is_placeholder(const char *value, size_t len)
{
	if (len >= sizeof(REDACT_MARK) - 1 && !memcmp(value, REDACT_MARK, sizeof(REDACT_MARK) - 1))
		return true;
	if (len == 8 && !memcmp(value, "PASSWORD", 8)) /* as our own advice writes it */
		return true;
	return !len || value[0] == '$' || value[0] == '<' || value[0] == '{' || value[0] == '%' ||
	       !strncmp(value, "...", len < 3 ? len : 3);
}

enum { LINE_BEFORE_BYTES = 1024, USER_BYTES = 256 };

/* Reports whether a command ends here: at the end of its line, or before another command. */
static bool ends_command(const char *at, const char *from)
{
	if (*at == '\n')
		return at == from || at[-1] != '\\';
	return *at && strchr("|;&", *at) && (at[1] == ' ' || at[1] == '\t');
}

/* Reports whether the command up to the place contains the word `curl`. */
static bool behind_curl(struct text_place p)
{
	size_t back = p.at < LINE_BEFORE_BYTES ? p.at : LINE_BEFORE_BYTES;
	const char *from = here(p) - back;
	if (!memmem(from, back, "curl", 4))
		return false;
	for (const char *at = here(p); at-- > from && !ends_command(at, from);) {
		struct text_place word = {p.text, p.at, (size_t)(at - p.text)};
		if (starts(word, "curl") && at_word(word) && !is_word(at[4]))
			return true;
	}
	return false;
}

/* Matches curl -u USER:PASSWORD, in each spelling of the option. */
static bool match_curl(struct text_place p, struct match *out)
{
	static const char *const longs[] = {"--user=", "--user ", "--proxy-user=", "--proxy-user "};
	size_t cluster = run_of(here(p) + 1, left(p) - 1, in_alnum), option = 0;
	if (cluster && here(p)[1] == 'u')
		option = 2;
	else if (cluster && here(p)[cluster] == 'u')
		option = cluster + 1;
	for (size_t i = 0; !cluster && i < ARRAY_LEN(longs); i++)
		option = starts(p, longs[i]) ? strlen(longs[i]) : option;
	if (!option || !behind_curl(p))
		return false;
	struct text_place v = p;
	v.at += option;
	v.at += run_of(here(v), left(v), in_blank);
	size_t user = run_of(here(v), left(v) < USER_BYTES ? left(v) : USER_BYTES, in_password);
	const char *colon = memchr(here(v), ':', user);
	if (!colon)
		return false;
	v.at = (size_t)(colon + 1 - p.text);
	size_t most = left(v) < ENDLESS_BYTES ? left(v) : ENDLESS_BYTES;
	size_t len = run_of(here(v), most, in_password);
	*out = (struct match){v.at - p.at, len};
	return len && (len == ENDLESS_BYTES || !is_placeholder(here(v), len));
}

bool match_header(struct text_place p, struct match *out)
{
	static const char *const names[] = {"authorization:", "proxy-authorization:", "x-api-key:",
		"api-key:", "cookie:", "set-cookie:"};
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest "};
	if (!at_word(p) || !is_word(*here(p)))
		return false;
	if (*here(p) == '-' && match_curl(p, out))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!starts(p, names[i]))
			continue;
		struct text_place v = p;
		v.at += strlen(names[i]);
		v.at += run_of(here(v), left(v), in_blank);
		for (size_t k = 0; k < ARRAY_LEN(schemes); k++)
			if (starts(v, schemes[k])) {
				v.at += strlen(schemes[k]);
				break;
			}
		if (is_placeholder(here(v), left(v)))
			return false;
		size_t len = run_of(here(v), left(v), in_header_value);
		*out = (struct match){v.at - p.at, len};
		return len >= 4 && !is_placeholder(here(v), len);
	}
	return false;
}

/* --- URLs ---------------------------------------------------------------------------------- */

/* Reports whether a byte may belong to the authority. An unencoded password may hold any letter,
 * even `@`; the last `@` is before the host. */
static bool in_authority(char c)
{
	return (isgraph((unsigned char)c) && !strchr("/\"'<>?#", c)) || (unsigned char)c >= 0x80;
}

/* Returns the colon after the user, whose name may be a placeholder; NULL: there is none. */
static const char *user_end(const char *user, size_t len)
{
	const size_t mark = sizeof(REDACT_MARK) - 1;
	const char *at = user;
	for (const char *colon; (colon = memchr(at, ':', (size_t)(user + len - at)));) {
		at = colon + 1;
		if ((size_t)(at - user) < mark || memcmp(at - mark, REDACT_MARK, mark) != 0)
			return colon;
	}
	return NULL;
}

/* Matches scheme://user:PASSWORD@. */
bool match_url(struct text_place p, struct match *out)
{
	if (!starts(p, "://"))
		return false;
	const char *user = here(p) + 3;
	const char *at = memrchr(user, '@', run_of(user, left(p) - 3, in_authority));
	const char *colon = at ? user_end(user, (size_t)(at - user)) : NULL;
	if (!colon)
		return false;
	size_t secret = (size_t)(at - colon) - 1;
	*out = (struct match){(size_t)(colon + 1 - here(p)), secret};
	return secret && !is_placeholder(colon + 1, secret);
}

/* --- NAME = VALUE -------------------------------------------------------------------------- */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool ends_with(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);
	return len >= n && same_letter(name[len - 1], suffix[n - 1]) &&
	       !strncasecmp(name + len - n, suffix, n);
}

/* Reports whether a name says that its value is secret. NAMES_LIKE_THIS are environment variables.
 * Other spellings are code, where "primary_key = id" is common, so there only names of credentials
 * count. */
static bool is_secret_name(const char *name, size_t len, bool *shouted)
{
	static const char *const code[] = {"api_key", "apikey", "api-key", "secret_key",
		"access_key", "private_key", "_secret", "_token", "password", "_credentials",
		"-token", "-secret"};
	*shouted = true;
	for (size_t i = 0; i < len; i++)
		*shouted = *shouted && !islower((unsigned char)name[i]);
	if (*shouted && secret_name(name, len))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(code); i++)
		if (ends_with(name, len, code[i]))
			return true;
	return false;
}

static bool in_plain_value(char c)
{
	return isgraph((unsigned char)c) && !strchr("\"'`,;)}]&|<>", c);
}

static bool in_quoted_value(char c)
{
	return c != '"' && c != '\'' && c != '`' && c != '\n' && c != '\r';
}

static bool is_type_word(const char *value, size_t len)
{
	static const char *const words[] = {"str", "string", "int", "integer", "bool", "boolean",
		"none", "null", "nil", "true", "false", "undefined", "required", "optional",
		"bytes", "any", "object", "secret", "password", "token", "changeme", "example"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == len && !strncasecmp(value, words[i], len))
			return true;
	return false;
}

static bool is_uniform(const char *value, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (value[i] != value[0] && value[i] != '-')
			return false;
	return true;
}

/* Reports whether the value is an expression, such as os.environ[...], getenv(...) or
 * config.key. */
static bool is_expression(const char *value, size_t len)
{
	size_t name = run_of(value, len, in_name);
	return name && name < len &&
	       (value[name] == '(' || value[name] == '[' || value[name] == '.') &&
	       (isalpha((unsigned char)value[0]) || value[0] == '_');
}

static bool has_digit(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isdigit((unsigned char)value[i]))
			return true;
	return false;
}

static bool is_secret_value(const char *value, size_t len, bool quoted, bool shouted)
{
	if (is_placeholder(value, len) || is_type_word(value, len) || is_uniform(value, len))
		return false;
	return shouted || (len >= 6 && (quoted || has_digit(value, len)));
}

bool match_value(struct text_place p, struct match *out)
{
	if (!at_word(p) || !in_name(*here(p)))
		return false;
	size_t name = run_of(here(p), left(p), in_name);
	bool shouted;
	if (!is_secret_name(here(p), name, &shouted))
		return false;
	struct text_place v = p;
	v.at += name;
	v.at += run_of(here(v), left(v), in_blank);
	if (!left(v) || (*here(v) != '=' && *here(v) != ':'))
		return false;
	v.at++;
	size_t blanks = run_of(here(v), left(v), in_blank);
	v.at += blanks;
	bool quoted = blanks && (v.text[v.at - 1] == '"' || v.text[v.at - 1] == '\'');
	if (is_placeholder(here(v), left(v)) || (!quoted && is_expression(here(v), left(v))))
		return false;
	size_t len = run_of(here(v), left(v), quoted ? in_quoted_value : in_plain_value);
	*out = (struct match){v.at - p.at, len};
	return len > ENDLESS_BYTES || (len && is_secret_value(here(v), len, quoted, shouted));
}

/* --- tokens -------------------------------------------------------------------------------- */

static bool in_token(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool in_upper(char c)
{
	return isupper((unsigned char)c) || isdigit((unsigned char)c);
}

static bool in_jwt(char c)
{
	return in_token(c) || c == '.' || c == '=';
}

/* prefix, shortest and longest tail (0: any), its alphabet */
static const struct {
	const char *prefix;
	size_t min, max;
	bool (*in)(char);
} shapes[] = {
	{"sk_live_", 16, 0, in_alnum},
	{"rk_live_", 16, 0, in_alnum},
	{"whsec_", 20, 0, in_alnum},
	{"sk-", 20, 0, in_token},
	{"pk-", 20, 0, in_token},
	{"ghp_", 36, 0, in_alnum},
	{"gho_", 36, 0, in_alnum},
	{"ghu_", 36, 0, in_alnum},
	{"ghs_", 36, 0, in_alnum},
	{"ghr_", 36, 0, in_alnum},
	{"github_pat_", 50, 0, in_token},
	{"glpat-", 20, 0, in_token},
	{"npm_", 36, 36, in_alnum},
	{"xoxa-", 20, 0, in_token},
	{"xoxb-", 20, 0, in_token},
	{"xoxe-", 20, 0, in_token},
	{"xoxp-", 20, 0, in_token},
	{"xoxr-", 20, 0, in_token},
	{"xoxs-", 20, 0, in_token},
	{"xapp-", 20, 0, in_token},
	{"AKIA", 16, 16, in_upper},
	{"ASIA", 16, 16, in_upper},
	{"AIza", 35, 35, in_token},
	{"hf_", 30, 0, in_alnum},
	{"dop_v1_", 40, 0, in_alnum},
	{"ya29.", 20, 0, in_token},
	{"pypi-", 40, 0, in_token},
	{"SG.", 40, 0, in_jwt},
};

/* Reports whether a tail is random. Some random keys have no digits; words joined by dashes are
 * names. */
static bool is_random(const char *tail, size_t len, bool (*in)(char))
{
	if (is_uniform(tail, len))
		return false;
	if (has_digit(tail, len) || !in('-'))
		return true;
	bool lower = false, upper = false;
	for (size_t i = 0; i < len; i++) {
		lower = lower || islower((unsigned char)tail[i]);
		upper = upper || isupper((unsigned char)tail[i]);
	}
	return lower && upper && !memchr(tail, '-', len);
}

static bool match_jwt(struct text_place p, struct match *out)
{
	size_t len = run_of(here(p), left(p), in_jwt), dots = 0;
	*out = (struct match){0, len};
	if (len > ENDLESS_BYTES)
		return true;
	while (len && here(p)[len - 1] == '.')
		len--;
	for (size_t i = 0; i < len; i++)
		dots += here(p)[i] == '.';
	*out = (struct match){0, len};
	return len >= 30 && dots == 2;
}

bool match_token(struct text_place p, struct match *out)
{
	if (!at_word(p) || !in_alnum(*here(p)))
		return false;
	if (left(p) > 3 && !memcmp(here(p), "eyJ", 3))
		return match_jwt(p, out);
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		const char *prefix = shapes[i].prefix;
		if (*here(p) != *prefix)
			continue;
		size_t n = strlen(prefix);
		if (left(p) <= n || memcmp(here(p), prefix, n))
			continue;
		const char *tail = here(p) + n;
		size_t len = run_of(tail, left(p) - n, shapes[i].in);
		bool fits = len >= shapes[i].min && (!shapes[i].max || len == shapes[i].max);
		*out = (struct match){0, n + len};
		if (fits && (len > ENDLESS_BYTES || is_random(tail, len, shapes[i].in)))
			return true;
	}
	return false;
}

/* --- entropy ------------------------------------------------------------------------------- */

enum { ENTROPY_MIN_BYTES = 40 };
static const double entropy_min_bits = 4.3;

static bool in_base64(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("+/=_~-", c));
}

static double bits_per_byte(const char *text, size_t len)
{
	size_t counts[256] = {0};
	double bits = 0;
	for (size_t i = 0; i < len; i++)
		counts[(unsigned char)text[i]]++;
	for (size_t i = 0; i < 256; i++)
		if (counts[i]) {
			double share = (double)counts[i] / (double)len;
			bits -= share * log2(share);
		}
	return bits;
}

/* Reports whether a word is a digest, a public key or a path: these have the same alphabet. */
static bool is_harmless(struct text_place p, const char *word, size_t len)
{
	static const char *const before[] = {"h1:", "SHA256:", "base64,", "ssh-rsa ",
		"ssh-ed25519 ", "ecdsa-sha2-nistp256 ", "integrity", "sha256:", "sha512:"};
	size_t slashes = 0, lead = (size_t)(word - p.text);
	for (size_t i = 0; i < len; i++)
		slashes += word[i] == '/';
	if (slashes > 3 || !strncmp(word, "AAAA", 4) || !strncmp(word, "sha", 3))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(before); i++) {
		size_t n = strlen(before[i]);
		if (lead >= n && !memcmp(word - n, before[i], n))
			return true;
	}
	return false;
}

bool match_entropy(struct text_place p, struct match *out)
{
	if (p.at && in_base64(p.text[p.at - 1]))
		return false;
	size_t len = run_of(here(p), left(p), in_base64);
	bool lower = false, upper = false;
	if (len < ENTROPY_MIN_BYTES)
		return false;
	/* In NAME=word, the name is not part of the secret. */
	const char *word = here(p), *equals;
	while ((equals = memchr(word, '=', len)) && equals[1] != '=' && equals + 1 < word + len) {
		len -= (size_t)(equals + 1 - word);
		word = equals + 1;
	}
	for (size_t i = 0; i < len; i++) {
		lower = lower || islower((unsigned char)word[i]);
		upper = upper || isupper((unsigned char)word[i]);
	}
	if (len < ENTROPY_MIN_BYTES || !lower || !upper || !has_digit(word, len))
		return false;
	*out = (struct match){(size_t)(word - here(p)), len};
	return bits_per_byte(word, len) >= entropy_min_bits && !is_harmless(p, word, len);
}
