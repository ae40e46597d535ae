/* Tests the recording of a run for its rehearsal, and the removal of secrets from it. */
#include "base/io.h"
#include "run/recording.h"
#include "run/secret.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>

static int recording_fd;

static void kept(void)
{
	AUTO_BUF lines;
	buf_init(&lines, 1000);
	json_auto_t *exchange =
		json_pack("{s:{s:i,s:s},s:i}", "request", "turn", 1, "model", "m", "reply", 2);
	recording_exchange(&lines, "ask", exchange);
	is_str(lines.data, "{\"match\":{\"turn\":1},\"reply\":2,\"state\":\"ask\"}\n",
		"an exchange is a line");
	recording_exchange(&lines, "\xff", exchange);
	ok(lines.failed, "one that cannot be made spoils all of them");
}

#define LOOK KIT_TURN("list_dir", "{}")

/* An exchange that told the whole conversation would be longer with each turn, and its line at last
 * too long to be kept. */
static void told(void)
{
	AUTO_KIT k = {
		.format = "anthropic", .replies = {{LOOK, 0, 0}, {LOOK, 0, 0}, {KIT_FINISH, 0, 0}}};
	k.task = json_pack("{s:b}", "record", 1);
	kit_run(&k);
	size_t i, count = 0, bytes[3] = {0};
	const json_t *line;
	json_array_foreach (k.events, i, line) {
		AUTO_FREE char *text = json_dumps(json_object_get(line, "request"), 0);
		if (text && count < ARRAY_LEN(bytes))
			bytes[count++] = strlen(text);
	}
	is((int64_t)count, 3, "an agent tells each exchange");
	is((int64_t)bytes[2], (int64_t)bytes[1],
		"without the conversation, which grows with each turn");
}

static int killed(void *ctx, const json_t *secrets, struct err *e)
{
	(void)ctx;
	(void)secrets;
	(void)e;
	return raise(SIGKILL);
}

static void apart(void)
{
	struct config empty = {0};
	struct secret_source none = {&empty, -1};
	struct err e = ERR_NONE;
	ok(secret_apart(&none, killed, NULL, -1, &e),
		"a process that was killed has not done its work");
	has_str(e.text, "killed", "which is said");
}

static ssize_t room = SSIZE_MAX;
static const char *meanwhile = "";

/* Every writev of this program: on a disk with little room, while another one writes there, too. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
	AUTO_BUF all;
	buf_init(&all, 4096);
	for (int i = 0; i < count; i++)
		buf_add(&all, parts[i].iov_base, parts[i].iov_len);
	ssize_t n = write(fd, all.data, (ssize_t)all.len < room ? all.len : (size_t)room);
	AUTO_FD int other = openat(recording_fd, "m.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	return io_write(other, meanwhile, strlen(meanwhile)) ? -1 : n;
}

/* Keeps `added` of an attempt at one step; what the cassette then holds. */
static char *keep_of(int attempt, const char *added)
{
	static const struct state ask = {.name = "ask"};
	AUTO_BUF lines;
	char *text = NULL;
	size_t len;
	struct drive_listener nobody = {0};
	struct live w = {.listener = &nobody,
		.record_fd = recording_fd,
		.record_dir = "tapes",
		.machine = "m"};
	struct step step = {.state = &ask, .attempt = attempt};
	buf_init(&lines, 100);
	buf_adds(&lines, added);
	recording_keep(&w, &step, recording_fd, &lines);
	io_read_file(recording_fd, "m.jsonl", 4096, &text, &len, NULL);
	return text;
}

/* The same of a first attempt, where `before` is and nothing is noted. */
static char *keep(const char *before)
{
	unlinkat(recording_fd, "taped", 0);
	unlinkat(recording_fd, "m.jsonl", 0);
	if (io_create_file(recording_fd, "m.jsonl", before, strlen(before), 0600, NULL))
		bail("no cassette");
	return keep_of(1, "{\"ours\":1}\n");
}

static void appended(void)
{
	recording_fd = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *plain = keep("{}\n"), *torn = keep("{}\n{\"to");
	is_str(plain, "{}\n{\"ours\":1}\n", "behind the last line");
	is_str(torn, "{}\n{\"to\n{\"ours\":1}\n", "and not in one that a kill cut short");
	room = 4;
	AUTO_FREE char *half = keep("{}\n");
	is_str(half, "{}\n", "of what there is no room for nothing stays");
	meanwhile = "{\"other\":1}\n";
	AUTO_FREE char *shared = keep("{}\n");
	has_str(shared, meanwhile, "but what another instance wrote meanwhile");
	own_close(&recording_fd);
}

/* Whatever kept an execution from being committed, it runs again as the same attempt. */
static void repeated(void)
{
	recording_fd = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	room = SSIZE_MAX;
	meanwhile = "";
	AUTO_FREE char *first = keep("{}\n"), *again = keep_of(1, "{\"ours\":2}\n");
	is_str(first, "{}\n{\"ours\":1}\n", "what an attempt was answered");
	is_str(again, "{}\n{\"ours\":2}\n", "gives way to what it is answered when it is repeated");
	AUTO_FREE char *next = keep_of(2, "{\"ours\":3}\n");
	is_str(next, "{}\n{\"ours\":2}\n{\"ours\":3}\n", "and stays before the next attempt");
	AUTO_FREE char *silent = keep_of(2, "");
	is_str(silent, "{}\n{\"ours\":2}\n", "a repetition that asked nothing leaves nothing");
	unlinkat(recording_fd, "m.jsonl", 0);
	AUTO_FREE char *none = keep_of(3, "");
	ok(!none, "an agent that asks nothing makes no cassette");
	AUTO_FREE char *torn = keep("{\"to"), *mended = keep_of(1, "{\"ours\":2}\n");
	is_str(torn, "{\"to\n{\"ours\":1}\n", "behind a line that was cut short");
	is_str(mended, "{\"to\n{\"ours\":2}\n", "it is the same");
	unlinkat(recording_fd, "m.jsonl", 0);
	if (io_create_file(recording_fd, "m.jsonl", "{\"to", 4, 0600, NULL))
		bail("no cassette");
	AUTO_FREE char *alone = keep_of(3, "");
	is_str(alone, "{\"to", "who asked nothing ends nobody's line");
	meanwhile = "{\"other\":1}\n";
	AUTO_FREE char *shared = keep("{}\n");
	meanwhile = "";
	AUTO_FREE char *both = keep_of(1, "{\"ours\":2}\n");
	is_str(both, "{}\n{\"ours\":1}\n{\"other\":1}\n{\"ours\":2}\n",
		"nothing is taken from under what another instance wrote");
	AUTO_FREE char *kept = keep("{}\n");
	AUTO_FD int cassette = openat(recording_fd, "m.jsonl", O_WRONLY | O_CLOEXEC);
	io_write_at(cassette, "{\"mine\"", 7, 3);
	AUTO_FREE char *edited = keep_of(1, "{\"ours\":2}\n");
	is_str(edited, "{}\n{\"mine\":1}\n{\"ours\":2}\n", "nor what a person changed");
	ok(!linkat(recording_fd, "m.jsonl", recording_fd, "other", 0), "a second name");
	AUTO_FREE char *linked = keep_of(3, "{\"ours\":3}\n");
	is_str(linked, edited, "what somebody may have linked there takes nothing");
	own_close(&recording_fd);
}

int main(void)
{
	appended();
	repeated();
	kept();
	told();
	apart();
	return tap_done();
}
