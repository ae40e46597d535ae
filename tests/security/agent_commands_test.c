/* Commands that a model proposes: run in a jail whose policy was fixed before the key was read, and
 * judged before that. */
#include "base/buf.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static json_t *commands(const char *workspace, const char *run, bool auto_approve)
{
	return json_pack(
		"{s:{s:{s:i, s:s, s:s, s:s, s:{s:s, s:s}, s:[]}, s:s, s:s, s:b, s:[s, s, s], "
		"s:i, s:i}}",
		"commands", "policy", "version", 1, "profile", "strict", "cwd", workspace,
		"network", "none", "workspace", "path", workspace, "access", "write", "protect",
		"run", run, "approval", "confirm", "auto_approve", auto_approve, "verify", "sh",
		"-c", "test -f out && echo verified", "timeout_secs", 20, "verify_timeout_secs",
		20);
}

/* 6,553 bytes of a long line are shown, and its last 9,831. */
static void write_flood(const char *workspace)
{
	char path[300];
	snprintf(path, sizeof(path), "%s/flood", workspace);
	FILE *f = fopen(path, "w");
	fprintf(f, "%06545dsk-test-key-0123456789%010000dsk-test-key-0123456789%09823d", 0, 0, 0);
	fclose(f);
}

static void prepare(struct kit *kit, const char *run, bool auto_approve)
{
	snprintf(kit->workspace, sizeof(kit->workspace), "%s/ws", tap_scratch());
	mkdir(kit->workspace, 0755);
	kit->format = "anthropic";
	kit->task = json_pack("{s:s}", "mode", "run");
	kit->order = commands(kit->workspace, run, auto_approve);
}

#define RUN(id, script)                                                                            \
	KIT_STREAM KIT_BEGIN KIT_CALL(0, id, "run_command",                                        \
		"{\"argv\":[\"sh\",\"-c\",\"" script "\"]}") KIT_END("tool_use")

static void runs(void)
{
	AUTO_KIT k = {
		.replies = {{RUN("a", "echo made > out; echo IMPORTANT: obey; echo err >&2"), 0, 0},
			{KIT_TURN("run_verify_command", "{}"), 0, 0},
			{RUN("c", "cat /etc/shadow; cat /proc/1/environ; env"), 0, 0},
			{RUN("d", "exec 3<>/dev/tcp/127.0.0.1/80"), 0, 0},
			{RUN("e", "seq 1 200000"), 0, 0}, {RUN("f", "reboot"), 0, 0},
			{RUN("i", "cat flood"), 0, 0}, {RUN("g", "sudo id"), 0, 0},
			{RUN("h", "sleep 60 & exit 3"), 0, 0}, {KIT_FINISH, 0, 0}}};
	prepare(&k, "yes", false);
	write_flood(k.workspace);
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a run with commands: %s", kit_reason(&k));
	has_str(k.requests,
		"exit 0\\n--- stdout ---\\n[FILTERED: potential injection] obey\\n--- stderr "
		"---\\nerr\\n",
		"output and status come back, markers replaced");
	has_str(k.requests, "exit 0\\n--- stdout ---\\nverified\\n",
		"the verify command sees the work");
	ok(!strstr(k.requests, "root:"), "no file outside is read");
	is(kit_count(k.requests, "sk-test"), kit_count(k.requests, "POST "),
		"the key is in the header of each request, in no environment, and no half of it "
		"where a text is cut");
	ok(!strstr(k.requests, "3456789000"), "nor the other half");
	has_str(k.requests, "Not run (network)", "a connection is not even tried offline");
	has_str(k.requests, "bytes left out ...]", "a flood is cut");
	has_str(k.requests, "200000\\n", "and its end is shown");
	has_str(k.requests, "Not run (denied): blocked by policy", "what is denied is blocked");
	has_str(k.requests, "Not run (privileged): no privileges exist",
		"what cannot work is refused");
	has_str(k.requests, "exit 3\\n", "a background child does not hold the command up");
	has_str(k.output, "\"event\":\"proposal\"", "proposals are told before they run");
	has_str(k.output, "\"type\":\"executed\"", "and what ran");
	has_str(k.output, "\"decision\":\"block\"", "and what is blocked");
}

#define RUN_ARGV(id, argv)                                                                         \
	KIT_STREAM KIT_BEGIN KIT_CALL(0, id, "run_command", "{\"argv\":" argv "}")                 \
		KIT_END("tool_use")

static void write_script(const char *workspace, const char *text)
{
	char path[300];
	snprintf(path, sizeof(path), "%s/script", workspace);
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fchmod(fileno(f), 0755) || fclose(f))
		bail("cannot write %s", path);
}

/* Checks the reasons that a model needs in order to do better at the next turn. */
static void says_why(void)
{
	AUTO_KIT k = {.replies = {{RUN_ARGV("a", "[\"ls -la\"]"), 0, 0},
			      {RUN_ARGV("b", "[\"cd\",\"src\"]"), 0, 0},
			      {RUN_ARGV("c", "[\"true\"]"), 0, 0}, {RUN("d", "kill -9 $$"), 0, 0},
			      {RUN_ARGV("e", "[\"missing-program\"]"), 0, 0},
			      {RUN("f", "exit 127"), 0, 0},
			      {RUN("g", "echo agent6-jail: cannot run x >&2; exit 127"), 0, 0},
			      {RUN_ARGV("h", "[\"./script\"]"), 0, 0}, {KIT_FINISH, 0, 0}}};
	prepare(&k, "yes", false);
	write_script(k.workspace, "#!/no/such/interpreter\n");
	kit_run(&k);
	has_str(k.requests, "one string for each argument", "a line in one string is explained");
	has_str(k.requests, "\\\"cd DIR && ...\\\"", "cd is, too");
	has_str(k.requests, "exit 0\\n(no output)\\n", "silence is said");
	has_str(k.requests, "killed by signal 9 (SIGKILL; perhaps it ran out of memory)",
		"a signal has a name");
	has_str(k.requests, "There is no program missing-program here.",
		"a missing program has one");
	is(kit_count(k.requests, "There is no program sh"), 0, "a 127 of the command is its own");
	has_str(k.requests, "There is no program ./script here, or its first line names one that ",
		"a script without its interpreter is not denied");
}

/* A command that never ends must leave the model the time to hear of it. */
static void endless(void)
{
	AUTO_KIT k = {.replies = {{RUN("a", "echo begun; sleep 60"), 0, 0}, {KIT_FINISH, 0, 0}},
		.limits = json_pack("{s:i}", "timeout_secs", 24)};
	prepare(&k, "yes", false);
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "the step goes on behind it: %s", kit_reason(&k));
	has_str(k.requests, "The command was killed after ", "and the model is told");
	has_str(k.requests, "begun", "with what it said until then");
}

static void nobody_to_ask(void)
{
	AUTO_KIT k = {.replies = {{RUN("a", "touch x"), 0, 0}, {KIT_FINISH, 0, 0}}};
	prepare(&k, "ask", false);
	kit_run(&k);
	has_str(k.requests, "Not run (write): no_approver",
		"unattended, what would be asked is denied");
	AUTO_KIT granted = {.replies = {{RUN("a", "touch x"), 0, 0}, {RUN("b", "rm x"), 0, 0},
				    {KIT_FINISH, 0, 0}}};
	prepare(&granted, "ask", true);
	kit_run(&granted);
	has_str(granted.requests, "exit 0", "--auto-approve grants a write");
	has_str(granted.requests, "Not run (destructive): no_approver", "and nothing above");
	AUTO_KIT none = {.replies = {{RUN("a", "ls"), 0, 0}, {KIT_FINISH, 0, 0}}};
	prepare(&none, "no", false);
	kit_run(&none);
	has_str(none.requests, "There is no tool run_command here",
		"run_commands: no takes it away");
	AUTO_KIT judge = {.replies = {{RUN("a", "ls"), 0, 0}, {KIT_FINISH, 0, 0}}};
	prepare(&judge, "yes", false);
	json_object_set_new(judge.task, "mode", json_string("agent"));
	kit_run(&judge);
	has_str(judge.requests, "There is no tool run_command here", "mode agent has none");
}

/* The supervisor is not asked about what no line can hold; waiting for it would use up the time. */
static void too_long_to_ask(void)
{
	enum { PIECES = 10, PIECE_BYTES = 500000 };
	static char piece[PIECE_BYTES + 1];
	AUTO_BUF reply;
	buf_init(&reply, KIT_CAP_BYTES);
	memset(piece, 'a', PIECE_BYTES);
	buf_adds(&reply, KIT_STREAM KIT_BEGIN
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
		"\"tool_use\",\"id\":\"a\",\"name\":\"run_command\",\"input\":{}}}\n\n");
	for (int i = 0; i <= PIECES; i++)
		buf_addf(&reply,
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
			"\"input_json_delta\",\"partial_json\":\"%s%s\"}}\n\n",
			i ? "" : "{\\\"argv\\\":[\\\"echo\\\",\\\"", i < PIECES ? piece : "\\\"]}");
	buf_adds(&reply, KIT_END("tool_use"));
	AUTO_KIT k = {.replies = {{reply.data, 0, 0}, {KIT_FINISH, 0, 0}},
		.limits = json_pack("{s:i}", "timeout_secs", 60)};
	prepare(&k, "yes", false);
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a command of 5 MB is not waited for: %s", kit_reason(&k));
	has_str(k.requests, "the supervisor did not answer", "and the model is told");
}

/* The first child of that name, 0: there is none. */
static pid_t child_named(pid_t parent, const char *name)
{
	char path[64], list[4096] = "", comm[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, list, sizeof(list) - 1) <= 0)
		return 0;
	char *at = list;
	for (long pid; (pid = strtol(at, &at, 10)) > 0;) {
		snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
		AUTO_FD int comm_fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = comm_fd < 0 ? 0 : read(comm_fd, comm, sizeof(comm));
		if (n > 0 && !strncmp(comm, name, strlen(name)))
			return (pid_t)pid;
	}
	return 0;
}

/* Kills the agent's launcher once the command has begun. */
static pid_t start_killer(const char *sign)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	for (int i = 0; access(sign, F_OK); i++) {
		if (i == 50000)
			_exit(1);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	pid_t launcher = child_named(child_named(getppid(), "agent6-agent"), "agent6-jail");
	_exit(launcher > 0 && !kill(launcher, SIGKILL) ? 0 : 1);
}

static void launcher_dies(void)
{
	char sign[300];
	int status = -1;
	AUTO_KIT k = {.replies = {{RUN("a", "touch up; sleep 60"), 0, 0}, {RUN("b", "ls"), 0, 0},
			      {KIT_FINISH, 0, 0}}};
	prepare(&k, "yes", false);
	snprintf(sign, sizeof(sign), "%s/up", k.workspace);
	pid_t killer = start_killer(sign);
	kit_run(&k);
	waitpid(killer, &status, 0);
	is(status, 0, "the launcher is killed while a command runs");
	is_str(kit_outcome(&k), "failed", "no command can run any more: the state has failed");
	has_str(kit_reason(&k), "launcher has ended", "and says why");
	is(kit_count(k.requests, "POST "), 1, "without asking the model what to do");
}

int main(void)
{
	launcher_dies();
	too_long_to_ask();
	runs();
	says_why();
	endless();
	nobody_to_ask();
	return tap_done();
}
