/* OpenAI-compatible Chat Completions: the neutral form, and what strict servers refuse. */
#include "rehearse/neutral_private.h"

#include "base/json.h"
#include <string.h>

struct openai_reading {
	struct neutral n;
	json_t *open; /* ids of the last assistant turn's calls that wait for their results */
	struct err *e;
};

/* Reports whether this is one of OpenAI's own reasoning models, which take neither max_tokens nor
 * temperature. */
static bool is_reasoning_model(const char *model)
{
	static const char *const prefixes[] = {"o1", "o3", "o4", "gpt-5"};
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (!strncmp(model, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static int check_head(const json_t *body, struct err *e)
{
	const char *model = neutral_string(body, "model");
	const json_t *max = json_object_get(body, "max_tokens");
	if (!model || !*model)
		return err_set(e, "you must provide a model parameter");
	if (is_reasoning_model(model) && max)
		return err_set(e,
			"Unsupported parameter: 'max_tokens' is not supported with this model. "
			"Use 'max_completion_tokens' instead.");
	if (is_reasoning_model(model) && json_object_get(body, "temperature"))
		return err_set(
			e, "Unsupported value: 'temperature' is not supported with this model.");
	if (!max)
		max = json_object_get(body, "max_completion_tokens");
	if (max && (!json_is_integer(max) || json_integer_value(max) < 1))
		return err_set(e, "max_tokens must be an integer of at least 1");
	if (json_object_get(body, "stream_options") &&
		!json_is_true(json_object_get(body, "stream")))
		return err_set(e, "stream_options is only allowed when stream is enabled");
	return 0;
}

static int read_tools(struct openai_reading *reading, const json_t *body)
{
	size_t i;
	json_t *tool;
	json_array_foreach (json_object_get(body, "tools"), i, tool) {
		const json_t *function = json_object_get(tool, "function");
		const char *type = neutral_string(tool, "type"),
			   *name = neutral_string(function, "name");
		if (!type || strcmp(type, "function"))
			return err_set(reading->e, "tools[%zu].type must be 'function'", i);
		if (!neutral_tool_name(name))
			return err_set(reading->e,
				"tools[%zu].function.name must match ^[a-zA-Z0-9_-]{1,64}$", i);
		if (!json_is_object(json_object_get(function, "parameters")))
			return err_set(
				reading->e, "tools[%zu].function.parameters must be an object", i);
		json_array_append_new(reading->n.tools, json_string(name));
	}
	return 0;
}

/* Reads a string, or a list of text parts, which are joined. The caller judges NULL content. */
static int read_content(struct openai_reading *reading, const json_t *message,
	void (*each)(struct neutral *, const char *))
{
	const json_t *content = json_object_get(message, "content");
	size_t i;
	json_t *part;
	if (json_is_string(content) && *json_string_value(content))
		each(&reading->n, json_string_value(content));
	json_array_foreach (content, i, part) {
		if (!neutral_string(part, "text"))
			return err_set(reading->e, "this rehearsal reads text content only");
		each(&reading->n, neutral_string(part, "text"));
	}
	return 0;
}

static int read_call(struct openai_reading *reading, const json_t *call)
{
	const json_t *function = json_object_get(call, "function");
	const char *id = neutral_string(call, "id"), *type = neutral_string(call, "type");
	const char *name = neutral_string(function, "name"),
		   *arguments = neutral_string(function, "arguments");
	struct err ignored = ERR_NONE;
	if (!id || !*id || !type || strcmp(type, "function") || !name || !arguments)
		return err_set(reading->e,
			"tool_calls need id, type 'function' and function {name, "
			"arguments (a string)}");
	json_t *parsed = json_read(arguments, strlen(arguments), 1 << 20, &ignored);
	neutral_call(&reading->n, name, parsed ? parsed : json_string(arguments));
	json_object_set_new(reading->open, id, json_true());
	return 0;
}

static int read_assistant(struct openai_reading *reading, const json_t *message)
{
	const json_t *calls = json_object_get(message, "tool_calls");
	size_t i;
	json_t *call;
	neutral_speaker(&reading->n, "assistant");
	if (!json_array_size(calls) && !json_is_string(json_object_get(message, "content")))
		return err_set(
			reading->e, "an assistant message needs content or tool_calls, not null");
	if (calls && !json_array_size(calls))
		return err_set(reading->e, "tool_calls must not be an empty list");
	json_array_foreach (calls, i, call)
		if (read_call(reading, call))
			return -1;
	return read_content(reading, message, neutral_text);
}

static int read_tool(struct openai_reading *reading, const json_t *message)
{
	const char *id = neutral_string(message, "tool_call_id");
	if (!id || json_object_del(reading->open, id))
		return err_set(reading->e,
			"messages with role 'tool' must follow the tool_calls they answer; '%s' is "
			"none",
			id ? id : "");
	neutral_speaker(&reading->n, "user");
	const json_t *content = json_object_get(message, "content");
	if (json_is_string(content) && !*json_string_value(content))
		neutral_result(&reading->n, "");
	return read_content(reading, message, neutral_result);
}

static int check_answered(const struct openai_reading *reading)
{
	const char *id = json_object_iter_key(json_object_iter(reading->open));
	return !id ? 0
		   : err_set(reading->e,
			     "an assistant message with 'tool_calls' must be followed by tool "
			     "messages responding to each 'tool_call_id'; missing: %s",
			     id);
}

static int read_message(struct openai_reading *reading, const json_t *message)
{
	const char *role = neutral_string(message, "role");
	if (!role)
		return err_set(reading->e, "every message needs a role");
	if (!strcmp(role, "tool"))
		return read_tool(reading, message);
	if (check_answered(reading))
		return -1;
	if (!strcmp(role, "assistant"))
		return read_assistant(reading, message);
	if (!strcmp(role, "system") || !strcmp(role, "developer"))
		return read_content(reading, message, neutral_system);
	if (strcmp(role, "user"))
		return err_set(reading->e, "'%s' is not a role", role);
	neutral_speaker(&reading->n, "user");
	return read_content(reading, message, neutral_text);
}

static int read_messages(struct openai_reading *reading, const json_t *body)
{
	const json_t *messages = json_object_get(body, "messages");
	size_t i;
	json_t *message;
	json_array_foreach (messages, i, message)
		if (read_message(reading, message))
			return -1;
	if (!json_array_size(reading->n.messages))
		return err_set(reading->e, "messages must hold at least one user message");
	return check_answered(reading);
}

json_t *neutral_openai(const json_t *body, struct err *e)
{
	json_auto_t *open = json_object();
	struct openai_reading r = {.open = open, .e = e};
	if (check_head(body, e))
		return NULL;
	neutral_begin(&r.n, body);
	if (!read_tools(&r, body) && !read_messages(&r, body))
		return neutral_end(&r.n);
	json_decref(r.n.object);
	return NULL;
}
