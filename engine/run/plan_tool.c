#include "base/host.h"
#include "base/json.h"
#include "base/path.h"
#include "launch/launcher.h"
#include "machine/fixed.h"
#include "machine/template.h"
#include "run/plan_kinds.h"

#include <string.h>

enum {
	ARGV_BYTES_MAX = 2 * 1024 * 1024,
	STDIN_BYTES_MAX = 8 * 1024 * 1024,
	ARGV_COUNT_MAX = 4096, /* agent6-jail's own limit */
};

static void add_argument(json_t *argv, const struct buf *text)
{
	json_array_append_new(argv, json_stringn(text->data, text->len));
}

static int add_splice(json_t *argv, const struct template *template,
	const struct position *position, struct err *e)
{
	json_auto_t *list = template_value(template, position->blackboard, NULL, e);
	if (!list)
		return -1;
	size_t i;
	json_t *item;
	AUTO_BUF text = BUF_INIT(ARGV_BYTES_MAX);
	json_array_foreach (list, i, item) {
		buf_clear(&text);
		if (template_render_item(template, item, &text))
			return err_set(e, "the text is longer than %d bytes", ARGV_BYTES_MAX);
		add_argument(argv, &text);
	}
	return 0;
}

static int add_text(json_t *argv, const struct template *template, const struct plan_env *env,
	const struct position *position, struct err *e)
{
	AUTO_BUF text = BUF_INIT(ARGV_BYTES_MAX);
	if (!strncmp(template_source(template), "scripts/", 8))
		buf_addf(&text, "%s/", env->confine.bundle);
	if (template_render(template, position->blackboard, NULL, &text, e))
		return -1;
	add_argument(argv, &text);
	return 0;
}

/* Returns the fault of a program name that a template has rendered. It obeys the rules that `check`
 * has for a literal name. */
static const char *rendered_fault(const struct plan_env *env, const char *program)
{
	const char *fault = program_fault(program);
	if (fault)
		return fault;
	return path_is_below(program, env->confine.workspace) ? "lies in the workspace" : NULL;
}

/* Returns why the rendered command cannot be run; NULL: it can. */
static const char *argv_fault(const json_t *argv)
{
	size_t i;
	json_t *item;
	if (!json_array_size(argv))
		return "the command rendered to no arguments";
	if (json_array_size(argv) > ARGV_COUNT_MAX)
		return "the command rendered to more than 4096 arguments";
	if (!json_string_length(json_array_get(argv, 0)))
		return "the command rendered to an empty program name";
	json_array_foreach (argv, i, item)
		if (strlen(json_string_value(item)) != json_string_length(item))
			return "the command rendered to an argument with a NUL byte";
	return NULL;
}

json_t *plan_environment(const struct plan_env *env)
{
	json_t *out = json_copy((json_t *)(uintptr_t)env->host_env);
	json_object_set_new(out, "AGENT6_BUNDLE_DIR", json_string(env->confine.bundle));
	return out;
}

/* Writes the names that reach the jail's own loopback interface, for no_proxy. A name that `step`
 * lists as a host is left out: it means the operator's host, which only the proxy reaches. */
static void direct_names(const struct step *step, struct buf *out)
{
	static const char *const own[] = {"localhost", "127.0.0.1", "::1"};
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		bool listed = false;
		for (size_t k = 0; k < step->host_count && !listed; k++) {
			struct host_port host;
			listed = !host_rule_decode(&host, step->hosts[k], NULL) && !host.wildcard &&
				 !strcmp(host.host, own[i]);
		}
		if (!listed)
			buf_addf(out, "%s%s", out->len ? "," : "", own[i]);
	}
}

/* Returns the environment of a step. The runner's own variables come last, so no literal of a state
 * replaces them. */
static json_t *environment(const struct plan_env *env, const struct step *step)
{
	json_t *out = plan_environment(env);
	const struct tool_state *t = &step->state->tool;
	if (step->host_count) {
		AUTO_BUF direct = BUF_INIT(64);
		direct_names(step, &direct);
		json_object_set_new(out, "NO_PROXY", json_string(direct.len ? direct.data : ""));
		json_object_set_new(out, "no_proxy", json_string(direct.len ? direct.data : ""));
	}
	for (size_t i = 0; i < t->env_count; i++)
		json_object_set_new(out, t->env[i].name, json_string(t->env[i].text));
	json_object_set_new(out, "AGENT6_MACHINE_DATA_DIR", json_string(env->confine.data_dir));
	json_object_set_new(out, "AGENT6_BUNDLE_DIR", json_string(env->confine.bundle));
	json_object_set_new(out, "AGENT6_STEP_KEY",
		json_sprintf("%s-%llu", env->instance_id, (unsigned long long)step->seq));
	return out;
}

static int render_argv(
	const struct plan_env *env, const struct position *position, json_t *argv, struct err *e)
{
	const struct tool_state *t = &position->state->tool;
	for (size_t i = 0; i < t->command_count; i++) {
		int failed = template_is_splice(t->command[i])
				     ? add_splice(argv, t->command[i], position, e)
				     : add_text(argv, t->command[i], env, position, e);
		if (failed)
			return err_wrap(e, "state %s, command[%zu]", position->state->name, i);
	}
	return 0;
}

static int render_stdin(const struct position *position, struct step *out, struct err *e)
{
	AUTO_BUF text = BUF_INIT(STDIN_BYTES_MAX);
	if (!position->state->tool.stdin_text)
		return 0;
	if (template_render(position->state->tool.stdin_text, position->blackboard, NULL, &text, e))
		return err_wrap(e, "state %s, stdin", position->state->name);
	out->stdin_text = buf_take(&text, &out->stdin_len);
	return out->stdin_text ? 0 : err_set(e, "out of memory");
}

/* Decides the step without running anything. */
static void not_run(struct step *step, const char *why)
{
	step->fact = (struct fact){.kind = FACT_NOT_RUN};
	step->fact.not_run = fact_text(&step->fact, why);
}

int plan_tool(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e)
{
	const struct tool_state *t = &position->state->tool;
	json_auto_t *argv = json_array();
	if (render_argv(env, position, argv, e) || render_stdin(position, out, e))
		return -1;
	const char *fault = argv_fault(argv);
	if (fault) {
		not_run(out, fault);
		return 0;
	}
	fault = template_literal(position->state->tool.command[0])
			? NULL
			: rendered_fault(env, json_string_value(json_array_get(argv, 0)));
	if (fault) {
		char why[256];
		snprintf(why, sizeof(why), "the command rendered to a program that %s", fault);
		not_run(out, why);
		return 0;
	}
	for (size_t i = 0; i < t->host_count && i < STEP_HOSTS_MAX; i++)
		out->hosts[out->host_count++] = fixed_host(t, i, position->blackboard);
	out->poke = position->poke;
	out->policy = confine_policy(&env->confine, position->state);
	out->order = (struct jail_order){.argv = json_incref(argv),
		.env = environment(env, out),
		.timeout_secs = out->timeout_secs};
	AUTO_FREE char *text = jail_order_text(&out->order);
	if (!text || strlen(text) > LAUNCHER_ORDER_BYTES_MAX)
		not_run(out, "the command rendered to more than 192 KiB");
	return 0;
}
