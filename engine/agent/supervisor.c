#include "agent/supervisor.h"

#include "agent/emit.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"

enum { ANSWER_CAP_BYTES = 64 * 1024 };

/* Reads one byte at a time: answers are short and rare, and no byte of a later one may be taken. */
static int read_line(struct buf *line, int64_t deadline_ms)
{
	for (char c = '\0'; c != '\n';) {
		struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
		if (io_poll(&ready, 1, deadline_ms) <= 0 || read(STDIN_FILENO, &c, 1) != 1 ||
			buf_addc(line, c))
			return -1;
	}
	return 0;
}

json_t *supervisor_ask(enum agent_event event, json_t *members, int64_t deadline_ms)
{
	static json_int_t last;
	json_int_t id = ++last;
	json_object_set_new(members, "id", json_integer(id));
	/* There is no answer to a question that could not be emitted. */
	if (emit(event, members))
		return NULL;
	for (;;) {
		AUTO_BUF line = BUF_INIT(ANSWER_CAP_BYTES);
		if (read_line(&line, deadline_ms))
			return NULL;
		json_t *answer = json_read(line.data, line.len, ANSWER_CAP_BYTES, NULL);
		if (json_get_int(answer, "id") == id)
			return answer;
		json_decref(answer); /* the answer to an earlier question, which was given up */
	}
}
