/* Programs that read, write and remove files. */
#include "agent/policy/judge.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

unsigned judge_rm(struct judge *j, const struct call *c)
{
	bool recursive = false, options = true;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (!strcmp(word, "--"))
			break;
		recursive = recursive || arg_has_flag(word, 'r', "", NULL) ||
			    arg_has_flag(word, 'R', "", NULL) ||
			    (strlen(word) > 2 && !strncmp("--recursive", word, strlen(word)));
	}
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (options && word[0] == '-') {
			options = strcmp(word, "--");
			continue;
		}
		if (recursive &&
			(path_is_root(word) || path_is_home(j, word) || path_is_above(j, word)))
			judge_raise(j, LEVEL_DENIED, "removes %.80s and everything in it", word);
		if (path_is_device(word))
			judge_raise(j, LEVEL_DENIED, "removes %.80s", word);
	}
	return 0;
}

unsigned judge_dd(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (strncmp(word, "of=", 3))
			continue;
		if (path_is_device(word + 3))
			judge_raise(j, LEVEL_DENIED, "dd writes to %.80s", word + 3);
		else
			judge_raise(j, LEVEL_DESTRUCTIVE, "dd overwrites %.80s", word + 3);
	}
	return 0;
}

/* chmod, chown, chgrp */
unsigned judge_chmod(struct judge *j, const struct call *c)
{
	bool recursive = arg_find(c, NULL, "--recursive");
	for (size_t i = 1; i < c->count; i++)
		recursive = recursive || arg_has_flag(c->words[i]->text, 'R', "", NULL);
	for (size_t i = 1; recursive && i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (path_is_root(word) || path_is_home(j, word) || !strcmp(word, "/etc") ||
			!strcmp(word, "/usr") || path_is_above(j, word))
			judge_raise(j, LEVEL_DENIED, "%s -R on %.80s", c->name, word);
	}
	return 0;
}

unsigned judge_truncate(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *value = strchr(word, '=');
		if (path_is_device(word) || (value && path_is_device(value + 1)))
			judge_raise(j, LEVEL_DENIED, "%s on %.80s", c->name, word);
	}
	return 0;
}

/* cp, mv, install, ln: the destination comes last, or with -t */
unsigned judge_copy(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *to = arg_given(c, i, 't', "", "--target-directory");
		if (to && path_is_device(to))
			judge_raise(j, LEVEL_DENIED, "%s writes to %.80s", c->name, to);
	}
	const char *last = call_text(c, c->count - 1);
	if (c->count > 2 && path_is_device(last))
		judge_raise(j, LEVEL_DENIED, "%s writes to %.80s", c->name, last);
	return 0;
}

unsigned judge_tee(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (path_is_device(word))
			judge_raise(j, LEVEL_DENIED, "tee writes to %.80s", word);
		else if (path_is_socket(word))
			judge_raise(j, LEVEL_NETWORK, "tee connects to %.80s", word + 5);
		else if (word[0] != '-' && strncmp(word, "/dev/", 5))
			judge_raise(j, LEVEL_WRITE, "tee writes %.80s", word);
	}
	return 0;
}

/* --- archives ------------------------------------------------------------------------------ */

static const struct {
	const char *option, *what;
} tar_dangers[] = {
	{"--checkpoint-action", "--checkpoint-action runs a command"},
	{"--to-command", "--to-command runs a command"},
	{"--use-compress-program", "--use-compress-program runs a command"},
	{"--info-script", "--info-script runs a command"},
	{"--new-volume-script", "--new-volume-script runs a command"},
	{"--rsh-command", "--rsh-command runs a command"},
	{"--rmt-command", "--rmt-command runs a command"},
	{"--index-file", "--index-file writes a file"},
	{"--absolute-names", "--absolute-names leaves the directory"},
	{"--remove-files", "--remove-files removes what it packs"},
	{"--recursive-unlink", "--recursive-unlink removes directories"},
	{"--delete", "--delete removes from the archive"},
};

static const char tar_values[] = "fCITXbgHKLNVF";

/* Whether a word of tar holds a letter. The first one is a cluster without its dash, too, whose
 * values are the words that follow it. */
static bool tar_flag(const struct call *c, size_t at, char letter, const char **value)
{
	const char *word = call_text(c, at);
	if (value)
		*value = "";
	if (at == 1 && *word != '-')
		return strchr(word, letter);
	return arg_has_flag(word, letter, tar_values, value);
}

static bool tar_mode(const struct call *c, char letter, const char *option)
{
	for (size_t i = 1; i < c->count; i++)
		if (tar_flag(c, i, letter, NULL) || arg_is_long(c->words[i]->text, option, NULL))
			return true;
	return false;
}

/* The values of the first word's letters follow in their order; those of others follow at once. */
static bool tar_leaves(struct judge *j, const struct call *c, size_t at)
{
	const char *word = call_text(c, at), *value = NULL;
	if (!arg_is_long(word, "--directory", &value) && !tar_flag(c, at, 'C', &value))
		return false;
	size_t next = at + 1;
	for (const char *w = word; *word != '-' && *w != 'C'; w++)
		next += strchr(tar_values, *w) != NULL;
	return path_is_outside(j, value && *value ? value : call_text(c, next));
}

unsigned judge_tar(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		for (size_t k = 0; k < ARRAY_LEN(tar_dangers); k++)
			if (arg_is_long(word, tar_dangers[k].option, NULL))
				judge_danger(j, c, tar_dangers[k].what);
		if (tar_flag(c, i, 'I', NULL))
			judge_danger(j, c, "-I runs a command");
		if (tar_flag(c, i, 'F', NULL))
			judge_danger(j, c, "-F runs a command");
		if (tar_flag(c, i, 'P', NULL))
			judge_danger(j, c, "-P leaves the directory");
		if (tar_leaves(j, c, i))
			judge_danger(j, c, "-C leaves the workspace");
	}
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *value = NULL;
		const char *file = arg_is_long(word, "--file", &value) && value ? value : word;
		size_t host = strcspn(file, ":/");
		if (host && file[host] == ':' && *file != '-')
			judge_raise(j, LEVEL_NETWORK, "tar connects to %.*s", (int)host, file);
	}
	bool lists = tar_mode(c, 't', "--list") && !tar_mode(c, 'x', "--extract") &&
		     !tar_mode(c, 'c', "--create");
	if (lists)
		return 0;
	judge_raise(j, LEVEL_WRITE, "tar writes files");
	return judge_truncate(j, c);
}

unsigned judge_zip(struct judge *j, const struct call *c)
{
	bool zips = !strcmp(c->name, "zip");
	for (size_t i = 1; zips && i < c->count; i++) {
		const char *word = c->words[i]->text;
		bool cluster = word[0] == '-' && word[1] != '-';
		if (cluster && strstr(word, "TT")) /* in a cluster, and with its value, too */
			judge_danger(j, c, "-TT runs a command");
	}
	if (arg_find(c, NULL, "--unzip-command") || arg_find(c, "-I", "--rsh-command"))
		judge_danger(j, c, "an option that runs a command");
	return judge_truncate(j, c) | judge_flags(j, c);
}

unsigned judge_unzip(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++)
		for (const char *flag = "lZpctvz"; *flag; flag++)
			if (arg_has_flag(c->words[i]->text, *flag, "dxPOI", NULL))
				return 0;
	judge_raise(j, LEVEL_WRITE, "unzip writes files");
	return 0;
}

unsigned judge_gunzip(struct judge *j, const struct call *c)
{
	static const char valued[] = "CDFMSTo"; /* of one of them: the others know no such flag */
	bool decodes = strcmp(c->name, "gzip") && strcmp(c->name, "xz") &&
		       strcmp(c->name, "bzip2") && strcmp(c->name, "zstd");
	bool to_stdout = !strcmp(c->name, "zcat") || !strcmp(c->name, "xzcat") ||
			 !strcmp(c->name, "bzcat") || !strcmp(c->name, "zstdcat");
	size_t files = 0;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		decodes = decodes || arg_has_flag(word, 'd', "", NULL) ||
			  arg_is_long(word, "--decompress", NULL);
		to_stdout = to_stdout || arg_has_flag(word, 'c', valued, NULL) ||
			    arg_is_long(word, "--stdout", NULL) ||
			    arg_has_flag(word, 'l', valued, NULL) ||
			    arg_has_flag(word, 't', valued, NULL);
		files += word[0] != '-' || arg_is_long(word, "--files0", NULL);
	}
	if (files && !to_stdout)
		judge_raise(j, LEVEL_WRITE, "%s replaces its file", c->name);
	return judge_flags(j, c) | (decodes ? TRAIT_DECODED : 0u);
}

unsigned judge_base64(struct judge *j, const struct call *c)
{
	(void)j;
	for (size_t i = 1; i < c->count; i++)
		if (arg_has_flag(c->words[i]->text, 'd', "w", NULL) ||
			arg_has_flag(c->words[i]->text, 'D', "w", NULL) ||
			arg_is_long(c->words[i]->text, "--decode", NULL))
			return TRAIT_DECODED;
	return 0;
}

unsigned judge_xxd(struct judge *j, const struct call *c)
{
	size_t input = arg_skip_options(c, 1, "clogRs", NULL);
	if (input + 1 < c->count)
		judge_raise(j, LEVEL_WRITE, "xxd writes its second file");
	for (size_t i = 1; i < c->count; i++)
		if (arg_has_flag(c->words[i]->text, 'r', "clos", NULL) ||
			arg_is_long(c->words[i]->text, "--revert", NULL))
			return TRAIT_DECODED;
	return 0;
}

/* --- text tools ---------------------------------------------------------------------------- */

unsigned judge_sort(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *to = arg_given(c, i, 'o', "kStTS", "--output");
		if (arg_is_long(c->words[i]->text, "--compress-program", NULL))
			judge_danger(j, c, "--compress-program runs a command");
		if (to)
			judge_raise(j, path_is_device(to) ? LEVEL_DENIED : LEVEL_WRITE,
				"sort writes %.80s", to);
	}
	return 0;
}

unsigned judge_split(struct judge *j, const struct call *c)
{
	if (arg_find(c, NULL, "--filter"))
		judge_danger(j, c, "--filter runs a command");
	return 0;
}

unsigned judge_uniq(struct judge *j, const struct call *c)
{
	static const char *const long_options[] = {
		"--skip-fields", "--skip-chars", "--check-chars", NULL};
	size_t input = arg_skip_options(c, 1, "fsw", long_options);
	bool options_end = !strcmp(c->words[input - 1]->text, "--");
	size_t output =
		options_end ? input + 1 : arg_skip_options(c, input + 1, "fsw", long_options);
	if (output < c->count)
		judge_raise(j, LEVEL_WRITE, "uniq writes its second file");
	return judge_reader(j, c);
}

/* Read-only programs whose operands matter for what stands behind them in a pipe. */
unsigned judge_reader(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++)
		if (path_is_socket(c->words[i]->text))
			judge_raise(j, LEVEL_NETWORK, "reads %.80s", c->words[i]->text);
	return 0;
}
