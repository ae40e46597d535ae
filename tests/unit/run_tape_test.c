/* What is kept of a run for its rehearsal, and who takes the secrets out of it. */
#include "run/secret.h"
#include "run/tape.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include <signal.h>
#include <string.h>

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

int main(void)
{
	kept();
	told();
	apart();
	return tap_done();
}
