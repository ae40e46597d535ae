#include "agent/request.h"

#include "provider/client.h"

#include "base/json.h"

enum { LINE_CAP_BYTES = 16 * 1024 * 1024, ENVELOPE_LEVELS = 16 };

enum { BLOCK_BYTES = 64 * 1024, TASK_HEADERS_MAX = CLIENT_HEADERS_MAX };

/* One line, `step` bytes at a time. The first line is read byte by byte: what lies behind its end
 * is the second, which must not be in this process's memory yet. */
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

static const char *keep(struct arena *a, const char *text)
{
	return text ? arena_copy(a, text, strlen(text)) : NULL;
}

static int read_channel(struct arena *a, struct order_channel *c, json_t *from, struct err *e)
{
	const char *name, *endpoint, *ca_file = NULL;
	int tls, local, private;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT, "{s:s, s:s, s?s, s:b, s:b, s:b}", "name",
		&name, "endpoint", &endpoint, "ca_file", &ca_file, "tls", &tls, "local", &local,
		"private", &private);
	if (unpacked(rc, &why, e))
		return -1;
	*c = (struct order_channel){.name = keep(a, name),
		.endpoint = keep(a, endpoint),
		.ca_file = keep(a, ca_file),
		.tls = tls,
		.local = local,
		.private = private};
	return 0;
}

static int read_channels(struct order *o, json_t *list, struct err *e)
{
	o->channel_count = json_array_size(list);
	o->channels = arena_array(&o->arena, o->channel_count, sizeof(*o->channels));
	for (size_t i = 0; i < o->channel_count; i++)
		if (read_channel(&o->arena, &o->channels[i], json_array_get(list, i), e))
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

static const char *optional_text(struct arena *a, const json_t *value)
{
	return keep(a, json_string_value(value));
}

/* How commands may be run: fixed before anything else is known. */
static int read_commands(struct order *o, json_t *from, struct err *e)
{
	struct order_commands *c = &o->commands;
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
	const char *network = json_string_value(json_object_get(policy, "network"));
	c->policy = json_incref(policy);
	c->verify = json_is_array(verify) ? json_incref(verify) : NULL;
	c->run_command = strcmp(run, "no");
	c->free = !strcmp(run, "yes");
	c->approval = keep(&o->arena, approval);
	c->auto_approve = auto_approve;
	c->has_network = network && strcmp(network, "none");
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

void order_done(struct order *o)
{
	json_decref(o->commands.policy);
	json_decref(o->commands.verify);
	arena_done(&o->arena);
}

static int read_limits(struct limits *l, json_t *from, struct err *e)
{
	json_t *input, *output, *hard, *soft;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT,
		"{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "timeout_secs", &l->timeout_secs,
		"max_iterations", &l->max_iterations, "max_output_tokens_per_call",
		&l->max_output_tokens_per_call, "context_tokens", &l->context_tokens,
		"max_calls_per_turn", &l->max_calls_per_turn, "max_input_tokens", &input,
		"max_output_tokens", &output, "max_microusd", &hard, "best_effort_microusd", &soft);
	bool bad = unpacked(rc, &why, e) ||
		   optional_int(input, "max_input_tokens", &l->max_input_tokens, e) ||
		   optional_int(output, "max_output_tokens", &l->max_output_tokens, e) ||
		   optional_int(hard, "max_microusd", &l->max_microusd, e) ||
		   optional_int(soft, "best_effort_microusd", &l->best_effort_microusd, e);
	if (bad)
		return -1;
	if (l->timeout_secs < 1 || l->max_iterations < 1 || l->max_output_tokens_per_call < 1 ||
		l->context_tokens < 1 || l->max_calls_per_turn < 1)
		return err_set(e, "the request is not understood: one of limits is below 1");
	return 0;
}

static int read_prices(struct arena *a, struct task_provider *to, json_t *from, struct err *e)
{
	if (!from || json_is_null(from))
		return 0;
	struct prices p;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT, "{s:F, s:F, s:F, s:F}", "input", &p.input,
		"output", &p.output, "cache_read", &p.cache_read, "cache_write", &p.cache_write);
	if (unpacked(rc, &why, e))
		return -1;
	struct prices *kept = arena_alloc(a, sizeof(*kept));
	*kept = p;
	to->prices = kept;
	return 0;
}

/* Out of jansson's memory, which is wiped, into ours, which task_done wipes. */
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
	struct arena *a, struct task_provider *p, const json_t *headers, struct err *e)
{
	size_t count = json_array_size(headers);
	if (count > TASK_HEADERS_MAX)
		return err_set(e, "the request has more than %d headers", TASK_HEADERS_MAX);
	p->headers = arena_array(a, count + 1, sizeof(*p->headers));
	for (size_t i = 0; i < count; i++)
		if (!json_is_string(json_array_get(headers, i)) ||
			take_text(&p->headers[i], json_array_get(headers, i), e))
			return err_set(e, "the request is not understood: headers holds no text");
	return 0;
}

static int read_provider(struct arena *a, struct task_provider *p, json_t *from, struct err *e)
{
	const char *name, *format, *url, *auth;
	json_t *version, *ca, *key, *prices, *headers = NULL, *query = NULL;
	json_error_t why;
	int rc = json_unpack_ex(from, &why, JSON_STRICT,
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s?o, s?o}", "name",
		&name, "api_format", &format, "base_url", &url, "auth", &auth, "api_version",
		&version, "ca_file", &ca, "key", &key, "connect_timeout_secs",
		&p->connect_timeout_secs, "idle_timeout_secs", &p->idle_timeout_secs,
		"timeout_secs", &p->timeout_secs, "max_retries", &p->max_retries, "prices", &prices,
		"headers", &headers, "query", &query);
	if (unpacked(rc, &why, e) || take_text(&p->key, key, e) || take_text(&p->query, query, e) ||
		take_headers(a, p, headers, e) || read_prices(a, p, prices, e))
		return -1;
	p->name = keep(a, name);
	p->api_format = keep(a, format);
	p->base_url = keep(a, url);
	p->auth = keep(a, auth);
	p->api_version = optional_text(a, version);
	p->ca_file = optional_text(a, ca);
	return 0;
}

static int read_reviewer(struct task *t, json_t *from, struct err *e)
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
	t->reviewer = arena_alloc(&t->arena, sizeof(*t->reviewer));
	*t->reviewer = (struct task_reviewer){.model = keep(&t->arena, model)};
	return read_provider(&t->arena, &t->reviewer->provider, provider, e);
}

static int read_paths(
	struct arena *a, const json_t *from, const char ***out, size_t *count, struct err *e)
{
	*count = json_array_size(from);
	*out = arena_array(a, *count, sizeof(**out));
	for (size_t i = 0; i < *count; i++)
		if (!((*out)[i] = optional_text(a, json_array_get(from, i))))
			return err_set(e, "the request is not understood: not a list of paths");
	return 0;
}

/* As the key. */
static int read_secrets(struct task *t, const json_t *from, struct err *e)
{
	size_t i;
	json_t *one;
	t->secrets = arena_array(&t->arena, json_array_size(from), sizeof(*t->secrets));
	json_array_foreach ((json_t *)(uintptr_t)from, i, one) {
		const char *text = json_string_value(one);
		if (!text)
			return err_set(e, "the request is not understood: secrets holds no text");
		t->secrets[t->secret_count] = strdup(text);
		if (!t->secrets[t->secret_count])
			return err_set(e, "out of memory");
		t->secret_count++;
		explicit_bzero((char *)(uintptr_t)text, json_string_length(one));
	}
	return 0;
}

static int read_rest(struct task *t, json_t *result, const json_t *heat, struct err *e)
{
	if (!json_is_null(result)) {
		t->result = record_from_json(result, &t->arena, e);
		if (!t->result)
			return -1;
	}
	if (json_is_number(heat)) {
		double *kept = arena_alloc(&t->arena, sizeof(*kept));
		*kept = json_number_value(heat);
		t->temperature = kept;
	}
	return 0;
}

static int unpack_task(struct task *t, json_t *doc, struct err *e)
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
	t->mode = keep(&t->arena, mode);
	t->prompt = keep(&t->arena, prompt);
	t->model = keep(&t->arena, model);
	t->thinking = optional_text(&t->arena, thinking);
	t->record = record;
	if (read_provider(&t->arena, &t->provider, provider, e) || read_reviewer(t, reviewer, e) ||
		read_limits(&t->limits, limits, e) ||
		read_paths(&t->arena, protect, &t->protect, &t->protect_count, e) ||
		read_paths(&t->arena, hide, &t->hide, &t->hide_count, e) ||
		read_secrets(t, secrets, e))
		return -1;
	return read_rest(t, result, heat, e);
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

static void wipe_provider(struct task_provider *p)
{
	wipe(&p->key);
	wipe(&p->query);
	for (size_t i = 0; p->headers && p->headers[i]; i++)
		wipe(&p->headers[i]);
}

void task_done(struct task *t)
{
	wipe_provider(&t->provider);
	if (t->reviewer)
		wipe_provider(&t->reviewer->provider);
	for (size_t i = 0; i < t->secret_count; i++)
		wipe(&t->secrets[i]);
	t->secret_count = 0;
	arena_done(&t->arena);
}
