#include "agent/policy/redact.h"

#include "agent/policy/redact_match.h"
#include "agent/policy/wording.h"
#include "base/secret_name.h"

#include <ctype.h>
#include <string.h>

enum { SECRET_MIN_BYTES = 8, SECRET_MAX_BYTES = 8192 };

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const char *redact_kind_name(enum redact_kind kind)
{
	static const char *const names[] = {
#define KIND(kind, name) name,
		REDACT_KINDS(KIND)
#undef KIND
	};
	return names[kind];
}

static int add_needle(struct redact *r, struct buf *text)
{
	for (size_t i = 0; i < r->count; i++)
		if (text->data && !strcmp(r->needles[i], text->data)) {
			buf_clear(text);
			return 0;
		}
	char **grown = reallocarray(r->needles, r->count + 1, sizeof(*grown));
	if (!grown || text->failed)
		return -1;
	r->needles = grown;
	grown[r->count] = buf_take(text, NULL);
	if (!grown[r->count])
		return -1;
	r->begins[(unsigned char)*grown[r->count++]] = true;
	return 0;
}

/* The digits of `secret` that do not depend on what stands before and behind it when `shift` bytes
 * of something else precede it in its group of three. */
static void base64_core(
	struct buf *out, const char *secret, size_t len, size_t shift, const char *digits)
{
	size_t first = shift ? shift + 1 : 0;
	for (size_t d = first; d * 6 + 6 <= (shift + len) * 8; d++) {
		unsigned value = 0;
		for (size_t bit = d * 6; bit < d * 6 + 6; bit++) {
			unsigned char byte = (unsigned char)secret[bit / 8 - shift];
			value = value << 1 | ((unsigned)(byte >> (7 - bit % 8)) & 1U);
		}
		buf_addc(out, digits[value]);
	}
}

static int add_base64(struct redact *r, const char *secret, size_t len, struct buf *b)
{
	for (size_t shift = 0; shift < 3; shift++) {
		base64_core(b, secret, len, shift, base64_digits);
		if (add_needle(r, b))
			return -1;
		base64_core(b, secret, len, shift, url_digits);
		if (add_needle(r, b))
			return -1;
	}
	return 0;
}

/* As a JSON string holds it. Few encoders escape slashes, too. */
static int add_json(struct redact *r, const char *secret, const char *escaped, struct buf *b)
{
	static const char controls[] = "\n\t\r\b\f", letters[] = "ntrbf";
	for (const char *c = secret; *c; c++) {
		const char *control = strchr(controls, *c);
		if (control)
			buf_addf(b, "\\%c", letters[control - controls]);
		else
			buf_addf(b, strchr(escaped, *c) ? "\\%c" : "%c", *c);
	}
	return add_needle(r, b);
}

static int add_escaped(struct redact *r, const char *secret, struct buf *b)
{
	if (add_json(r, secret, "\"\\", b) || add_json(r, secret, "\"\\/", b))
		return -1;
	for (const char *c = secret; *c; c++)
		buf_addf(b, isalnum((unsigned char)*c) || strchr("-_.~", *c) ? "%c" : "%%%02X",
			(unsigned char)*c);
	if (add_needle(r, b))
		return -1;
	for (const char *c = secret; *c; c++)
		buf_addf(b, "%02x", (unsigned char)*c);
	return add_needle(r, b);
}

int redact_add(struct redact *r, const char *secret)
{
	size_t len = strlen(secret);
	if (len < SECRET_MIN_BYTES || len > SECRET_MAX_BYTES)
		return 0;
	AUTO_BUF b;
	buf_init(&b, 4 * SECRET_MAX_BYTES);
	buf_add(&b, secret, len);
	if (add_needle(r, &b) || add_escaped(r, secret, &b) || add_base64(r, secret, len, &b))
		return -1;
	return 0;
}

int redact_add_environment(struct redact *r, char *const *environment)
{
	for (; *environment; environment++) {
		const char *equals = strchr(*environment, '=');
		if (equals && secret_name(*environment, (size_t)(equals - *environment)) &&
			redact_add(r, equals + 1))
			return -1;
	}
	return 0;
}

void redact_done(struct redact *r)
{
	for (size_t i = 0; i < r->count; i++) {
		explicit_bzero(r->needles[i], strlen(r->needles[i]));
		free(r->needles[i]);
	}
	free(r->needles);
	*r = (struct redact){0};
}

/* What read_file puts in front of a line: its number and a tab. */
static size_t number_len(const char *text, size_t len)
{
	size_t n = 0;
	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	return n && n < len && text[n] == '\t' ? n + 1 : 0;
}

/* The bytes of `text` that are `needle`, its lines numbered or not; 0: they are not. */
static size_t needle_len(const char *needle, const char *text, size_t len)
{
	size_t whole = strlen(needle), at = 0;
	if (whole <= len && !memcmp(text, needle, whole))
		return whole;
	if (!strchr(needle, '\n'))
		return 0;
	for (; *needle; needle++) {
		if (at == len || text[at] != *needle)
			return 0;
		at++;
		if (*needle == '\n')
			at += number_len(text + at, len - at);
	}
	return at;
}

/* The longest: where one secret begins like another, the rest of it is secret as well. */
static bool match_key(const struct redact *r, struct place p, struct match *out)
{
	size_t longest = 0;
	size_t count = r && r->begins[(unsigned char)p.text[p.at]] ? r->count : 0;
	for (size_t i = 0; i < count; i++) {
		const char *needle = r->needles[i];
		if (needle[0] != p.text[p.at])
			continue;
		size_t len = needle_len(needle, p.text + p.at, p.len - p.at);
		longest = len > longest ? len : longest;
	}
	*out = (struct match){0, longest};
	return longest;
}

enum { VAGUE_KINDS = 1U << REDACT_VALUE | 1U << REDACT_ENTROPY };

/* Nothing but a known secret begins at a space or within a word: most of a text. */
static bool is_dull(struct place p)
{
	unsigned char c = (unsigned char)p.text[p.at];
	return isspace(c) || (isalnum(c) && p.at && isalnum((unsigned char)p.text[p.at - 1]));
}

/* The first recogniser that fits wins; the order is from the surest to the vaguest. */
static bool match_any(const struct redact *r, unsigned ignored_kinds, struct place p,
	struct match *m, enum redact_kind *kind)
{
	static const struct {
		enum redact_kind kind;
		redact_match_fn *match;
	} matchers[] = {{REDACT_PEM, match_pem}, {REDACT_HEADER, match_header},
		{REDACT_URL, match_url}, {REDACT_VALUE, match_value}, {REDACT_TOKEN, match_token},
		{REDACT_ENTROPY, match_entropy}};
	*kind = REDACT_KEY;
	if (match_key(r, p, m))
		return true;
	if (is_dull(p))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(matchers); i++)
		if (!(ignored_kinds & 1U << matchers[i].kind) && matchers[i].match(p, m)) {
			*kind = matchers[i].kind;
			return true;
		}
	return false;
}

/* A secret of that kind; from == to: none. */
struct span {
	size_t from, to;
	enum redact_kind kind;
};

struct replacing {
	const struct redact *r;
	struct place all;
	struct buf *out;
	struct redact_tally *tally;
	unsigned ignored_kinds;
	bool over;       /* its length and its line breaks stay */
	bool own;        /* names stay */
	size_t begun;    /* what stands before it is written */
	struct span due; /* found with words in front of it that are kept, and may hold others */
};

static void write_over(struct buf *out, const char *secret, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_addc(out, secret[i] == '\n' || secret[i] == '\r' ? secret[i] : '*');
}

/* Where a secret ends: with what only looks like one goes all of each known one that begins in it.
 */
static void put_mark(struct replacing *x, struct span s)
{
	for (struct place p = {x->all.text, x->all.len, s.from}; p.at < s.to; p.at++) {
		struct match m;
		if (match_key(x->r, p, &m) && p.at + m.secret > s.to)
			s.to = p.at + m.secret;
	}
	buf_add(x->out, x->all.text + x->begun, s.from - x->begun);
	if (x->over)
		write_over(x->out, x->all.text + s.from, s.to - s.from);
	else
		buf_addf(x->out, REDACT_MARK "%s]", redact_kind_name(s.kind));
	if (x->tally)
		x->tally->of[s.kind]++;
	x->begun = s.to;
	if (x->due.from < s.to)
		x->due.from = s.to;
	if (x->due.to <= x->due.from)
		x->due = (struct span){0};
}

static void put_off(struct replacing *x, struct span s)
{
	if (!x->due.to) {
		x->due = s;
		return;
	}
	x->due.from = s.from < x->due.from ? s.from : x->due.from;
	x->due.to = s.to > x->due.to ? s.to : x->due.to;
}

static bool is_name(const struct replacing *x, size_t at, struct match m, enum redact_kind kind)
{
	return x->own && kind == REDACT_ENTROPY && wording_is(x->all.text + at + m.keep, m.secret);
}

static int replace(struct replacing x)
{
	const struct place all = x.all;
	for (size_t i = 0; i < all.len;) {
		struct match m;
		struct span s = x.due;
		bool found = x.due.to && i == x.due.from;
		if (!found &&
			match_any(x.r, x.ignored_kinds, (struct place){all.text, all.len, i}, &m,
				&s.kind) &&
			!is_name(&x, i, m, s.kind)) {
			s.from = i + m.keep;
			s.to = s.from + m.secret;
			found = !m.keep;
			if (!found)
				put_off(&x, s);
		}
		if (found)
			put_mark(&x, s);
		i = found ? x.begun : i + 1;
	}
	return buf_add(x.out, all.text + x.begun, all.len - x.begun);
}

int redact_text(const struct redact *r, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace(
		(struct replacing){.r = r, .all = {text, len, 0}, .out = out, .tally = tally});
}

int redact_known(const struct redact *r, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){.r = r,
		.all = {text, len, 0},
		.out = out,
		.tally = tally,
		.ignored_kinds = VAGUE_KINDS});
}

int redact_own(const struct redact *r, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){
		.r = r, .all = {text, len, 0}, .out = out, .tally = tally, .own = true});
}

int redact_over(const struct redact *r, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){.r = r,
		.all = {text, len, 0},
		.out = out,
		.tally = tally,
		.over = true,
		.own = true});
}

/* The secret across `at`, or several where one begins in another, with the words that make one of
 * it. from == to: nothing. */
static struct span across(const struct redact *r, struct place p, size_t at)
{
	struct span s = {0};
	p.at = at > SECRET_MAX_BYTES ? at - SECRET_MAX_BYTES : 0;
	for (; p.at < p.len && (p.at < at || p.at < s.to); p.at++) {
		struct match m;
		bool inside = p.at < s.to;
		if (!(inside ? match_key(r, p, &m) : match_any(r, 0, p, &m, &s.kind)))
			continue;
		size_t to = p.at + m.keep + m.secret;
		s.from = inside ? s.from : p.at;
		s.to = to > s.to ? to : s.to;
	}
	return s.from < at && s.to > at ? s : (struct span){0};
}

size_t redact_cut(const struct redact *r, const char *text, size_t len, size_t at, bool behind)
{
	/* Of what is longer than a secret, only the part nearest to the cut was looked at. */
	for (struct span s; (s = across(r, (struct place){text, len, 0}, at)).to;)
		at = behind ? s.to : s.from;
	return at;
}

bool redact_is_marked(const char *text)
{
	return strstr(text, REDACT_MARK);
}
