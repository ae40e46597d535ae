#include "bundle/bundle_private.h"

#include "base/path.h"
#include "base/utf8.h"
#include <limits.h>
#include <stdarg.h>
#include <string.h>

const char *const bundle_folders[] = {"scripts", "prompts", "rehearsal"};
const char *const bundle_machines[] = {
	"machine.yaml", "machine.yml", "machine.json", "machine.toml"};

const char *intake_shown(const struct intake *in, const char *path)
{
	AUTO_BUF out = BUF_INIT(4 * strlen(path) + 1);
	utf8_show(&out, path);
	return arena_copy(&in->findings->arena, out.data, out.len);
}

static void remember_refused(struct bundle *bundle, const char *path)
{
	struct refused *r = arena_alloc(&bundle->arena, sizeof(*r));
	*r = (struct refused){arena_copy(&bundle->arena, path, strlen(path)), bundle->refused};
	bundle->refused = r;
}

void intake_refuse(struct intake *in, enum rule rule, const char *path, const char *format, ...)
{
	char text[600], file[PATH_MAX + 512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct finding *f = finding_add(in->findings, rule, NULL, NULL, "%s", text);
	in->machine_refused |= member_path_is_machine(path);
	struct bundle *b = in->bundle;
	size_t dir = strlen(b->named);
	if (*path)
		remember_refused(b, path);
	if (b->form == BUNDLE_LOOSE)
		dir = strrchr(b->named, '/') ? (size_t)(strrchr(b->named, '/') - b->named) : 0;
	while (dir && b->named[dir - 1] == '/')
		dir--;
	if (*path)
		snprintf(file, sizeof(file), "%.*s%s%s", (int)dir, b->named, dir ? "/" : "",
			intake_shown(in, path));
	else /* about the bundle as a whole */
		snprintf(file, sizeof(file), "%s", b->named);
	f->file = arena_copy(&in->findings->arena, file, strlen(file));
}

bool member_path_is_machine(const char *path)
{
	for (size_t i = 0; i < BUNDLE_MACHINES; i++)
		if (!strcmp(path, bundle_machines[i]))
			return true;
	return false;
}

bool member_path_allowed(const char *path)
{
	for (size_t i = 0; i < BUNDLE_FOLDERS; i++)
		if (path_is_below(path, bundle_folders[i]))
			return true;
	if (strchr(path, '/'))
		return false;
	return !strncmp(path, "README", 6) || !strncmp(path, "LICENSE", 7) ||
	       member_path_is_machine(path);
}

/* Returns what is wrong with one name; NULL: nothing. */
static const char *name_problem(const char *name, size_t len)
{
	if (!len || (len == 1 && name[0] == '.') || (len == 2 && !strncmp(name, "..", 2)))
		return "an empty name, '.' or '..' is part of it";
	if (len > 255)
		return "a name is longer than 255 bytes";
	if (utf8_prefix(name, len) != len)
		return "the name is not valid UTF-8";
	for (size_t i = 0; i < len;) {
		uint32_t code;
		i += utf8_step(name + i, len - i, &code);
		if (code < 0x20 || utf8_is_control(code))
			return "the name holds a control character";
		if (utf8_is_odd(code))
			return "the name holds a character that is not seen";
		if (code == '\\')
			return "the name holds a backslash";
	}
	return NULL;
}

bool intake_path(struct intake *in, const char *path)
{
	size_t depth = 0, start = 0;
	const char *problem = NULL;
	for (size_t at = 0; !problem; at = start) {
		size_t len = strcspn(path + at, "/");
		problem = name_problem(path + at, len);
		if (!problem && ++depth > BUNDLE_DEPTH_MAX)
			problem = "the path is more than 16 levels deep";
		start = at + len + 1;
		if (!path[at + len])
			break;
	}
	if (problem)
		intake_refuse(in, depth > BUNDLE_DEPTH_MAX ? RULE_BUNDLE_LIMIT : RULE_BUNDLE_NAME,
			path, "%s", problem);
	return !problem;
}

bool intake_limits(struct intake *in, const char *path, uint64_t bytes)
{
	const struct bundle *b = in->bundle;
	if (in->full)
		return false;
	if (bytes > BUNDLE_MEMBER_BYTES_MAX)
		intake_refuse(in, RULE_BUNDLE_LIMIT, path,
			"the file is larger than 16 MiB, the most a member may have");
	else if (b->count == BUNDLE_MEMBERS_MAX)
		intake_refuse(in, RULE_BUNDLE_LIMIT, path,
			"this is more than the 4,096 members a bundle may have");
	else if (b->bytes + bytes > BUNDLE_BYTES_MAX)
		intake_refuse(in, RULE_BUNDLE_LIMIT, path,
			"with this file the bundle is larger than 64 MiB, the most it may have");
	else
		return true;
	in->full = bytes <= BUNDLE_MEMBER_BYTES_MAX;
	return false;
}

void intake_add(struct intake *in, const struct member *member)
{
	struct bundle *b = in->bundle;
	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		struct member *grown = arena_array(&b->arena, room, sizeof(*grown));
		if (b->count)
			memcpy(grown, b->members, b->count * sizeof(*grown));
		b->members = grown;
		b->room = room;
	}
	struct member *kept = &b->members[b->count++];
	*kept = *member;
	kept->path = arena_copy(&b->arena, member->path, strlen(member->path));
	kept->source = arena_copy(&b->arena, member->source, strlen(member->source));
	b->bytes += member->size;
}

/* --- the end: checks that need all members --------------------------------------------------- */

/* A path or one of its leading directories, with and without its case folded. */
struct prefix {
	const char *folded, *path;
	size_t len;
	bool whole; /* the member itself, not a directory above it */
};

/* Folds the case of the alphabets whose letters lie in a few rows: Latin, Greek, Cyrillic,
 * Armenian. */
static uint32_t fold(uint32_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
		(c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
		return c + 32;
	if ((c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177) ||
		(c >= 0x1e00 && c <= 0x1eff) || (c >= 0x460 && c <= 0x4bf))
		return c | 1;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
		return c + (c & 1);
	if (c >= 0x400 && c <= 0x40f)
		return c + 80;
	return c >= 0x531 && c <= 0x556 ? c + 48 : c;
}

/* Folds a text. Folding never changes the length in UTF-8 in these ranges. */
static const char *fold_text(struct arena *arena, const char *text)
{
	size_t len = strlen(text);
	char *out = arena_copy(arena, text, len);
	for (size_t i = 0; i < len;) {
		uint32_t code;
		char bytes[4];
		size_t step = utf8_step(text + i, len - i, &code);
		if (step && utf8_put(fold(code), bytes) == step)
			memcpy(out + i, bytes, step);
		i += step ? step : 1;
	}
	return out;
}

static int prefix_order(const void *left, const void *right)
{
	const struct prefix *a = left, *b = right;
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->folded, b->folded, len);
	if (order || a->len != b->len)
		return order ? order : (a->len < b->len ? -1 : 1);
	return strncmp(a->path, b->path, a->len);
}

static size_t prefixes_of(struct arena *arena, const char *path, struct prefix *out)
{
	size_t count = 0;
	const char *folded = fold_text(arena, path);
	for (size_t i = 0;; i++) {
		if (path[i] && path[i] != '/')
			continue;
		out[count++] = (struct prefix){folded, path, i, !path[i]};
		if (!path[i])
			return count;
	}
}

static void check_clash(struct intake *in, const struct prefix *a, const struct prefix *b)
{
	if (a->len != b->len || memcmp(a->folded, b->folded, a->len))
		return;
	if (memcmp(a->path, b->path, a->len))
		intake_refuse(in, RULE_BUNDLE_NAME, b->path,
			"'%.*s' and '%.*s' differ only by case: on some file systems they are one "
			"file",
			(int)a->len, a->path, (int)b->len, b->path);
	else if (a->whole && b->whole)
		intake_refuse(in, RULE_BUNDLE_NAME, b->path, "the member is there twice");
	else if (a->whole != b->whole)
		intake_refuse(in, RULE_BUNDLE_NAME, a->path,
			"'%.*s' is both a file and a directory", (int)a->len, a->path);
}

static void check_clashes(struct intake *in)
{
	const struct bundle *b = in->bundle;
	struct arena scratch;
	size_t count = 0;
	arena_init(&scratch);
	struct prefix *all = arena_array(&scratch, b->count * BUNDLE_DEPTH_MAX + 1, sizeof(*all));
	for (size_t i = 0; i < b->count; i++)
		count += prefixes_of(&scratch, b->members[i].path, all + count);
	qsort(all, count, sizeof(*all), prefix_order);
	for (size_t i = 1; i < count; i++)
		check_clash(in, &all[i - 1], &all[i]);
	arena_done(&scratch);
}

static int member_order(const void *left, const void *right)
{
	return strcmp(((const struct member *)left)->path, ((const struct member *)right)->path);
}

static void find_machine(struct intake *in)
{
	struct bundle *b = in->bundle;
	bool several = false;
	for (size_t i = 0; i < b->count; i++) {
		if (!member_path_is_machine(b->members[i].path))
			continue;
		if (b->machine && strcmp(b->members[i].path, b->machine->path)) {
			several = true;
			intake_refuse(in, RULE_BUNDLE_MACHINE, b->members[i].path,
				"there is a machine file already: %s; a bundle holds exactly one",
				b->machine->path);
		} else /* two equal members have been reported */
			b->machine = &b->members[i];
	}
	if (several) {
		b->machine = NULL; /* the one that is not meant may have errors */
		return;
	}
	if (b->machine || in->full || in->machine_refused)
		return;
	const char *loose = b->form == BUNDLE_DIRECTORY ? bundle_loose_name(in) : NULL;
	if (loose)
		intake_refuse(in, RULE_BUNDLE_MACHINE, "",
			"there is no machine.yaml, but a loose bundle; name it: %s/%s", b->named,
			loose);
	else
		intake_refuse(in, RULE_BUNDLE_MACHINE, "",
			"there is no machine file: a bundle holds machine.yaml (or .yml, .json, "
			".toml)");
}

static void compute_digest(struct bundle *bundle)
{
	struct sha256 s;
	sha256_init(&s);
	for (size_t i = 0; i < bundle->count; i++) {
		char tail[64 + SHA256_HEX];
		const struct member *m = &bundle->members[i];
		int len = snprintf(tail, sizeof(tail), "\n%04o %zu %s\n", (unsigned)m->mode,
			m->size, m->sha256);
		sha256_add(&s, m->path, strlen(m->path));
		sha256_add(&s, tail, (size_t)len);
	}
	memcpy(bundle->digest, "sha256:", 7);
	sha256_end_hex(&s, bundle->digest + 7);
}

void intake_end(struct intake *in)
{
	struct bundle *b = in->bundle;
	if (b->count)
		qsort(b->members, b->count, sizeof(*b->members), member_order);
	if (in->full)
		remember_refused(b, "");
	check_clashes(in);
	find_machine(in);
	compute_digest(b);
}
