#include "agent/policy/filter.h"
#include "base/io.h"
#include "base/json.h"
#include "cli/verb/verb.h"
#include "report/text.h"
#include <stdio.h>
#include <string.h>

enum { INPUT_BYTES_MAX = 64 * 1024 * 1024 };

static int filter_whole(const struct filter *filter)
{
	AUTO_BUF in = BUF_INIT(INPUT_BYTES_MAX), out = BUF_INIT(INPUT_BYTES_MAX);
	struct err e = ERR_NONE;
	struct filtered seen;
	if (io_read_all(STDIN_FILENO, &in, "the text", &e) ||
		filter_text(filter, in.data, in.len, &out, &seen))
		return verb_refuse("%s", e.text[0] ? e.text : "the text is too long");
	if (!filter->command && seen.markers)
		buf_addc(&out, '\n'); /* after the note about them */
	fwrite(out.data, 1, out.len, stdout);
	return EXIT_OK;
}

static json_t *tally_json(const struct redact_tally *tally)
{
	json_t *counts = json_object();
	for (size_t i = 0; i < REDACT_KIND_COUNT; i++)
		if (tally->of[i])
			json_object_set_new(counts, redact_kind_name((enum redact_kind)i),
				json_integer((json_int_t)tally->of[i]));
	return counts;
}

static int filter_line(const struct filter *filter, const char *line, size_t len)
{
	AUTO_BUF out = BUF_INIT(INPUT_BYTES_MAX);
	struct filtered seen;
	json_auto_t *doc = json_read(line, len, INPUT_BYTES_MAX, NULL);
	const json_t *text = json_object_get(doc, "text");
	if (!json_is_string(text) ||
		filter_text(filter, json_string_value(text), json_string_length(text), &out, &seen))
		return -1;
	json_auto_t *answer = json_pack("{s:s%, s:o, s:I}", "text", out.data, out.len, "redacted",
		tally_json(&seen.tally), "markers", (json_int_t)seen.markers);
	if (answer)
		text_json_line(answer);
	return answer ? 0 : -1;
}

static int filter_lines(const struct filter *filter)
{
	AUTO_FREE char *line = NULL;
	size_t size = 0;
	ssize_t len;
	for (long number = 1; (len = getline(&line, &size, stdin)) > 0; number++)
		if (filter_line(filter, line, (size_t)len))
			return verb_refuse("line %ld is not {\"text\": \"...\"}", number);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	const char *as = call_value(call, "as");
	struct redact r = {0};
	struct filter f = {&r, !as || !strcmp(as, "command")};
	int code = EXIT_FAILED;
	if (!redact_add_environment(&r, environ))
		code = call_has(call, "stdin-jsonl") ? filter_lines(&f) : filter_whole(&f);
	redact_done(&r);
	return code;
}

static const struct verb_option options[] = {
	{"as", "command|file", "what the text is: a command's output (the default), or a file's",
		false},
	{"stdin-jsonl", NULL, "read one {\"text\"} per line, print one answer per line", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_check_redact = {.path = "check redact",
	.summary = "show standard input as a model would see it",
	.max_arguments = 0,
	.details = "Secrets are replaced by [REDACTED:kind]: the values of environment variables "
		   "whose names end in _KEY, _SECRET, _TOKEN, _PASSWORD or _CREDENTIALS, tokens "
		   "in a vendor's shape, private keys, credentials in headers and URLs, long "
		   "high-entropy words. Injection markers in a command's output are replaced as "
		   "well.\n"
		   "Exit status: 0; 2 input that cannot be read.",
	.options = options,
	.run = run};
