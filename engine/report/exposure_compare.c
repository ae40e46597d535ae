#include "report/exposure.h"
#include "report/interface.h"

#include "base/host.h"
#include "base/json.h"
#include <string.h>

/* A comparison under way: the collection of findings, and the state they are about. */
struct comparing {
	struct findings *findings;
	const struct machine *machine;
	const char *state; /* NULL: the machine as a whole */
	size_t widened;
};

/* Compared members whose key in a machine has another name; the first one present decides. */
static const char *const deciding[][2] = {{"workspace", "workspace"}, {"workspace", "mode"},
	{"terminal", "pty"}, {"egress", "allow_network"}, {"egress", "network"},
	{"egress", "provider"}, {"turns", "max_iterations"}, {"turns", "mode"},
	{"input_tokens", "max_input_tokens"}, {"output_tokens", "max_output_tokens"},
	{"usd", "max_usd"}, {EXPOSURE_BEST_EFFORT, "best_effort_usd_limit"},
	{EXPOSURE_BEST_EFFORT, "max_usd"}, {"unmetered_tokens", "max_tokens_fallback"},
	{"transitions", "max_transitions"}, {"seconds", "max_secs"}};

static const struct doc_pair *deciding_pair(const struct doc_node *map, const char *name)
{
	const struct doc_pair *pair = doc_pair(map, name);
	for (size_t i = 0; i < ARRAY_LEN(deciding) && !pair; i++)
		if (!strcmp(deciding[i][0], name))
			pair = doc_pair(map, deciding[i][1]);
	return pair ? pair : doc_pair(doc_get(map, "limits"), name);
}

/* Returns the place in the newer machine for a finding: `item` (or NULL) in the value of the key
 * that decides about `name`; else that key; or, if it is missing, the state or `budget`. */
static const struct doc_node *place_of(const struct comparing *comparing, const struct state *state,
	const char *name, const char *item)
{
	const struct doc_pair *budget = doc_pair(comparing->machine->doc->root, "budget");
	const struct doc_node *whole = state ? state->key : name ? &budget->key : NULL;
	const struct doc_pair *pair =
		name ? deciding_pair(state ? state->node : &budget->value, name) : NULL;
	if (!pair)
		return whole;
	const struct doc_pair *named = item ? doc_pair(&pair->value, item) : NULL;
	for (uint32_t i = 0; item && pair->value.kind == DOC_LIST && i < pair->value.count; i++) {
		const struct doc_node *one = &pair->value.items[i];
		if (one->kind == DOC_STR && !strcmp(one->text, item))
			return one;
	}
	return named ? &named->key : &pair->key;
}

/* Adds a finding. `name`, `item`: the compared member, for its place; NULL: the state itself. */
static void tell_change(struct comparing *comparing, bool wider, const char *name, const char *item,
	const char *what)
{
	const struct state *s =
		comparing->state ? machine_state(comparing->machine, comparing->state) : NULL;
	struct finding *f = finding_add(comparing->findings,
		wider ? RULE_CONFINEMENT_WIDENED : RULE_CONFINEMENT_NARROWED,
		comparing->machine->doc, place_of(comparing, s, name, item), "%s", "");
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	buf_addf(&text, "%s: %s", comparing->state ? comparing->state : "the machine", what);
	finding_whole(comparing->findings, f, text.data);
	f->state = s ? s->name : NULL;
	comparing->widened += wider;
}

/* Reports whether `wide` includes `host`. */
static bool host_within(const char *host, const char *wide)
{
	struct host_port h, w;
	return !strcmp(wide, EXPOSURE_ANY_HOST) ||
	       (!host_rule_decode(&h, host, NULL) && !host_rule_decode(&w, wide, NULL) &&
		       host_rule_covers(&w, &h));
}

/* Reports whether a set covers an item. A path covers no other: a file below it may be a link that
 * leads elsewhere. */
static bool holds(const char *name, const json_t *sets, const json_t *item)
{
	size_t i;
	json_t *other;
	bool hosts = !strcmp(name, "egress");
	if (!strcmp(name, "reads") && holds("writes", sets, item))
		return true; /* write access includes read access */
	json_array_foreach (json_object_get(sets, name), i, other)
		if (json_equal(other, item) ||
			(hosts && host_within(json_string_value(item), json_string_value(other))))
			return true;
	return false;
}

static void tell_missing(struct comparing *comparing, const char *name, const json_t *from,
	const json_t *in, bool wider)
{
	size_t i;
	json_t *item;
	json_array_foreach (json_object_get(from, name), i, item) {
		if (holds(name, in, item))
			continue;
		AUTO_BUF what = BUF_INIT(EXPOSURE_BYTES_MAX);
		buf_addf(&what, "%s is %s in %s", json_string_value(item),
			wider ? "new" : "no longer", name);
		tell_change(comparing, wider, name, json_string_value(item), what.data);
	}
}

static void compare_sets(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *name;
	json_t *set;
	json_object_foreach ((json_t *)(uintptr_t)now, name, set) {
		tell_missing(comparing, name, now, old, true);
		tell_missing(comparing, name, old, now, false);
	}
}

static void compare_ranks(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *name;
	json_t *word;
	json_object_foreach ((json_t *)(uintptr_t)now, name, word) {
		const char *before = json_get_text(old, name), *after = json_string_value(word);
		int step = exposure_rank(name, after) - exposure_rank(name, before);
		char what[128];
		snprintf(what, sizeof(what), "%s was %s and is %s", name, before, after);
		if (step)
			tell_change(comparing, step > 0, name, NULL, what);
	}
}

/* Returns a limit. One that always binds also binds where spending can be measured. */
static const json_t *limit_of(const json_t *limits, const char *name)
{
	const json_t *own = json_object_get(limits, name);
	return json_is_null(own) && !strcmp(name, EXPOSURE_BEST_EFFORT)
		       ? json_object_get(limits, "usd")
		       : own;
}

static void compare_limits(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *name;
	json_t *own;
	json_object_foreach ((json_t *)(uintptr_t)now, name, own) {
		const json_t *before = limit_of(old, name), *limit = limit_of(now, name);
		char what[160], was[32] = "unlimited", is[32] = "unlimited";
		bool same = json_equal(json_object_get(old, name), own);
		if (!before || same || json_equal(before, limit) ||
			json_is_string(own)) /* the operator's, not the machine's */
			continue;
		if (!json_is_null(before))
			snprintf(was, sizeof(was), "%.12g", json_number_value(before));
		if (!json_is_null(limit))
			snprintf(is, sizeof(is), "%.12g", json_number_value(limit));
		bool wider = json_is_null(limit) ||
			     (!json_is_null(before) &&
				     json_number_value(limit) > json_number_value(before));
		snprintf(what, sizeof(what), "limit %s was %s and is %s", name, was, is);
		tell_change(comparing, wider, name, NULL, what);
	}
}

static json_t *states_by_name(const json_t *exposure)
{
	json_t *names = json_object();
	size_t i;
	json_t *state;
	json_array_foreach (json_object_get(exposure, "states"), i, state)
		json_object_set(names, json_get_text(state, "state"), state);
	return names;
}

/* Compares the verify command: the model runs it at will, and nobody is asked. */
static void compare_verify(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *before = json_get_text(old, "verify"), *after = json_get_text(now, "verify");
	if (!*before == !*after)
		return;
	AUTO_BUF what = BUF_INIT(EXPOSURE_BYTES_MAX);
	buf_addf(&what, "%s a verify command: %s", *after ? "now has" : "no longer has",
		*after ? after : before);
	tell_change(comparing, *after, NULL, NULL, what.data);
}

/* Notes other exit statuses that count as ok: they widen nothing, and lead elsewhere. */
static void compare_exits(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *before = json_get_text(old, "ok_exit"), *after = json_get_text(now, "ok_exit");
	const struct state *s = machine_state(comparing->machine, comparing->state);
	if (!strcmp(before, after))
		return;
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	buf_addf(&text, "%s: it was ok at %s, and is ok at %s", comparing->state,
		*before ? before : "exit 0", *after ? after : "exit 0");
	struct finding *f = finding_add(comparing->findings, RULE_STATE_CHANGED,
		comparing->machine->doc, place_of(comparing, s, "ok_exit", NULL), "%s", "");
	finding_whole(comparing->findings, f, text.data);
	f->state = s ? s->name : NULL;
}

static void compare_state(struct comparing *comparing, const json_t *old, const json_t *now)
{
	comparing->state = json_get_text(now, "state");
	if (!old || strcmp(json_get_text(old, "kind"), json_get_text(now, "kind"))) {
		AUTO_BUF what = BUF_INIT(EXPOSURE_BYTES_MAX);
		buf_addf(&what, "a new %s state: %s", json_get_text(now, "kind"),
			json_get_text(now, "does"));
		tell_change(comparing, true, NULL, NULL, what.data);
		return;
	}
	compare_ranks(comparing, json_object_get(old, "ranks"), json_object_get(now, "ranks"));
	compare_sets(comparing, json_object_get(old, "sets"), json_object_get(now, "sets"));
	compare_verify(comparing, old, now);
	compare_exits(comparing, old, now);
	compare_limits(comparing, json_object_get(old, "limits"), json_object_get(now, "limits"));
}

/* Warns if the name has changed: the operator's grants to a machine are by name, so a machine that
 * takes another's name takes its grants. */
static void compare_name(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const char *before = json_get_text(old, "machine"), *after = json_get_text(now, "machine");
	char what[240];
	if (!strcmp(before, after) ||
		!json_array_size(json_object_get(json_object_get(now, "union"), "secrets")))
		return;
	snprintf(what, sizeof(what), "its name was %s and is %s, and secrets are granted by name",
		before, after);
	tell_change(comparing, true, NULL, NULL, what);
}

/* Compares how often each state of both machines may be visited. */
static void compare_visits(struct comparing *comparing, const json_t *old, const json_t *now)
{
	const struct machine *m = comparing->machine;
	for (size_t i = 0; i < m->state_count; i++) {
		const char *name = m->states[i].name;
		const json_t *before = json_object_get(old, name),
			     *after = json_object_get(now, name);
		json_int_t was = json_integer_value(before), is = json_integer_value(after);
		char what[128], old_text[24] = "unlimited", new_text[24] = "unlimited";
		if (was == is)
			continue;
		if (before)
			snprintf(old_text, sizeof(old_text), "%jd", (intmax_t)was);
		if (after)
			snprintf(new_text, sizeof(new_text), "%jd", (intmax_t)is);
		snprintf(what, sizeof(what), "limit max_visits was %s and is %s", old_text,
			new_text);
		comparing->state = name;
		tell_change(comparing, !after || (before && is > was), "max_visits", NULL, what);
	}
	comparing->state = NULL;
}

size_t exposure_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings)
{
	struct comparing c = {.findings = findings, .machine = machine};
	json_auto_t *before = states_by_name(old), *after = states_by_name(now);
	size_t i;
	json_t *state;
	compare_name(&c, old, now);
	interface_compare(json_object_get(old, "interface"), json_object_get(now, "interface"),
		machine, findings);
	compare_limits(&c, json_object_get(old, "limits"), json_object_get(now, "limits"));
	json_array_foreach (json_object_get(now, "states"), i, state)
		compare_state(&c, json_object_get(before, json_get_text(state, "state")), state);
	compare_visits(&c, json_object_get(old, "visits"), json_object_get(now, "visits"));
	c.state = NULL;
	json_array_foreach (json_object_get(old, "states"), i, state) {
		char what[160];
		if (json_object_get(after, json_get_text(state, "state")))
			continue;
		snprintf(what, sizeof(what), "the %s state %s is gone",
			json_get_text(state, "kind"), json_get_text(state, "state"));
		tell_change(&c, false, NULL, NULL, what);
	}
	return c.widened;
}

size_t exposure_compare_new(
	const json_t *now, const struct machine *machine, struct findings *findings)
{
	static const char *const sets[] = {"egress", "writes", "secrets"};
	struct comparing c = {.findings = findings, .machine = machine};
	json_auto_t *nothing = json_object();
	size_t i;
	json_t *state;
	json_array_foreach (json_object_get(now, "states"), i, state) {
		c.state = json_get_text(state, "state");
		for (size_t set = 0; set < ARRAY_LEN(sets); set++)
			tell_missing(&c, sets[set], json_object_get(state, "sets"), nothing, true);
	}
	return c.widened;
}
