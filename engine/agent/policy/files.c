/* Programs whose operands matter: files that are written or removed, hosts, git. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <string.h>

static const char *operand(const struct program_call *call, const struct reading *reading, size_t i)
{
	return i < reading->operand_count ? call_text(call, reading->operands[i]) : "";
}

static bool has_flag(const struct program_call *call, char flag)
{
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call_text(call, i);
		if (word[0] == '-' && word[1] != '-' && strchr(word + 1, flag))
			return true;
	}
	return false;
}

static bool has_option(const struct program_call *call, const char *list)
{
	for (size_t i = 1; i < call->count; i++)
		if (list_has(list, call_text(call, i), true))
			return true;
	return false;
}

static bool is_recursive(const struct program_call *call)
{
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call_text(call, i);
		if (!strcmp(word, "--"))
			break;
		bool spelled = strlen(word) > 2 && !strncmp("--recursive", word, strlen(word));
		if (spelled || (call->words[i]->computed && *word == '$' && strchr(word, '-')))
			return true;
	}
	return has_flag(call, 'r') || has_flag(call, 'R');
}

static void deny_device(struct judge *judge, const struct program_call *call, const char *path)
{
	const char *value = strchr(path, '=');
	if (path_is_device(path) || (value && path_is_device(value + 1)))
		judge_raise(judge, LEVEL_DENIED, "%s on %.80s", call->name, path);
}

unsigned run_remove(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	bool recursive = is_recursive(call);
	for (size_t i = 0; i < reading->operand_count; i++) {
		const char *path = operand(call, reading, i);
		if (recursive && path_is_vital(judge, path))
			judge_raise(
				judge, LEVEL_DENIED, "removes %.80s and everything in it", path);
		deny_device(judge, call, path);
	}
	return 0;
}

unsigned run_recursive(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	bool recursive = has_flag(call, 'R') || has_option(call, "--recursive");
	for (size_t i = 0; recursive && i < reading->operand_count; i++) {
		const char *path = operand(call, reading, i);
		if (path_is_vital(judge, path) || list_has("/etc /usr", path, false))
			judge_raise(judge, LEVEL_DENIED, "%s -R on %.80s", call->name, path);
	}
	return 0;
}

unsigned run_dd(struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	(void)reading;
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call_text(call, i);
		if (!strncmp(word, "of=", 3))
			judge_raise(judge,
				path_is_device(word + 3) ? LEVEL_DENIED : LEVEL_DESTRUCTIVE,
				"dd overwrites %.80s", word + 3);
	}
	return 0;
}

/* Judges cp, mv, ln, install: the destination comes last. */
unsigned run_copy(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (reading->operand_count > 1)
		deny_device(judge, call, operand(call, reading, reading->operand_count - 1));
	return 0;
}

unsigned run_written(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	bool tee = !strcmp(call->name, "tee");
	(void)reading;
	for (size_t i = 1; i < call->count; i++) {
		const char *path = call_text(call, i);
		deny_device(judge, call, path);
		if (tee && *path != '-' && strncmp(path, "/dev/", 5) != 0)
			judge_raise(judge, LEVEL_WRITE, "tee writes %.80s", path);
	}
	return 0;
}

/* Judges tar, whose first word may be a cluster without a dash. */
unsigned run_tar(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *first = call_text(call, 1), *old = *first == '-' ? "" : first;
	bool lists = strchr(old, 't') || has_flag(call, 't') || has_option(call, "--list");
	bool changes = strpbrk(old, "xcruA") || has_flag(call, 'x') || has_flag(call, 'c') ||
		       has_option(call, "--extract --create --get --append --update");
	bool moves = strchr(old, 'C') || has_flag(call, 'C') || has_option(call, "--dir*");
	if (strpbrk(old, "IFP"))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "tar: %.20s can run a command", old);
	if (!lists || changes)
		judge_raise(judge, LEVEL_WRITE, "tar writes files");
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call_text(call, i), *value = strchr(word, '=');
		const char *path = value                                ? value + 1
				   : !strncmp(word, "-C", 2) && word[2] ? word + 2
									: word;
		if (moves && *path != '-' && path_is_outside(judge, path))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "tar: -C leaves the workspace");
		if (!lists || changes)
			deny_device(judge, call, path);
	}
	(void)reading;
	return 0;
}

/* Judges ip, whose default is to show an object. */
unsigned run_ip(struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (reading->operand_count &&
		!list_has("show list ls get", operand(call, reading, 0), false))
		judge_raise(
			judge, LEVEL_PRIVILEGED, "%s %.60s", call->name, operand(call, reading, 0));
	return 0;
}

unsigned run_second_file(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (reading->operand_count > 1)
		judge_raise(judge, LEVEL_WRITE, "%s writes its second file", call->name);
	return 0;
}

/* Judges base64, xxd, openssl, gzip and others: some decode, some replace their file. */
unsigned run_decoder(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *name = call->name;
	bool asked = has_flag(call, 'd') || has_flag(call, 'D') || has_option(call, "--d*");
	if (list_has("base64 base32 basenc openssl", name, false))
		return asked ? TRAIT_DECODED : 0;
	if (!strcmp(name, "xxd"))
		return run_second_file(judge, call, reading) |
		       (has_flag(call, 'r') || has_option(call, "--r*") ? TRAIT_DECODED : 0u);
	bool shows = list_has("zcat xzcat bzcat zstdcat", name, false) || has_flag(call, 'c') ||
		     has_flag(call, 'l') || has_flag(call, 't') || has_option(call, "--stdout");
	for (size_t i = 1; i < call->count; i++) /* the value of -S may hold such a letter */
		shows = shows && strncmp(call_text(call, i), "-S", 2) != 0;
	if ((reading->operand_count || has_option(call, "--files*")) && !shows)
		judge_raise(judge, LEVEL_WRITE, "%s replaces its file", name);
	return asked || !list_has("gzip xz bzip2 zstd", name, false) ? TRAIT_DECODED : 0;
}

/* --- hosts --------------------------------------------------------------------------------- */

/* Adds the host of user@host:path, host::module or scheme://host/..., or the word itself, to the
 * reasons. */
static void name_destination(struct judge *judge, const struct program_call *call, const char *word)
{
	const char *scheme = strstr(word, "://"), *begin = scheme ? scheme + 3 : word;
	size_t len = strcspn(begin, scheme ? "/?#" : ":");
	const char *at = memchr(begin, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - begin);
		begin = at + 1;
	}
	judge_raise(judge, LEVEL_NETWORK, "%s connects to %.*s", call->name,
		(int)(len < 100 ? len : 100), begin);
}

unsigned run_network(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	bool remote = strcmp(call->name, "rsync") != 0;
	for (size_t i = 0; i < reading->operand_count; i++) {
		const char *word = operand(call, reading, i);
		bool path = *word == '/' || *word == '.';
		if (path || !strpbrk(word, ".:@") || call->words[reading->operands[i]]->computed)
			continue;
		if (remote || strchr(word, ':'))
			name_destination(judge, call, word);
		remote = remote || strchr(word, ':');
	}
	/* curl takes what it sends and writes from many options: these two name themselves. */
	if (!strcmp(call->name, "curl") && (has_flag(call, 'F') || has_option(call, "--form*")))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "curl: -F sends files");
	return remote ? TRAIT_NETWORK : 0;
}

unsigned run_change(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	judge_raise(judge, LEVEL_DESTRUCTIVE, "%s changes what lies elsewhere", call->name);
	return run_network(judge, call, reading);
}

/* --- git ----------------------------------------------------------------------------------- */

static void danger(struct judge *judge, const char *what)
{
	judge_raise(judge, LEVEL_DESTRUCTIVE, "git: %s", what);
}

/* Judges the options before the verb. */
static void judge_global(struct judge *judge, const struct program_call *call, size_t verb)
{
	static const char harmless[] = "color.* core.pager=cat core.pager= core.quote[pP]ath=* "
				       "user.name=* user.email=* advice.* log.date=*";
	for (size_t i = 1; i < verb; i++) {
		const char *word = call_text(call, i), *equals = strchr(word, '=');
		const char *next = call_text(call, i + 1);
		if (!strncmp(word, "-c", 2) && !list_has(harmless, word[2] ? word + 2 : next, true))
			danger(judge, "-c can execute code");
		if (!strcmp(word, "-C") && path_is_outside(judge, next))
			danger(judge, "-C leaves the workspace");
		if (list_has("--config-env* --exec-path=*", word, true))
			danger(judge, "--config-env and --exec-path can execute code");
		if (list_has("--git-dir* --work-tree*", word, true)) {
			const char *dir = equals ? equals + 1 : next;
			bool own = list_has(".git .git/ */.git */.git/", dir, true) ||
				   !strncmp(word, "--work", 6);
			if (path_is_outside(judge, dir) || !own)
				danger(judge, "settings of another place can execute code");
		}
		if (*word == '-' &&
			list_has("-c -C --git-dir --work-tree --namespace", word, false))
			i++;
	}
}

/* Keys of git's configuration whose value is or leads to a command, in lower case. */
static const char *const commands[] = {"alias.*", "core.*command", "core.editor", "core.pager",
	"core.fsmonitor", "core.hookspath", "core.askpass", "core.gitproxy", "core.worktree",
	"*.textconv", "*.clean", "*.smudge", "*.process", "diff.external", "diff.*.command",
	"merge.*.driver", "credential.*", "gpg.*", "sequence.editor", "pager.*", "difftool.*",
	"mergetool.*", "include.*", "includeif.*", "init.templatedir", "uploadpack.*",
	"web.browser", "browser.*", "sendemail.*", "ssh.variant", "submodule.*.update", "url.*",
	"protocol.*", "http.proxy", "trailer.*", "remote.*.uploadpack", "remote.*.receivepack",
	"remote.*.vcs", "tar.*", "interactive.difffilter", "man.*", "guitool.*"};

static void judge_config(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	bool looks = has_option(call, "--get* --list -l") ||
		     list_has("get list", operand(call, reading, 0), false);
	if (reading->operand_count != 1 && !looks)
		judge_raise(judge, LEVEL_WRITE, "git config sets a key");
	for (size_t i = 0; i < reading->operand_count && !looks; i++)
		for (size_t k = 0; k < ARRAY_LEN(commands); k++)
			if (!fnmatch(commands[k], operand(call, reading, i), FNM_CASEFOLD) &&
				reading->operand_count > 1)
				danger(judge, "config of a key that can execute code");
}

static void judge_clone(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *from = operand(call, reading, 0);
	bool local = *from && !strstr(from, "://") && !strchr(from, '@') &&
		     (*from == '/' || *from == '.' || !strchr(from, ':'));
	if (!local || reading->unknown)
		name_destination(judge, call, from);
}

/* Judges what follows one of the verbs whose operands matter. */
static void judge_verb(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *verb = call_text(call, reading->verb);
	bool lists = has_option(call, "--list -l --contains* --merged --no-merged --no-contains* "
				      "--points-at*");
	if (list_has("branch tag", verb, false) && reading->operand_count && !lists)
		judge_raise(judge, LEVEL_WRITE, "git %s makes or changes one", verb);
	if (!strcmp(verb, "symbolic-ref") && reading->operand_count > 1)
		judge_raise(judge, LEVEL_WRITE, "git symbolic-ref sets a reference");
	if (!strcmp(verb, "remote") && reading->operand_count &&
		strcmp(operand(call, reading, 0), "get-url") != 0)
		judge_raise(judge, LEVEL_WRITE, "git remote changes one");
	if (!strcmp(verb, "config"))
		judge_config(judge, call, reading);
	if (!strcmp(verb, "clone"))
		judge_clone(judge, call, reading);
	bool makes = has_option(call, "-b* --orphan* -B*");
	if (!strcmp(verb, "checkout") &&
		(has_option(call, "--") || (reading->operand_count > 1 && !makes)))
		danger(judge, "checkout of a path discards changes");
}

unsigned run_git(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (!reading->verb) {
		judge_global(
			judge, call, reading->operand_count ? reading->operands[0] : call->count);
		return 0;
	}
	judge_verb(judge, call, reading);
	bool connects = list_has("push fetch pull ls-remote submodule send-email svn lfs daemon "
				 "send-pack fetch-pack request-pull p4 imap-send remote-* http-*",
		call_text(call, reading->verb), true);
	for (size_t i = 0; connects && i < reading->operand_count; i++)
		if (strpbrk(operand(call, reading, i), ":@"))
			name_destination(judge, call, operand(call, reading, i));
	return connects ? TRAIT_NETWORK : 0;
}
