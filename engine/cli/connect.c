#include "base/json.h"
#include "cli/verb/setup.h"
#include "config/operator_file.h"
#include "report/text.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>

enum { ANSWER_BYTES = 4096 }; /* the longest line of a terminal */

#define NOT_ANSWERED                                                                               \
	"the questions were not answered; `agent6 connect --help` lists the options that do"

struct answers {
	char name[ANSWER_BYTES], format[ANSWER_BYTES], url[ANSWER_BYTES], model[ANSWER_BYTES],
		key[ANSWER_BYTES];
};

/* The signals that end a process which asks, and would leave its terminal without an echo. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t ending;

static void note_ending(int signal)
{
	ending = signal;
}

/* Reads a line from a terminal that does not echo it, and restores the echo even if a signal ends
 * this process. Ctrl-Z is an ordinary character. */
static char *read_hidden(char answer[ANSWER_BYTES])
{
	struct sigaction note = {.sa_handler = note_ending}, before[ARRAY_LEN(endings)];
	struct termios shown, hidden;
	if (tcgetattr(STDIN_FILENO, &shown))
		return NULL;
	hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	hidden.c_cc[VSUSP] = _POSIX_VDISABLE;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		sigaction(endings[i], &note, &before[i]);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
	char *got = ending ? NULL : fgets(answer, ANSWER_BYTES, stdin);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		sigaction(endings[i], &before[i], NULL);
	fputc('\n', stderr);
	if (ending)
		raise(ending);
	return got;
}

/* Reads one line from standard input; empty: the default. */
static int ask(const char *question, const char *otherwise, char answer[ANSWER_BYTES], bool secret,
	struct err *e)
{
	fprintf(stderr, "%s%s%s%s: ", question, *otherwise ? " [" : "", otherwise,
		*otherwise ? "]" : "");
	bool hide = secret && isatty(STDIN_FILENO);
	if (!(hide ? read_hidden(answer) : fgets(answer, ANSWER_BYTES, stdin))) {
		fputc('\n', stderr);
		return err_set(e, "%s",
			secret ? "the key was not given; an empty line says that there is none"
			       : NOT_ANSWERED);
	}
	if (!strchr(answer, '\n') && !feof(stdin))
		return err_set(
			e, "an answer has at most %d bytes; nothing was stored", ANSWER_BYTES - 2);
	answer[strcspn(answer, "\r\n")] = '\0';
	if (!*answer)
		snprintf(answer, ANSWER_BYTES, "%s", otherwise);
	return 0;
}

/* Returns what is wrong with an answer by itself; NULL: nothing. */
static const char *name_fault(const char *name)
{
	return strpbrk(name, ". \t:{}[],#\"'") || !*name
		       ? "the provider's name is one word without dots"
		       : NULL;
}

static const char *format_fault(const char *format)
{
	bool known = !strcmp(format, "anthropic") || !strcmp(format, "openai");
	return known ? NULL : "the format is anthropic or openai";
}

static const char *url_fault(const char *url)
{
	bool known = !strncmp(url, "http://", 7) || !strncmp(url, "https://", 8);
	return known ? NULL : "the address begins with http:// or https://";
}

static const char *model_fault(const char *model)
{
	return *model ? NULL : "a model is needed";
}

/* A question, which an option may answer. */
struct connect_question {
	const char *option, *text, *otherwise;
	const char *(*fault)(const char *answer);
};

/* Asks until the answer is right, with the reason each time. */
static int answer(const struct call *call, const struct connect_question *question,
	char out[ANSWER_BYTES], struct err *e)
{
	const char *given = call_value(call, question->option), *fault;
	if (given)
		snprintf(out, ANSWER_BYTES, "%s", given);
	for (;;) {
		if (!given && ask(question->text, question->otherwise, out, false, e))
			return -1;
		fault = question->fault(out);
		if (!fault || given || !isatty(STDIN_FILENO))
			return fault ? err_set(e, "%s", fault) : 0;
		text_complain("%s", fault);
	}
}

static int ask_all(const struct call *call, struct answers *answers, struct err *e)
{
	const struct connect_question name = {
		"name", "Name of the provider", "anthropic", name_fault};
	if (answer(call, &name, answers->name, e))
		return -1;
	const struct connect_question format = {"format", "API format, anthropic or openai",
		strcmp(answers->name, "anthropic") ? "openai" : "anthropic", format_fault};
	if (answer(call, &format, answers->format, e))
		return -1;
	const struct connect_question url = {"base-url", "Base URL",
		strcmp(answers->format, "anthropic") ? "https://api.openai.com/v1"
						     : "https://api.anthropic.com",
		url_fault};
	const struct connect_question model = {"model", "Model for agent states", "", model_fault};
	if (answer(call, &url, answers->url, e) || answer(call, &model, answers->model, e))
		return -1;
	if (ask("API key, not shown; empty for none", "", answers->key, true, e))
		return -1;
	return config_check_key(answers->name, answers->key, e);
}

/* Sets a text as a JSON string, which is also double-quoted YAML. */
static int set_text(struct operator_file *file, const char *key, const char *value, struct err *e)
{
	json_auto_t *text = json_string(value);
	AUTO_FREE char *quoted = text ? json_text(text) : NULL;
	return quoted ? operator_file_set(file, key, quoted, e)
		      : err_set(e, "%s is not UTF-8", key);
}

/* Reports whether the server is the user's own: on this host, or at least without TLS. */
static bool is_plain(const struct answers *answers)
{
	return !strncmp(answers->url, "http://", 7);
}

static int set_provider(struct operator_file *file, const struct answers *answers, struct err *e)
{
	char key[ANSWER_BYTES + 64];
	snprintf(key, sizeof(key), "providers.%s.api_format", answers->name);
	if (set_text(file, key, answers->format, e))
		return -1;
	snprintf(key, sizeof(key), "providers.%s.base_url", answers->name);
	if (set_text(file, key, answers->url, e))
		return -1;
	snprintf(key, sizeof(key), "providers.%s.auth", answers->name);
	if (!*answers->key && is_plain(answers) && set_text(file, key, "none", e))
		return -1;
	return set_text(file, "models.worker.provider", answers->name, e) ||
			       set_text(file, "models.worker.model", answers->model, e)
		       ? -1
		       : 0;
}

static int set_key(const struct answers *answers, const char *dir, struct err *e)
{
	struct operator_file secrets;
	char key[ANSWER_BYTES + 64];
	if (!*answers->key)
		return 0;
	snprintf(key, sizeof(key), "providers.%s", answers->name);
	int failed = operator_file_open(&secrets, dir, "secrets.yaml", e) ||
		     set_text(&secrets, key, answers->key, e) || operator_file_save(&secrets, e);
	explicit_bzero(secrets.text.data, secrets.text.len);
	operator_file_done(&secrets);
	return failed ? -1 : 0;
}

static int store(const struct answers *answers, const struct config_paths *paths, struct err *e)
{
	struct operator_file f;
	struct findings findings;
	findings_init(&findings);
	int failed = operator_file_config(&f, paths->config_dir, e) ||
		     set_provider(&f, answers, e) || operator_file_try(&f, paths, &findings, e);
	if (!failed)
		failed = set_key(answers, paths->config_dir, e) || operator_file_save(&f, e);
	for (size_t i = 0; !failed && i < findings.count; i++)
		if (findings.items[i].rule == RULE_CONFIG_CLEARTEXT)
			text_complain("%s: %s", findings.items[i].message, findings.items[i].help);
	operator_file_done(&f);
	findings_done(&findings);
	return failed ? -1 : 0;
}

static void show_next(const struct answers *answers, const char *dir)
{
	printf("%s: configured in %s\n", answers->name, dir);
	if (is_plain(answers))
		printf("what its tokens cost, or machines with a limit in USD are refused:\n"
		       "  agent6 config set providers.%s.prices "
		       "'{\"*\": {input: 0, output: 0}}'\n",
			answers->name);
	else if (!*answers->key)
		printf("its key, unless it is in secrets.yaml beside it already:\n"
		       "  agent6 config set providers.%s.api_key_env VARIABLE\n",
			answers->name);
}

static int run(const struct call *call)
{
	struct arena arena;
	struct config_paths paths = {0};
	struct answers a = {0};
	struct err e = ERR_NONE;
	arena_init(&arena);
	int failed = config_paths_init(&paths, &arena, &e) || ask_all(call, &a, &e) ||
		     store(&a, &paths, &e);
	if (!failed)
		show_next(&a, paths.config_dir);
	explicit_bzero(a.key, sizeof(a.key));
	arena_done(&arena);
	return failed ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
}

static const struct verb_option options[] = {
	{"name", "NAME", "what the provider is called in machines and settings", false},
	{"format", "anthropic|openai", "its wire format", false},
	{"base-url", "URL", "where it is", false},
	{"model", "MODEL", "the model for agent states", false}, {NULL, NULL, NULL, false}};

const struct verb verb_connect = {.path = "connect",
	.summary = "add a model provider: asks for its address, model and key",
	.max_arguments = 0,
	.acts = true,
	.details = "Asks on this terminal for what the options leave open; the key is always "
		   "asked for, is not shown, and is stored in secrets.yaml, mode 0600. Nothing "
		   "is sent anywhere.",
	.options = options,
	.run = run};
