#include "run/status.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/verb/opened_instance.h"
#include "instance/data_repositories.h"
#include "instance/moved_aside.h"
#include "report/autorun_text.h"
#include "report/interface.h"
#include "report/repositories_text.h"
#include "report/show.h"
#include "report/text.h"
#include <string.h>
#include <unistd.h>

enum {
	STATUS_BYTES_MAX = 64 * 1024 * 1024,
	VALUE_COLUMNS = 76,
	VALUE_INDENT = 20,
	LABEL_COLUMNS = 12,
	SHOWN_MAX = 40
};

static void add(struct buf *out, const char *label, const char *value)
{
	size_t at = out->len;
	if (!*value)
		return;
	buf_addf(out, "  %s", label);
	text_pad(out, at, LABEL_COLUMNS + 2);
	AUTO_BUF clean = BUF_INIT(8192);
	text_clean(&clean, value, 1000);
	wrap_text(out, clean.data, LABEL_COLUMNS + 2, text_columns(STDOUT_FILENO));
	buf_addc(out, '\n');
}

/* Adds "2026-11-22 11:40:10 UTC, 3 min 4 s ago". */
static void add_when(struct buf *out, const char *label, const char *instant)
{
	int64_t at_us = 0;
	AUTO_BUF text = BUF_INIT(128);
	text_when(&text, instant);
	if (!clock_parse(instant, strlen(instant), &at_us)) {
		int64_t ahead_secs = (at_us - clock_realtime_us()) / 1000000;
		int64_t apart_secs = ahead_secs > 0 ? ahead_secs : -ahead_secs;
		buf_adds(&text, ahead_secs > 0 ? ", in " : ", ");
		if (apart_secs)
			text_duration(&text, apart_secs * 1000);
		buf_adds(&text, ahead_secs > 0 ? "" : apart_secs ? " ago" : "just now");
	}
	add(out, label, text.data);
}

/* Adds "step 3, work: nonzero, exit 2: make: *** [all] Error 2". */
static void add_failure(struct buf *out, const json_t *status)
{
	static const char *const numbers[] = {"exit", "signal"};
	const json_t *f = json_object_get(status, "failure"), *value;
	json_int_t attempt = json_get_int(f, "attempt");
	AUTO_BUF text = BUF_INIT(4096);
	if (!json_is_object(f))
		return;
	buf_addf(&text, "step %jd, %s: %s", (intmax_t)json_get_int(f, "seq"),
		json_get_text(f, "state"), json_get_text(f, "label"));
	if (attempt > 1)
		buf_addf(&text, " in attempt %jd", (intmax_t)attempt);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (json_is_integer(value = json_object_get(f, numbers[i])))
			buf_addf(
				&text, ", %s %jd", numbers[i], (intmax_t)json_integer_value(value));
	if (*json_get_text(f, "words"))
		buf_addf(&text, ": %s", json_get_text(f, "words"));
	add(out, "failed", text.data);
}

/* Adds how a run goes on that was asked to stop, that waits for somebody, or that nobody runs
 * though it could continue. */
static void add_way_on(struct buf *out, const json_t *status)
{
	AUTO_BUF poke = BUF_INIT(STATUS_BYTES_MAX), form = BUF_INIT(STATUS_BYTES_MAX);
	const json_t *takes = json_object_get(status, "takes");
	bool waits = !strcmp(json_get_text(status, "status"), "waiting") &&
		     !*json_get_text(status, "wake") && !json_get_int(status, "pokes");
	buf_adds(&poke, "to be poked: ");
	interface_poke_command(
		json_is_object(takes) ? takes : NULL, json_get_text(status, "id"), &poke);
	add(out, "waits", waits ? poke.data : "");
	interface_poke_fields(takes, "    ", &form);
	if (form.len)
		buf_addf(out, "  takes%s\n", form.data);
	if (json_is_true(json_object_get(status, "stopping")))
		add(out, "stopping",
			"it parks as soon as this state has ended; two SIGTERM to its process kill "
			"the state, uncommitted");
	if (strcmp(json_get_text(status, "status"), "stopped") != 0)
		return;
	if (json_is_true(json_object_get(status, "cut_off")))
		add(out, "cut off",
			"it was killed, its host went down, its disk was full, or an error "
			"that the command reported ended it; the same command goes on after the "
			"last step");
	else
		add(out, "parked", "it was asked to stop; the same command goes on");
}

static void add_holder(struct buf *out, const json_t *status)
{
	const json_t *holder = json_object_get(status, "holder");
	char text[128];
	if (!json_is_object(holder))
		return;
	snprintf(text, sizeof(text), "pid %jd on %s", (intmax_t)json_get_int(holder, "pid"),
		json_get_text(holder, "host"));
	add(out, "run by", text);
}

static void add_steps(struct buf *out, const json_t *status)
{
	int64_t steps = json_get_int(status, "seq");
	struct totals totals = show_totals(json_object_get(status, "totals"));
	AUTO_BUF text = BUF_INIT(128);
	buf_addf(&text, "%jd", (intmax_t)steps);
	show_retries(&text, &totals, (uint64_t)steps);
	add(out, "steps", text.data);
}

static void add_totals(struct buf *out, const json_t *status)
{
	struct totals totals = show_totals(json_object_get(status, "totals"));
	AUTO_BUF text = BUF_INIT(256);
	show_spend(&text, &totals);
	add(out, "spent", text.data);
}

static void add_blackboard(struct buf *out, const json_t *blackboard)
{
	const char *name;
	json_t *value;
	size_t columns = text_columns(STDOUT_FILENO);
	if (!json_object_size(blackboard))
		return;
	/* One line each on a terminal; elsewhere as much as anyone reads. */
	size_t room = columns == WRAP_NEVER         ? VALUE_COLUMNS
		      : columns > VALUE_INDENT + 23 ? columns - VALUE_INDENT - 3
						    : 20;
	buf_adds(out, "  blackboard\n");
	json_object_foreach ((json_t *)(uintptr_t)blackboard, name, value) {
		AUTO_FREE char *text = json_text(value);
		size_t at = out->len;
		buf_addf(out, "    %s", name);
		text_pad(out, at, VALUE_INDENT);
		text_clean(out, text ? text : "", room);
		buf_addc(out, '\n');
	}
}

/* Adds "agent6/machine-desk, 525c6f22a30f..270ccf5b1d8a". */
static void add_branch(struct buf *out, const json_t *status)
{
	const json_t *b = json_object_get(status, "branch");
	char text[160];
	if (!json_is_object(b))
		return;
	snprintf(text, sizeof(text), "%s, %.12s..%.12s", json_get_text(b, "name"),
		json_get_text(b, "base"), json_get_text(b, "tip"));
	add(out, "branch", text);
}

/* Adds a heading and the files below it, of which there may be many. */
static void add_autorun(struct buf *out, const json_t *status)
{
	const json_t *autorun = json_object_get(status, "autorun"), *file;
	size_t i;
	AUTO_BUF rest = BUF_INIT(256);
	autorun_text_rest(autorun, SHOWN_MAX, &rest);
	if (!json_array_size(json_object_get(autorun, "files")) && !rest.len)
		return;
	buf_adds(out, "  changed, and programs on the host run or obey them\n");
	json_array_foreach (json_object_get(autorun, "files"), i, file) {
		AUTO_BUF line = BUF_INIT(8192);
		if (i == SHOWN_MAX)
			break;
		buf_adds(out, "    ");
		autorun_text_file(file, &line);
		wrap_text(out, line.data, 6, text_columns(STDOUT_FILENO));
		buf_addc(out, '\n');
	}
	if (rest.len)
		buf_addf(out, "    %s\n", rest.data);
}

static void add_repositories(struct buf *out, const json_t *status)
{
	const json_t *found = json_object_get(status, "repositories"), *path;
	size_t i;
	if (!json_is_object(found))
		return;
	buf_adds(
		out, "  repositories in its data directory; git of yours executes what they say\n");
	json_array_foreach (json_object_get(found, "paths"), i, path) {
		AUTO_BUF line = BUF_INIT(8192);
		buf_adds(out, "    ");
		text_clean(&line, json_string_value(path), 1000);
		wrap_text(out, line.data, 6, text_columns(STDOUT_FILENO));
		buf_addc(out, '\n');
	}
	if (json_is_true(json_object_get(found, "cut")))
		buf_adds(out, "    it was not searched as a whole and may hold others\n");
}

/* Adds the question last, where a reader looks first. */
static void add_question(struct buf *out, const json_t *status)
{
	const json_t *doc = json_object_get(status, "question");
	AUTO_BUF text = BUF_INIT(STATUS_BYTES_MAX);
	if (json_is_object(doc) && !show_question(&text, json_get_text(status, "id"), doc))
		buf_addf(out, "\n%s", text.data);
}

/* Adds the digest, which is too wide for a line with its label. */
static void add_bundle(struct buf *out, const json_t *status)
{
	if (*json_get_text(status, "bundle"))
		buf_addf(out, "  bundle\n    %s\n", json_get_text(status, "bundle"));
}

static void add_returns(struct buf *out, const json_t *status)
{
	const json_t *returns = json_object_get(status, "returns");
	AUTO_FREE char *text = json_is_object(returns) ? json_text(returns) : NULL;
	add(out, "returns", text ? text : "");
}

static void status_text(const json_t *status, struct buf *out)
{
	char steps[64];
	bool empty = !strcmp(json_get_text(status, "status"), "empty");
	buf_addf(out, "%s: %s", json_get_text(status, "id"), json_get_text(status, "status"));
	buf_addf(out, empty ? ", nothing has run yet\n" : " in state %s\n",
		json_get_text(status, "state"));
	add_steps(out, status);
	add(out, "reason", json_get_text(status, "reason"));
	add_returns(out, status);
	add_way_on(out, status);
	add(out, "says", json_get_text(status, "says"));
	add_failure(out, status);
	add(out, "notice", json_get_text(status, "notice"));
	add_when(out, "retries", json_get_text(status, "retry_at"));
	add_when(out, "wakes", json_get_text(status, "wake"));
	snprintf(steps, sizeof(steps), "%jd", (intmax_t)json_get_int(status, "pokes"));
	add(out, "pokes", steps[0] == '0' ? "" : steps);
	add_holder(out, status);
	add_when(out, "started", json_get_text(status, "started"));
	add_when(out, "updated", json_get_text(status, "updated"));
	add_totals(out, status);
	add_branch(out, status);
	add(out, "profile", json_get_text(status, "profile"));
	add_bundle(out, status);
	add_autorun(out, status);
	moved_aside_text(json_object_get(status, "moved_aside"), out);
	add_repositories(out, status);
	add_blackboard(out, json_object_get(status, "blackboard"));
	add_question(out, status);
}

static int show(const struct opened_instance *opened, const struct call *call)
{
	struct err e = ERR_NONE;
	AUTO_BUF text = BUF_INIT(STATUS_BYTES_MAX);
	json_auto_t *status = status_run(&opened->instance, opened->loaded.machine, &e);
	if (!status)
		return verb_fail(EXIT_DAMAGED, &e);
	json_t *takes =
		json_is_null(json_object_get(status, "reason"))
			? interface_poke(opened->loaded.machine, json_get_text(status, "state"))
			: NULL;
	json_object_set_new(status, "takes", takes ? takes : json_null());
	json_t *found = data_repositories(&opened->instance);
	json_object_set_new(status, "repositories", found ? found : json_null());
	json_t *moved = moved_aside_list(&opened->instance);
	json_object_set_new(status, "moved_aside", moved ? moved : json_null());
	if (call_has(call, "json")) {
		text_json_line(status);
		return EXIT_OK;
	}
	status_text(status, &text);
	fwrite(text.data, 1, text.len, stdout);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	return opened_instance_with(call, true, show);
}

static const struct verb_option options[] = {
	{"json", NULL, "print one JSON object", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_status = {.path = "machine status",
	.summary = "where an instance stands, running or not",
	.arguments = "ID|DIR",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
