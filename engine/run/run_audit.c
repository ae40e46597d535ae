#include "run/run_audit.h"

#include "base/json.h"
#include "base/utf8.h"
#include "run/egress.h"
#include "run/question.h"

#include <signal.h>
#include <string.h>

enum { ARGV_BYTES_MAX = 16 * 1024, TEXT_BYTES_MAX = 512 };

json_t *run_audit_line(
	const struct live *live, const struct step *step, enum audit_type type, json_t *fields)
{
	json_t *line = fields ? fields : json_object();
	json_object_set_new(line, "t", json_string(audit_type_name(type)));
	json_object_set_new(line, "seq", json_integer((json_int_t)step->seq));
	json_object_set_new(line, "id", json_string(live->instance->id));
	json_object_set_new(line, "machine", json_string(live->machine));
	json_object_set_new(line, "state", json_string(step->state->name));
	json_object_set_new(line, "pid", json_integer(getpid()));
	return line;
}

json_t *run_audit_argv(const json_t *argv)
{
	AUTO_FREE char *text = json_text(argv);
	if (text && strlen(text) <= ARGV_BYTES_MAX)
		return json_pack("{s:O}", "argv", argv);
	AUTO_BUF shown = BUF_INIT(8 * ARGV_BYTES_MAX);
	question_show_argv(&shown, argv);
	return json_pack("{s:s, s:b}", "command", shown.failed ? "?" : shown.data, "truncated", 1);
}

/* Records something that has already happened: an error becomes a notice. Takes `fields`. */
static void note(struct live *live, const struct step *step, enum audit_type type, json_t *fields)
{
	struct err e = ERR_NONE;
	json_auto_t *lines = json_pack("[o]", run_audit_line(live, step, type, fields));
	if (audit_append(&live->audit, lines, &e))
		live_notice(live, "%s was not recorded: %.900s", audit_type_name(type), e.text);
}

static void copy_text(json_t *to, const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));
	size_t len = text ? strlen(text) : 0;
	if (text)
		json_object_set_new(to, key,
			json_stringn(text,
				len > TEXT_BYTES_MAX ? utf8_prefix(text, TEXT_BYTES_MAX) : len));
}

static void copy_number(json_t *to, const json_t *from, const char *key)
{
	const json_t *value = json_object_get(from, key);
	if (json_is_integer(value) || json_is_boolean(value))
		json_object_set(to, key, (json_t *)(uintptr_t)value);
}

void run_audit_take(struct live *live, const struct step *step, const json_t *event)
{
	static const unsigned reported =
		1U << AUDIT_EXECUTED | 1U << AUDIT_FAILED | 1U << AUDIT_SANDBOX_VIOLATION |
		1U << AUDIT_SECRET_FILTERED | 1U << AUDIT_INJECTION_DETECTED;
	static const char *const texts[] = {"kind", "tool", "error", "what"};
	static const char *const numbers[] = {"exit", "signal", "ms", "timed_out", "count"};
	enum audit_type type = audit_type_find(json_get_text(event, "type"));
	const json_t *argv = json_object_get(event, "argv");
	if (type == AUDIT_TYPE_COUNT || !(reported & 1U << type))
		return;
	json_t *fields = json_is_array(argv) ? run_audit_argv(argv) : json_object();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		copy_text(fields, event, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		copy_number(fields, event, numbers[i]);
	note(live, step, type, fields);
}

void run_audit_tool(struct live *live, const struct step *step, const struct fact *fact)
{
	if (fact->kind == FACT_TOOL && fact->tool.signal.value == SIGSYS)
		note(live, step, AUDIT_SANDBOX_VIOLATION,
			json_pack("{s:s}", "what", "system call"));
}

void run_audit_planted(struct live *live, const struct step *step, const json_t *planted)
{
	size_t i;
	const json_t *one;
	json_array_foreach (planted, i, one)
		note(live, step, AUDIT_SANDBOX_VIOLATION,
			json_pack("{s:s, s:O*, s:O*}", "what", "repository", "path",
				json_object_get(one, "path"), "to", json_object_get(one, "to")));
}

void run_audit_egress(struct live *live, const struct step *step, const json_t *by_endpoint)
{
	const char *endpoint;
	json_t *sums;
	json_object_foreach ((json_t *)(uintptr_t)by_endpoint, endpoint, sums) {
		struct line_egress line = egress_line(endpoint, sums);
		if (json_object_size(line.refusals))
			note(live, step, AUDIT_EGRESS_REFUSED,
				json_pack("{s:s, s:O}", "endpoint", line.endpoint, "refusals",
					line.refusals));
	}
}
