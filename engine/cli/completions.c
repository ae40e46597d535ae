/* Shell completions, written from the table of verbs. */
#include "cli/bundle/stock.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

/* Returns the length of the first word of a path, which may be a group of verbs. */
static int first_word(const char *path)
{
	return (int)strcspn(path, " ");
}

/* Calls `each` once per distinct first word. */
static void each_first(void (*each)(const char *word, int len))
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	for (size_t i = 0; i < count; i++) {
		int len = first_word(all[i]->path);
		bool known = false;
		for (size_t k = 0; k < i; k++)
			known |= first_word(all[k]->path) == len &&
				 !strncmp(all[k]->path, all[i]->path, (size_t)len);
		if (!known)
			each(all[i]->path, len);
	}
}

static void print_word(const char *word, int len)
{
	printf("%.*s ", len, word);
}

static void print_second_words(const char *group, int len)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	for (size_t i = 0; i < count; i++)
		if (first_word(all[i]->path) == len && !strncmp(all[i]->path, group, (size_t)len) &&
			all[i]->path[len] == ' ')
			printf("%s ", all[i]->path + len + 1);
}

static void bash_group(const char *word, int len)
{
	printf("\t\t%.*s) words=\"", len, word);
	print_second_words(word, len);
	puts("\" ;;");
}

static void print_options(const struct verb *verb)
{
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		printf("--%s ", o->name);
	fputs("--help", stdout);
}

static void print_choices(const struct verb_option *option)
{
	for (const char *p = option->value; *p; p++)
		putchar(*p == '|' ? ' ' : *p);
}

static bool has_choices(const struct verb_option *option)
{
	return option->value && strchr(option->value, '|');
}

/* Returns a command that prints the possible values of `metavariable`, in the syntax of all three
 * shells. NULL: file names, as for every text with a slash. */
static const char *source(const char *metavariable)
{
	static const char instances[] = "agent6 machine list 2>/dev/null | sed \"1d;s/ .*//\"";
	/* Anybody may choose a model's name, which is part of a key, and a shell expands its
	 * offers. */
	static const char settings[] =
		"agent6 config show 2>/dev/null | sed -nE \"s/^([[:alnum:]._:@/-]+) .*/\\1/p\"";
	static const struct {
		const char *metavariable, *command;
	} known[] = {{"ID", instances}, {"ID|DIR", instances}, {"[ID...]", instances},
		{"KEY", settings}, {"KEY VALUE", settings},
		{"SHELL", "echo bash zsh fish | tr \" \" \"\\n\""}, {"TEMPLATE", stock_lister}};
	for (size_t i = 0; metavariable && i < ARRAY_LEN(known); i++)
		if (!strcmp(metavariable, known[i].metavariable))
			return known[i].command;
	return NULL;
}

/* Writes the commands that complete arguments, and values of options without choices. */
static void each_source(const char *assign, const char *end)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	for (size_t i = 0; i < count; i++) {
		const char *argument = source(all[i]->arguments);
		for (const struct verb_option *o = all[i]->options; o && o->name; o++) {
			const char *value = source(o->value);
			if (value)
				printf("\t\"%s \"*\"--%s\") %s%s%s ;;\n", all[i]->path, o->name,
					assign, value, end);
			else if (argument && o->value)
				printf("\t\"%s \"*\"--%s\"%s) ;;\n", all[i]->path, o->name,
					strcmp(o->name, "output") ? "" : "|*\"-o\"");
		}
		if (argument)
			printf("\t\"%s \"*) %s%s%s ;;\n", all[i]->path, assign, argument, end);
	}
}

/* Writes the completions of values with choices. `assign` is how the shell keeps words. */
static void each_choice(const char *assign, const char *end)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	for (size_t i = 0; i < count; i++)
		for (const struct verb_option *o = all[i]->options; o && o->name; o++) {
			if (!has_choices(o))
				continue;
			printf("\t\"%s \"*\"--%s\") %s", all[i]->path, o->name, assign);
			print_choices(o);
			printf("%s ;;\n", end);
		}
}

static void bash(void)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	puts("# bash completion for agent6; made by `agent6 completions bash`\n"
	     "_agent6() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	     "\tlocal verb=\"${COMP_WORDS[1]} ${COMP_WORDS[2]}\"\n"
	     "\tif [[ $COMP_CWORD -eq 1 ]]; then");
	fputs("\t\twords=\"", stdout);
	each_first(print_word);
	puts("--help --version\"\n"
	     "\telif [[ $COMP_CWORD -eq 2 ]]; then\n\t\tcase ${COMP_WORDS[1]} in");
	each_first(bash_group);
	puts("\t\tesac\n\tfi\n\tcase \"$verb $prev\" in");
	each_choice("words=\"", "\"");
	puts("\tesac\n\tif [[ -z $words && $cur == -* ]]; then\n\t\tcase \"$verb \" in");
	for (size_t i = 0; i < count; i++) {
		printf("\t\t\"%s \"*) words=\"", all[i]->path);
		print_options(all[i]);
		puts("\" ;;");
	}
	puts("\t\tesac\n\tfi\n"
	     "\t[[ -n $words || $cur == -* ]] || case \"$verb $prev\" in");
	each_source("words=\"$(", ") \"");
	puts("\tesac\n"
	     "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "\t[[ ${#COMPREPLY[@]} -gt 0 || ( -n $words && $cur != */* ) ]] || mapfile -t "
	     "COMPREPLY < <(compgen -f "
	     "-- \"$cur\")\n"
	     "}\n"
	     "complete -o filenames -F _agent6 agent6");
}

static void zsh_verb(const struct verb *verb)
{
	printf("\t\"%s \"*) options=(", verb->path);
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		printf("'--%s' ", o->name);
	puts("'--help') ;;");
}

static void zsh_group(const char *word, int len)
{
	printf("\t\t%.*s) options=(", len, word);
	print_second_words(word, len);
	puts(") ;;");
}

static void zsh(void)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	puts("#compdef agent6\n"
	     "# zsh completion for agent6; made by `agent6 completions zsh`\n"
	     "_agent6() {\n\tlocal -a options\n\tif (( CURRENT == 2 )); then");
	fputs("\t\toptions=(", stdout);
	each_first(print_word);
	puts("--help --version)\n\telif (( CURRENT == 3 )) && [[ ${words[3]} != -* ]]; then\n"
	     "\t\tcase ${words[2]} in");
	each_first(zsh_group);
	puts("\t\tesac\n\tfi\n\tcase \"${words[2]} ${words[3]} ${words[CURRENT-1]}\" in");
	each_choice("options=(", ")");
	puts("\tesac\n\tif (( ! $#options )) && [[ ${words[CURRENT]} == -* ]]; then\n"
	     "\tcase \"${words[2]} ${words[3]} \" in");
	for (size_t i = 0; i < count; i++)
		zsh_verb(all[i]);
	puts("\tesac\n\tfi\n"
	     "\tif (( ! $#options )) && [[ ${words[CURRENT]} != -* ]]; then\n"
	     "\tcase \"${words[2]} ${words[3]} ${words[CURRENT-1]}\" in");
	each_source("options=($(", ")); (( $#options )) || return");
	puts("\tesac\n\tfi\n"
	     "\tif (( $#options )) && [[ ${words[CURRENT]} != */* ]]; then compadd -- $options; "
	     "else _files; fi\n}\n"
	     "if [[ ${funcstack[1]} == _agent6 ]]; then _agent6 \"$@\"; else compdef _agent6 "
	     "agent6; fi");
}

static void fish_first(const char *word, int len)
{
	printf("complete -c agent6 -n __agent6_is -f -a %.*s\n", len, word);
}

/* Writes a text in single quotes for fish, where only a single quote is escaped. */
static void fish_text(const char *text)
{
	fputs(" -d '", stdout);
	for (; *text; text++)
		printf("%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	puts("'");
}

static void fish_option(const struct verb *verb, const struct verb_option *option)
{
	printf("complete -c agent6 -n '__agent6_begins %s' -l %s%s", verb->path, option->name,
		strcmp(option->name, "output") ? "" : " -s o");
	if (has_choices(option)) {
		fputs(" -x -a '", stdout);
		print_choices(option);
		putchar('\'');
	} else if (source(option->value)) {
		printf(" -x -a '(%s)'", source(option->value));
	} else if (option->value) {
		fputs(" -r -F", stdout);
	}
	fish_text(option->summary);
}

static void fish_verb(const struct verb *verb)
{
	int len = first_word(verb->path);
	if (verb->path[len]) {
		printf("complete -c agent6 -n '__agent6_is %.*s' -f -a %s", len, verb->path,
			verb->path + len + 1);
		fish_text(verb->summary);
	}
	if (source(verb->arguments))
		printf("complete -c agent6 -n '__agent6_begins %s' -f -a '(%s)'\n", verb->path,
			source(verb->arguments));
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		fish_option(verb, o);
}

static void fish(void)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	puts("# fish completion for agent6; made by `agent6 completions fish`\n"
	     "function __agent6_begins # with these words after agent6\n"
	     "\tset -l words (commandline -opc)\n"
	     "\tset -e words[1]\n"
	     "\tfor i in (seq (count $argv))\n"
	     "\t\ttest \"$words[$i]\" = $argv[$i]; or return 1\n"
	     "\tend\n"
	     "end\n"
	     "function __agent6_is # these words and no other\n"
	     "\ttest (count (commandline -opc)) -eq (math 1 + (count $argv))\n"
	     "\tand __agent6_begins $argv\n"
	     "end\n"
	     "complete -c agent6 -l help -f -d 'print a summary and exit'\n"
	     "complete -c agent6 -n __agent6_is -l version -f -d 'print the version'");
	each_first(fish_first);
	for (size_t i = 0; i < count; i++)
		fish_verb(all[i]);
}

static int run(const struct call *call)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (!strcmp(call->arguments[0], shells[i].name)) {
			shells[i].print();
			return EXIT_OK;
		}
	return verb_refuse("completions are made for bash, zsh and fish");
}

const struct verb verb_completions = {.path = "completions",
	.summary = "print completions for bash, zsh or fish",
	.arguments = "SHELL",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "`make install` puts them where each shell looks. Without it, in bash's or "
		   "zsh's own file (there after compinit): source <(agent6 completions bash); in "
		   "fish's: agent6 completions fish | source.",
	.run = run};
