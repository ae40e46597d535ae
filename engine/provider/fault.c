#include "provider/fault.h"

#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include <curl/curl.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

enum { BODY_CAP_BYTES = 64 * 1024, SHOWN_BYTES = 400, TYPE_BYTES = 60 };
enum { BASE_MS = 1000, BACKOFF_MAX_MS = 30000, WISH_MAX_MS = 120000 };

/* Error types. A model server that is loading may answer 503 for minutes; that is retried as
 * well. */
static const struct {
	const char *type;
	enum fault_kind kind;
	long status; /* the HTTP status with the same meaning; 0: none */
} types[] = {
	{"overloaded_error", FAULT_RETRY, 0},
	{"api_error", FAULT_RETRY, 0},
	{"timeout_error", FAULT_RETRY, 0},
	{"rate_limit_error", FAULT_RETRY, 0},
	{"server_error", FAULT_RETRY, 0},
	{"rate_limit_exceeded", FAULT_RETRY, 0},
	{"invalid_request_error", FAULT_FATAL, 0},
	{"authentication_error", FAULT_FATAL, 401},
	{"billing_error", FAULT_FATAL, 402},
	{"permission_error", FAULT_FATAL, 403},
	{"not_found_error", FAULT_FATAL, 404},
	{"insufficient_quota", FAULT_FATAL, 402},
	{"invalid_api_key", FAULT_FATAL, 401},
	{"model_not_found", FAULT_FATAL, 404},
	{"request_too_large", FAULT_CONTEXT, 0},
	{"context_length_exceeded", FAULT_CONTEXT, 0},
	{"exceed_context_size_error", FAULT_CONTEXT, 0},
};

int fault_set(struct fault *fault, enum fault_kind kind, const char *format, ...)
{
	if (fault->kind != FAULT_NONE)
		return -1;
	va_list args;
	va_start(args, format);
	vsnprintf(fault->text, sizeof(fault->text), format, args);
	va_end(args);
	utf8_copy(fault->text, sizeof(fault->text), fault->text);
	fault->kind = kind;
	return -1;
}

static enum fault_kind by_status(long status)
{
	if (status == 413)
		return FAULT_CONTEXT;
	if (status == 408 || status == 429 || status >= 500)
		return FAULT_RETRY;
	return status >= 200 && status < 300 ? FAULT_RETRY : FAULT_FATAL;
}

static int find_type(const json_t *name)
{
	const char *text = json_string_value(name);
	for (size_t i = 0; text && i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i].type, text))
			return (int)i;
	return -1;
}

/* Returns the index of the error's type; -1: unknown. OpenAI names it in `code`, Anthropic in
 * `type`. */
static int type_of(const json_t *error)
{
	int code = find_type(json_object_get(error, "code"));
	return code >= 0 ? code : find_type(json_object_get(error, "type"));
}

/* Recognises the message for a conversation that is too long: servers word it differently and send
 * it as a plain 400. */
static bool says_too_long(const char *message)
{
	static const char *const phrases[] = {"prompt is too long", "input is too long",
		"maximum prompt length", "context window", "context size", "context length",
		"context limit", "token limit", "maximum number of tokens",
		"more than max tokens allowed", "prompt token count", "range of input length",
		"too many tokens", "reduce the length of the messages"};
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (strcasestr(message, phrases[i]))
			return true;
	return false;
}

static bool is_bad_request(long status)
{
	return status == 400 || status == 422;
}

/* Includes other numbers than 400: gateways use some for requests that no model accepts, and
 * llama.cpp has one for a conversation that a model's template refuses. */
bool fault_blames_request(const struct fault *fault)
{
	static const long others[] = {401, 402, 403, 408, 409, 413, 429};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (fault->status == others[i])
			return false;
	return (fault->status >= 400 && fault->status < 500) ||
	       (fault->status == 500 && strcasestr(fault->text, "jinja"));
}

/* Reports whether the request is too long. One that is larger than a rate limit never passes. */
static bool is_too_long(const char *message, long status, enum fault_kind kind)
{
	if (status == 429 || status == 413)
		return status == 413 || strcasestr(message, "request too large");
	bool blamed = is_bad_request(status) || (!status && kind != FAULT_RETRY);
	return blamed && says_too_long(message);
}

void fault_show(char *out, size_t bytes, const char *text, size_t len)
{
	size_t n = 0;
	uint32_t code;
	for (size_t i = 0, step; i < len; i += step ? step : 1) {
		step = utf8_step(text + i, len - i, &code);
		bool bad = !step || code < 0x20 || utf8_is_odd(code);
		size_t taken = bad ? 1 : step;
		if (n + taken >= bytes)
			break;
		memcpy(out + n, bad ? " " : text + i, taken);
		n += taken;
	}
	out[n] = '\0';
}

/* Reports whether the status says that the request is wrong, whatever the type says, so that a
 * retry is useless. */
static bool is_final(long status)
{
	return status >= 400 && status < 500 && by_status(status) == FAULT_FATAL;
}

/* Classifies by type first, then by status. Gateways put their upstream's HTTP status into a
 * numeric `code`. */
static enum fault_kind classify(const json_t *error, const char *text, long status)
{
	int type = type_of(error);
	long code = (long)json_get_int(error, "code");
	enum fault_kind kind = type < 0 ? FAULT_NONE : types[type].kind;
	if (is_too_long(text, status, kind))
		return FAULT_CONTEXT;
	if (kind == FAULT_FATAL && status >= 500)
		kind = FAULT_RETRY;
	if (kind == FAULT_NONE && code)
		kind = by_status(code);
	if (kind == FAULT_RETRY && is_final(status ? status : code))
		kind = FAULT_FATAL;
	return kind == FAULT_NONE ? by_status(status ? status : 500) : kind;
}

/* Returns the status for advice to the operator: a used-up quota is not a rate limit, and Google
 * and xAI call a wrong key a bad request. */
static long stands_for(const json_t *error, const char *text, long status)
{
	int type = type_of(error);
	long code = (long)json_get_int(error, "code");
	if (type >= 0 && types[type].status)
		return types[type].status;
	if (is_bad_request(status) && strcasestr(text, "API key"))
		return 401;
	return status ? status : code >= 400 && code < 600 ? code : 0;
}

/* Returns the error of a body. Google sends a list of one; some gateways send the error without a
 * wrapper. */
static const json_t *error_of(const json_t *doc)
{
	const json_t *one = json_is_array(doc) ? json_array_get(doc, 0) : doc;
	const json_t *error = json_object_get(one, "error");
	return error && !json_is_null(error) ? error : one;
}

static const json_t *message_of(const json_t *error)
{
	const json_t *message = json_object_get(error, "message");
	if (json_is_string(error))
		return error;
	return message ? message : json_object_get(error, "detail");
}

/* Writes the error's type, else its code; a number only if no status says the same. */
static void name_error(char *out, size_t bytes, const json_t *error, long status)
{
	const json_t *type = json_object_get(error, "type"), *code = json_object_get(error, "code");
	const json_t *named = json_is_string(type) ? type : code;
	*out = '\0';
	if (json_is_string(named))
		fault_show(out, bytes, json_string_value(named), json_string_length(named));
	else if (json_is_integer(named) && !status)
		snprintf(out, bytes, "%lld", (long long)json_integer_value(named));
}

int fault_reply(struct fault *fault, long status, const char *body, size_t len, int should_retry)
{
	json_auto_t *doc = json_read(body, len, BODY_CAP_BYTES, NULL);
	const json_t *error = error_of(doc);
	const json_t *message = message_of(error);
	char text[SHOWN_BYTES + 1], type[TYPE_BYTES + 1];
	name_error(type, sizeof(type), error, status);
	if (json_is_string(message))
		fault_show(text, sizeof(text), json_string_value(message),
			json_string_length(message));
	else
		fault_show(text, sizeof(text), body, len);
	enum fault_kind kind = classify(error, text, status);
	if (kind != FAULT_CONTEXT && should_retry >= 0)
		kind = should_retry ? FAULT_RETRY : FAULT_FATAL;
	fault->status = stands_for(error, text, status);
	const char *colon = text[0] ? ": " : "",
		   *hint = status / 100 == 3
				   ? ", a redirect, which is not followed; is base_url right?"
			   : status == 404 ? "; are base_url and the model right?"
					   : "";
	if (status)
		return fault_set(fault, kind, "the provider answered %ld%s%s%s%s%s", status, hint,
			type[0] ? " " : "", type, colon, text);
	return fault_set(fault, kind, "the provider reported an error%s%s%s%s%s",
		type[0] ? " (" : "", type, type[0] ? ")" : "", colon, text);
}

int fault_malformed(struct fault *fault, const char *why, const char *body, size_t len)
{
	char text[SHOWN_BYTES + 1], shown[SHOWN_BYTES / 2];
	fault_show(text, sizeof(text), body, len);
	fault_show(shown, sizeof(shown), why, strlen(why));
	if (!text[strspn(text, " ")])
		return fault_set(fault, FAULT_RETRY, "the provider's reply is empty");
	return fault_set(
		fault, FAULT_RETRY, "the provider sent a malformed reply: %s: %s", shown, text);
}

int64_t fault_retry_after(const char *text, bool millis, int64_t now_s)
{
	double value;
	size_t len = strlen(text);
	while (len && strchr(" \t", text[len - 1]))
		len--;
	if (!num_float(text, len, &value)) {
		double ms = millis ? value : value * 1000;
		return ms < 0 ? -1 : ms > 1e12 ? (int64_t)1e12 : (int64_t)ms;
	}
	time_t date = millis ? -1 : curl_getdate(text, NULL);
	return date < 0 || date < now_s ? -1 : (date - now_s) * 1000;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

int64_t fault_delay_ms(const struct fault *fault, int attempt, uint64_t *seed)
{
	if (fault->retry_after_ms > WISH_MAX_MS)
		return -1;
	int64_t base = attempt >= 5 ? BACKOFF_MAX_MS : (int64_t)BASE_MS << attempt;
	int64_t spread = base / 2;
	int64_t own = base - spread / 2 + (int64_t)(next_random(seed) % (uint64_t)(spread + 1));
	return own > fault->retry_after_ms ? own : fault->retry_after_ms;
}
