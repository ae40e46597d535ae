#include "agent/emit.h"

#include "agent/policy/redact_json.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdint.h>

enum { LINE_CAP_BYTES = 4 * 1024 * 1024 };
/* Room for the members of an event apart from the value that it reports. */
enum { BESIDE_BYTES = 8 * 1024, BESIDE_VALUES = 64 };

static const struct redact *hidden;

void emit_hide(const struct redact *secrets)
{
	hidden = secrets;
}

int emit(enum agent_event event, json_t *members)
{
	json_auto_t *said = members ? members : json_object();
	json_t *object = hidden ? redact_values(redact_known, hidden, said) : json_incref(said);
	json_object_set_new(object, "event", json_string(agent_event_name(event)));
	AUTO_BUF line = BUF_INIT(LINE_CAP_BYTES);
	json_write(&line, object);
	json_decref(object);
	if (buf_addc(&line, '\n') || json_too_many(line.data, line.len)) {
		emit_notice("an event of kind %s is left out: it has more than %d bytes or %d "
			    "values",
			agent_event_name(event), LINE_CAP_BYTES, JSON_VALUES_MAX);
		return -1;
	}
	if (io_write(STDOUT_FILENO, line.data, line.len))
		_exit(1);
	return 0;
}

int emit_check(const json_t *value, struct buf *problems)
{
	AUTO_BUF line = BUF_INIT(LINE_CAP_BYTES - BESIDE_BYTES);
	buf_adds(&line, "[");
	for (int i = 0; i < BESIDE_VALUES; i++)
		buf_adds(&line, "0,");
	json_write(&line, value);
	if (!buf_adds(&line, "]") && !json_too_many(line.data, line.len))
		return 0;
	buf_addf(problems,
		"result: too large: at most %d bytes of JSON and %d values can be handed over; "
		"shorten it",
		LINE_CAP_BYTES - 2 * BESIDE_BYTES, JSON_VALUES_MAX - 2 * BESIDE_VALUES);
	return -1;
}

void emit_notice(const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_copy(text, sizeof(text), text);
	emit(EVENT_NOTICE, json_pack("{s:s}", "text", text));
}
