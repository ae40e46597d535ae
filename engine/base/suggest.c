#include "base/suggest.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { NEAR_BYTES_MAX = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

/* Computes the optimal string alignment distance with three rows. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NEAR_BYTES_MAX + 1];
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

/* Words of other tools. A word may have several meanings, of which a list has one. */
static const struct {
	const char *foreign, *ours;
} habits[] = {{"string", "str"}, {"text", "str"}, {"date", "str"}, {"integer", "int"},
	{"number", "float"}, {"double", "float"}, {"boolean", "bool"}, {"object", "json"},
	{"dict", "json"}, {"map", "json"}, {"any", "json"}, {"list", "list[str]"},
	{"array", "list[str]"}, {"str[]", "list[str]"}, {"string[]", "list[str]"},
	{"success", "ok"}, {"succeeded", "ok"}, {"failure", "nonzero"}, {"failure", "failed"},
	{"error", "nonzero"}, {"error", "failed"}, {"url", "base_url"}, {"schema", "output_schema"},
	{"output", "output_schema"}, {"result_schema", "output_schema"}, {"every", "every_secs"},
	{"interval", "every_secs"}, {"interval_secs", "every_secs"}, {"seconds", "every_secs"},
	{"secs", "every_secs"}, {"at", "until"}, {"memory", "memory_mb"}, {"cpu", "cpu_secs"},
	{"cmd", "command"}, {"argv", "command"}, {"run", "command"}, {"types", "schemas"},
	{"variables", "vars"}, {"steps", "states"}, {"nodes", "states"}, {"llm", "agent"},
	{"shell", "tool"}, {"script", "tool"}, {"sleep", "wait"}, {"timer", "wait"},
	{"choice", "branch"}, {"switch", "branch"}, {"end", "terminal"}, {"final", "terminal"},
	{"ro", "read"}, {"readonly", "read"}, {"rw", "write"}, {"none", "block"}, {"host", "allow"},
	{"true", "allow"}, {"yes", "allow"}, {"false", "block"}, {"no", "block"},
	{"warning", "warn"}, {"next", "on"}, {"timeout", "timeout_secs"},
	{"timeout_seconds", "timeout_secs"}, {"retries", "retry"}, {"cases", "when"},
	{"choices", "when"}, {"type", "kind"}, {"startat", "initial"}, {"jobs", "states"},
	{"task", "tool"}, {"activity", "tool"}, {"if", "branch"}, {"condition", "branch"},
	{"human", "wait"}, {"approval", "wait"}, {"succeed", "terminal"}, {"fail", "terminal"},
	{"fail", "nonzero"}, {"fail", "failed"}, {"succeed", "ok"}, {"pass", "ok"},
	{"passed", "ok"}, {"done", "ok"}, {"completed", "ok"}, {"name", "machine"},
	{"id", "machine"}, {"entry_point", "initial"}, {"entrypoint", "initial"},
	{"entry", "initial"}, {"start", "initial"}, {"start_at", "initial"}, {"default", "else"},
	{"pids", "processes"}, {"nofile", "open_files"}, {"allow", "host"}, {"block", "none"},
	{"inputs", "vars"}, {"params", "vars"}, {"parameters", "vars"}, {"context", "vars"},
	{"definitions", "schemas"}, {"outputs", "output_schema"}, {"stdout", "stdout_json"},
	{"max_cost", "max_usd"}, {"max_turns", "max_iterations"},
	{"max_tokens", "max_output_tokens"}, {"reasoning", "thinking"},
	{"reasoning_effort", "thinking"}, {"messages", "prompt"}, {"user", "prompt"},
	{"instructions", "prompt"}, {"edit", "run"}, {"write", "run"}, {"max_attempts", "max"},
	{"attempts", "max"}, {"backoff", "backoff_secs"}, {"delay", "backoff_secs"},
	{"delay", "every_secs"}, {"delay_secs", "backoff_secs"}, {"delay_secs", "every_secs"},
	{"initial_delay", "backoff_secs"}, {"wait_secs", "backoff_secs"},
	{"max_delay", "max_backoff_secs"}, {"max_delay_secs", "max_backoff_secs"},
	{"multiplier", "factor"}, {"max_retries", "max"}, {"duration", "every_secs"},
	{"for", "every_secs"}, {"timeout_secs", "every_secs"}, {"timeout", "tick"},
	{"approved", "signal"}, {"approve", "signal"}, {"resume", "signal"}, {"poke", "signal"},
	{"message", "reason"}, {"message", "notify"}, {"critical", "error"},
	{"cancelled", "failed"}, {"if", "when"}, {"else", "when"}, {"default", "when"},
	{"switch", "when"}, {"catch", "on"}, {"on_error", "on"}, {"on_failure", "on"},
	{"continue-on-error", "on"}, {"workdir", "cwd"}, {"working_directory", "cwd"},
	{"working-directory", "cwd"}, {"schedule", "cron"},
	/* commands */
	{"start", "run"}, {"resume", "run"}, {"init", "new"}, {"create", "new"}, {"lint", "check"},
	{"validate", "check"}, {"ls", "list"}, {"ps", "list"}, {"logs", "report"},
	{"log", "report"}, {"history", "replay"}, {"signal", "poke"}, {"cancel", "stop"},
	{"kill", "stop"}, {"rm", "prune"}, {"delete", "prune"}, {"remove", "prune"},
	{"unset", "set"}, {"draw", "graph"}, {"visualize", "graph"}, {"plot", "graph"},
	{"describe", "inspect"}, {"info", "inspect"}, {"export", "pack"},
	/* options */
	{"var", "set"}, {"vars", "set"}, {"param", "set"}, {"input", "set"}, {"env", "set"},
	{"provider", "name"}, {"url", "base-url"}, {"endpoint", "base-url"}, {"out", "output"}};

static const char *habit(const char *word, const char *const *names, size_t count)
{
	for (size_t h = 0; h < ARRAY_LEN(habits); h++)
		for (size_t i = 0; !strcasecmp(word, habits[h].foreign) && i < count; i++)
			if (names[i] && !strcmp(names[i], habits[h].ours))
				return names[i];
	return NULL;
}

const char *suggest_name(const char *word, const char *const *names, size_t count)
{
	size_t len = strlen(word), best = len / 3 + 1;
	const char *found = NULL;
	if (len > NEAR_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t name_len = names[i] ? strlen(names[i]) : NEAR_BYTES_MAX + 1;
		if (name_len > NEAR_BYTES_MAX)
			continue;
		size_t d = distance(word, len, names[i], name_len);
		bool letter_left_out = len == 2 && name_len == 3 && d == 1;
		if (d < best || (letter_left_out && !found)) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

const char *suggest_word(const char *word, const char *const *names, size_t count)
{
	const char *usual = habit(word, names, count);
	return usual ? usual : suggest_name(word, names, count);
}
