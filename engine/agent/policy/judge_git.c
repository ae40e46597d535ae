/* git: the level is the subcommand's, the danger lies in the options. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

static const struct verbs git_verbs[] = {
	{LEVEL_READ_ONLY,
		WORDS("status", "log", "diff", "show", "rev-parse", "ls-files", "blame", "annotate",
			"grep", "describe", "shortlog", "cat-file", "ls-tree", "rev-list",
			"name-rev", "merge-base", "for-each-ref", "show-ref", "show-branch", "var",
			"version", "help", "whatchanged", "count-objects", "check-ignore",
			"check-attr", "fsck", "diff-tree", "diff-index", "diff-files", "cherry",
			"range-diff", "reflog")},
	{LEVEL_DESTRUCTIVE, WORDS("rm", "reset", "clean", "restore", "rebase", "filter-branch",
				    "filter-repo", "prune", "read-tree", "update-ref", "replace",
				    "checkout-index", "remote-ext", "remote-fd")},
	{LEVEL_NETWORK, WORDS("push", "clone", "fetch", "pull", "ls-remote", "submodule",
				"send-email", "svn", "lfs", "daemon", "send-pack", "fetch-pack",
				"request-pull", "p4", "imap-send", "remote-http", "remote-https",
				"remote-ftp", "remote-ftps", "http-fetch", "http-push")},
	{LEVEL_WRITE, NULL},
};

/* Which verbs only look: with nothing but their name, with one operand, or with one of these words
 * in front. */
static const struct {
	const char *verb;
	bool alone, with_one;
	const char *const *looks;
} lookers[] = {
	{"branch", true, false,
		WORDS("--list", "-a", "-r", "-v", "-vv", "--show-current", "--contains", "--merged",
			"--no-merged", "--points-at")},
	{"tag", true, false, WORDS("--list", "-l", "-n", "--contains", "--merged", "--points-at")},
	{"remote", true, false, WORDS("-v", "get-url")},
	{"stash", false, false, WORDS("list", "show")},
	{"config", false, true,
		WORDS("--get", "--list", "-l", "--get-all", "--get-regexp", "get", "list")},
	{"symbolic-ref", false, true, NULL},
	{"worktree", false, false, WORDS("list")},
	{"notes", false, false, WORDS("list", "show")},
	{"sparse-checkout", false, false, WORDS("list")},
	{"bundle", false, false, WORDS("verify")},
	{"bisect", false, false, WORDS("log")},
	{"submodule", true, false, WORDS("status")},
	{"clean", false, false, WORDS("-n", "-nd", "-ndx", "-nfd", "--dry-run")},
	{"apply", false, false, WORDS("--check", "--stat", "--numstat", "--summary")},
};

/* verb (NULL: any), options or operands ("~text": anywhere in a word), what they do */
static const struct {
	const char *verb;
	const char *const *options;
	const char *what;
	enum level level;
} dangers[] = {
	{"grep", WORDS("--open-files-in-pager", "-O"), "starts a pager", LEVEL_DESTRUCTIVE},
	{"rebase", WORDS("--exec", "-x"), "runs a command", LEVEL_DESTRUCTIVE},
	{NULL, WORDS("--upload-pack", "--receive-pack"), "runs a command", LEVEL_DESTRUCTIVE},
	{"clone", WORDS("-u"), "runs a command", LEVEL_DESTRUCTIVE},
	{"push", WORDS("--exec"), "runs a command", LEVEL_DESTRUCTIVE},
	{"archive", WORDS("--exec"), "runs a command", LEVEL_DESTRUCTIVE},
	{"archive", WORDS("--remote"), "connects to another host", LEVEL_NETWORK},
	{"difftool", WORDS("--extcmd", "-x"), "runs a command", LEVEL_DESTRUCTIVE},
	{"submodule", WORDS("foreach"), "runs a command", LEVEL_DESTRUCTIVE},
	{"bisect", WORDS("run"), "runs a command", LEVEL_DESTRUCTIVE},
	{NULL, WORDS("--ext-diff", "--textconv"), "runs a configured command", LEVEL_DESTRUCTIVE},
	{NULL, WORDS("--show-signature", "~%G", "~%+G", "~%-G", "~% G", "~%(signature"),
		"runs a configured command", LEVEL_DESTRUCTIVE},
	{"help", WORDS("-w", "--web", "-i", "--info"), "starts a viewer", LEVEL_DESTRUCTIVE},
	{NULL, WORDS("--output"), "writes a file", LEVEL_DESTRUCTIVE},
	{"clone", WORDS("--template"), "installs hooks", LEVEL_DESTRUCTIVE},
	{"init", WORDS("--template"), "installs hooks", LEVEL_DESTRUCTIVE},
	{"clone", WORDS("--config", "-c"), "can execute code", LEVEL_DESTRUCTIVE},
	{"checkout",
		WORDS("--", ".", "--force", "-f", "--ours", "--theirs", "--pathspec-from-file"),
		"discards changes", LEVEL_DESTRUCTIVE},
	{"branch", WORDS("--set-upstream-to", "--unset-upstream"), "sets a key", LEVEL_WRITE},
	{"branch", WORDS("--edit-description"), "starts an editor", LEVEL_WRITE},
	{"switch", WORDS("--discard-changes", "--force", "-f"), "discards changes",
		LEVEL_DESTRUCTIVE},
	{"switch", WORDS("-C", "--force-create"), "moves a branch", LEVEL_DESTRUCTIVE},
	{"checkout", WORDS("-B"), "moves a branch", LEVEL_DESTRUCTIVE},
	{"branch", WORDS("-D", "-d", "--delete"), "deletes a branch", LEVEL_DESTRUCTIVE},
	{"branch", WORDS("-f", "--force", "-M"), "moves a branch", LEVEL_DESTRUCTIVE},
	{"branch", WORDS("-C"), "overwrites a branch", LEVEL_DESTRUCTIVE},
	{"branch", WORDS("--move"), "moves a branch", LEVEL_WRITE},
	{"branch", WORDS("--copy"), "makes a branch", LEVEL_WRITE},
	{"cat-file", WORDS("--filters"), "runs a configured command", LEVEL_DESTRUCTIVE},
	{"fsck", WORDS("--lost-found"), "writes files", LEVEL_WRITE},
	{"config", WORDS("--edit", "-e", "edit"), "starts an editor", LEVEL_DESTRUCTIVE},
	{"tag", WORDS("-d", "--delete"), "deletes a tag", LEVEL_DESTRUCTIVE},
	{"stash", WORDS("drop"), "deletes a stash", LEVEL_DESTRUCTIVE},
	{"stash", WORDS("clear"), "deletes every stash", LEVEL_DESTRUCTIVE},
	{"reflog", WORDS("expire", "delete", "drop"), "deletes history", LEVEL_DESTRUCTIVE},
	{"gc", WORDS("--prune"), "deletes objects", LEVEL_DESTRUCTIVE},
	{"worktree", WORDS("remove"), "deletes a worktree", LEVEL_DESTRUCTIVE},
	{"tag", WORDS("-f", "--force"), "moves a tag", LEVEL_DESTRUCTIVE},
	{"clean", WORDS("--no-dry-run"), "removes files", LEVEL_DESTRUCTIVE},
	{"apply",
		WORDS("--apply", "--no-check", "--no-stat", "--no-numstat", "--no-summary",
			"--build-fake-ancestor"),
		"writes files", LEVEL_WRITE},
	{"apply", WORDS("--unsafe-paths"), "leaves the workspace", LEVEL_DESTRUCTIVE},
	{"commit", WORDS("--amend"), "rewrites history", LEVEL_DESTRUCTIVE},
	{"push", WORDS("--force", "-f", "--force-with-lease", "--mirror"),
		"rewrites remote history", LEVEL_DESTRUCTIVE},
	{"push", WORDS("--delete", "-d", "--prune"), "deletes remotely", LEVEL_DESTRUCTIVE},
	{"maintenance", WORDS("start", "register"), "plants commands that run later",
		LEVEL_DESTRUCTIVE},
	{"remote", WORDS("update", "show", "prune", "-f"), "connects to another host",
		LEVEL_NETWORK},
};

static bool is_harmless_key(const char *setting)
{
	static const char *const keys[] = {"color.*", "core.pager=cat", "core.quotepath=*",
		"user.name=*", "user.email=*", "advice.*", "log.date=*", "core.pager="};
	char lower[128];
	size_t n = 0;
	for (; setting[n] && n < sizeof(lower) - 1; n++)
		lower[n] = (char)(setting[n] >= 'A' && setting[n] <= 'Z' ? setting[n] + 32
									 : setting[n]);
	lower[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!fnmatch(keys[i], lower, 0))
			return true;
	return false;
}

static void judge_setting(struct judge *j, const struct call *c, const char *setting)
{
	if (!is_harmless_key(setting))
		judge_danger(j, c, "-c can execute code");
}

static bool is_dot_git(const char *dir)
{
	size_t len = strlen(dir);
	while (len && dir[len - 1] == '/')
		len--;
	size_t from = len;
	while (from && dir[from - 1] != '/')
		from--;
	return len - from == 4 && !strncmp(dir + from, ".git", 4);
}

/* The options before the verb. Returns the verb's index. */
static size_t judge_global(struct judge *j, const struct call *c)
{
	size_t i = 1;
	for (; i < c->count && c->words[i]->text[0] == '-'; i++) {
		const char *word = c->words[i]->text, *value = NULL;
		if (!strcmp(word, "-c")) {
			judge_setting(j, c, call_text(c, ++i));
		} else if (!strncmp(word, "-c", 2)) {
			judge_setting(j, c, word + 2);
		} else if (!strcmp(word, "-C")) {
			if (path_is_outside(j, call_text(c, ++i)))
				judge_danger(j, c, "-C leaves the workspace");
		} else if (arg_is_long(word, "--config-env", &value)) {
			judge_danger(j, c, "--config-env can execute code");
			i += !value;
		} else if (arg_is_long(word, "--exec-path", &value)) {
			if (value)
				judge_danger(j, c, "--exec-path can execute code");
		} else if (arg_is_long(word, "--git-dir", &value) ||
			   arg_is_long(word, "--work-tree", &value)) {
			const char *dir = value ? value : call_text(c, i + 1);
			if (path_is_outside(j, dir))
				judge_danger(j, c, "--git-dir or --work-tree leaves the workspace");
			else if (strncmp(word, "--git", 5) == 0 && !is_dot_git(dir))
				judge_danger(
					j, c, "--git-dir brings settings that can execute code");
			i += !value;
		} else if (arg_is_long(word, "--namespace", &value) ||
			   arg_is_long(word, "--super-prefix", &value)) {
			i += !value;
		}
	}
	return i;
}

/* The flags of a verb that take the rest of their cluster as a value. Of a verb that is not here
 * every letter counts as a flag. */
static const char *valued_flags(const char *verb)
{
	static const char *const rows[][2] = {{"grep", "ABCefm"}, {"tag", "Fmu"}, {"checkout", "b"},
		{"switch", "c"}, {"branch", "u"}, {"clone", "bjo"}, {"push", "o"}, {"config", "ft"},
		{"difftool", "t"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i][0], verb))
			return rows[i][1];
	return "";
}

static bool word_is(const char *verb, const char *word, const char *option)
{
	if (*option == '~')
		return strstr(word, option + 1);
	if (!strncmp(option, "--", 2) && option[2]) /* --text is whole, and no --textconv */
		return strcmp(word, "--text") != 0 && arg_is_long(word, option, NULL);
	if (option[0] == '-' && option[1] && option[1] != '-')
		return arg_has_flag(word, option[1], valued_flags(verb), NULL);
	return !strcmp(word, option);
}

/* -a, -r and -v look only as long as nothing but more of them and long options is with them. */
static bool nothing_else(const struct call *c, size_t verb)
{
	for (size_t i = verb + 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (word[0] != '-' || (word[1] != '-' && strspn(word, "-arv") != strlen(word)))
			return false;
	}
	return true;
}

/* What says where to look, or how it is shown. */
static bool only_shows(const char *word)
{
	static const char *const options[] = {"--sort=", "--format=", "--color", "--no-color",
		"--column", "--no-column", "--short", "--global", "--local", "--system",
		"--worktree"};
	size_t i = 0;
	while (i < ARRAY_LEN(options) && strncmp(word, options[i], strlen(options[i])) != 0)
		i++;
	return i < ARRAY_LEN(options);
}

static bool only_looks(const struct call *c, size_t verb)
{
	size_t at = verb + 1, i = 0;
	while (i < ARRAY_LEN(lookers) && strcmp(lookers[i].verb, c->words[verb]->text) != 0)
		i++;
	if (i == ARRAY_LEN(lookers))
		return false;
	while (only_shows(call_text(c, at)))
		at++;
	const char *first = call_text(c, at);
	if (at == c->count)
		return lookers[i].alone;
	if (lookers[i].looks && word_in(first, lookers[i].looks))
		return strspn(first, "-arv") != strlen(first) || nothing_else(c, verb);
	return lookers[i].with_one && at + 1 == c->count && first[0] != '-';
}

static bool is_local_clone(const struct call *c, size_t verb)
{
	size_t at = arg_skip_options(c, verb + 1, "bcouj",
		WORDS("--branch", "--depth", "--origin", "--template", "--reference", "--config",
			"--jobs"));
	const char *from = call_text(c, at);
	return *from && !strstr(from, "://") && !strchr(from, '@') &&
	       (*from == '/' || *from == '.' || !strchr(from, ':'));
}

/* core.pager, alias.x, filter.y.clean ...: keys whose value is a command. */
static void judge_config(struct judge *j, const struct call *c, size_t verb)
{
	static const char *const keys[] = {"alias.*", "core.*command", "core.editor", "core.pager",
		"core.fsmonitor", "core.hookspath", "core.askpass", "core.gitproxy", "*.textconv",
		"*.clean", "*.smudge", "*.process", "diff.external", "diff.*.command",
		"merge.*.driver", "credential.*", "gpg.*", "gpg.program", "sequence.editor",
		"pager.*", "difftool.*", "mergetool.*", "include.*", "includeif.*",
		"init.templatedir", "uploadpack.*", "web.browser", "browser.*", "sendemail.*",
		"ssh.variant", "submodule.*.update", "url.*", "protocol.*", "core.worktree",
		"http.proxy", "trailer.*", "remote.*.uploadpack", "remote.*.receivepack",
		"remote.*.vcs", "tar.*", "interactive.difffilter", "man.*", "guitool.*"};
	for (size_t i = verb + 1; i < c->count; i++)
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			if (!fnmatch(keys[k], c->words[i]->text, FNM_CASEFOLD))
				judge_danger(j, c, "config of a key that can execute code");
}

/* git checkout TREE PATH...: what was changed there is gone. */
static bool overwrites(const struct call *c, size_t verb)
{
	size_t operands = 0;
	for (size_t i = verb + 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (arg_has_flag(word, 'b', "", NULL) || arg_has_flag(word, 'B', "", NULL) ||
			arg_is_long(word, "--orphan", NULL))
			return false;
		operands += word[0] != '-';
	}
	return operands > 1;
}

static void judge_option(struct judge *j, const char *verb, size_t row, const char *word)
{
	for (const char *const *o = dangers[row].options; *o; o++)
		if (word_is(verb, word, *o))
			judge_raise(j, dangers[row].level, "git %s %s %s", verb, *o + (**o == '~'),
				dangers[row].what);
}

static void judge_options(struct judge *j, const struct call *c, size_t verb)
{
	const char *name = c->words[verb]->text;
	for (size_t i = verb + 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		for (size_t k = 0; k < ARRAY_LEN(dangers); k++)
			if (!dangers[k].verb || !strcmp(dangers[k].verb, name))
				judge_option(j, name, k, word);
		if (!strncmp(word, "ext::", 5))
			judge_danger(j, c, "an ext:: address runs a command");
		if (!strcmp(name, "push") && word[0] == '+')
			judge_danger(j, c, "push of +ref rewrites remote history");
		if (!strcmp(name, "push") && word[0] == ':' && word[1])
			judge_danger(j, c, "push of :ref deletes remotely");
	}
}

unsigned judge_git(struct judge *j, const struct call *c)
{
	size_t verb = judge_global(j, c);
	const char *name = call_text(c, verb);
	enum level level = verb_level(git_verbs, name);
	if (verb >= c->count)
		return 0;
	judge_computed(j, c, verb, "the verb is computed");
	if (only_looks(c, verb))
		level = LEVEL_READ_ONLY;
	if (!strcmp(name, "clone") && is_local_clone(c, verb))
		level = LEVEL_WRITE;
	judge_raise(j, level, "git %.60s", name);
	for (size_t i = verb + 1; level == LEVEL_NETWORK && i < c->count; i++)
		if (strstr(c->words[i]->text, "://") || strchr(c->words[i]->text, '@'))
			judge_raise(j, level, "git connects to %.100s", c->words[i]->text);
	if (!strcmp(name, "config") && level != LEVEL_READ_ONLY)
		judge_config(j, c, verb);
	judge_options(j, c, verb);
	if (!strcmp(name, "checkout") && overwrites(c, verb))
		judge_danger(j, c, "checkout of a path discards changes");
	return level == LEVEL_NETWORK ? TRAIT_NETWORK : 0;
}
