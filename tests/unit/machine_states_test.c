/* The words of a state and what they set, and what holds where there are none. */
#include "base/buf.h"
#include "machine/template.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static void show_int(struct buf *buf, const char *name, struct opt_int n)
{
	if (n.present)
		buf_addf(buf, " %s=%lld", name, (long long)n.value);
}

static void show_float(struct buf *buf, const char *name, struct opt_float n)
{
	if (n.present)
		buf_addf(buf, " %s=%g", name, n.value);
}

static void show_texts(struct buf *buf, const char *name, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_addf(buf, "%s%s", i ? "," : name, texts[i]);
}

static void show_tool(struct buf *buf, const struct tool_state *state)
{
	static const char *const networks[] = {"auto", "block", "allow", "list"};
	static const char *const workspaces[] = {"write", "read", "none"};
	buf_addf(buf, "%s %s", networks[state->network], workspaces[state->workspace]);
	show_texts(buf, " hosts=", state->hosts, state->host_count);
	show_texts(buf, " reads=", state->reads, state->read_count);
	show_texts(buf, " writes=", state->writes, state->write_count);
	show_texts(buf, " secrets=", state->secrets, state->secret_count);
	for (size_t i = 0; i < state->env_count; i++)
		buf_addf(buf, " %s='%s'", state->env[i].name, state->env[i].text);
	if (state->stdin_text)
		buf_addf(buf, " stdin=%s", template_source(state->stdin_text));
	buf_adds(buf, state->pty ? " pty" : "");
	show_int(buf, "memory_mb", state->memory_mb);
	show_int(buf, "cpu_secs", state->cpu_secs);
	show_int(buf, "processes", state->processes);
	show_int(buf, "open_files", state->open_files);
	show_int(buf, "file_mb", state->file_mb);
}

static void show_agent(struct buf *buf, const struct agent_state *state)
{
	static const char *const levels[] = {"inherit", "off", "low", "medium", "high"};
	buf_addf(buf, "%s %s %s/%s", state->mode == MODE_RUN ? "run" : "agent",
		levels[state->thinking], state->provider ? state->provider : "",
		state->model ? state->model : "");
	show_float(buf, "temperature", state->temperature);
	show_float(buf, "max_usd", state->max_usd);
	show_float(buf, "best_effort_usd", state->best_effort_usd);
	show_int(buf, "max_input_tokens", state->max_input_tokens);
	show_int(buf, "max_output_tokens", state->max_output_tokens);
	show_int(buf, "max_iterations", state->max_iterations);
	show_int(buf, "max_tokens_fallback", state->max_tokens_fallback);
}

static void show_common(struct buf *buf, const struct state *state)
{
	static const char *const levels[] = {"info", "warn", "error"};
	const struct retry *r = &state->retry;
	if (state->notify)
		buf_addf(buf, " notify=%s:%s", levels[state->notify_level],
			template_source(state->notify));
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (r->on & 1u << i)
			buf_addf(buf, " retry_on=%s", outcome_name((enum outcome)i));
	if (r->on)
		buf_addf(buf, " %d %g %g %g%s", r->max, r->backoff_secs, r->factor,
			r->max_backoff_secs, r->jitter ? " jitter" : "");
}

static void means(bool agent, const char *words, const char *want)
{
	struct fixture f;
	AUTO_BUF yaml, got;
	buf_init(&yaml, 4096);
	buf_init(&got, 4096);
	buf_adds(&yaml, "machine: m\nversion: 1\ninitial: s\nbudget: {max_transitions: 9}\n"
			"schemas: {r: {n: int}}\nstates:\n"
			"  end: {kind: terminal, status: ok, reason: r}\n"
			"  s:\n    timeout_secs: 7\n");
	buf_adds(&yaml,
		agent ? "    kind: agent\n    prompt: p\n    output_schema: r\n"
			"    on: {ok: end, failed: end, budget_exhausted: end, timeout: end}\n"
		      : "    kind: tool\n    command: [x]\n"
			"    on: {ok: end, nonzero: end, timeout: end}\n");
	buf_addf(&yaml, "    %s\n", words);
	fixture_init(&f, yaml.data);
	if (ok(f.m != NULL, "'%s' is taken", words)) {
		const struct state *s = machine_state(f.m, "s");
		agent ? show_agent(&got, &s->agent) : show_tool(&got, &s->tool);
		show_common(&got, s);
		is_str(got.data, want, "'%s'", words);
		is(s->timeout_secs, 7, "and its time-out");
	}
	fixture_done(&f);
}

int main(void)
{
	static const char *const tools[][2] = {
		{"", "auto write"},
		{"allow_network: auto", "auto write"},
		{"allow_network: block", "block write"},
		{"allow_network: allow", "allow write"},
		{"allow_network: ['a.org:443', 'b.org:80']", "list write hosts=a.org:443,b.org:80"},
		{"network: auto", "auto write"},
		{"network: none", "block write"},
		{"network: host", "allow write"},
		{"workspace: write", "auto write"},
		{"workspace: read", "auto read"},
		{"workspace: none", "auto none"},
		{"reads: [/a, /b]", "auto write reads=/a,/b"},
		{"writes: [/a, /b]", "auto write writes=/a,/b"},
		{"secrets: [one, two]", "auto write secrets=one,two"},
		{"env: {A: b, C: ''}", "auto write A='b' C=''"},
		{"stdin: in", "auto write stdin=in"},
		{"pty: true", "auto write pty"},
		{"pty: false", "auto write"},
		{"limits: {memory_mb: 64, cpu_secs: 2, processes: 3, open_files: 64, file_mb: 5}",
			"auto write memory_mb=64 cpu_secs=2 processes=3 open_files=64 file_mb=5"},
		{"notify: hello", "auto write notify=info:hello"},
		{"notify: {message: hello}", "auto write notify=info:hello"},
		{"notify: {message: hello, level: info}", "auto write notify=info:hello"},
		{"notify: {message: hello, level: warn}", "auto write notify=warn:hello"},
		{"notify: {message: hello, level: error}", "auto write notify=error:hello"},
		{"retry: {on: [timeout], max: 3}", "auto write retry_on=timeout 3 1 2 inf"},
		{"retry: {on: [timeout, nonzero], max: 10, backoff_secs: 0, factor: 1.5, "
		 "max_backoff_secs: 60, jitter: true}",
			"auto write retry_on=timeout retry_on=nonzero 10 0 1.5 60 jitter"},
		{"retry: {on: [nonzero], max: 1, jitter: false}",
			"auto write retry_on=nonzero 1 1 2 inf"},
	};
	static const char *const agents[][2] = {
		{"", "agent inherit /"},
		{"mode: agent", "agent inherit /"},
		{"mode: run", "run inherit /"},
		{"provider: p", "agent inherit p/"},
		{"model: m", "agent inherit /m"},
		{"model: inherit", "agent inherit /"},
		{"provider: inherit", "agent inherit /"},
		{"thinking: off", "agent off /"},
		{"thinking: low", "agent low /"},
		{"thinking: medium", "agent medium /"},
		{"thinking: high", "agent high /"},
		{"effort: low", "agent low /"},
		{"effort: xhigh", "agent high /"},
		{"effort: max", "agent high /"},
		{"temperature: 0", "agent inherit / temperature=0"},
		{"temperature: 0.5", "agent inherit / temperature=0.5"},
		{"max_usd: 2", "agent inherit / max_usd=2"},
		{"best_effort_usd_limit: 0.5", "agent inherit / best_effort_usd=0.5"},
		{"max_input_tokens: 5", "agent inherit / max_input_tokens=5"},
		{"max_output_tokens: 5", "agent inherit / max_output_tokens=5"},
		{"max_iterations: 5", "agent inherit / max_iterations=5"},
		{"max_tokens_fallback: -1", "agent inherit / max_tokens_fallback=-1"},
		{"max_tokens_fallback: 0", "agent inherit / max_tokens_fallback=0"},
		{"retry: {on: [failed, budget_exhausted, timeout], max: 2}",
			"agent inherit / retry_on=failed retry_on=budget_exhausted "
			"retry_on=timeout 2 1 2 inf"},
	};
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		means(false, tools[i][0], tools[i][1]);
	for (size_t i = 0; i < ARRAY_LEN(agents); i++)
		means(true, agents[i][0], agents[i][1]);
	return tap_done();
}
