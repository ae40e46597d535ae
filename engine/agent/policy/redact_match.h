/*
 * The recognisers behind redact_text, one per kind. Each looks at one place of a text.
 */
#ifndef POLICY_REDACT_MATCH_H
#define POLICY_REDACT_MATCH_H
#include "agent/policy/redact.h"

struct text_place {
	const char *text;
	size_t len, at;
};

/* `keep` bytes at the place stay, the `secret` bytes after them go. */
struct match {
	size_t keep, secret;
};

typedef bool redact_match_fn(struct text_place p, struct match *out);

redact_match_fn match_pem, match_header, match_url, match_value, match_token, match_entropy;
#endif
