/* Variables that make a program load or run what they name, or read its settings elsewhere. */
#include "agent/policy/judge.h"

#include <string.h>

static const char dangerous[] =
	"LD_* GIT_* BASH_ENV BASH_FUNC_* ENV SHELL PATH IFS HOME XDG_CONFIG_HOME ZDOTDIR FPATH "
	"PROMPT_COMMAND PS0 PS4 PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONBREAKPOINT PERL5* "
	"PERLLIB "
	"RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH LUA_INIT* LUA_PATH* LUA_CPATH* PHPRC "
	"PHP_INI_SCAN_DIR "
	"JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS DOTNET_STARTUP_HOOKS TAR_OPTIONS "
	"MAKEFLAGS "
	"GNUMAKEFLAGS MAKEFILES GOFLAGS RUSTC RUSTC_*WRAPPER RUSTFLAGS RUSTDOC RUSTFMT CARGO_HOME "
	"CARGO_BUILD_* CARGO_TARGET_* npm_config_* NPM_CONFIG_* *PAGER TERMINFO* DBUS_*_ADDRESS "
	"PARALLEL PARALLEL_SHELL PARALLEL_SSH PIP_* GREP GOROOT GOENV GOAUTH GOCACHEPROG "
	"PYTEST_ADDOPTS PYTEST_PLUGINS CCACHE_COMPILER CCACHE_PREFIX* CCACHE_CONFIGPATH "
	"HARNESS_PERL* "
	"MANROFF* VALGRIND_OPTS APT_CONFIG GCC_EXEC_PREFIX COMPILER_PATH PYTHONUSERBASE *EDITOR "
	"VISUAL "
	"MANOPT BROWSER LESS* RIPGREP_CONFIG_PATH AWKPATH AWKLIBPATH VIMINIT EXINIT RSYNC_RSH "
	"CVS_RSH "
	"SSH_ASKPASS SUDO_ASKPASS GCONV_PATH OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES "
	"CMAKE_*_LAUNCHER POSIXLY_CORRECT *_OPTS MAVEN_ARGS JAVA_HOME YARN_YARN_PATH YARN_PLUGINS "
	"YARN_RC_FILENAME COREPACK_* BUN_OPTIONS TF_CLI_* GROFF_* SYSTEMD_* PYTHONWARNINGS TAPE "
	"ZIPOPT "
	"RSYNC_CONNECT_PROG UV_*INDEX* UV_CONFIG_FILE GOPROXY GONOSUM* GOINSECURE CGO_*FLAGS* "
	"GEM_PATH "
	"RUBYGEMS_GEMDEPS RUSTUP_* CURL_HOME WGETRC SYSTEM_WGETRC PSQLRC MYSQL_HOME KUBECONFIG "
	"HELM_PLUGINS ANSIBLE_* AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_PYTHON* "
	"GH_CONFIG_DIR TURBO_BINARY_PATH ESBUILD_BINARY_PATH BASH_ALIASES BASH_CMDS BASH_XTRACEFD "
	"BASH_LOADABLES_PATH aliases galiases saliases functions commands path";

/* Settings of those that are known to run nothing; ? stands for a blank. */
static const char harmless[] =
	"*PAGER=cat *PAGER= *EDITOR=true *EDITOR=: GIT_AUTHOR_*=* GIT_COMMITTER_*=* "
	"GIT_TERMINAL_PROMPT=* GIT_OPTIONAL_LOCKS=* GIT_MERGE_AUTOEDIT=* CARGO_TARGET_DIR=* "
	"CARGO_BUILD_JOBS=* NODE_OPTIONS= NODE_OPTIONS=--max-old-space-size=[1-9][0-9][0-9][0-9] "
	"npm_config_loglevel=* npm_config_yes=* npm_config_cache=* NPM_CONFIG_CACHE=* "
	"LESSCHARSET=* "
	"LESSOPEN= GOENV=off GOROOT= PIP_NO_*=* PIP_DISABLE_PIP_VERSION_CHECK=* PIP_CACHE_DIR=* "
	"PIP_ROOT_USER_ACTION=* PIP_BREAK_SYSTEM_PACKAGES=* PIP_PROGRESS_BAR=* LESS= LESS=-R "
	"LESS=-FRX "
	"LESS=FRX GOFLAGS= GOFLAGS=-count=[0-9] GOFLAGS=-mod=mod GOFLAGS=-mod=readonly "
	"GOFLAGS=-mod=vendor RUSTFLAGS= RUSTFLAGS=-[AD]warnings RUSTFLAGS=-[AD]?warnings "
	"RUSTFLAGS=-C?target-cpu=native *_OPTS= *_OPTS=-Xmx[1-9][gG] "
	"*_OPTS=-Xmx[1-9][0-9][0-9][mM] "
	"*_OPTS=-Xmx[1-9][0-9][0-9][0-9][mM] COREPACK_ENABLE_*=[01] SYSTEMD_COLORS=[01] "
	"PYTHONWARNINGS=ignore PYTHONWARNINGS=default PYTHONWARNINGS=error PYTHONWARNINGS=always "
	"GOPROXY=off GOPROXY=direct GOPROXY=https://proxy.golang.org,direct "
	"RUSTUP_TOOLCHAIN=stable "
	"RUSTUP_TOOLCHAIN=beta RUSTUP_TOOLCHAIN=nightly SHELL=/bin/sh SHELL=/bin/bash "
	"SHELL=/bin/dash "
	"SHELL=/usr/bin/bash PARALLEL=[0-9] PARALLEL=[0-9][0-9]";

/* Reports whether the whole of NAME=VALUE is harmless: a pattern with a * before its = speaks of
 * the first = of the word. */
static bool is_harmless(const char *word)
{
	const char *value = strchr(word, '=');
	return list_has(harmless, word, true) &&
	       !(value && strchr(value + 1, '=') &&
		       list_has("*PAGER* *EDITOR* *_OPTS*", word, true));
}

/* Judges the variable whose name is word[0..len). */
static void judge_name(struct judge *judge, const char *word, size_t len)
{
	const char *name = arena_copy(&judge->arena, word, len);
	if (list_has(dangerous, name, true) && !is_harmless(word))
		judge_raise(
			judge, LEVEL_DESTRUCTIVE, "sets %.40s, which can change what runs", name);
}

static bool holds_code(const char *text)
{
	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		if (at[1] == '(' && at[2] != ')')
			return true;
	return strchr(text, '`');
}

void judge_evaluated(struct judge *judge, const char *text)
{
	if (holds_code(text))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "a quoted substitution, which is evaluated");
	for (const char *at = text; *at;) {
		size_t len = 0;
		while (shell_in_name(at[len]))
			len++;
		const char *next = at + len + strspn(at + len, " \t:+-*/%&|^<>");
		if (len && *next == '=' && next[1] != '=')
			judge_name(judge, at, len);
		at += len ? len : 1;
	}
}

void judge_assign(struct judge *judge, const char *word)
{
	size_t len = strcspn(word, "=+[");
	const char *value = strchr(word, '=');
	judge->assigned = true;
	judge_name(judge, word, len);
	if (word[len] == '[')
		judge_evaluated(judge, word + len);
	if (!value)
		return;
	judge_value(judge, value + 1);
	judge_evaluated(judge, value + 1);
}

unsigned run_names(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	(void)reading;
	const char *fed = call_fed(call);
	bool tests = list_has("test [ [[", call->name, false);
	bool assigns = list_has("export declare typeset local readonly", call->name, false);
	bool prints = !strcmp(call->name, "printf"), unsets = !strcmp(call->name, "unset");
	if (prints && strncmp(call_text(call, 1), "-v", 2) != 0)
		return 0;
	if (fed && strchr(fed, '['))
		judge_evaluated(judge, fed);
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call->words[i]->text;
		bool option = *word == '-';
		judge_evaluated(judge, word);
		if (assigns && option && strchr(word, 'n'))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "%s -n: a name that is computed",
				call->name);
		if (!tests && !option && (!unsets || !strcmp(word, "PATH")) && (!prints || i < 3))
			judge_assign(judge, word);
	}
	return 0;
}

unsigned run_set(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	(void)reading;
	for (size_t i = 1; i < call->count; i++) {
		judge_evaluated(judge, call->words[i]->text);
		judge_value(judge, call->words[i]->text);
	}
	return 0;
}
