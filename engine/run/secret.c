#include "run/secret.h"

#include "base/io.h"
#include "base/json.h"
#include "base/secret_name.h"
#include "run/token.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { ERROR_BYTES_MAX = 4096, QUERY_BYTES_MAX = 1024 * 1024 };

static int read_key(const struct secret_source *source, const struct config_provider *provider,
	char **out, struct err *e)
{
	return provider->token_command.count && provider->auth != AUTH_NONE
		       ? token_take(source->config, provider, source->tokens_fd, out, e)
		       : config_provider_key(source->config, provider, out, e);
}

/* Percent-encodes everything but letters, digits and -._~ (RFC 3986, 2.3). */
static void add_encoded(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
}

/* Returns the texts "NAME: VALUE"; NULL with the reason. */
static json_t *headers_of(const struct config_provider *provider, struct err *e)
{
	json_auto_t *list = json_array();
	for (size_t i = 0; i < provider->header_count; i++) {
		const char *text = config_sent_text(provider, "header", &provider->headers[i], e);
		if (!text)
			return NULL;
		json_array_append_new(
			list, json_sprintf("%s: %s", provider->headers[i].name, text));
	}
	return json_incref(list);
}

/* Returns "NAME=VALUE&NAME=VALUE"; NULL with the reason. */
static json_t *query_of(const struct config_provider *provider, struct err *e)
{
	AUTO_BUF query = BUF_INIT(QUERY_BYTES_MAX);
	for (size_t i = 0; i < provider->query_count; i++) {
		const char *text =
			config_sent_text(provider, "query parameter", &provider->query[i], e);
		if (!text)
			return NULL;
		buf_addf(&query, "%s%s=", i ? "&" : "", provider->query[i].name);
		add_encoded(&query, text);
	}
	if (query.failed)
		err_set(e, "the query of the provider %s is too long", provider->name);
	return query.failed ? NULL : json_stringn(query.data ? query.data : "", query.len);
}

/* Adds the key, the headers and the query of `provider`, which live as long as the child. */
static int fill_provider(const struct secret_source *source, struct agent_provider *provider,
	struct arena *arena, struct err *e)
{
	const struct config_provider *p = config_provider(source->config, provider->name);
	char *key = NULL;
	if (!p)
		return err_set(e, "provider %s is not configured", provider->name);
	if (read_key(source, p, &key, e))
		return -1;
	json_t *headers = headers_of(p, e), *query = headers ? query_of(p, e) : NULL;
	/* A key that is not UTF-8 is not sent. */
	provider->key = json_string_value(json_string(key));
	provider->query = json_string_value(query);
	agent_texts_of(headers, arena, &provider->headers);
	return query ? 0 : -1;
}

static void add_text(json_t *list, const char *value)
{
	if (value && *value)
		/* only UTF-8 can be found in a text */
		json_array_append_new(list, json_string(value));
}

static bool is_called_secret(const char *name)
{
	static const char *const words[] = {
		"key", "secret", "token", "password", "credential", "auth", "cookie"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* Adds the values that come from a variable or whose name says that they are secret. An ordinary
 * word of the configuration may stand in any file that a model reads. */
static void add_sent(json_t *list, const struct config_sent *sent, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sent[i].env)
			add_text(list, getenv(sent[i].env));
		else if (is_called_secret(sent[i].name))
			add_text(list, sent[i].text);
}

/* Lists the texts that no model may see, wherever they turn up: the keys of all providers, the
 * secrets granted to tool states, and variables of the operator whose name says that they are
 * secret. Runs no token_command. */
static void fill_secrets(const struct secret_source *source, json_t *list)
{
	const struct config *c = source->config;
	for (size_t i = 0; i < c->provider_count; i++) {
		const struct config_provider *p = &c->providers[i];
		struct err unset = ERR_NONE; /* for another provider; the start has reported it */
		char *key = NULL;
		if (p->token_command.count)
			key = token_kept(p, source->tokens_fd);
		else if (config_provider_key(c, p, &key, &unset))
			key = NULL;
		add_text(list, key);
		free(key);
		add_sent(list, p->headers, p->header_count);
		add_sent(list, p->query, p->query_count);
	}
	for (size_t i = 0; i < c->sandbox.secret_count; i++)
		add_text(list, getenv(c->sandbox.secrets[i].env));
	for (char **at = environ; *at; at++) {
		size_t name = strcspn(*at, "=");
		if ((*at)[name] && secret_name(*at, name))
			add_text(list, *at + name + 1);
	}
}

static int write_line(
	const struct secret_source *source, struct agent_task *task, int to_fd, struct err *e)
{
	if (fill_provider(source, &task->provider, &task->arena, e) ||
		(task->reviewer &&
			fill_provider(source, &task->reviewer->provider, &task->arena, e)))
		return -1;
	json_t *secrets = json_array();
	fill_secrets(source, secrets);
	agent_texts_of(secrets, &task->arena, &task->secrets);
	json_auto_t *request = agent_task_encode(task);
	AUTO_FREE char *line = request ? json_text(request) : NULL;
	if (!line)
		return err_set(e, "out of memory");
	if (io_write(to_fd, line, strlen(line)) || io_write(to_fd, "\n", 1))
		return err_errno(e, "the agent did not take its request");
	return 0;
}

static int check_provider(
	const struct secret_source *source, const struct config_provider *provider, struct err *e)
{
	char *key = NULL;
	if (read_key(source, provider, &key, e))
		return -1;
	json_auto_t *headers = headers_of(provider, e),
		    *query = headers ? query_of(provider, e) : NULL;
	return query ? 0 : -1;
}

/* A task for a child process. The child ends and its memory with it, so nothing is wiped. */
struct errand {
	const struct secret_source *source;
	const struct config_provider *provider; /* check only whether its key can be read */
	const struct agent_task *task;          /* else: write the task */
	secret_work *work;                      /* else: do this */
	void *ctx;
	int fd; /* the only descriptor of the supervisor that stays open; its lock must not */
};

static int run_errand(const struct errand *errand, struct err *e)
{
	if (errand->provider)
		return check_provider(errand->source, errand->provider, e);
	if (errand->task) {
		struct agent_task task = *errand->task;
		return write_line(errand->source, &task, errand->fd, e);
	}
	json_t *secrets = json_array();
	fill_secrets(errand->source, secrets);
	return errand->work(errand->ctx, secrets, e);
}

static _Noreturn void secret_main(const struct errand *errand, int error_fd)
{
	struct err e = ERR_NONE;
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int keep[] = {errand->fd, error_fd, errand->source->tokens_fd};
	io_close_others(keep, ARRAY_LEN(keep));
	if (run_errand(errand, &e))
		io_write(error_fd, e.text, strlen(e.text));
	_exit(e.number);
}

static int send_out(const struct errand *errand, struct secret_child *out, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	pid_t pid = fork();
	if (pid == 0)
		secret_main(errand, ends[1]);
	int failed = pid < 0 ? err_errno(e, "cannot fork") : 0;
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		return -1;
	}
	*out = (struct secret_child){pid, ends[0]};
	return 0;
}

int secret_start(const struct secret_source *source, const struct agent_task *task, int to_fd,
	struct secret_child *out, struct err *e)
{
	return send_out(&(struct errand){.source = source, .task = task, .fd = to_fd}, out, e);
}

int secret_end(struct secret_child *child)
{
	int status = 0;
	own_close(&child->error_fd);
	while (child->pid > 0 && waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Waits until the child has ended. */
static int await(const struct errand *errand, struct err *e)
{
	struct secret_child child;
	AUTO_BUF text = BUF_INIT(ERROR_BYTES_MAX);
	if (send_out(errand, &child, e))
		return -1;
	int failed = io_read_all(child.error_fd, &text, "the answer about a key", e);
	int number = secret_end(&child);
	if (failed)
		return failed;
	if (number < 0)
		return err_set(e, "the process that reads the keys was killed");
	if (!text.len)
		return 0;
	e->number = number;
	return err_set(e, "%s", text.data);
}

int secret_check(
	const struct secret_source *source, const struct config_provider *provider, struct err *e)
{
	return await(&(struct errand){.source = source, .provider = provider, .fd = -1}, e);
}

int secret_apart(const struct secret_source *source, secret_work *work, void *ctx, int keep_fd,
	struct err *e)
{
	return await(
		&(struct errand){.source = source, .work = work, .ctx = ctx, .fd = keep_fd}, e);
}
