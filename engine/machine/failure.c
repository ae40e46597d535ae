#include "machine/failure.h"

/* `exit` is -1 where a signal ended the command or its end is not known; `signal` is then such as
 * SIGKILL, else "". */
enum { LABEL, REASON, WORK_FIELDS, EXIT = WORK_FIELDS, SIGNAL, STDOUT, STDERR, COMMAND_FIELDS };

static const struct field fields[COMMAND_FIELDS] = {
	[LABEL] = {.name = "label", .type = {.kind = TYPE_STR}},
	[REASON] = {.name = "reason", .type = {.kind = TYPE_STR}},
	[EXIT] = {.name = "exit", .type = {.kind = TYPE_INT}},
	[SIGNAL] = {.name = "signal", .type = {.kind = TYPE_STR}},
	[STDOUT] = {.name = "stdout", .type = {.kind = TYPE_STR}},
	[STDERR] = {.name = "stderr", .type = {.kind = TYPE_STR}},
};

static const struct field *const work_by_name[] = {&fields[LABEL], &fields[REASON]};
static const struct field *const command_by_name[] = {&fields[EXIT], &fields[LABEL],
	&fields[REASON], &fields[SIGNAL], &fields[STDERR], &fields[STDOUT]};

const struct record failure_work = {"failure", "list[failure]", fields, WORK_FIELDS, work_by_name};
const struct record failure_command = {
	"failure", "list[failure]", fields, COMMAND_FIELDS, command_by_name};

bool failure_is_foreign(const struct field *field)
{
	return !field || field == &fields[REASON] || field == &fields[STDOUT] ||
	       field == &fields[STDERR];
}
