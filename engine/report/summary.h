/*
 * The summary of a run from its journal lines: the path, and for each state the number of
 * executions, the time, outcomes and tokens.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H
#include "base/buf.h"
#include "journal/journal.h"
#include "machine/machine.h"
#include "run/drive.h"

struct summary {
	json_t *states;  /* NAME: {times, ms, outcomes: {LABEL: N}, failure?, input_tokens,
			  * output_tokens} */
	json_t *path;    /* names in order */
	json_t *returns; /* the machine's result; NULL: none */
	char profile[POSITION_NAME_BYTES];
	int64_t begun_us, end_us;
	int64_t from_us; /* when the execution began that the last line ended */
	int64_t mark_us; /* when the next one begins; 0: unknown, after a stop */
	int64_t egress_up, egress_down, egress_refused;
	/* The layers that the jail and the agent reported, one example each; NULL: none ran. */
	json_t *tool_layers, *agent_layers;
};

void summary_init(struct summary *summary);
void summary_done(struct summary *summary);
/* Adds a journal line. */
void summary_add(struct summary *summary, const struct line *line);
/* Reads tool_layers and agent_layers from the files of the instance's executions. */
void summary_read_layers(struct summary *summary, const struct instance *instance);
/* Writes the report in plain text, 80 columns wide where the words allow it. */
void summary_text(const struct summary *summary, const struct machine *machine,
	const struct drive_result *result, struct buf *out);
#endif
