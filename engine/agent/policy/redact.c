#include "agent/policy/redact.h"

#include "agent/policy/redact_match.h"
#include "agent/policy/wording.h"
#include "base/secret_name.h"

#include <ctype.h>
#include <string.h>

enum { SECRET_MAX_BYTES = 8192 };

const char *redact_kind_name(enum redact_kind kind)
{
	static const char *const names[] = {
#define KIND(kind, name) name,
		REDACT_KINDS(KIND)
#undef KIND
	};
	return names[kind];
}

int redact_add(struct redact *redact, const char *secret)
{
	return secrets_add(&redact->secrets, secret);
}

int redact_add_environment(struct redact *redact, char *const *environment)
{
	for (; *environment; environment++) {
		const char *equals = strchr(*environment, '=');
		if (equals && secret_name(*environment, (size_t)(equals - *environment)) &&
			redact_add(redact, equals + 1))
			return -1;
	}
	return 0;
}

void redact_done(struct redact *redact)
{
	secrets_done(&redact->secrets);
}

static bool match_key(const struct redact *redact, struct text_place p, struct match *out)
{
	size_t len = redact ? secrets_match(&redact->secrets, p.text + p.at, p.len - p.at) : 0;
	*out = (struct match){0, len};
	return len;
}

enum { VAGUE_KINDS = 1U << REDACT_VALUE | 1U << REDACT_ENTROPY };

/* Reports whether only a known secret can begin here, as at a space or within a word: true of most
 * places. */
static bool is_dull(struct text_place p)
{
	unsigned char c = (unsigned char)p.text[p.at];
	return isspace(c) || (isalnum(c) && p.at && isalnum((unsigned char)p.text[p.at - 1]));
}

/* Finds a secret at the place: the first recogniser that fits wins, from the surest to the
 * vaguest. */
static bool match_any(const struct redact *redact, unsigned ignored_kinds, struct text_place p,
	struct match *m, enum redact_kind *kind)
{
	static const struct {
		enum redact_kind kind;
		redact_match_fn *match;
	} matchers[] = {{REDACT_PEM, match_pem}, {REDACT_HEADER, match_header},
		{REDACT_URL, match_url}, {REDACT_VALUE, match_value}, {REDACT_TOKEN, match_token},
		{REDACT_ENTROPY, match_entropy}};
	*kind = REDACT_KEY;
	if (match_key(redact, p, m))
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
	struct text_place all;
	struct buf *out;
	struct redact_tally *tally;
	unsigned ignored_kinds;
	bool over;       /* its length and its line breaks stay */
	bool own;        /* names stay */
	size_t begun;    /* everything before this place is written */
	struct span due; /* a secret found after words that stay; these may contain other secrets */
};

static void write_over(struct buf *out, const char *secret, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_addc(out, secret[i] == '\n' || secret[i] == '\r' ? secret[i] : '*');
}

/* Replaces a secret by its mark, and with it each known secret that begins inside it, to its
 * end. */
static void put_mark(struct replacing *replacing, struct span s)
{
	if (replacing->r)
		s.to = secrets_end(&replacing->r->secrets, replacing->all.text, replacing->all.len,
			s.from, s.to);
	buf_add(replacing->out, replacing->all.text + replacing->begun, s.from - replacing->begun);
	if (replacing->over)
		write_over(replacing->out, replacing->all.text + s.from, s.to - s.from);
	else
		buf_addf(replacing->out, REDACT_MARK "%s]", redact_kind_name(s.kind));
	if (replacing->tally)
		replacing->tally->of[s.kind]++;
	replacing->begun = s.to;
	if (replacing->due.from < s.to)
		replacing->due.from = s.to;
	if (replacing->due.to <= replacing->due.from)
		replacing->due = (struct span){0};
}

static void put_off(struct replacing *replacing, struct span s)
{
	if (!replacing->due.to) {
		replacing->due = s;
		return;
	}
	replacing->due.from = s.from < replacing->due.from ? s.from : replacing->due.from;
	replacing->due.to = s.to > replacing->due.to ? s.to : replacing->due.to;
}

static bool is_name(
	const struct replacing *replacing, size_t at, struct match m, enum redact_kind kind)
{
	return replacing->own && kind == REDACT_ENTROPY &&
	       wording_is(replacing->all.text + at + m.keep, m.secret);
}

static int replace(struct replacing x)
{
	const struct text_place all = x.all;
	for (size_t i = 0; i < all.len;) {
		struct match m;
		struct span s = x.due;
		bool found = x.due.to && i == x.due.from;
		if (!found &&
			match_any(x.r, x.ignored_kinds, (struct text_place){all.text, all.len, i},
				&m, &s.kind) &&
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

int redact_text(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace(
		(struct replacing){.r = redact, .all = {text, len, 0}, .out = out, .tally = tally});
}

int redact_known(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){.r = redact,
		.all = {text, len, 0},
		.out = out,
		.tally = tally,
		.ignored_kinds = VAGUE_KINDS});
}

int redact_own(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){
		.r = redact, .all = {text, len, 0}, .out = out, .tally = tally, .own = true});
}

int redact_over(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally)
{
	return replace((struct replacing){.r = redact,
		.all = {text, len, 0},
		.out = out,
		.tally = tally,
		.over = true,
		.own = true});
}

/* Returns the secret that lies across `at`, with the words that identify it; several if they
 * overlap. from == to: none. */
static struct span across(const struct redact *redact, struct text_place p, size_t at)
{
	struct span s = {0};
	size_t back = redact && redact->secrets.longest > SECRET_MAX_BYTES ? redact->secrets.longest
									   : SECRET_MAX_BYTES;
	p.at = at > back ? at - back : 0;
	for (; p.at < p.len && (p.at < at || p.at < s.to); p.at++) {
		struct match m;
		bool inside = p.at < s.to;
		if (!(inside ? match_key(redact, p, &m) : match_any(redact, 0, p, &m, &s.kind)))
			continue;
		size_t to = p.at + m.keep + m.secret;
		s.from = inside ? s.from : p.at;
		s.to = to > s.to ? to : s.to;
	}
	return s.from < at && s.to > at ? s : (struct span){0};
}

size_t redact_cut(const struct redact *redact, const char *text, size_t len, size_t at, bool behind)
{
	/* A secret may be longer than the part that is looked at, so look again at each new cut. */
	for (struct span s; (s = across(redact, (struct text_place){text, len, 0}, at)).to;)
		at = behind ? s.to : s.from;
	return at;
}

bool redact_is_marked(const char *text)
{
	return strstr(text, REDACT_MARK);
}
