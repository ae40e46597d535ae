#include "bundle/sign.h"
#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include "report/text.h"

static int sign(void *ctx, const struct loaded *loaded)
{
	const struct call *c = ctx;
	const char *key = call_value(c, "key");
	struct err e = ERR_NONE;
	if (!key)
		return verb_refuse("--key FILE is needed: an ssh key");
	if (sign_write(loaded->bundle, key, &e))
		return verb_fail(EXIT_REFUSED, &e);
	AUTO_BUF line = BUF_INIT(1 << 16);
	buf_addf(&line, "%s.sig: %s", loaded->bundle->named, loaded->bundle->digest);
	text_print(line.data, 2);
	return EXIT_OK;
}

static int run(const struct call *call)
{
	return loaded_with(call->arguments[0], sign, (void *)(uintptr_t)call);
}

static const struct verb_option options[] = {
	{"key", "FILE", "the ssh key to sign with, or the public key of one in the ssh-agent",
		false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_sign = {.path = "machine sign",
	.summary = "sign a bundle's digest with an ssh key, into NAME.asm.sig",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = "check, run and inspect verify it with --allowed-signers FILE, written as "
		   "git's (ssh-keygen(1), ALLOWED SIGNERS; namespace agent6-bundle).",
	.options = options,
	.run = run};
