#include "cli/bundle/signers.h"
#include "cli/verb/loaded.h"
#include "cli/verb/setup.h"
#include "cli/verb/verb.h"
#include "report/interface.h"
#include "report/text.h"
#include <stdio.h>
#include <unistd.h>

enum { INSPECT_BYTES_MAX = 16 * 1024 * 1024, LABEL_COLUMNS = 13, DIGEST_WIDTH = 7 + 64 };

static json_t *members_json(const struct bundle *bundle)
{
	json_t *all = json_array();
	for (size_t i = 0; i < bundle->count; i++) {
		const struct member *m = &bundle->members[i];
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:I, s:s}", "path", m->path, "mode",
				     m->mode == 0755 ? "0755" : "0644", "size", (json_int_t)m->size,
				     "sha256", m->sha256));
	}
	return all;
}

static const char *const forms[] = {"packed", "directory", "loose"};

static void add_line(struct buf *out, const char *label, const char *text)
{
	size_t at = out->len;
	AUTO_BUF clean = BUF_INIT(INSPECT_BYTES_MAX);
	text_clean_hidden(&clean, text, SIZE_MAX);
	buf_adds(out, label);
	text_pad(out, at, LABEL_COLUMNS);
	wrap_text(out, clean.data, LABEL_COLUMNS, text_columns(STDOUT_FILENO));
	buf_addc(out, '\n');
}

static void inspect_text(const struct loaded *loaded, const char *principal, struct buf *out)
{
	const struct bundle *b = loaded->bundle;
	const size_t columns = text_columns(STDOUT_FILENO);
	AUTO_BUF what = BUF_INIT(INSPECT_BYTES_MAX);
	text_clean_hidden(
		&what, loaded->machine->description ? loaded->machine->description : "", 400);
	buf_addf(out, "machine      %s\n", loaded->machine->name);
	if (what.len) {
		buf_adds(out, "description  ");
		wrap_text(out, what.data, LABEL_COLUMNS, columns);
		buf_addc(out, '\n');
	}
	json_auto_t *interface = interface_of(loaded->machine);
	interface_lines(interface, add_line, out);
	buf_addf(out, "form         %s\ndigest      ", forms[b->form]);
	/* Label and digest together would exceed 80 columns. */
	buf_addf(out, "%s%s\n", columns < LABEL_COLUMNS + DIGEST_WIDTH ? "\n  " : " ", b->digest);
	buf_addf(out, "members      %zu, ", b->count);
	text_bytes(out, (int64_t)b->bytes);
	if (sign_exists(b)) {
		buf_adds(out, "\nsigned by    ");
		text_clean(out,
			*principal ? principal
				   : "somebody; not checked, which needs --allowed-signers FILE",
			200);
	}
	buf_adds(out, "\n\n");
	int digits = 1;
	for (size_t i = 0; i < b->count; i++) {
		int wide = snprintf(NULL, 0, "%zu", b->members[i].size);
		digits = wide > digits ? wide : digits;
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct member *m = &b->members[i];
		buf_addf(out, "%s  %*zu  %.12s  %s\n", m->mode == 0755 ? "rwxr-xr-x" : "rw-r--r--",
			digits, m->size, m->sha256, m->path);
	}
}

/* Finds the signer. An unsigned bundle may be inspected, whatever the configuration demands for
 * runs. */
static int find_signer(
	const struct call *call, const struct bundle *bundle, char principal[SIGN_PRINCIPAL_BYTES])
{
	struct setup setup;
	struct err e = ERR_NONE;
	bool asked = !call_value(call, "allowed-signers") && sign_exists(bundle);
	if (asked && setup_read(&setup, call))
		return EXIT_REFUSED;
	int failed = signers_check(call, asked ? setup.config : NULL, bundle, principal, &e);
	if (asked)
		setup_done(&setup);
	return failed ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
}

static int inspect(void *ctx, const struct loaded *loaded)
{
	const struct call *c = ctx;
	char principal[SIGN_PRINCIPAL_BYTES];
	AUTO_BUF out = BUF_INIT(INSPECT_BYTES_MAX);
	int code = find_signer(c, loaded->bundle, principal);
	if (code)
		return code;
	if (call_has(c, "json")) {
		json_auto_t *all = json_pack("{s:s, s:o, s:s, s:s, s:s?, s:o, s:o}", "machine",
			loaded->machine->name, "description",
			text_hidden_json(loaded->machine->description), "form",
			forms[loaded->bundle->form], "digest", loaded->bundle->digest, "signed_by",
			*principal ? principal : NULL, "interface", interface_of(loaded->machine),
			"members", members_json(loaded->bundle));
		text_json_line(all);
		return EXIT_OK;
	}
	inspect_text(loaded, principal, &out);
	fwrite(out.data, 1, out.len, stdout);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], inspect, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"allowed-signers", "FILE", "refuse a bundle that nobody in FILE signed", false},
	{"json", NULL, "print one JSON object", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_inspect = {.path = "machine inspect",
	.summary = "list what a bundle holds, and its digest",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
