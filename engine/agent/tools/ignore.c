#include "agent/tools/ignore.h"

#include "base/cleanup.h"
#include <fnmatch.h>

static char *take_line(const char *text, size_t len)
{
	if (len && text[len - 1] == '\r')
		len--;
	/* Trailing spaces count only when escaped. */
	size_t kept = 0;
	for (size_t i = 0; i < len; i++) {
		bool plain = text[i] != ' ';
		i += text[i] == '\\' && i + 1 < len;
		kept = plain ? i + 1 : kept;
	}
	return kept && text[0] != '#' ? strndup(text, kept) : NULL;
}

static bool parse(struct ignore_rule *rule, char *line)
{
	char *at = line;
	rule->negated = *at == '!';
	at += rule->negated;
	size_t len = strlen(at);
	rule->directories_only = len && at[len - 1] == '/';
	if (rule->directories_only)
		at[--len] = '\0';
	const char *slash = strchr(at, '/');
	rule->anchored = slash;
	if (*at == '/')
		at++;
	rule->pattern_len = strlen(at);
	rule->pattern = *at ? strdup(at) : NULL;
	return rule->pattern;
}

void ignore_init(
	struct ignore *ignore, const struct ignore *parent, size_t prefix_len, const char *text)
{
	static const char bom[] = "\xef\xbb\xbf";
	*ignore = (struct ignore){.parent = parent, .prefix_len = prefix_len};
	text += strncmp(text, bom, strlen(bom)) ? 0 : strlen(bom);
	while (*text && ignore->count < IGNORE_RULES_MAX) {
		size_t len = strcspn(text, "\n");
		char *line = take_line(text, len);
		struct ignore_rule *grown =
			line ? reallocarray(ignore->rules, ignore->count + 1, sizeof(*grown))
			     : NULL;
		if (grown) {
			ignore->rules = grown;
			ignore->count += parse(&grown[ignore->count], line);
		}
		free(line);
		text += len + (text[len] == '\n');
	}
	ignore->cut = *text;
}

void ignore_done(struct ignore *ignore)
{
	for (size_t n = 0; n < ignore->count; n++)
		free(ignore->rules[n].pattern);
	free(ignore->rules);
}

/* Reports whether a pattern ends in a plain byte that differs from the name's last byte. */
static bool ends_otherwise(const char *pattern, size_t pattern_len, const char *name, size_t len)
{
	char last = pattern_len ? pattern[pattern_len - 1] : '*';
	bool plain = last != '*' && last != '?' && last != ']' && last != '\\';
	return plain && (!len || name[len - 1] != last);
}

/* Matches a pattern with a name; both may be parts of paths. fnmatch has no double star, so it is
 * called for each component. Every rule meets every file, and most are a plain name or a star and
 * an ending: these are decided by comparing bytes. */
static bool match_one(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
	if (ends_otherwise(pattern, pattern_len, name, name_len))
		return false;
	size_t star = pattern_len && *pattern == '*', plain = pattern_len - star;
	if (strcspn(pattern + star, "*?[\\") >= plain)
		return (star ? name_len >= plain : name_len == plain) &&
		       !memcmp(pattern + star, name + name_len - plain, plain);
	AUTO_FREE char *p = strndup(pattern, pattern_len);
	AUTO_FREE char *n = strndup(name, name_len);
	return p && n && !fnmatch(p, n, 0);
}

/* Matches component by component. If nothing fits, only the last double star takes one more
 * component: matching as early as possible between two double stars is enough, and trying the
 * others too would take exponential time. */
bool ignore_glob(const char *pattern, const char *path)
{
	const char *behind = NULL, *taken = NULL; /* of the last double star; what it leaves */
	for (;;) {
		size_t len = strcspn(pattern, "/"), name = strcspn(path, "/");
		bool last = !pattern[len];
		bool star = len > 1 && *pattern == '*' && strspn(pattern, "*") == len;
		bool fits = star || (last == !path[name] && match_one(pattern, len, path, name));
		if (fits && last)
			return true;
		if (star) {
			behind = pattern += len + 1;
			taken = path;
		} else if (fits) {
			pattern += len + 1;
			path += name + 1;
		} else {
			taken = taken ? strchr(taken, '/') : NULL;
			if (!taken)
				return false;
			path = ++taken;
			pattern = behind;
		}
	}
}

bool ignore_match(const struct ignore *ignore, const char *path, bool is_directory)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t base_len = strlen(base);
	for (; ignore; ignore = ignore->parent)
		for (size_t n = ignore->count; n > 0; n--) {
			const struct ignore_rule *r = &ignore->rules[n - 1];
			if (r->directories_only && !is_directory)
				continue;
			if (r->anchored ? ignore_glob(r->pattern, path + ignore->prefix_len)
					: match_one(r->pattern, r->pattern_len, base, base_len))
				return !r->negated;
		}
	return false;
}
