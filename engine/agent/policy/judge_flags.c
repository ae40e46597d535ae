#include "agent/policy/judge.h"

#include <string.h>

/* Harmless programs with options that start others, load code, or write. How an option is spelled
 * says how it is found: "--long", "-x" in a cluster, "-word" behind one dash or two, "@file" of
 * more options, "word" as it is, or "~text" anywhere. */
static const struct {
	const char *const *programs;
	const char *with_value;
	enum level level;
	const char *const *options;
} flags[] = {
	{WORDS("fakeroot"), "sib", LEVEL_DESTRUCTIVE, WORDS("-l", "--lib", "-f", "--faked")},
	{WORDS("fakeroot"), "lib", LEVEL_WRITE, WORDS("-s")},
	{WORDS("dbus-run-session"), "", LEVEL_DESTRUCTIVE, WORDS("--dbus-daemon", "--config-file")},
	{WORDS("env"), "uCSa", LEVEL_DESTRUCTIVE,
		WORDS("-P")}, /* BSD: where to look for programs */
	{WORDS("rlwrap"), "bCDefgHlMOPqsStw", LEVEL_DESTRUCTIVE, WORDS("-z", "--filter")},
	{WORDS("rlwrap"), "bCDefgMOPqsStwz", LEVEL_WRITE, WORDS("-l", "--logfile", "-H")},
	{WORDS("time"), "f", LEVEL_WRITE, WORDS("-o", "--output")},
	{WORDS("strace"), "abeEIpPsSuUXO", LEVEL_WRITE, WORDS("-o", "--output")},
	{WORDS("ltrace"), "aAelnpsuwxD", LEVEL_WRITE, WORDS("-o", "--output", "-F", "--config")},
	{WORDS("valgrind"), "", LEVEL_WRITE, WORDS("~-file=")},
	{WORDS("valgrind"), "", LEVEL_DESTRUCTIVE, WORDS("--db-command")},
	{WORDS("valgrind"), "", LEVEL_NETWORK, WORDS("--log-socket")},
	{WORDS("perf"), "", LEVEL_DESTRUCTIVE, WORDS("--exec-path", "--objdump", "--addr2line")},
	{WORDS("perf"), "eopFCtGrIDxm", LEVEL_WRITE,
		WORDS("record", "script", "-c", "-o", "--output")},
	{WORDS("ccache"), "", LEVEL_WRITE,
		WORDS("-C", "-c", "-F", "-M", "-z", "--clear", "--cleanup", "--evict", "--zero")},
	{WORDS("ccache"), "", LEVEL_DESTRUCTIVE, WORDS("-o", "--set-config", "--config-path")},
	{WORDS("parallel"), "jaINLnsPECw", LEVEL_DESTRUCTIVE,
		WORDS("--rpl", "--limit", "--compress-program", "--decompress-program", "--profile",
			"-J", "--tmux", "--shebang", "--embed", "--filter", "--session")},
	{WORDS("parallel"), "", LEVEL_WRITE, WORDS("--joblog", "--results")},
	{WORDS("parallel"), "jaINLnsPECwJ", LEVEL_NETWORK,
		WORDS("-S", "--sshlogin", "--sshloginfile", "--slf", "--ssh", "--onall", "--nonall",
			"--sql", "--transfer", "--basefile")},
	{WORDS("openssl"), "", LEVEL_DESTRUCTIVE,
		WORDS("engine", "-engine", "-engine_impl", "-provider", "-provider-path", "-config",
			"-load", "~engine:", "~pkcs11:")},
	{WORDS("openssl"), "", LEVEL_WRITE,
		WORDS("-out", "-keyout", "-outdir", "-writerand", "-CAcreateserial", "-msg",
			"-signerout", "-certsout", "-sess_out", "-gendelta", "ca", "rehash")},
	{WORDS("openssl"), "", LEVEL_NETWORK,
		WORDS("s_client", "s_server", "s_time", "ocsp", "cmp", "~http:")},
	{WORDS("npm", "npx", "yarn", "pnpm"), "", LEVEL_DESTRUCTIVE,
		WORDS("--script-shell", "--node-options", "--shell", "--git", "--editor",
			"--viewer", "--browser", "--onload-script", "--node-gyp", "--python",
			"--init-module", "~--globalconfig", "~--config.")},
	{WORDS("hostname"), "", LEVEL_PRIVILEGED, WORDS("-F", "--file", "-b", "--boot")},
	{WORDS("systemctl", "hostnamectl"), "npPst", LEVEL_NETWORK, WORDS("-H", "--host")},
	{WORDS("systemctl", "hostnamectl"), "nopPst", LEVEL_PRIVILEGED, WORDS("-M", "--machine")},
	{WORDS("docker", "podman"), "l", LEVEL_NETWORK,
		WORDS("-H", "--host", "-c", "--context", "--connection", "--url", "--config")},
	{WORDS("rg"), "", LEVEL_DESTRUCTIVE, WORDS("--pre", "--hostname-bin")},
	{WORDS("fd", "fdfind"), "cdEegjoSTt", LEVEL_DESTRUCTIVE,
		WORDS("--exec", "--exec-batch", "-x", "-X")},
	{WORDS("ag"), "", LEVEL_DESTRUCTIVE, WORDS("--pager")},
	{WORDS("man"), "CEeLMmpRrSs", LEVEL_DESTRUCTIVE,
		WORDS("--pager", "-P", "-H", "--html", "-C", "--config-file")},
	{WORDS("less"), "bDhjkOoPpTtxyz", LEVEL_DESTRUCTIVE,
		WORDS("--lesskey-src", "--lesskey-file", "--lesskey-content", "-k", "~+!", "~+|")},
	{WORDS("less"), "bDhjkOoPpTtxyz", LEVEL_WRITE,
		WORDS("-o", "-O", "--log-file", "--LOG-FILE")},
	{WORDS("file"), "eFfmP", LEVEL_WRITE, WORDS("-C", "--compile")},
	{WORDS("date"), "dfIr", LEVEL_PRIVILEGED, WORDS("-s", "--set")},
	{WORDS("tree"), "HILPT", LEVEL_DESTRUCTIVE, WORDS("-o")},
	{WORDS("diff"), "", LEVEL_DESTRUCTIVE, WORDS("--diff-program")},
	{WORDS("nm", "ar", "size", "objdump", "ranlib", "strip", "ld"), "", LEVEL_DESTRUCTIVE,
		WORDS("-plugin", "--plugin", "@file")},
	{WORDS("pip"), "", LEVEL_WRITE, WORDS("--python", "--log")},
	{WORDS("diffstat"), "DefnNprSw", LEVEL_WRITE, WORDS("-o")},
	{WORDS("yq"), "", LEVEL_DESTRUCTIVE, WORDS("--security-enable-system-operator")},
	{WORDS("zstd", "zstdcat", "unzstd"), "DMTB", LEVEL_WRITE,
		WORDS("-o", "--output-dir-flat", "--output-dir-mirror", "--trace", "~--train")},
	{WORDS("zstd", "zstdcat", "unzstd"), "", LEVEL_DESTRUCTIVE, WORDS("--rm")},
	{WORDS("zip"), "bntxi", LEVEL_DESTRUCTIVE, WORDS("-m", "--move", "-d", "--delete")},
	{WORDS("7z"), "", LEVEL_DESTRUCTIVE, WORDS("-sdel", "d")},
	{WORDS("lldb"), "anpwbrcfl", LEVEL_DESTRUCTIVE,
		WORDS("-o", "-O", "-k", "-s", "-S", "-K", "~--one-line", "~--source")},
	{WORDS("hash"), "", LEVEL_DESTRUCTIVE, WORDS("-p")},
	{WORDS("mapfile", "readarray"), "", LEVEL_DESTRUCTIVE, WORDS("-C")},
	{WORDS("complete", "compgen"), "", LEVEL_DESTRUCTIVE, WORDS("-C", "-F")},
	{WORDS("bind", "jobs"), "", LEVEL_DESTRUCTIVE, WORDS("-x")},
	{WORDS("fc"), "", LEVEL_DESTRUCTIVE, WORDS("-e", "-s")},
	{WORDS("history"), "", LEVEL_DESTRUCTIVE, WORDS("-s")},
	{WORDS("history"), "", LEVEL_WRITE, WORDS("-w", "-a")},
	{WORDS("pytest"), "", LEVEL_DESTRUCTIVE, WORDS("~--basetemp")}, /* which it removes */
	{WORDS("tox"), "ec", LEVEL_DESTRUCTIVE, WORDS("-x", "--override", "exec", "devenv")},
	{WORDS("pylint"), "", LEVEL_DESTRUCTIVE, WORDS("--init-hook")},
	{WORDS("mypy"), "", LEVEL_DESTRUCTIVE, WORDS("--python-executable")},
	{WORDS("meson"), "", LEVEL_DESTRUCTIVE,
		WORDS("devenv", "foreach", "--wrapper", "--gdb-path")},
	{WORDS("bazel"), "", LEVEL_DESTRUCTIVE,
		WORDS("~--run_under", "~--workspace_status_command", "~--shell_executable")},
	{WORDS("mvn"), "", LEVEL_DESTRUCTIVE,
		WORDS("~exec:", "~-Dexec.", "~exec-maven", "~antrun:", "~groovy", "~-Dmaven.ext")},
	{WORDS("mvn"), "", LEVEL_NETWORK,
		WORDS("deploy", "site-deploy", "~:deploy", "~release:", "~wagon:", "~scm:")},
	{WORDS("mvn"), "", LEVEL_WRITE, WORDS("~versions:")},
	{WORDS("gradle"), "", LEVEL_NETWORK,
		WORDS("publish", "~:publish", "~publishAll", "uploadArchives", "closeAndRelease")},
	{WORDS("gradle"), "", LEVEL_WRITE, WORDS("-I", "--init-script")},
	{WORDS("cargo"), "", LEVEL_DESTRUCTIVE, WORDS("~linker=")},
	{WORDS("npm", "yarn", "pnpm"), "", LEVEL_DESTRUCTIVE,
		WORDS("~script-shell", "~yarnPath", "~yarn-path")},
	{WORDS("dotnet"), "", LEVEL_DESTRUCTIVE, WORDS("drop")},
	{WORDS("rake"), "ITRfgjl", LEVEL_DESTRUCTIVE,
		WORDS("-e", "-p", "-E", "--execute", "--execute-print", "--execute-continue",
			"~db:drop", "~db:reset", "~db:purge", "~:reset", "~:truncate",
			"~schema:load")},
	{WORDS("just"), "", LEVEL_DESTRUCTIVE,
		WORDS("-c", "--command", "--shell", "--shell-arg", "--chooser", "-e", "--edit")},
	{WORDS("just"), "", LEVEL_WRITE, WORDS("-f", "--justfile", "--init", "--fmt")},
	{WORDS("clang-tidy"), "", LEVEL_DESTRUCTIVE, WORDS("-load", "~-fplugin=")},
	{WORDS("rollup"), "", LEVEL_DESTRUCTIVE, WORDS("-p", "--plugin", "--configPlugin")},
	{WORDS("actionlint"), "", LEVEL_DESTRUCTIVE, WORDS("~-shellcheck", "~-pyflakes")},
	{WORDS("cppcheck"), "", LEVEL_DESTRUCTIVE,
		WORDS("~--addon-python", "~--clang", "--exename")},
	{WORDS("turbo"), "", LEVEL_NETWORK, WORDS("login", "link", "logout")},
	{WORDS("clang-tidy", "golangci-lint"), "", LEVEL_WRITE,
		WORDS("~-fix", "--export-fixes", "fmt", "custom")},
	{WORDS("phpunit"), "", LEVEL_WRITE, WORDS("--bootstrap", "--prepend", "--printer")},
	{WORDS("kubectl"), "", LEVEL_DESTRUCTIVE,
		WORDS("delete", "drain", "exec", "edit", "replace", "undo", "cp", "debug",
			"--force", "--prune", "plugin")},
	{WORDS("terraform", "tofu"), "", LEVEL_DESTRUCTIVE,
		WORDS("apply", "destroy", "-destroy", "rm", "mv", "push", "taint", "delete",
			"import", "force-unlock", "replace-provider", "console")},
	{WORDS("helm"), "", LEVEL_DESTRUCTIVE,
		WORDS("uninstall", "delete", "del", "un", "rollback", "--post-renderer", "plugin")},
	{WORDS("aws"), "", LEVEL_DESTRUCTIVE,
		WORDS("rm", "rb", "mv", "--delete", "~delete-", "~terminate-", "~remove-",
			"~deregister-", "~purge-", "~revoke-", "~disable-", "~destroy-", "~reset-",
			"~stop-")},
	{WORDS("gcloud", "az", "gsutil", "bq"), "", LEVEL_DESTRUCTIVE,
		WORDS("delete", "remove", "destroy", "purge", "reset", "stop", "rm", "rb", "mv",
			"ssh", "-d")},
	{WORDS("gh", "glab"), "", LEVEL_DESTRUCTIVE,
		WORDS("delete", "~DELETE", "merge", "close", "archive", "alias", "extension",
			"transfer", "rename", "remove")},
	{WORDS("redis-cli"), "", LEVEL_DESTRUCTIVE,
		WORDS("flushall", "flushdb", "del", "unlink", "shutdown", "config", "eval",
			"script", "debug", "rename", "FLUSHALL", "FLUSHDB", "DEL", "UNLINK",
			"SHUTDOWN", "CONFIG", "EVAL", "SCRIPT", "DEBUG", "RENAME", "--eval")},
	{WORDS("mongosh"), "", LEVEL_DESTRUCTIVE,
		WORDS("~drop", "~delete", "~remove", "~shutdown", "~require(")},
	{WORDS("mysql"), "", LEVEL_DESTRUCTIVE, WORDS("--pager", "--plugin-dir", "--init-command")},
	{WORDS("ctest"), "", LEVEL_WRITE, WORDS("-S", "-SP", "--script", "--build-and-test")},
	{WORDS("ghc"), "", LEVEL_DESTRUCTIVE, WORDS("-e", "~-pgm", "~-fplugin", "@file")},
	{WORDS("javac"), "", LEVEL_DESTRUCTIVE, WORDS("~-J-")},
	{WORDS("cloc"), "", LEVEL_DESTRUCTIVE, WORDS("--extract-with")},
	{WORDS("prove"), "aIjMP", LEVEL_DESTRUCTIVE, WORDS("--exec", "-e")},
	{WORDS("rustc"), "", LEVEL_DESTRUCTIVE, WORDS("~linker=", "@file")},
	{WORDS("pkg-config", "pkgconf"), "", LEVEL_WRITE, WORDS("--log-file")},
	{WORDS("rubocop"), "fcr", LEVEL_WRITE,
		WORDS("~--auto", "-a", "-A", "-x", "-o", "--out", "--fix-layout", "--regenerate",
			"-r", "--require", "--plugin", "--init", "--start-server", "--server")},
	{WORDS("shuf"), "in", LEVEL_WRITE, WORDS("--output", "-o")},
	{WORDS("yq"), "", LEVEL_WRITE, WORDS("--inplace", "-i", "--split-exp", "-s")},
	{WORDS("xmllint"), "", LEVEL_WRITE, WORDS("--output", "--shell")},
	{WORDS("xmllint"), "", LEVEL_NETWORK, WORDS("~://")},
	{WORDS("getent"), "", LEVEL_NETWORK, WORDS("~hosts")},
	{WORDS("gofmt"), "r", LEVEL_WRITE, WORDS("-w")},
	{WORDS("ruff"), "", LEVEL_WRITE,
		WORDS("~--fix", "--add-noqa", "-o", "--output-file", "@file")},
	{WORDS("eslint", "prettier"), "", LEVEL_WRITE, WORDS("~--cache-location", "~--cache-file")},
	{WORDS("eslint"), "cf", LEVEL_WRITE, WORDS("--fix", "-o", "--output-file")},
	{WORDS("ss"), "ADFf", LEVEL_DESTRUCTIVE, WORDS("-K", "--kill")},
	{WORDS("ss"), "ADFf", LEVEL_WRITE, WORDS("-D", "--diag")},
	{WORDS("journalctl"), "", LEVEL_WRITE, WORDS("--cursor-file")},
	{WORDS("journalctl"), "", LEVEL_PRIVILEGED,
		WORDS("~--vacuum", "--rotate", "--flush", "--sync", "--relinquish-var",
			"--smart-relinquish-var", "--setup-keys", "--update-catalog")},
	{WORDS("dmesg"), "Fflns", LEVEL_PRIVILEGED,
		WORDS("-C", "-c", "-D", "-E", "-n", "--clear", "--read-clear", "~--console")},
	{WORDS("gcc", "g++", "cc", "c++", "clang", "clang++", "cpp"), "DIULWfOmloxstdgpnc",
		LEVEL_DESTRUCTIVE,
		WORDS("-wrapper", "-fplugin", "-fpass-plugin", "-plugin", "~,-plugin", "~,--plugin",
			"~,@", "@file", "-specs", "-B", "--prefix", "--config", "-load",
			"--ld-path", "~-fuse-ld=/", "~-fuse-ld=.")},
};

static bool is_option(const char *word, const char *option, const char *with_value)
{
	size_t len = strlen(option);
	if (*option == '~')
		return strstr(word, option + 1);
	if (*option == '@')
		return *word == '@';
	if (option[1] == '-') /* npm's --no is whole */
		return strcmp(word, "--no") != 0 && arg_is_long(word, option, NULL);
	if (len == 2 && *option == '-')
		return arg_has_flag(word, option[1], with_value, NULL);
	word += *option == '-' && !strncmp(word, "--", 2);
	return !strncmp(word, option, len) && (!word[len] || word[len] == '=');
}

static void judge_flag(struct judge *j, const struct call *c, size_t row, const char *word)
{
	for (const char *const *o = flags[row].options; *o; o++)
		if (is_option(word, *o, flags[row].with_value))
			judge_raise(j, flags[row].level, "%.60s: %s", c->name, *o + (**o == '~'));
}

unsigned judge_flags(struct judge *j, const struct call *c)
{
	const char *name = program_base(c->name);
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		for (size_t k = 0; k < ARRAY_LEN(flags); k++)
			if (word_in(name, flags[k].programs))
				judge_flag(j, c, k, word);
	}
	return judge_reader(j, c);
}

/* What it is given that is no format is the time to set. */
unsigned judge_date(struct judge *j, const struct call *c)
{
	size_t at = arg_skip_options(c, 1, "dfrI", WORDS("--date", "--file", "--reference"));
	if (at < c->count && *c->words[at]->text != '+')
		judge_raise(j, LEVEL_PRIVILEGED, "date sets the clock");
	return judge_flags(j, c);
}

/* Programs that rewrite files, unless an option has them look only, and what takes that back. */
static const struct {
	const char *name;
	const char *const *looks, *const *writes;
} formatters[] = {
	{"black", WORDS("--check", "--diff"), NULL},
	{"isort", WORDS("--check", "--check-only", "--diff", "-c"), NULL},
	{"prettier", WORDS("--check", "--list-different", "-c", "-l"), WORDS("--write", "-w")},
	{"clang-format", WORDS("--dry-run", "-n"), WORDS("-i", "--i", "@file")},
	{"ruff", WORDS("--check", "--diff"), NULL},
	{"cargo", WORDS("--check"), WORDS("--config", "--print-config", "--emit")},
	{"patch", WORDS("--dry-run"), WORDS("-o", "--output")},
};

bool formatter_looks(const struct call *c)
{
	/* An option before it might take it for its value, but for these. */
	static const char *const alone[] = {"--", "--all", "--quiet", "-q", "--check", "--diff",
		"--verbose", "-v", "--dry-run", NULL};
	size_t row = 0;
	bool looks = false, cargo = !strcmp(c->name, "cargo");
	while (strcmp(formatters[row].name, program_base(c->name)) != 0)
		row++;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *before = c->words[i - 1]->text;
		if (!strcmp(word, "--") && !cargo)
			break;
		for (const char *const *o = formatters[row].writes; o && *o; o++)
			if (is_option(word, *o, "="))
				return false;
		looks = looks || (word_in(word, formatters[row].looks) &&
					 (*before != '-' || word_in(before, alone)));
	}
	return looks;
}

unsigned judge_formatter(struct judge *j, const struct call *c)
{
	bool formats = strcmp(c->name, "ruff") != 0;
	for (size_t i = 1; i < c->count; i++)
		formats = formats || !strcmp(c->words[i]->text, "format");
	if (formats && !formatter_looks(c))
		judge_raise(j, LEVEL_WRITE, "%s changes files", c->name);
	return judge_flags(j, c);
}
