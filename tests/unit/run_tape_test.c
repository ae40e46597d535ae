/* What is kept of a run for its rehearsal, and who takes the secrets out of it. */
#include "base/io.h"
#include "run/secret.h"
#include "run/tape.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>

static int tape_fd;

static void kept(void)
{
	AUTO_BUF lines;
	buf_init(&lines, 1000);
	json_auto_t *exchange =
		json_pack("{s:{s:i,s:s},s:i}", "request", "turn", 1, "model", "m", "reply", 2);
	tape_exchange(&lines, "ask", exchange);
	is_str(lines.data, "{\"match\":{\"turn\":1},\"reply\":2,\"state\":\"ask\"}\n",
		"an exchange is a line");
	tape_exchange(&lines, "\xff", exchange);
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
	struct config none = {0};
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
	AUTO_FD int other = openat(tape_fd, "m.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	return io_write(other, meanwhile, strlen(meanwhile)) ? -1 : n;
}

/* Keeps a line where `before` is; what the cassette then holds. */
static char *keep(const char *before)
{
	AUTO_BUF line;
	char *text = NULL;
	size_t len;
	struct drive_listener nobody = {0};
	struct live w = {
		.listener = &nobody, .record_fd = tape_fd, .record_dir = "tapes", .machine = "m"};
	buf_init(&line, 100);
	buf_adds(&line, "{\"ours\":1}\n");
	unlinkat(tape_fd, "m.jsonl", 0);
	if (io_create_file(tape_fd, "m.jsonl", before, strlen(before), 0600, NULL))
		bail("no cassette");
	tape_keep(&w, "ask", &line);
	io_read_file(tape_fd, "m.jsonl", 4096, &text, &len, NULL);
	return text;
}

static void appended(void)
{
	tape_fd = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *plain = keep("{}\n"), *torn = keep("{}\n{\"to");
	is_str(plain, "{}\n{\"ours\":1}\n", "behind the last line");
	is_str(torn, "{}\n{\"to\n{\"ours\":1}\n", "and not in one that a kill cut short");
	room = 4;
	AUTO_FREE char *half = keep("{}\n");
	is_str(half, "{}\n", "of what there is no room for nothing stays");
	meanwhile = "{\"other\":1}\n";
	AUTO_FREE char *shared = keep("{}\n");
	has_str(shared, meanwhile, "but what another instance wrote meanwhile");
	own_close(&tape_fd);
}

int main(void)
{
	appended();
	kept();
	told();
	apart();
	return tap_done();
}
