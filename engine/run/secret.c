#include "run/secret.h"

#include "base/io.h"
#include "base/json.h"
#include "base/secret_name.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { ERROR_BYTES_MAX = 4096 };

/* `provider` as the request has it: {name, ..., key: null}. */
static int fill_key(const struct config *c, json_t *provider, struct err *e)
{
	const char *name = json_string_value(json_object_get(provider, "name"));
	const struct config_provider *p = name ? config_provider(c, name) : NULL;
	char *key = NULL;
	if (!p)
		return name ? err_set(e, "provider %s is not configured", name) : 0;
	if (config_provider_key(c, p, &key, e))
		return -1;
	if (key)
		json_object_set_new(provider, "key", json_string(key));
	return 0;
}

static void add_text(json_t *list, const char *value)
{
	if (value && *value)
		json_array_append_new(list, json_string(value)); /* UTF-8 alone can be found */
}

/* What no model may see wherever it turns up: every provider's key, what tool states are granted,
 * and what the operator's environment calls a secret. */
static void fill_secrets(const struct config *c, json_t *list)
{
	for (size_t i = 0; i < c->provider_count; i++) {
		struct err unset = ERR_NONE; /* of another provider; the start has told it */
		AUTO_FREE char *key = NULL;
		if (!config_provider_key(c, &c->providers[i], &key, &unset))
			add_text(list, key);
	}
	for (size_t i = 0; i < c->sandbox.secret_count; i++)
		add_text(list, getenv(c->sandbox.secrets[i].env));
	for (char **at = environ; *at; at++) {
		size_t name = strcspn(*at, "=");
		if ((*at)[name] && secret_name(*at, name))
			add_text(list, *at + name + 1);
	}
}

static int write_line(const struct config *c, const json_t *request, int to_fd, struct err *e)
{
	const json_t *reviewer = json_object_get(request, "reviewer");
	if (fill_key(c, json_object_get(request, "provider"), e) ||
		fill_key(c, json_object_get(reviewer, "provider"), e))
		return -1;
	fill_secrets(c, json_object_get(request, "secrets"));
	AUTO_FREE char *line = json_text(request);
	if (!line)
		return err_set(e, "out of memory");
	if (io_write(to_fd, line, strlen(line)) || io_write(to_fd, "\n", 1))
		return err_errno(e, "the agent did not take its request");
	return 0;
}

/* What a child does: the process ends with its memory, so nothing is wiped. */
struct errand {
	const struct config *config;
	const struct config_provider *provider; /* only look for its key */
	const json_t *request;                  /* else write it */
	secret_work *work;                      /* else do that */
	void *ctx;
	int fd; /* all of the supervisor's that it has; its lock least of all may live on in here */
};

static int run_errand(const struct errand *a, struct err *e)
{
	char *key = NULL;
	if (a->provider)
		return config_provider_key(a->config, a->provider, &key, e);
	if (a->request)
		return write_line(a->config, a->request, a->fd, e);
	json_t *secrets = json_array();
	fill_secrets(a->config, secrets);
	return a->work(a->ctx, secrets, e);
}

static _Noreturn void secret_main(const struct errand *a, int error_fd)
{
	struct err e = ERR_NONE;
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int keep[] = {a->fd, error_fd};
	io_close_others(keep, ARRAY_LEN(keep));
	if (run_errand(a, &e))
		io_write(error_fd, e.text, strlen(e.text));
	_exit(e.number);
}

static int send_out(const struct errand *a, struct secret_child *out, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	pid_t pid = fork();
	if (pid == 0)
		secret_main(a, ends[1]);
	int failed = pid < 0 ? err_errno(e, "cannot fork") : 0;
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		return -1;
	}
	*out = (struct secret_child){pid, ends[0]};
	return 0;
}

int secret_start(const struct config *c, const json_t *request, int to_fd, struct secret_child *out,
	struct err *e)
{
	return send_out(&(struct errand){.config = c, .request = request, .fd = to_fd}, out, e);
}

int secret_end(struct secret_child *s)
{
	int status = 0;
	own_close(&s->error_fd);
	while (s->pid > 0 && waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	s->pid = -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* To its end. */
static int await(const struct errand *a, struct err *e)
{
	struct secret_child child;
	AUTO_BUF text = BUF_INIT(ERROR_BYTES_MAX);
	if (send_out(a, &child, e))
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

int secret_check(const struct config *c, const struct config_provider *p, struct err *e)
{
	return await(&(struct errand){.config = c, .provider = p, .fd = -1}, e);
}

int secret_apart(const struct config *c, secret_work *work, void *ctx, int keep_fd, struct err *e)
{
	return await(&(struct errand){.config = c, .work = work, .ctx = ctx, .fd = keep_fd}, e);
}
