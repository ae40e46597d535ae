/* Anthropic Messages: the neutral form, and the rules the API enforces with 400. */
#include "rehearse/neutral_private.h"

#include "base/sha256.h"
#include <string.h>

/* A request being read: the tool calls of the last assistant turn wait for their results. */
struct anthropic_reading {
	struct neutral n;
	const json_t *open; /* that turn's content, NULL when it called nothing */
	json_t *ids;        /* of all calls: true until its result was read */
	int cache_marks;
	struct err *e;
};

static bool is_type(const json_t *block, const char *type)
{
	const char *text = neutral_string(block, "type");
	return text && !strcmp(text, type);
}

static void count_mark(struct anthropic_reading *reading, const json_t *block)
{
	reading->cache_marks += json_object_get(block, "cache_control") != NULL;
}

static int check_head(const json_t *body, const char *version, struct err *e)
{
	static const char *const sampling[] = {"temperature", "top_p", "top_k"};
	const json_t *max = json_object_get(body, "max_tokens");
	if (!version)
		return err_set(e, "anthropic-version: header is required");
	if (strcmp(version, "2023-06-01") && strcmp(version, "2026-10-21"))
		return err_set(e, "anthropic-version: \"%s\" is not a valid version", version);
	for (size_t i = 0; i < ARRAY_LEN(sampling) && !strcmp(version, "2026-10-21"); i++)
		if (json_object_get(body, sampling[i]))
			return err_set(e, "%s: not supported in this API version", sampling[i]);
	if (!neutral_string(body, "model") || !*neutral_string(body, "model"))
		return err_set(e, "model: field required");
	if (!json_is_integer(max) || json_integer_value(max) < 1)
		return err_set(e, "max_tokens: an integer of at least 1 is required");
	const json_t *thinking = json_object_get(body, "thinking");
	const json_t *choice = json_object_get(body, "tool_choice");
	if (is_type(thinking, "enabled") && (is_type(choice, "any") || is_type(choice, "tool")))
		return err_set(e, "tool_choice: forced tool use is not possible with thinking");
	const json_t *budget = json_object_get(thinking, "budget_tokens");
	if (is_type(thinking, "enabled") &&
		(!json_is_integer(budget) || json_integer_value(budget) < 1024 ||
			json_integer_value(budget) >= json_integer_value(max)))
		return err_set(e, "thinking.budget_tokens: at least 1024 and below max_tokens");
	return 0;
}

static int read_tools(struct anthropic_reading *reading, const json_t *body)
{
	size_t i;
	json_t *tool;
	json_array_foreach (json_object_get(body, "tools"), i, tool) {
		const char *name = neutral_string(tool, "name");
		if (!neutral_tool_name(name))
			return err_set(
				reading->e, "tools.%zu.name: must match ^[a-zA-Z0-9_-]{1,64}$", i);
		if (!is_type(json_object_get(tool, "input_schema"), "object"))
			return err_set(
				reading->e, "tools.%zu.input_schema.type: must be \"object\"", i);
		count_mark(reading, tool);
		json_array_append_new(reading->n.tools, json_string(name));
	}
	return 0;
}

static int read_system(struct anthropic_reading *reading, const json_t *body)
{
	const json_t *system = json_object_get(body, "system");
	size_t i;
	json_t *block;
	if (json_is_string(system))
		neutral_system(&reading->n, json_string_value(system));
	json_array_foreach (system, i, block) {
		const char *text = neutral_string(block, "text");
		if (!is_type(block, "text") || !text || !*text)
			return err_set(
				reading->e, "system.%zu: text content blocks must be non-empty", i);
		count_mark(reading, block);
		neutral_system(&reading->n, text);
	}
	return 0;
}

/* --- content blocks --------------------------------------------------------------------------- */

static int read_text(struct anthropic_reading *reading, const json_t *block)
{
	const char *text = neutral_string(block, "text");
	if (!text || !*text)
		return err_set(reading->e, "messages: text content blocks must be non-empty");
	neutral_text(&reading->n, text);
	return 0;
}

static int read_call(struct anthropic_reading *reading, const json_t *block)
{
	const char *id = neutral_string(block, "id"), *name = neutral_string(block, "name");
	json_t *input = json_object_get(block, "input");
	if (!id || !*id || !name || !json_is_object(input))
		return err_set(reading->e,
			"messages: a tool_use block needs id, name and an input object");
	if (!neutral_tool_name(name))
		return err_set(
			reading->e, "messages: tool_use.name: must match ^[a-zA-Z0-9_-]{1,64}$");
	if (json_object_get(reading->ids, id))
		return err_set(reading->e, "messages: `tool_use` ids must be unique: %s", id);
	json_object_set_new(reading->ids, id, json_true());
	neutral_call(&reading->n, name, json_incref(input));
	return 0;
}

/* Reads thinking. The signature is made from the text, so a changed block is recognised without
 * keeping sessions. */
static int read_thinking(struct anthropic_reading *reading, const json_t *block)
{
	char expected[SHA256_HEX + 1];
	const char *text = neutral_string(block, "thinking"),
		   *signature = neutral_string(block, "signature");
	sha256_hex(text, text ? strlen(text) : 0, expected);
	if (!text || !signature || strcmp(signature, expected))
		return err_set(reading->e,
			"messages: a thinking block was modified: its signature is invalid");
	return 0;
}

static bool has_block(const json_t *content, const char *type, const char *id_key, const char *id)
{
	size_t i;
	json_t *block;
	json_array_foreach (content, i, block)
		if (is_type(block, type) && neutral_string(block, id_key) &&
			!strcmp(neutral_string(block, id_key), id))
			return true;
	return false;
}

static int read_result(struct anthropic_reading *reading, const json_t *block)
{
	const char *id = neutral_string(block, "tool_use_id");
	const json_t *content = json_object_get(block, "content");
	size_t i;
	json_t *part;
	if (!id || !has_block(reading->open, "tool_use", "id", id))
		return err_set(reading->e, "messages: unexpected tool_use_id in tool_result: %s",
			id ? id : "");
	if (!json_is_true(json_object_get(reading->ids, id)))
		return err_set(
			reading->e, "messages: each tool_use must have a single result: %s", id);
	json_object_set_new(reading->ids, id, json_false());
	if (json_is_string(content))
		neutral_result(&reading->n, json_string_value(content));
	json_array_foreach (content, i, part) {
		if (!is_type(part, "text") || !neutral_string(part, "text"))
			return err_set(reading->e,
				"messages: this rehearsal reads text in tool results only");
		neutral_result(&reading->n, neutral_string(part, "text"));
	}
	return 0;
}

static int read_assistant_block(struct anthropic_reading *reading, const json_t *block)
{
	if (is_type(block, "text"))
		return read_text(reading, block);
	if (is_type(block, "tool_use"))
		return read_call(reading, block);
	if (is_type(block, "thinking"))
		return read_thinking(reading, block);
	if (is_type(block, "redacted_thinking") && neutral_string(block, "data"))
		return 0;
	return err_set(reading->e, "messages: an assistant message may not hold this block");
}

static int read_assistant(struct anthropic_reading *reading, const json_t *content)
{
	size_t i;
	json_t *block;
	neutral_speaker(&reading->n, "assistant");
	if (json_array_size(content) == 0)
		return err_set(reading->e, "messages: an assistant message must have content");
	reading->open = NULL;
	json_array_foreach (content, i, block) {
		if (read_assistant_block(reading, block))
			return -1;
		count_mark(reading, block);
		if (is_type(block, "tool_use"))
			reading->open = content;
	}
	const json_t *last = json_array_get(content, json_array_size(content) - 1);
	if (is_type(last, "thinking") || is_type(last, "redacted_thinking"))
		return err_set(reading->e,
			"messages: the final block of an assistant message may not be a thought");
	return 0;
}

static int check_answered(const struct anthropic_reading *reading, const json_t *content)
{
	size_t i;
	json_t *block;
	json_array_foreach (reading->open, i, block)
		if (is_type(block, "tool_use") && !has_block(content, "tool_result", "tool_use_id",
							  neutral_string(block, "id")))
			return err_set(reading->e,
				"messages: `tool_use` ids were found without `tool_result` blocks "
				"immediately after: %s",
				neutral_string(block, "id"));
	return 0;
}

static int read_user(struct anthropic_reading *reading, const json_t *content)
{
	size_t i;
	json_t *block;
	bool other = false;
	neutral_speaker(&reading->n, "user");
	if (json_array_size(content) == 0)
		return err_set(reading->e, "messages: a user message must have content");
	if (check_answered(reading, content))
		return -1;
	json_array_foreach (content, i, block) {
		bool result = is_type(block, "tool_result");
		if (result && other)
			return err_set(reading->e, "messages: tool_result blocks must come first");
		if (!result && !is_type(block, "text"))
			return err_set(
				reading->e, "messages: a user message may not hold this block");
		other |= !result;
		count_mark(reading, block);
		if (result ? read_result(reading, block) : read_text(reading, block))
			return -1;
	}
	reading->open = NULL;
	return 0;
}

static int read_message(struct anthropic_reading *reading, const json_t *message, size_t at)
{
	const char *role = neutral_string(message, "role");
	json_auto_t *content = json_incref(json_object_get(message, "content"));
	bool user = role && !strcmp(role, "user");
	if (!user && (!role || strcmp(role, "assistant")))
		return err_set(reading->e, "messages.%zu.role: must be user or assistant", at);
	if (!user && !at)
		return err_set(reading->e, "messages: first message must use the user role");
	if (reading->open && !user)
		return check_answered(reading, NULL);
	if (json_is_string(content)) {
		json_t *block = json_pack("[{s:s, s:O}]", "type", "text", "text", content);
		json_decref(content);
		content = block;
	}
	return user ? read_user(reading, content) : read_assistant(reading, content);
}

static int read_messages(struct anthropic_reading *reading, const json_t *body)
{
	const json_t *messages = json_object_get(body, "messages");
	size_t i;
	json_t *message;
	if (!json_array_size(messages))
		return err_set(reading->e, "messages: at least one message is required");
	json_array_foreach (messages, i, message)
		if (read_message(reading, message, i))
			return -1;
	if (reading->open)
		return check_answered(reading, NULL);
	if (reading->cache_marks > 4)
		return err_set(
			reading->e, "a maximum of 4 blocks with cache_control may be provided");
	return 0;
}

json_t *neutral_anthropic(const json_t *body, const char *version, struct err *e)
{
	json_auto_t *ids = json_object();
	struct anthropic_reading r = {.ids = ids, .e = e};
	if (check_head(body, version, e))
		return NULL;
	neutral_begin(&r.n, body);
	if (!read_tools(&r, body) && !read_system(&r, body) && !read_messages(&r, body))
		return neutral_end(&r.n);
	json_decref(r.n.object);
	return NULL;
}
