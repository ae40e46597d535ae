/* The network matrix, row by row, against the rules it is to follow: what is loaded, what starts,
 * what the policies say, and that following a refusal's advice helps. */
#include "config/network.h"
#include "confine/confine.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: auto\nbudget: {max_transitions: 9}\nstates:\n"
	"  auto: {kind: tool, command: [a], timeout_secs: 7,\n"
	"    on: {ok: block, nonzero: end, timeout: end}}\n"
	"  block: {kind: tool, command: [a], timeout_secs: 7, allow_network: block,\n"
	"    on: {ok: allow, nonzero: end, timeout: end}}\n"
	"  allow: {kind: tool, command: [a], timeout_secs: 7, allow_network: allow,\n"
	"    on: {ok: list, nonzero: end, timeout: end}}\n"
	"  list: {kind: tool, command: [a], timeout_secs: 7, allow_network: ['a.example:443'],\n"
	"    on: {ok: end, nonzero: end, timeout: end}}\n"
	"  end: {kind: terminal, status: ok, reason: r}\n";
static const char *const asked_names[] = {"auto", "block", "allow", "list"};
static const char *const tool_names[] = {"block", "only_explicit_states", "allow"};
static const char *const agent_names[] = {"providers", "local", "open"};
static const char *const profiles[] = {"strict", "hardened"};

static struct fixture f;
static struct config *config;

static const char *name_of(const struct network_case *on)
{
	static char text[128];
	snprintf(text, sizeof(text), "%s, agent %s, tool %s, %s", profiles[on->profile],
		agent_names[on->agent], tool_names[on->tool], asked_names[on->asked]);
	return text;
}

/* --- the rules, written down a second time ---------------------------------------------------- */

static bool is_loaded(const struct network_case *on)
{
	return on->tool != TOOL_NETWORK_ALLOW || on->agent == AGENT_NETWORK_OPEN;
}

static bool asks(const struct network_case *on)
{
	return on->asked == NETWORK_ALLOW || on->asked == NETWORK_LIST;
}

static bool starts(const struct network_case *on)
{
	if (asks(on) && on->tool == TOOL_NETWORK_BLOCK)
		return false;
	return is_loaded(on) && (on->asked != NETWORK_LIST || on->profile == NETWORK_ON_STRICT);
}

static const char *tool_policy(const struct network_case *on)
{
	if (!asks(on))
		return "\"none\"";
	return on->asked == NETWORK_ALLOW ? "\"host\"" : "{\"proxy_fd\":5}";
}

/* --- what the program makes of a row ---------------------------------------------------------- */

static struct confine confine_of(const struct network_case *on)
{
	config->sandbox.agent_network = (enum agent_network)on->agent;
	config->sandbox.tool_network = (enum tool_network)on->tool;
	return (struct confine){.config = config,
		.profile = profiles[on->profile],
		.workspace = "/ws",
		.bundle = "/i/bundle",
		.data_dir = "/i/data"};
}

static char *network_of(struct jail_policy policy)
{
	json_auto_t *given = jail_policy_encode(&policy);
	const json_t *network = json_object_get(given, "network");
	char *text = network ? json_dumps(network, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS)
			     : strdup("\"none\"");
	jail_policy_done(&policy);
	return text;
}

/* The refusals' lines about the row's own state. */
static bool is_refused(const struct network_case *on, struct buf *why)
{
	struct confine c = confine_of(on);
	char line[64];
	confine_refusals(f.m, &c, why);
	snprintf(line, sizeof(line), "state %s: ", asked_names[on->asked]);
	return why->len && strstr(why->data, line);
}

static struct network_case changed(
	const struct network_case *from, const struct network_case *change)
{
	struct network_case to = *from;
	if (change->profile != NETWORK_KEEP)
		to.profile = change->profile;
	if (change->agent != NETWORK_KEEP)
		to.agent = change->agent;
	if (change->tool != NETWORK_KEEP)
		to.tool = change->tool;
	if (change->asked != NETWORK_KEEP)
		to.asked = change->asked;
	return to;
}

static void check_refusal(const struct network_row *row, const char *said)
{
	const struct network_refusal *refusal = network_refusal(row->tool);
	if (!ok(refusal != NULL, "%s: is refused in the table", name_of(&row->on)))
		return;
	has_str(said, "sandbox.", "%s: names the setting", name_of(&row->on));
	has_str(said, refusal->reason, "%s: gives the reason", name_of(&row->on));
	has_str(said, refusal->fix, "%s: says what to do", name_of(&row->on));
	for (size_t i = 0; i < ARRAY_LEN(refusal->changes); i++) {
		struct network_case after = changed(&row->on, &refusal->changes[i]);
		AUTO_BUF none;
		buf_init(&none, 1 << 16);
		ok(starts(&after) && !is_refused(&after, &none), "%s: advice %zu helps",
			name_of(&row->on), i + 1);
	}
}

static void check_start(const struct network_row *row)
{
	AUTO_BUF why;
	buf_init(&why, 1 << 16);
	bool refused = is_refused(&row->on, &why);
	is(refused, !starts(&row->on), "%s: %s", name_of(&row->on),
		starts(&row->on) ? "starts" : "is refused at start");
	if (refused) {
		check_refusal(row, why.data);
		return;
	}
	struct confine c = confine_of(&row->on);
	AUTO_FREE char *tool =
		network_of(confine_policy(&c, machine_state(f.m, asked_names[row->on.asked])));
	AUTO_FREE char *command = network_of(confine_command_policy(&c));
	is_str(tool, tool_policy(&row->on), "%s: the tool's jail", name_of(&row->on));
	is_str(command, row->on.tool == TOOL_NETWORK_ALLOW ? "\"host\"" : "\"none\"",
		"%s: a command's jail", name_of(&row->on));
	is(row->agent, row->on.agent == AGENT_NETWORK_LOCAL ? WAY_LOOPBACK : WAY_CHANNELS,
		"%s: the agent's way", name_of(&row->on));
}

static void test_rows(void)
{
	is(network_row_count, 2 * 3 * 3 * 4, "every combination");
	for (size_t i = 0; i < network_row_count; i++) {
		const struct network_row *row = &network_rows[i];
		ok(network_find(&row->on) == row, "%s: once", name_of(&row->on));
		bool refused = network_refusal(row->agent) != NULL;
		is(refused, !is_loaded(&row->on), "%s: loaded or not", name_of(&row->on));
		if (!refused)
			check_start(row);
	}
}

/* `local` with a provider elsewhere: no profile makes up for it. */
static void test_local(void)
{
	static const char *const agent =
		"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 9}\n"
		"schemas: {r: {n: int}}\n"
		"states:\n"
		"  a: {kind: agent, prompt: p, timeout_secs: 60, output_schema: r,\n"
		"    on: {ok: end, failed: end, budget_exhausted: end, timeout: end}}\n"
		"  end: {kind: terminal, status: ok, reason: r}\n";
	struct fixture g;
	fixture_init(&g, agent);
	if (!g.m)
		bail("the fixture is wrong: %s", g.findings.items[0].message);
	struct config_provider elsewhere = config->providers[0];
	struct config far = *config;
	elsewhere.loopback = false;
	far.providers = &elsewhere;
	far.sandbox.agent_network = AGENT_NETWORK_LOCAL;
	far.sandbox.tool_network = TOOL_NETWORK_BLOCK;
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		AUTO_BUF why;
		buf_init(&why, 1 << 16);
		struct confine c = {.config = &far,
			.profile = profiles[i],
			.workspace = "/ws",
			.data_dir = "/i/data"};
		is(confine_refusals(g.m, &c, &why), 1, "%s: local refuses", profiles[i]);
		has_str(why.data, "sandbox.agent_network is local, and provider", "and says why");
	}
	fixture_done(&g);
}

int main(void)
{
	static const char *const providers[] = {"p"};
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s", f.findings.items[0].message);
	config = config_rehearsal(providers, 1, API_ANTHROPIC, "http://127.0.0.1:1", "/state");
	test_rows();
	test_local();
	config_free(config);
	fixture_done(&f);
	return tap_done();
}
