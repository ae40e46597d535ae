#include "agent/finish.h"

#include <string.h>

bool finish_named(const char *tool)
{
	return !strcmp(tool, FINISH_NAME) || !strcmp(tool, "finish_session");
}

json_t *finish_declaration(const struct record *record)
{
	json_t *schema = record ? record_json_schema(record)
				: json_pack("{s:s, s:{s:{s:s}}}", "type", "object", "properties",
					  "summary", "type", "string");
	return json_pack("{s:s, s:s, s:o}", "name", FINISH_NAME, "description",
		"Ends this step with its result. Call it exactly once, when the work is done; "
		"nothing runs after it.",
		"input_schema", schema);
}

static json_t *unwrap(const struct record *record, json_t *arguments)
{
	json_t *inner = json_object_get(arguments, "result");
	bool wrapped = record && json_object_size(arguments) == 1 && json_is_object(inner) &&
		       !record_field(record, "result");
	return wrapped ? inner : arguments;
}

json_t *finish_read(const struct record *record, const json_t *arguments)
{
	struct type t = {.kind = TYPE_RECORD, .record = record};
	json_t *inner = json_object_get(arguments, "result");
	bool wrapped =
		record && json_object_size(arguments) == 1 && !record_field(record, "result");
	json_auto_t *read = record && wrapped && inner ? value_coerce(t, inner) : NULL;
	if (json_is_object(read))
		return json_incref(read);
	return record ? value_coerce(t, arguments) : json_deep_copy(arguments);
}

json_t *finish_check(const struct record *record, json_t *arguments, struct buf *problems)
{
	if (!json_is_object(arguments)) {
		buf_adds(problems, "result: must be one JSON object");
		return NULL;
	}
	json_t *payload = unwrap(record, arguments);
	struct type t = record ? (struct type){.kind = TYPE_RECORD, .record = record}
			       : (struct type){.kind = TYPE_JSON};
	if (value_check(t, payload, VALUE_WHOLE, "result", problems))
		return NULL;
	return json_incref(payload);
}
