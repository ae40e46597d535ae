#include "run/egress.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ENDPOINT_BYTES = 300, LINE_BYTES_MAX = 4096, LAST_FACTS_MS = 3000, ARGV_MAX = 12 };

static void add_bytes(json_t *sum, const char *key, const json_t *line)
{
	json_int_t more = json_get_int(line, key);
	if (more > 0)
		json_add_int(sum, key, more);
}

void egress_add(json_t *by_endpoint, const json_t *line)
{
	static const char *const reasons[] = {
		"sni", "host", "host not listed", "address", "budget", "dial", "hello"};
	const char *text = json_string_value(json_object_get(line, "endpoint"));
	if (!text) /* a plain notice; the broker also writes it to standard error */
		return;
	size_t len = strlen(text);
	json_auto_t *name =
		json_stringn(text, len > ENDPOINT_BYTES ? utf8_prefix(text, ENDPOINT_BYTES) : len);
	const char *endpoint = json_string_value(name);
	json_t *sum = json_object_get(by_endpoint, endpoint);
	if (!sum && json_object_size(by_endpoint) >= EGRESS_ENDPOINTS_MAX)
		return;
	if (!sum) {
		sum = json_pack(
			"{s:i,s:i,s:i,s:{}}", "connections", 0, "up", 0, "down", 0, "refusals");
		json_object_set_new(by_endpoint, endpoint, sum);
	}
	json_add_int(sum, "connections", 1);
	add_bytes(sum, "up", line);
	add_bytes(sum, "down", line);
	const char *refused = json_string_value(json_object_get(line, "refused"));
	char proxied[64] = "";
	json_int_t status = json_get_int(line, "proxy");
	if (status > 0 && status < 100) /* these are libcurl's numbers */
		snprintf(proxied, sizeof(proxied),
			"sandbox.upstream_proxy answers with a SOCKS error");
	else if (status >= 100 && status < 600)
		snprintf(
			proxied, sizeof(proxied), "sandbox.upstream_proxy answers %d", (int)status);
	for (size_t i = 0; refused && i < ARRAY_LEN(reasons); i++)
		if (!strcmp(refused, reasons[i]))
			json_add_int(
				json_object_get(sum, "refusals"), *proxied ? proxied : refused, 1);
}

struct line_egress egress_line(const char *endpoint, const json_t *sums)
{
	return (struct line_egress){.endpoint = endpoint,
		.connections = json_get_int(sums, "connections"),
		.up = json_get_int(sums, "up"),
		.down = json_get_int(sums, "down"),
		.refusals = json_object_get(sums, "refusals")};
}

static int open_ends(struct egress *egress, int *broker_fd, int *facts_in, struct err *e)
{
	int pair[2], ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make a socket for the broker");
	*broker_fd = pair[0];
	egress->jail_fd = pair[1];
	egress->life_fd = fcntl(egress->jail_fd, F_DUPFD_CLOEXEC, 0);
	if (egress->life_fd < 0 || pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe for the broker");
	egress->facts_fd = ends[0];
	*facts_in = ends[1];
	return 0;
}

static int start(struct egress *egress, const struct egress_ask *ask, struct err *e)
{
	AUTO_FD int broker_fd = -1, facts_in = -1, null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FREE char *path = child_sibling("agent6-broker", e);
	AUTO_BUF rules = BUF_INIT(64 * 1024);
	AUTO_BUF names = BUF_INIT(64 * 1024);
	buf_adds(&rules, "3=");
	for (size_t i = 0; i < ask->host_count; i++)
		buf_addf(&rules, "%s%s", i ? "," : "", ask->hosts[i]);
	for (size_t i = 0; i < ask->private_count; i++)
		buf_addf(&names, "%s%s", i ? "," : "", ask->private_hosts[i]);
	if (null_fd < 0 || rules.failed || names.failed)
		return err_set(e, "out of memory or descriptors");
	if (!path || open_ends(egress, &broker_fd, &facts_in, e))
		return -1;
	char *argv[ARGV_MAX] = {"agent6-broker", "--proxy", rules.data, "--control", "4"};
	char **more = argv + 5;
	if (ask->private_count) {
		*more++ = "--private";
		*more++ = names.data;
	}
	if (ask->upstream_proxy) {
		*more++ = "--upstream-proxy";
		*more++ = (char *)(uintptr_t)ask->upstream_proxy;
	}
	char *env[] = {NULL};
	int fds[] = {null_fd, null_fd, STDERR_FILENO, broker_fd, facts_in};
	struct child_spec spec = {path, argv, env, fds, (int)ARRAY_LEN(fds), true};
	return child_start(&spec, &egress->broker, e);
}

int egress_start(struct egress *egress, const struct egress_ask *ask, struct err *e)
{
	*egress = EGRESS_NONE;
	buf_init(&egress->line, LINE_BYTES_MAX);
	egress->by_endpoint = json_object();
	if (start(egress, ask, e) == 0)
		return 0;
	egress_done(egress);
	return err_wrap(e, "the broker cannot be started");
}

void egress_take(void *ctx, const char *bytes, size_t len)
{
	struct egress *g = ctx;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '\n') {
			buf_addc(&g->line, bytes[i]);
			continue;
		}
		json_auto_t *line =
			g->line.failed ? NULL
				       : json_read(g->line.data, g->line.len, LINE_BYTES_MAX, NULL);
		if (json_is_object(line))
			egress_add(g->by_endpoint, line);
		buf_clear(&g->line);
	}
}

static void take_rest(struct egress *egress)
{
	char bytes[4096];
	int64_t until_ms = clock_monotonic_ms() + LAST_FACTS_MS;
	struct pollfd ready = {.fd = egress->facts_fd, .events = POLLIN};
	while (io_poll(&ready, 1, until_ms) > 0) {
		ssize_t n = read(egress->facts_fd, bytes, sizeof(bytes));
		if (n <= 0)
			return;
		egress_take(egress, bytes, (size_t)n);
	}
}

void egress_done(struct egress *egress)
{
	own_close(&egress->jail_fd);
	own_close(&egress->life_fd);
	if (egress->broker.pid > 0) {
		take_rest(egress);
		kill(egress->broker.pid, SIGKILL);
		child_wait(&egress->broker);
		egress->broker.pid = -1;
	}
	own_close(&egress->facts_fd);
	buf_done(&egress->line);
}
