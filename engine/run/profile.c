#include "run/profile.h"

#include "confine/offline.h"
#include "machine/kind.h"
#include "run/plan.h"

#include <string.h>
#include <unistd.h>

/* The probe is this program, which takes as much memory as it needs. */
enum { PROBE_SECS = 20, PROBE_MEMORY_MB = 1 << 24 };

struct jail_policy profile_probe(enum jail_profile profile, bool allow_root_jail)
{
	struct jail_policy policy = jail_policy_of(profile, "/tmp", JAIL_NO_ACCESS);
	policy.allow_root_jail = allow_root_jail;
	policy.memory_mb = PROBE_MEMORY_MB;
	return policy;
}

struct jail_order profile_order(json_t *argv)
{
	return (struct jail_order){
		.argv = argv ? argv : json_pack("[s]", "/bin/true"), .timeout_secs = PROBE_SECS};
}

/* Makes the fact (to be released) of a command, `argv` or one that only succeeds, in a jail of the
 * given policy; both are taken. */
static enum live_end try_jail(struct live *live, struct jail_policy policy, json_t *argv,
	struct fact *fact, struct err *e)
{
	static const struct state state = {
		.name = "probe", .kind = KIND_TOOL, .timeout_secs = PROBE_SECS};
	struct step step = {
		.state = &state, .attempt = 1, .policy = policy, .order = profile_order(argv)};
	step.policy.memory_by = confine_memory_by(live->config);
	*fact = (struct fact){.kind = FACT_NONE};
	enum live_end end = live_jail(live, &step, fact, NULL, e);
	step_done(&step);
	return end;
}

/* LIVE_NO_JAIL: the strict profile does not work, and the other one may. */
static enum live_end probe_strict(struct live *live, bool allow_root_jail, struct err *e)
{
	AUTO_FACT fact = {0};
	enum live_end end =
		try_jail(live, profile_probe(JAIL_STRICT, allow_root_jail), NULL, &fact, e);
	if (end != LIVE_FACT ||
		(fact.kind == FACT_TOOL && fact.tool.exit.known && fact.tool.exit.value == 0))
		return end;
	err_set(e, "a probe command did not succeed in it");
	return LIVE_NO_JAIL;
}

/* Runs a probe that attacks the network: the hardened profile has only a filter and no network
 * namespace, so a jail that starts proves too little. A run by root probes the given workspace,
 * because commands there run as its owner. */
static int probe_hardened(
	struct live *live, const char *workspace, bool allow_root_jail, struct err *e)
{
	struct offline target = {.listen_fd = -1};
	json_t *argv = NULL;
	AUTO_FREE char *directory = NULL;
	int rc = offline_open(&target, e) ? -1 : offline_command(&target, &argv, &directory, e);
	if (!rc) {
		struct jail_policy taken = profile_probe(JAIL_HARDENED, allow_root_jail);
		taken.bundle = directory;
		taken.workspace = workspace;
		AUTO_FACT fact = {0};
		rc = try_jail(live, taken, argv, &fact, e) != LIVE_FACT
			     ? -1
			     : offline_judge(&target, &fact, e);
	}
	offline_close(&target);
	return rc ? err_wrap(e, "sandbox.profile hardened does not hold here") : 0;
}

const char *profile_resolve(
	struct live *live, const char *workspace, bool allow_root_jail, struct err *e)
{
	enum sandbox_profile wanted = live->config->sandbox.profile;
	if (wanted == PROFILE_HARDENED)
		return probe_hardened(live, workspace, allow_root_jail, e) ? NULL : "hardened";
	struct err why = ERR_NONE;
	enum live_end strict = probe_strict(live, allow_root_jail, &why);
	if (strict == LIVE_FACT)
		return "strict";
	if (wanted == PROFILE_STRICT || interrupts_kill(&live->interrupts)) {
		err_set(e, "sandbox.profile strict does not work here: %s", why.text);
		return NULL;
	}
	struct err other = ERR_NONE;
	if (probe_hardened(live, workspace, allow_root_jail, &other)) {
		bool same = strict != LIVE_NO_JAIL;
		err_set(e, "neither profile works here: %s%s%s%s", same ? "" : "strict: ", why.text,
			same ? "" : ": ", same ? "" : other.text);
		return NULL;
	}
	live_notice(live,
		"confinement is hardened, not strict: %s; \"agent6 check sandbox\" says what "
		"that means and how to change it",
		why.text);
	return "hardened";
}

/* Adds a path once, up to the number a policy may have: the jails of the states report the rest. */
static void add_place(struct path_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], path))
			return;
	if (list->count < JAIL_PATHS_MAX)
		path_list_add(list, path);
}

int profile_check_ids(struct live *live, const struct machine *machine,
	const struct confine *confine, struct err *e)
{
	bool writes = false, tools = false;
	if (geteuid() || confine->allow_root_jail || strcmp(confine->profile, "strict") != 0)
		return 0;
	AUTO_PATH_LIST places = {0};
	path_list_give(&places);
	for (size_t i = 0; i < machine->state_count; i++) {
		writes = writes || confine_writes(&machine->states[i]);
		const struct tool_state *tool = state_tool(&machine->states[i]);
		tools = tools || tool;
		for (size_t k = 0; tool && k < tool->write_count; k++)
			add_place(&places, tool->writes[k]);
	}
	if (tools && confine->data_dir)
		add_place(&places, confine->data_dir);
	if (!writes && !places.count)
		return 0;
	struct jail_policy policy = profile_probe(JAIL_STRICT, false);
	policy.write = places;
	places = (struct path_list){0};
	if (writes) {
		policy.workspace = confine->workspace;
		policy.access = JAIL_WRITE;
	}
	AUTO_FACT fact = {0};
	return try_jail(live, policy, NULL, &fact, e) == LIVE_FACT ? 0 : -1;
}
