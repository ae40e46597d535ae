/* What is kept of a run for its rehearsal, and who takes the secrets out of it. */
#include "run/secret.h"
#include "run/tape.h"
#include "tests/kit/tap.h"

#include <signal.h>

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
	apart();
	return tap_done();
}
