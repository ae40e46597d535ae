#include "report/summary.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/num.h"
#include "report/layers.h"
#include "report/show.h"
#include "report/text.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum {
	REPORT_COLUMNS = 80,
	LABEL_COLUMNS = 14,
	STATE_COLUMNS = 18,
	PATH_SHOWN_MAX = 200,
	ROW_BYTES_MAX = 64 * 1024,
	LAYERS_BYTES_MAX = 16 * 1024 * 1024,
	SETUP_US = 5000000 /* the longest set-up of a command's confinement */
};

void summary_init(struct summary *summary)
{
	*summary = (struct summary){.states = json_object(), .path = json_array()};
}

void summary_done(struct summary *summary)
{
	json_decref(summary->states);
	json_decref(summary->path);
	json_decref(summary->returns);
	json_decref(summary->tool_layers);
	json_decref(summary->agent_layers);
}

static json_t *state_of(struct summary *summary, const char *name)
{
	json_t *state = json_object_get(summary->states, name);
	if (!state) {
		state = json_pack("{s:{}}", "outcomes");
		json_object_set_new(summary->states, name, state);
	}
	return state;
}

/* Returns when the execution that this line ends began: at the end of the one before. The duration
 * of a command is in its fact; if more time has passed, nobody ran the machine in between. */
static int64_t began_us(const struct summary *summary, const struct fact *fact, int64_t now_us)
{
	bool timed = fact->kind == FACT_TOOL;
	int64_t own_ms = timed ? fact->tool.wall_ms.value : 0;
	int64_t own_us = own_ms > 0 && own_ms < now_us / 1000 ? own_ms * 1000 : 0;
	bool known = summary->mark_us && (!timed || now_us - summary->mark_us < own_us + SETUP_US);
	return known ? summary->mark_us : now_us - own_us;
}

static void add_spend(json_t *state, const struct spend *spend)
{
	json_add_int(state, "input_tokens", spend->input_tokens);
	json_add_int(state, "output_tokens", spend->output_tokens);
	json_add_int(state, "microusd", spend->microusd);
	if (spend->unmetered)
		json_object_set_new(state, "unmetered", json_true());
}

/* Keeps the newest failure of each state, even if the state succeeded later. */
static void note_failure(json_t *state, const struct line *line)
{
	AUTO_BUF why = BUF_INIT(4096);
	show_failure(&why, line);
	if (why.len)
		json_object_set_new(state, "failure",
			json_sprintf("step %jd%s", (intmax_t)line->seq, why.data));
}

static void add_execution(struct summary *summary, const struct line *line)
{
	const struct fact *fact = &line->fact;
	json_t *state = state_of(summary, line->state);
	summary->from_us = began_us(summary, fact, summary->end_us);
	summary->mark_us = summary->end_us;
	if (line->type == LINE_RETRY)
		clock_parse(line->retry.until, strlen(line->retry.until), &summary->mark_us);
	json_add_int(state, "times", 1);
	json_add_int(state, "ms", (summary->end_us - summary->from_us) / 1000);
	add_spend(state, fact->kind == FACT_AGENT ? &fact->agent.spend : &(struct spend){0});
	json_add_int(json_object_get(state, "outcomes"), line->label, 1);
	note_failure(state, line);
}

/* Adds the cost of an attempt that never finished; the next one begins here. */
static void add_unfinished(struct summary *summary, const struct line *line)
{
	add_spend(state_of(summary, line->state), &line->spend);
	summary->mark_us = summary->end_us;
}

static void add_egress(struct summary *summary, const struct line *line)
{
	const char *why;
	json_t *count;
	summary->egress_up += line->egress.up;
	summary->egress_down += line->egress.down;
	json_object_foreach (line->egress.refusals, why, count)
		summary->egress_refused += json_integer_value(count);
}

void summary_add(struct summary *summary, const struct line *line)
{
	bool step = line->type == LINE_STEP;
	clock_parse(line->ts, strlen(line->ts), &summary->end_us);
	if (!summary->begun_us)
		summary->begun_us = summary->mark_us = summary->end_us;
	if (line->type == LINE_BEGIN)
		snprintf(summary->profile, sizeof(summary->profile), "%s", line->begin.profile);
	else if (line->type == LINE_EGRESS)
		add_egress(summary, line);
	else if (line->type == LINE_END)
		summary->returns = json_incref(line->end.returns);
	else if (line->type == LINE_STOP)
		summary->mark_us = 0;
	else if (line->type == LINE_SPEND)
		add_unfinished(summary, line);
	if (step || line->type == LINE_RETRY)
		add_execution(summary, line);
	if (step || line->type == LINE_END)
		json_array_append_new(summary->path, json_string(line->state));
}

/* --- text ------------------------------------------------------------------------------------- */

static void add_label(struct buf *out, const char *label)
{
	size_t at = out->len;
	buf_adds(out, label);
	text_pad(out, at, LABEL_COLUMNS);
}

/* Adds the states in order, wrapped below the first. */
static void add_path(const struct summary *summary, struct buf *out)
{
	size_t i;
	json_t *name;
	add_label(out, "path");
	json_array_foreach (summary->path, i, name) {
		if (i == PATH_SHOWN_MAX) {
			buf_addf(out, " ... and %zu more", json_array_size(summary->path) - i);
			break;
		}
		buf_addf(out, "%s%s", i ? " -> " : "", json_string_value(name));
	}
}

static void add_state(const struct state *state, const json_t *sums, struct buf *out)
{
	struct totals spent = {.input_tokens = json_get_int(sums, "input_tokens"),
		.output_tokens = json_get_int(sums, "output_tokens"),
		.unpriced = true};
	const char *label;
	json_t *count;
	size_t at = out->len;
	buf_addf(out, "  %s", state->name);
	text_pad(out, at, STATE_COLUMNS);
	at = out->len;
	buf_adds(out, state_kind_name(state->kind));
	text_pad(out, at, 9);
	at = out->len;
	buf_addf(out, "%5jdx  ", (intmax_t)json_get_int(sums, "times"));
	text_duration(out, json_get_int(sums, "ms"));
	text_pad(out, at, 18);
	at = out->len;
	json_object_foreach (json_object_get(sums, "outcomes"), label, count) {
		buf_adds(out, out->len > at ? ", " : "");
		text_clean(out, label, 30);
		buf_addf(out, " %jd", (intmax_t)json_integer_value(count));
	}
	if (spent.input_tokens || spent.output_tokens) {
		text_pad(out, at, 17);
		text_count(out, spent.input_tokens);
		buf_adds(out, " in, ");
		text_count(out, spent.output_tokens);
		buf_adds(out, json_object_get(sums, "unmetered") ? " out (estimated)" : " out");
	}
	if (*json_get_text(sums, "failure")) {
		buf_addf(out, "\n%*s", STATE_COLUMNS, "");
		text_clean(out, json_get_text(sums, "failure"), REPORT_COLUMNS - STATE_COLUMNS - 3);
	}
}

static void add_layers(const char *who, const json_t *layers, struct buf *out)
{
	if (!layers)
		return;
	buf_addf(out, "%*s%s: ", LABEL_COLUMNS, "", who);
	layers_text(out, layers, LABEL_COLUMNS + 2);
}

static void add_confinement(const struct summary *summary, struct buf *out)
{
	add_label(out, "confinement");
	buf_addf(out, "profile %s\n", summary->profile);
	add_layers("tools", summary->tool_layers, out);
	add_layers("agents", summary->agent_layers, out);
}

static void add_broker(const struct summary *summary, struct buf *out)
{
	if (!summary->egress_up && !summary->egress_refused)
		return;
	buf_addf(out, "%*sbroker: ", LABEL_COLUMNS, "");
	text_bytes(out, summary->egress_up);
	buf_adds(out, " up, ");
	text_bytes(out, summary->egress_down);
	buf_addf(out, " down, %jd refused", (intmax_t)summary->egress_refused);
}

/* Returns the member "layers" of the first line of an execution's file. New reference or NULL. */
static json_t *layers_in(int states_fd, const char *execution, const char *file)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	AUTO_FD int dir = openat(states_fd, execution, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || io_read_file(dir, file, LAYERS_BYTES_MAX, &text, &len, NULL))
		return NULL;
	json_auto_t *line = json_read(text, strcspn(text, "\n"), LAYERS_BYTES_MAX, NULL);
	return json_incref(json_object_get(line, "layers"));
}

void summary_read_layers(struct summary *summary, const struct instance *instance)
{
	int fd = openat(instance->dir_fd, "states", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		own_close(&fd);
		return;
	}
	for (const struct dirent *d; (d = readdir(dir));) {
		if (!summary->tool_layers)
			summary->tool_layers = layers_in(fd, d->d_name, "status");
		if (!summary->agent_layers)
			summary->agent_layers = layers_in(fd, d->d_name, "events.jsonl");
	}
	closedir(dir);
}

/* Ends a row: appends it and a line break; a wrapped part is indented by `indent`. */
static void end_row(struct buf *out, struct buf *row, size_t indent)
{
	wrap_text(out, row->data, indent, text_page_columns());
	buf_addc(out, '\n');
	buf_clear(row);
}

static void add_outcome(const struct drive_result *result, struct buf *out)
{
	add_label(out, "outcome");
	buf_adds(out, run_status_name(result->status));
	if (!*result->reason || result->status == RUN_WAITING)
		return;
	buf_adds(out, ": ");
	text_clean(out, result->reason, 400);
}

static void add_took(
	const struct summary *summary, const struct drive_result *result, struct buf *out)
{
	add_label(out, "took");
	text_duration(out, (summary->end_us - summary->begun_us) / 1000);
	buf_addf(out, ", %ju step%s", (uintmax_t)result->seq, result->seq == 1 ? "" : "s");
	if (!result->totals.input_tokens)
		return;
	buf_adds(out, ", ");
	show_spend(out, &result->totals);
}

void summary_text(const struct summary *summary, const struct machine *machine,
	const struct drive_result *result, struct buf *out)
{
	AUTO_BUF row = BUF_INIT(ROW_BYTES_MAX);
	add_outcome(result, &row);
	end_row(out, &row, LABEL_COLUMNS);
	add_path(summary, &row);
	end_row(out, &row, LABEL_COLUMNS);
	add_took(summary, result, &row);
	end_row(out, &row, LABEL_COLUMNS);
	buf_adds(out, "states\n");
	for (size_t i = 0; i < machine->state_count; i++) {
		const json_t *sums = json_object_get(summary->states, machine->states[i].name);
		if (!sums)
			continue;
		add_state(&machine->states[i], sums, &row);
		end_row(out, &row, STATE_COLUMNS);
	}
	add_confinement(summary, out);
	add_broker(summary, &row);
	if (row.len)
		end_row(out, &row, LABEL_COLUMNS + 2);
}
