#include "run/profile.h"

#include "base/json.h"
#include "run/plan.h"

enum { PROBE_SECS = 20 };

/* Runs `true` in a jail of that profile. */
static int probe(struct live *w, const char *profile, bool allow_root_jail, struct err *e)
{
	static const struct state state = {
		.name = "probe", .kind = KIND_TOOL, .timeout_secs = PROBE_SECS};
	struct step step = {.state = &state, .attempt = 1};
	step.policy = json_pack("{s:i,s:s,s:[s],s:s,s:{s:s,s:s},s:i,s:b}", "version", 1, "profile",
		profile, "argv", "/bin/true", "cwd", "/tmp", "workspace", "path", "/tmp", "access",
		"none", "timeout_secs", PROBE_SECS, "allow_root_jail", allow_root_jail);
	json_auto_t *fact = NULL;
	enum live_end end = live_jail(w, &step, &fact, NULL, e);
	jails_clear(&w->jails);
	json_decref(step.policy);
	if (end != LIVE_FACT)
		return -1;
	const json_t *code = json_object_get(fact, "exit");
	if (!json_is_integer(code) || json_integer_value(code) != 0)
		return err_set(e, "a probe command did not succeed in it");
	return 0;
}

const char *profile_resolve(struct live *w, bool allow_root_jail, struct err *e)
{
	enum sandbox_profile wanted = w->config->sandbox.profile;
	if (wanted == PROFILE_HARDENED)
		return probe(w, "hardened", allow_root_jail, e) ? NULL : "hardened";
	struct err why = ERR_NONE;
	if (probe(w, "strict", allow_root_jail, &why) == 0)
		return "strict";
	if (wanted == PROFILE_STRICT || w->interrupts.count >= 2) {
		err_set(e, "sandbox.profile strict does not work here: %s", why.text);
		return NULL;
	}
	if (probe(w, "hardened", allow_root_jail, e)) {
		err_wrap(e, "neither profile works here: strict: %s; hardened", why.text);
		return NULL;
	}
	live_notice(w,
		"confinement is hardened, not strict: %s; \"agent6 check sandbox\" says what "
		"that means and how to change it",
		why.text);
	return "hardened";
}
