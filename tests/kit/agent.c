#include "tests/kit/agent.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include "tests/kit/tap.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

void kit_done(struct kit *kit)
{
	json_decref(kit->events);
	json_decref(kit->task);
	json_decref(kit->limits);
	json_decref(kit->provider);
	json_decref(kit->order);
	free(kit->requests);
	free(kit->output);
}

/* Reads one request: headers, then as many bytes as content-length says. False: there is none. */
static bool kit_read_request(int fd, int log_fd)
{
	AUTO_BUF b;
	buf_init(&b, KIT_CAP_BYTES);
	size_t want = SIZE_MAX;
	char chunk[65536];
	while (b.len < want) {
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
		if (n <= 0)
			break;
		buf_add(&b, chunk, (size_t)n);
		const char *end = strstr(b.data, "\r\n\r\n");
		const char *length = strcasestr(b.data, "content-length:");
		bool proxied = !strncmp(b.data, "CONNECT ", 8);
		if (end && (length || proxied))
			want = (size_t)(end - b.data) + 4 +
			       (proxied ? 0 : strtoul(length + 15, NULL, 10));
	}
	buf_addc(&b, '\n');
	io_write(log_fd, b.data, b.len);
	return b.len > 1;
}

static void kit_reply(const struct kit *kit, size_t *at, int fd)
{
	const struct kit_reply *r = &kit->replies[*at];
	for (size_t n = 0; n <= r->repeat; n++) {
		if (n && kit->pause_ms)
			poll(NULL, 0, kit->pause_ms);
		if (r->text && io_write(fd, r->text, strlen(r->text)))
			break;
	}
	if (kit->last)
		io_write(fd, kit->last, strlen(kit->last));
	if (r->stall_secs)
		sleep((unsigned)r->stall_secs);
	*at += *at + 1 < KIT_REPLIES_MAX && kit->replies[*at + 1].text;
}

static void kit_serve(const struct kit *kit, int listen_fd, int log_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0;;) {
		int fd = accept(listen_fd, NULL, NULL);
		io_write(log_fd, "CONNECTION\n", 11);
		for (int n = 0; n < (kit->keep ? kit->keep : 1); n++)
			if (kit->deaf || kit_read_request(fd, log_fd))
				kit_reply(kit, &i, fd);
		if (kit->slams)
			recv(fd, &(char){0}, 1, 0);
		shutdown(fd, SHUT_RDWR);
		close(fd);
	}
}

static int kit_listen(int *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 16) ||
		getsockname(fd, (struct sockaddr *)&a, &len))
		bail("cannot listen on loopback");
	*port = ntohs(a.sin_port);
	return fd;
}

/* Waits until `pid` listens at the port, or ends because another process had it. Returns whether it
 * listens. */
static bool kit_listens(pid_t pid, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	while (!waitpid(pid, NULL, WNOHANG)) {
		AUTO_FD int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(probe, (struct sockaddr *)&a, sizeof(a)))
			return true;
		poll(NULL, 0, 20);
	}
	return false;
}

static pid_t kit_start_tls(const struct kit *kit, int *port)
{
	char listen_on[600], forward[64];
	int own, fd = kit_listen(&own);
	close(fd);
	snprintf(listen_on, sizeof(listen_on),
		"OPENSSL-LISTEN:%d,bind=127.0.0.1,reuseaddr,fork,verify=0,cert=%s", own,
		kit->tls_pem);
	snprintf(forward, sizeof(forward), "TCP:127.0.0.1:%d", *port);
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("socat", "socat", "-lf/dev/null", listen_on, forward, (char *)NULL);
		_exit(127);
	}
	*port = own;
	return pid;
}

/* TLS in front of `port`, by a program that is not ours. Returns its pid; *port becomes its port.
 */
static pid_t kit_tls(const struct kit *kit, int *port)
{
	for (int tries = 0; tries < 5; tries++) {
		int at = *port;
		pid_t pid = kit_start_tls(kit, &at);
		if (kit_listens(pid, at)) {
			*port = at;
			return pid;
		}
	}
	bail("socat does not listen");
}

static json_t *kit_order(const struct kit *kit, int port)
{
	char endpoint[64];
	snprintf(endpoint, sizeof(endpoint), "%s:%d", kit->ca_file ? "localhost" : "127.0.0.1",
		port);
	json_t *order = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:b, s:b, s:b, s:s*}], s:n, s:n}",
		"version", 1, "profile", kit->profile ? kit->profile : "strict", "agent_network",
		"providers", "workspace", kit->workspace, "state_dir", kit->workspace, "channels",
		"name", "p", "endpoint", endpoint, "tls", kit->ca_file != NULL, "local", 1,
		"private", 0, "ca_file", kit->ca_file, "max_egress_bytes", "upstream_proxy");
	if (kit->proxies)
		json_object_set_new(
			order, "upstream_proxy", json_sprintf("%s://%s", kit->proxies, endpoint));
	json_object_update(order, kit->order);
	return order;
}

static json_t *kit_task(struct kit *kit, int port)
{
	char url[128];
	snprintf(url, sizeof(url), "http%s:%d%s", kit->ca_file ? "s://localhost" : "://127.0.0.1",
		port, kit->base ? kit->base : "/v1");
	json_t *provider = json_pack(
		"{s:s, s:s, s:s, s:s, s:n, s:s?, s:s, s:i, s:i, s:i, s:i, s:{s:f, s:f, s:f, s:f}}",
		"name", "p", "api_format", kit->format, "base_url", url, "auth",
		strcmp(kit->format, "openai") ? "x-api-key" : "bearer", "api_version", "ca_file",
		kit->ca_file, "key", kit->key ? kit->key : "sk-test-key-0123456789",
		"connect_timeout_secs", 60, "idle_timeout_secs", 100, "timeout_secs", 200,
		"max_retries", 2, "prices", "input", 3.0, "output", 15.0, "cache_read", 0.3,
		"cache_write", 3.75);
	json_t *limits = json_pack("{s:i, s:i, s:i, s:i, s:i, s:n, s:n, s:n, s:n}", "timeout_secs",
		200, "max_iterations", 10, "max_output_tokens_per_call", 1000, "context_tokens",
		100000, "max_calls_per_turn", 4, "max_input_tokens", "max_output_tokens",
		"max_microusd", "best_effort_microusd");
	json_object_update(provider, kit->provider);
	json_object_update(limits, kit->limits);
	json_t *task = json_pack("{s:i, s:s, s:s, s:n, s:o, s:n, s:s, s:n, s:n, s:o, "
				 "s:[], s:[], s:[], s:b}",
		"version", 1, "mode", "agent", "prompt", "Is it broken?", "result", "provider",
		provider, "reviewer", "model", "test-model", "thinking", "temperature", "limits",
		limits, "protect", "hide", "secrets", "record", 0);
	json_object_update(task, kit->task);
	return task;
}

static void kit_send(int fd, json_t *line)
{
	AUTO_FREE char *text = json_text(line);
	json_decref(line);
	if (io_write(fd, text, strlen(text)) || io_write(fd, "\n", 1))
		diag("the agent did not read its request");
}

static pid_t kit_start(struct kit *kit, int port, int out_fd, int *to_agent)
{
	char *const none[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"LANG=C.UTF-8"}, NULL};
	const char *bin = getenv("AGENT6_BIN");
	AUTO_FREE char *path = NULL;
	int in[2];
	if (!bin)
		bail("AGENT6_BIN says where the programs are");
	if (asprintf(&path, "%s/agent6-agent", bin) < 0 || pipe2(in, O_CLOEXEC))
		bail("cannot start the agent");
	char *const plain[] = {path, NULL};
	char *const traced[] = {(char[]){"strace"}, (char[]){"-f"}, (char[]){"-e"},
		(char[]){"trace=connect,socket,sendto,sendmsg"}, (char[]){"-o"},
		(char *)(uintptr_t)kit->trace, path, NULL};
	int fds[] = {in[0], out_fd, STDERR_FILENO};
	struct child_spec spec = {.path = kit->trace ? "/usr/bin/strace" : path,
		.argv = kit->trace ? traced : plain,
		.env = none,
		.fds = fds,
		.fd_count = 3};
	struct child child;
	struct err e = ERR_NONE;
	if (child_start(&spec, &child, &e))
		bail("%s", e.text);
	own_close(&child.pidfd);
	close(in[0]);
	kit_send(in[1], kit_order(kit, port));
	kit_send(in[1], kit_task(kit, port));
	*to_agent = in[1];
	return child.pid;
}

/* Plays the supervisor: what the operator's settings allow may run, and nobody is there to ask. */
static void kit_answer(int to_agent, const char *line, size_t len)
{
	json_auto_t *event = json_read(line, len, KIT_CAP_BYTES, NULL);
	const char *name = json_string_value(json_object_get(event, "event"));
	json_t *answers = json_array();
	const json_t *commands = json_object_get(event, "commands"), *c;
	size_t i;
	json_array_foreach (commands, i, c) {
		const char *d = json_string_value(json_object_get(c, "decision"));
		json_array_append_new(
			answers, json_pack("{s:b, s:s}", "run", !strcmp(d, "run"), "why",
					 json_string_value(json_object_get(c, "why"))));
	}
	json_t *reply =
		json_pack("{s:O*, s:o}", "id", json_object_get(event, "id"), "answers", answers);
	if (name && !strcmp(name, "proposal"))
		kit_send(to_agent, reply);
	else
		json_decref(reply);
}

static void kit_listen_to(int fd, int to_agent, struct buf *buf)
{
	char chunk[65536];
	size_t done = 0;
	for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;) {
		buf_add(buf, chunk, (size_t)n);
		for (const char *nl; (nl = memchr(buf->data + done, '\n', buf->len - done));
			done = (size_t)(nl - buf->data) + 1)
			kit_answer(to_agent, buf->data + done, (size_t)(nl - buf->data) - done);
	}
}

static void kit_parse(struct kit *kit)
{
	kit->events = json_array();
	for (char *at = kit->output, *end; (end = strchr(at, '\n')); at = end + 1) {
		json_t *event = json_read(at, (size_t)(end - at), KIT_CAP_BYTES, NULL);
		if (!event)
			bail("not an event: %.*s", (int)(end - at), at);
		json_array_append_new(kit->events, event);
		kit->result = event;
	}
}

void kit_run(struct kit *kit)
{
	int port, out[2], log_fd = open(tap_scratch(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	AUTO_FD int listen_fd = kit_listen(&port);
	if (!kit->workspace[0])
		snprintf(kit->workspace, sizeof(kit->workspace), "%s", tap_scratch());
	/* The server before the pipe: it must not hold the end whose closing ends the reading. */
	pid_t server = fork();
	if (!server)
		kit_serve(kit, listen_fd, log_fd);
	if (server < 0 || log_fd < 0 || pipe2(out, O_CLOEXEC))
		bail("cannot set the stage");
	pid_t tls = kit->tls_pem ? kit_tls(kit, &port) : -1;
	int to_agent = -1;
	pid_t agent = kit_start(kit, port, out[1], &to_agent);
	close(out[1]);
	AUTO_BUF b;
	buf_init(&b, KIT_CAP_BYTES);
	buf_adds(&b, "");
	kit_listen_to(out[0], to_agent, &b);
	close(out[0]);
	close(to_agent);
	int status;
	struct rusage used;
	wait4(agent, &status, 0, &used);
	kit->exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	kit->max_rss_kib = used.ru_maxrss;
	kit->output = buf_take(&b, NULL);
	if (tls > 0) {
		kill(tls, SIGKILL);
		waitpid(tls, NULL, 0);
	}
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	lseek(log_fd, 0, SEEK_SET);
	buf_adds(&b, "");
	io_read_all(log_fd, &b, "the requests", NULL);
	kit->requests = buf_take(&b, NULL);
	close(log_fd);
	kit_parse(kit);
}

const char *kit_outcome(const struct kit *kit)
{
	return json_string_value(json_object_get(kit->result, "outcome"));
}

const char *kit_reason(const struct kit *kit)
{
	return json_string_value(json_object_get(kit->result, "reason"));
}

int64_t kit_usage(const struct kit *kit, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(kit->result, "usage"), name));
}

size_t kit_count(const char *text, const char *part)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}
