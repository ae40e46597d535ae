/* Watches the agent process from outside: it makes no connection but by the broker's descriptors,
 * verifies TLS to the provider end to end, and does not outlive the broker. */
#include "tests/kit/agent.h"

#include "base/io.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

static char *read_scratch(const char *path)
{
	char *text = NULL;
	size_t len;
	struct err e = ERR_NONE;
	if (io_read_file(AT_FDCWD, path, KIT_CAP_BYTES, &text, &len, &e))
		bail("%s", e.text);
	return text;
}

/* Checks the agent's own process: no connection ever, and no socket after the first refused one, by
 * which it proves that it is confined. */
static void check_trace(const char *text, const char *agent_pid)
{
	size_t connects = 0, sockets = 0;
	bool confined = false;
	for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		AUTO_FREE char *line = strndup(at, (size_t)(end - at));
		if (strncmp(line, agent_pid, strlen(agent_pid)))
			continue;
		connects += strstr(line, " connect(") && !strstr(line, "AF_UNIX");
		bool asks = strstr(line, " socket(") != NULL;
		confined = confined || (asks && strstr(line, "EAFNOSUPPORT"));
		sockets += confined && asks && !strstr(line, "EAFNOSUPPORT");
	}
	is(connects, 0, "no connect() outside AF_UNIX from the agent");
	ok(confined && !sockets, "no socket at all once it is confined");
}

static void traced(void)
{
	if (access("/usr/bin/strace", X_OK)) {
		skip("strace is not installed");
		return;
	}
	char log[300];
	snprintf(log, sizeof(log), "%s/trace", tap_scratch());
	AUTO_KIT k = {.format = "anthropic",
		.trace = log,
		.replies = {{KIT_TURN("grep", "{\"pattern\":\"x\"}"), 0, 0}, {KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a traced run is ok");
	AUTO_FREE char *text = read_scratch(log);
	char pid[16];
	snprintf(pid, sizeof(pid), "%.*s ", (int)strcspn(text, " "), text);
	check_trace(text, pid);
	ok(strstr(text, "AF_INET"), "(and the trace would have shown one: the broker's)");
}

static void shell(const char *command)
{
	pid_t pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	int status;
	waitpid(pid, &status, 0);
	if (status)
		bail("this failed: %s", command);
}

static void make_certificate(const char *name, const char *subject)
{
	char command[2048];
	snprintf(command, sizeof(command),
		"cd '%s' && { [ -f ca.pem ] || openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
		"-subj /CN=test-ca -keyout ca.key -out ca.pem; } 2>/dev/null && "
		"openssl req -newkey rsa:2048 -nodes -subj /CN=x -keyout %s.key -out %s.csr "
		"2>/dev/null && printf 'subjectAltName=DNS:%s' > %s.ext && openssl x509 -req -in "
		"%s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile %s.ext -out "
		"%s.crt "
		"2>/dev/null && cat %s.crt %s.key > %s.pem",
		tap_scratch(), name, name, subject, name, name, name, name, name, name, name);
	shell(command);
}

/* The authority lies outside of the workspace. */
static void tls_works(const char *profile, const char *ca, const char *pem)
{
	AUTO_KIT k = {.format = "anthropic",
		.profile = profile,
		.ca_file = ca,
		.tls_pem = pem,
		.replies = {{KIT_TURN("list_dir", "{\"path\":\".\"}"), 0, 0}, {KIT_FINISH, 0, 0}}};
	snprintf(k.workspace, sizeof(k.workspace), "%s/ws", tap_scratch());
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "%s: TLS end to end with an own authority: %s", profile,
		kit_reason(&k));
}

static void tls(void)
{
	if (access("/usr/bin/socat", X_OK) || access("/usr/bin/openssl", X_OK)) {
		skip("socat and openssl are not installed");
		return;
	}
	make_certificate("good", "localhost");
	make_certificate("other", "elsewhere.example");
	char ca[300], good[300], other[300];
	snprintf(ca, sizeof(ca), "%s/ca.pem", tap_scratch());
	snprintf(good, sizeof(good), "%s/good.pem", tap_scratch());
	snprintf(other, sizeof(other), "%s/other.pem", tap_scratch());
	tree_dir(tap_scratch(), "ws");
	tls_works("strict", ca, good);
	if (tap_can_harden("TLS"))
		tls_works("hardened", ca, good);
	AUTO_KIT wrong = {.format = "anthropic",
		.ca_file = ca,
		.tls_pem = other,
		.replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&wrong);
	has_str(kit_reason(&wrong), "certificate is not accepted", "another host's certificate");
	has_str(kit_reason(&wrong), "host name", "and what is wrong with it");
	ok(!strstr(kit_reason(&wrong), "ca_file"), "which no authority mends");
	ok(!strstr(wrong.requests, "POST"), "gets no request");
	char old[400];
	snprintf(old, sizeof(old), "%s,openssl-max-proto-version=TLS1.0,cipher=ALL:@SECLEVEL=0",
		good);
	AUTO_KIT aged = {.format = "anthropic",
		.ca_file = ca,
		.tls_pem = old,
		.replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&aged);
	has_str(kit_reason(&aged), "speaks no TLS 1.2 or 1.3 (", "a server of TLS 1.0 is named");
	AUTO_KIT unknown = {.format = "anthropic",
		.ca_file = "/etc/ssl/certs/ca-certificates.crt",
		.tls_pem = good,
		.replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&unknown);
	has_str(kit_reason(&unknown), "certificate is not accepted", "an unknown authority's");
	has_str(kit_reason(&unknown), "issuer certificate", "and that it is unknown");
	has_str(kit_reason(&unknown), "; its ca_file", "and where it is named");
}

struct store {
	const char *fill, *outcome, *what;
};

/* Replaces the system's authorities by a directory of our own, which no other process sees. */
static void with_store(const struct store *store)
{
	char command[1024], good[300], kept[300];
	snprintf(good, sizeof(good), "%s/good.pem", tap_scratch());
	snprintf(kept, sizeof(kept), "%s/ca.pem", tap_scratch());
	if (mount("none", "/etc/ssl/certs", "tmpfs", 0, NULL))
		bail("cannot put a directory over /etc/ssl/certs");
	snprintf(command, sizeof(command), "cp '%s' /etc/ssl/certs && cd /etc/ssl/certs && %s",
		kept, store->fill);
	shell(command);
	AUTO_KIT k = {.format = "anthropic",
		.ca_file = kept,
		.tls_pem = good,
		.provider = json_pack("{s:n, s:i}", "ca_file", "max_retries", 0),
		.replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), store->outcome, "an authority that the system has %s: %s",
		store->what, kit_reason(&k));
	umount("/etc/ssl/certs");
}

static void system_store(void)
{
	static const struct store stores[] = {
		{"ln -s ca.pem $(openssl x509 -hash -noout -in ca.pem).0 && : >ca-certificates.crt",
			"ok", "by its name alone"},
		{"ln -s nothing 01234567.0 && cp ca.pem ca-certificates.crt", "ok",
			"in the file alone, beside names"},
		{"cp ca.pem ca-certificates.crt", "ok", "in the file, without names"},
		{"ln -s nothing 01234567.0 && : >ca-certificates.crt", "failed", "nowhere"},
	};
	if (access("/usr/bin/socat", X_OK) || geteuid() || unshare(CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		skip("no mount namespace of our own, or no socat");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(stores); i++)
		with_store(&stores[i]);
}

static pid_t child_named(pid_t of, const char *name)
{
	char path[64], comm[64] = "", *list;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", of, of);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256] = "";
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	for (char *at = text; *at; at = list) {
		pid_t pid = (pid_t)strtol(at, &list, 10);
		if (list == at)
			break;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		AUTO_FD int comm_fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = comm_fd < 0 ? 0 : read(comm_fd, comm, sizeof(comm) - 1);
		if (n > 0 && !strncmp(comm, name, strlen(name)))
			return pid;
	}
	return -1;
}

/* Kills the broker while the provider stalls; runs beside kit_run, which blocks. */
static pid_t broker_killer(void)
{
	pid_t parent = getpid(), pid = fork();
	if (pid)
		return pid;
	for (int tries = 0; tries < 6000; tries++, poll(NULL, 0, 10)) {
		pid_t agent = child_named(parent, "agent6-agent");
		pid_t broker = agent > 0 ? child_named(agent, "agent6-broker") : -1;
		if (broker > 0) {
			poll(NULL, 0, 300);
			kill(broker, SIGKILL);
			_exit(0);
		}
	}
	_exit(1);
}

static void broker_dies(int retries)
{
	pid_t killer = broker_killer();
	AUTO_KIT k = {.format = "anthropic",
		.provider = json_pack("{s:i}", "max_retries", retries),
		.replies = {{KIT_STREAM KIT_BEGIN, 25, 0}}};
	kit_run(&k);
	int status;
	waitpid(killer, &status, 0);
	is(status, 0, "the broker was found and killed");
	is_str(kit_outcome(&k), "failed", "without the broker the agent fails");
	has_str(kit_reason(&k), "the broker has ended", "and says why");
}

int main(void)
{
	traced();
	tls();
	broker_dies(4);
	broker_dies(0);
	system_store();
	return tap_done();
}
