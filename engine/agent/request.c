#include "agent/request.h"

#include "provider/client.h"

#include "base/json.h"

enum { LINE_CAP_BYTES = 16 * 1024 * 1024, ENVELOPE_LEVELS = 16 };

enum { BLOCK_BYTES = 64 * 1024, TASK_HEADERS_MAX = CLIENT_HEADERS_MAX };

/* Reads one line, `step` bytes at a time. The first line is read byte by byte: the second, behind
 * it, must not be in this process's memory yet. */
static int read_line(int fd, size_t step, struct buf *line, struct err *e)
{
	static char block[BLOCK_BYTES];
	for (const char *end = NULL; !end;) {
		ssize_t n = read(fd, block, step);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, "cannot read the request");
		if (n == 0)
			return err_set(e, "the request ends before its line does");
		end = memchr(block, '\n', (size_t)n);
		buf_add(line, block, end ? (size_t)(end - block) : (size_t)n);
		explicit_bzero(block, (size_t)n);
		if (line->failed)
			return err_set(e, "the request is longer than %d bytes", LINE_CAP_BYTES);
	}
	return 0;
}

static json_t *read_object(int fd, size_t step, struct err *e)
{
	AUTO_BUF line = BUF_INIT(LINE_CAP_BYTES);
	if (read_line(fd, step, &line, e))
		return NULL;
	json_t *doc = json_read_nested(line.data, line.len,
		(struct json_cap){LINE_CAP_BYTES, JSON_DEPTH_MAX + ENVELOPE_LEVELS, SIZE_MAX}, e);
	/* The line may hold the key. */
	explicit_bzero(line.data, line.size);
	return doc;
}

static int unpacked(int rc, const json_error_t *why, struct err *e)
{
	return rc ? err_set(e, "the request is not understood: %s", why->text) : 0;
}

static const char *keep(struct arena *arena, const char *text)
{
	return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

static int read_channel(
	struct arena *arena, struct order_channel *channel, json_t *from, struct err *e)
{
	const char *name, *endpoint, *ca_file = NULL;
	int tls, local, private;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT, "{s:s, s:s, s?s, s:b, s:b, s:b}", "name",
		&name, "endpoint", &endpoint, "ca_file", &ca_file, "tls", &tls, "local", &local,
		"private", &private);
	if (unpacked(rc, &why, e))
		return -1;
	*channel = (struct order_channel){.name = keep(arena, name),
		.endpoint = keep(arena, endpoint),
		.ca_file = keep(arena, ca_file),
		.tls = tls,
		.local = local,
		.private = private};
	return 0;
}

static int read_channels(struct order *order, json_t *list, struct err *e)
{
	order->channel_count = json_array_size(list);
	order->channels =
		arena_array(&order->arena, order->channel_count, sizeof(*order->channels));
	for (size_t i = 0; i < order->channel_count; i++)
		if (read_channel(&order->arena, &order->channels[i], json_array_get(list, i), e))
			return -1;
	return 0;
}

static int optional_int(const json_t *value, const char *name, int64_t *out, struct err *e)
{
	*out = -1;
	if (json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return err_set(e, "the request is not understood: %s is not a count", name);
	*out = json_integer_value(value);
	return 0;
}

static const char *optional_text(struct arena *arena, const json_t *value)
{
	return keep(arena, json_string_value(value));
}

/* Reads how commands may be run, which is fixed before anything else is known. */
static int read_commands(struct order *order, json_t *from, struct err *e)
{
	struct order_commands *c = &order->commands;
	if (!from || json_is_null(from))
		return 0;
	json_t *policy, *verify;
	const char *run, *approval;
	int auto_approve;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT, "{s:o, s:s, s:s, s:b, s:o, s:I, s:I}",
		"policy", &policy, "run", &run, "approval", &approval, "auto_approve",
		&auto_approve, "verify", &verify, "timeout_secs", &c->timeout_secs,
		"verify_timeout_secs", &c->verify_timeout_secs);
	if (unpacked(rc, &why, e))
		return -1;
	if (jail_policy_decode(policy, &c->policy, e))
		return err_wrap(e, "the policy");
	c->any = true;
	c->verify = json_is_array(verify) ? json_incref(verify) : NULL;
	c->run_command = strcmp(run, "no");
	c->free = !strcmp(run, "yes");
	c->approval = keep(&order->arena, approval);
	c->auto_approve = auto_approve;
	return 0;
}

int order_read(int fd, struct order *out, struct err *e)
{
	struct order o = {0};
	arena_init(&o.arena);
	json_auto_t *doc = read_object(fd, 1, e);
	const char *profile, *network, *workspace, *state_dir;
	json_t *channels, *egress, *proxy, *commands = NULL;
	int version;
	json_error_t why;
	int rc = doc ? json_unpack_ex(doc, &why, JSON_STRICT,
			       "{s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s?o}", "version", &version,
			       "profile", &profile, "agent_network", &network, "workspace",
			       &workspace, "state_dir", &state_dir, "channels", &channels,
			       "max_egress_bytes", &egress, "upstream_proxy", &proxy, "commands",
			       &commands)
		     : -1;
	if (doc)
		rc = unpacked(rc, &why, e);
	if (!rc && version != 1)
		rc = err_set(e, "the request has version %d; this program knows 1", version);
	if (!rc) {
		o.profile = keep(&o.arena, profile);
		o.agent_network = keep(&o.arena, network);
		o.workspace = keep(&o.arena, workspace);
		o.state_dir = keep(&o.arena, state_dir);
		o.upstream_proxy = optional_text(&o.arena, proxy);
		rc = optional_int(egress, "max_egress_bytes", &o.max_egress_bytes, e) ||
		     read_channels(&o, channels, e) || read_commands(&o, commands, e);
	}
	if (rc)
		order_done(&o);
	else
		*out = o;
	return rc ? -1 : 0;
}

void order_done(struct order *order)
{
	jail_policy_done(&order->commands.policy);
	json_decref(order->commands.verify);
	arena_done(&order->arena);
}

static int read_limits(struct limits *limits, json_t *from, struct err *e)
{
	json_t *input, *output, *hard, *soft;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT,
		"{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "timeout_secs",
		&limits->timeout_secs, "max_iterations", &limits->max_iterations,
		"max_output_tokens_per_call", &limits->max_output_tokens_per_call, "context_tokens",
		&limits->context_tokens, "max_calls_per_turn", &limits->max_calls_per_turn,
		"max_input_tokens", &input, "max_output_tokens", &output, "max_microusd", &hard,
		"best_effort_microusd", &soft);
	bool bad = unpacked(rc, &why, e) ||
		   optional_int(input, "max_input_tokens", &limits->max_input_tokens, e) ||
		   optional_int(output, "max_output_tokens", &limits->max_output_tokens, e) ||
		   optional_int(hard, "max_microusd", &limits->max_microusd, e) ||
		   optional_int(soft, "best_effort_microusd", &limits->best_effort_microusd, e);
	if (bad)
		return -1;
	if (limits->timeout_secs < 1 || limits->max_iterations < 1 ||
		limits->max_output_tokens_per_call < 1 || limits->context_tokens < 1 ||
		limits->max_calls_per_turn < 1)
		return err_set(e, "the request is not understood: one of limits is below 1");
	return 0;
}

static int read_prices(struct arena *arena, struct task_provider *to, json_t *from, struct err *e)
{
	if (!from || json_is_null(from))
		return 0;
	struct prices p;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT, "{s:F, s:F, s:F, s:F}", "input", &p.input,
		"output", &p.output, "cache_read", &p.cache_read, "cache_write", &p.cache_write);
	if (unpacked(rc, &why, e))
		return -1;
	struct prices *kept = arena_alloc(arena, sizeof(*kept));
	*kept = p;
	to->prices = kept;
	return 0;
}

/* Copies a secret out of jansson's memory, which is wiped, into ours, which task_done wipes. */
static int take_text(char **out, const json_t *from, struct err *e)
{
	const char *text = json_string_value(from);
	if (!text)
		return 0;
	*out = strdup(text);
	explicit_bzero((char *)(uintptr_t)text, json_string_length(from));
	return *out ? 0 : err_set(e, "out of memory");
}

static int take_headers(
	struct arena *arena, struct task_provider *provider, const json_t *headers, struct err *e)
{
	size_t count = json_array_size(headers);
	if (count > TASK_HEADERS_MAX)
		return err_set(e, "the request has more than %d headers", TASK_HEADERS_MAX);
	provider->headers = arena_array(arena, count + 1, sizeof(*provider->headers));
	for (size_t i = 0; i < count; i++)
		if (!json_is_string(json_array_get(headers, i)) ||
			take_text(&provider->headers[i], json_array_get(headers, i), e))
			return err_set(e, "the request is not understood: headers holds no text");
	return 0;
}

static int read_provider(
	struct arena *arena, struct task_provider *provider, json_t *from, struct err *e)
{
	const char *name, *format, *url, *auth;
	json_t *version, *ca, *key, *prices, *headers = NULL, *query = NULL;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT,
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s?o, s?o}", "name",
		&name, "api_format", &format, "base_url", &url, "auth", &auth, "api_version",
		&version, "ca_file", &ca, "key", &key, "connect_timeout_secs",
		&provider->connect_timeout_secs, "idle_timeout_secs", &provider->idle_timeout_secs,
		"timeout_secs", &provider->timeout_secs, "max_retries", &provider->max_retries,
		"prices", &prices, "headers", &headers, "query", &query);
	if (unpacked(rc, &why, e) || take_text(&provider->key, key, e) ||
		take_text(&provider->query, query, e) ||
		take_headers(arena, provider, headers, e) ||
		read_prices(arena, provider, prices, e))
		return -1;
	provider->name = keep(arena, name);
	provider->api_format = keep(arena, format);
	provider->base_url = keep(arena, url);
	provider->auth = keep(arena, auth);
	provider->api_version = optional_text(arena, version);
	provider->ca_file = optional_text(arena, ca);
	return 0;
}

static int read_reviewer(struct task *task, json_t *from, struct err *e)
{
	const char *model;
	json_t *provider;
	json_error_t why;
	if (json_is_null(from))
		return 0;
	int rc = json_unpack_ex(
		from, &why, JSON_STRICT, "{s:s, s:o}", "model", &model, "provider", &provider);
	if (unpacked(rc, &why, e))
		return -1;
	task->reviewer = arena_alloc(&task->arena, sizeof(*task->reviewer));
	*task->reviewer = (struct task_reviewer){.model = keep(&task->arena, model)};
	return read_provider(&task->arena, &task->reviewer->provider, provider, e);
}

static int read_paths(
	struct arena *arena, const json_t *from, const char ***out, size_t *count, struct err *e)
{
	*count = json_array_size(from);
	*out = arena_array(arena, *count, sizeof(**out));
	for (size_t i = 0; i < *count; i++)
		if (!((*out)[i] = optional_text(arena, json_array_get(from, i))))
			return err_set(e, "the request is not understood: not a list of paths");
	return 0;
}

/* Takes the further secrets out of jansson's memory in the same way. */
static int read_secrets(struct task *task, const json_t *from, struct err *e)
{
	size_t i;
	json_t *one;
	task->secrets = arena_array(&task->arena, json_array_size(from), sizeof(*task->secrets));
	json_array_foreach ((json_t *)(uintptr_t)from, i, one) {
		const char *text = json_string_value(one);
		if (!text)
			return err_set(e, "the request is not understood: secrets holds no text");
		task->secrets[task->secret_count] = strdup(text);
		if (!task->secrets[task->secret_count])
			return err_set(e, "out of memory");
		task->secret_count++;
		explicit_bzero((char *)(uintptr_t)text, json_string_length(one));
	}
	return 0;
}

static int read_rest(struct task *task, json_t *result, const json_t *heat, struct err *e)
{
	if (!json_is_null(result)) {
		task->result = record_from_json(result, &task->arena, e);
		if (!task->result)
			return -1;
	}
	if (json_is_number(heat)) {
		double *kept = arena_alloc(&task->arena, sizeof(*kept));
		*kept = json_number_value(heat);
		task->temperature = kept;
	}
	return 0;
}

static int unpack_task(struct task *task, json_t *doc, struct err *e)
{
	const char *mode, *prompt, *model;
	json_t *result, *provider, *reviewer, *thinking, *heat, *limits, *protect, *hide, *secrets;
	int version, record;
	json_error_t why;
	int rc = json_unpack_ex(doc, &why, JSON_STRICT,
		"{s:i, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "version",
		&version, "mode", &mode, "prompt", &prompt, "result", &result, "provider",
		&provider, "reviewer", &reviewer, "model", &model, "thinking", &thinking,
		"temperature", &heat, "limits", &limits, "protect", &protect, "hide", &hide,
		"secrets", &secrets, "record", &record);
	if (unpacked(rc, &why, e))
		return -1;
	if (version != 1)
		return err_set(e, "the request has version %d; this program knows 1", version);
	task->mode = keep(&task->arena, mode);
	task->prompt = keep(&task->arena, prompt);
	task->model = keep(&task->arena, model);
	task->thinking = optional_text(&task->arena, thinking);
	task->record = record;
	if (read_provider(&task->arena, &task->provider, provider, e) ||
		read_reviewer(task, reviewer, e) || read_limits(&task->limits, limits, e) ||
		read_paths(&task->arena, protect, &task->protect, &task->protect_count, e) ||
		read_paths(&task->arena, hide, &task->hide, &task->hide_count, e) ||
		read_secrets(task, secrets, e))
		return -1;
	return read_rest(task, result, heat, e);
}

int task_read(int fd, struct task *out, struct err *e)
{
	struct task t = {0};
	arena_init(&t.arena);
	json_auto_t *doc = read_object(fd, BLOCK_BYTES, e);
	if (!doc || unpack_task(&t, doc, e)) {
		task_done(&t);
		return -1;
	}
	*out = t;
	return 0;
}

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static void wipe_provider(struct task_provider *provider)
{
	wipe(&provider->key);
	wipe(&provider->query);
	for (size_t i = 0; provider->headers && provider->headers[i]; i++)
		wipe(&provider->headers[i]);
}

void task_done(struct task *task)
{
	wipe_provider(&task->provider);
	if (task->reviewer)
		wipe_provider(&task->reviewer->provider);
	for (size_t i = 0; i < task->secret_count; i++)
		wipe(&task->secrets[i]);
	task->secret_count = 0;
	arena_done(&task->arena);
}
