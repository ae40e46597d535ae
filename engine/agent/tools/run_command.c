#include "agent/tools/jailed.h"
#include "agent/tools/list.h"

#include "agent/policy/redact.h"
#include "agent/tools/permit.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "contract/event.h"
#include "launch/ending.h"
#include "launch/planted.h"
#include <signal.h>

enum { STREAM_SHOWN_BYTES = 16 * 1024, HEAD_SHARE = 40, RESERVE_SECS = 120, EXIT_ABSENT = 127 };

static void audit(
	const struct tool_context *context, enum audit_type type, const json_t *argv, json_t *more)
{
	json_object_set_new(more, "type", json_string(audit_type_name(type)));
	json_object_set(more, "argv", (json_t *)(uintptr_t)argv);
	context->audit(context->ctx, more);
}

/* Adds the beginning of a stream and a larger part of its end, where errors stand; cut at line
 * ends. */
static void add_stream(const struct tool_context *context, struct buf *out, const char *name,
	const struct output *output)
{
	AUTO_BUF text = BUF_INIT(4 * JAILED_STREAM_BYTES);
	jailed_text(output, &text);
	if (!text.len)
		return;
	buf_addf(out, "--- %s ---\n", name);
	size_t head = STREAM_SHOWN_BYTES * HEAD_SHARE / 100, tail = STREAM_SHOWN_BYTES - head;
	if (text.len <= STREAM_SHOWN_BYTES) {
		buf_add(out, text.data, text.len);
	} else {
		size_t from = text.len - tail;
		const char *next = memchr(text.data + from, '\n', tail / 2),
			   *stop = memrchr(text.data + head / 2, '\n', head / 2);
		from = next ? (size_t)(next + 1 - text.data)
			    : utf8_cut_start(text.data, text.len, from);
		size_t shown =
			stop ? (size_t)(stop + 1 - text.data) : utf8_cut_end(text.data, head);
		from = redact_cut(context->redact, text.data, text.len, from, true);
		shown = redact_cut(context->redact, text.data, text.len, shown, false);
		buf_add(out, text.data, shown);
		/* The bytes that the capture dropped lie in between as well. */
		size_t kept = shown + text.len - from;
		buf_addf(out, "[... %llu of %llu bytes left out ...]\n",
			(unsigned long long)(output->total > kept ? output->total - kept : 0),
			(unsigned long long)output->total);
		buf_add(out, text.data + from, text.len - from);
	}
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
}

static void add_signal(struct buf *out, const struct jail_status *status)
{
	int64_t signal = status->signal.value;
	char limit[ENDING_LIMIT_BYTES];
	bool limited = ending_limit(status, limit, sizeof(limit));
	static const struct {
		int signal;
		const char *guess;
	} guesses[] = {{SIGKILL, "; perhaps it ran out of memory"},
		{SIGSYS, "; the jail refuses a system call that it made"}};
	const char *name = sigabbrev_np((int)signal);
	buf_addf(out, "The command was killed by signal %lld", (long long)signal);
	if (name)
		buf_addf(out, " (SIG%s", name);
	if (name && limited)
		buf_addf(out, "; %s", limit);
	for (size_t i = 0; name && !limited && i < ARRAY_LEN(guesses); i++)
		if (guesses[i].signal == signal)
			buf_adds(out, guesses[i].guess);
	buf_adds(out, name ? ").\n" : ".\n");
}

static void add_exit(struct buf *out, const struct jail_status *status, int64_t code)
{
	char limit[ENDING_LIMIT_BYTES];
	bool limited = code && ending_limit(status, limit, sizeof(limit));
	buf_addf(
		out, "exit %lld%s%s\n", (long long)code, limited ? "; " : "", limited ? limit : "");
}

/* Adds agent6-jail's status line in words. Returns true if the command ran and exited with 0. */
static bool add_status(struct buf *out, const struct jail_status *status, int64_t timeout_secs)
{
	struct err why = ERR_NONE;
	enum ending ending = ending_of(status, &why);
	if (ending == ENDING_LOST)
		buf_addf(out,
			"The command's launcher was lost, and nobody knows how it ended: %.400s\n",
			why.text);
	else if (ending != ENDING_RAN)
		buf_addf(out, "The jail could not be set up, %.400s\n", why.text);
	else if (status->timed_out)
		buf_addf(out, "The command was killed after %lld s, when its time was over.\n",
			(long long)timeout_secs);
	else if (status->signal.known)
		add_signal(out, status);
	else
		add_exit(out, status, status->exit.value);
	return ending == ENDING_RAN && status->exit.known && !status->exit.value &&
	       !status->timed_out;
}

static json_t *integer(const struct fact_number *number)
{
	return number->known ? json_integer(number->value) : NULL;
}

/* Reports a command killed by SIGSYS, the signal of the jail's system call filter. */
static void report(
	const struct tool_context *context, const json_t *argv, const struct jail_status *status)
{
	if (status->signal.value == SIGSYS)
		audit(context, AUDIT_SANDBOX_VIOLATION, argv,
			json_pack("{s:s}", "what", "system call"));
	audit(context, status->error ? AUDIT_FAILED : AUDIT_EXECUTED, argv,
		json_pack("{s:o*, s:o*, s:o*, s:o*, s:s*}", "exit", integer(&status->exit),
			"signal", integer(&status->signal), "timed_out",
			status->given ? json_boolean(status->timed_out) : NULL, "ms",
			integer(&status->wall_ms), "error", status->error));
}

/* Explains why the jail could not run the program. A 127 with an error but without a stage is the
 * jail's, not the command's. */
static void explain_missing(struct buf *out, const json_t *argv, const struct jail_status *status)
{
	const char *name = json_string_value(json_array_get(argv, 0));
	if (status->exit.value != EXIT_ABSENT || !status->error || status->stage)
		return;
	if (!strcmp(name, "cd"))
		buf_adds(out,
			"Every command begins at the workspace's root; say [\"bash\", \"-c\", "
			"\"cd DIR && ...\"].\n");
	else if (strpbrk(name, " \t\n"))
		buf_adds(out,
			"argv holds one string for each argument, as [\"ls\", \"-l\"]; a line "
			"of shell is [\"bash\", \"-c\", \"...\"].\n");
	else
		buf_addf(out, "There is no program %s here%s.\n", name,
			strchr(name, '/') ? ", or its first line names one that there is not" : "");
}

/* Shortens a time-out so that the model has time left to react, if the step has any. */
static int64_t bounded_secs(const struct tool_context *context, int64_t timeout_secs)
{
	int64_t left_secs = (context->commands->deadline_ms - clock_monotonic_ms()) / 1000;
	int64_t reserve = left_secs / 4 < RESERVE_SECS ? left_secs / 4 : RESERVE_SECS;
	int64_t most = left_secs - reserve > 1 ? left_secs - reserve : 1;
	return timeout_secs < most ? timeout_secs : most;
}

/* Reports repositories that the command made. The supervisor tells the user, and refuses the next
 * command if one is left in place. */
static bool report_planted(const struct tool_context *context, const json_t *argv,
	const struct jail_status *status, struct buf *out)
{
	AUTO_BUF reason = BUF_INIT(64 * 1024);
	struct err why = ERR_NONE;
	AUTO_JAIL_STATUS searched = ending_of(status, &why) == ENDING_LOST
					    ? planted_of_lost(status)
					    : jail_status_copy(status);
	if (!planted_reason(&searched, PLANTED_IN_TMP, &reason))
		return false;
	buf_addf(out, "The command failed: %s\n",
		reason.failed ? "it made a repository" : reason.data);
	json_t *found = planted_checked(&searched);
	json_object_set_new(found, "what", json_string("repository"));
	audit(context, AUDIT_SANDBOX_VIOLATION, argv, found);
	return true;
}

static int execute(const struct tool_context *context, const json_t *argv, int64_t timeout_secs,
	struct buf *out)
{
	struct jailed j;
	struct err e = ERR_NONE;
	timeout_secs = bounded_secs(context, timeout_secs);
	if (jailed_run(context->commands->launcher, argv, timeout_secs, &j, &e)) {
		buf_addf(out, "The command could not be started: %s.", e.text);
		audit(context, AUDIT_FAILED, argv, json_pack("{s:s}", "error", e.text));
		return -1;
	}
	bool ok = add_status(out, &j.status, timeout_secs);
	if (!j.out.total && !j.err.total)
		buf_adds(out, "(no output)\n");
	add_stream(context, out, "stdout", &j.out);
	add_stream(context, out, "stderr", &j.err);
	explain_missing(out, argv, &j.status);
	report(context, argv, &j.status);
	ok = !report_planted(context, argv, &j.status, out) && ok;
	jailed_done(&j);
	return ok ? 0 : -1;
}

static int run_command(const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	const json_t *argv = json_object_get(arguments, "argv");
	if (!permit_is_argv(argv)) {
		buf_addf(out,
			"argv must be a list of 1 to %d strings, and the first one names a "
			"program.",
			PERMIT_ARGC_MAX);
		return -1;
	}
	if (!permit_take(context, argv, out))
		return -1;
	return execute(context, argv, context->commands->timeout_secs, out);
}

static int run_verify_command(
	const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	(void)arguments;
	return execute(
		context, context->commands->verify, context->commands->verify_timeout_secs, out);
}

const struct tool tool_run_command = {
	.name = "run_command",
	.description =
		"Runs one program in a jail, in the workspace: no shell (for a pipe say "
		"[\"bash\", \"-c\", \"...\"]), no input, no privileges, usually no network. "
		"Processes that it leaves running end with it; begin a program that may never "
		"end with [\"timeout\", \"60\", ...]. Dangerous commands may be refused.",
	.modes = TOOL_IN_COMMANDS,
	.args = {{"argv", "the program and its arguments", ARG_LIST, true,
		"{\"type\":\"string\"}"}},
	.changes = true,
	.is_command = true,
	.run = run_command,
};

const struct tool tool_run_verify_command = {
	.name = "run_verify_command",
	.description =
		"Runs the operator's verification of the workspace in a jail and returns its "
		"exit status and output.",
	.modes = TOOL_IN_VERIFY,
	.args = {{NULL, NULL, ARG_STR, false, NULL}},
	.is_command = true,
	.run = run_verify_command,
};
