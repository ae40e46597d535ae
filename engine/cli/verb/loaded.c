#include "cli/verb/loaded.h"

#include "cli/verb/verb.h"
#include "report/text.h"
#include "schema/read.h"

int loaded_open(struct loaded *loaded, const char *path, struct findings *findings, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	*loaded = (struct loaded){0};
	if (bundle_open(path, findings, &loaded->bundle, e))
		return -1;
	const struct bundle *b = loaded->bundle;
	if (!b->machine)
		return 0;
	if (bundle_take_machine(loaded->bundle, &text, &len, e)) {
		loaded_done(loaded);
		return -1;
	}
	loaded->has_doc = true;
	struct member_files files = {
		.read = bundle_read_member, .ctx = loaded->bundle, .prompts = &loaded->prompts};
	int unreadable = doc_read(&loaded->doc, b->machine_label, text, len, findings);
	/* The document has its own copy. */
	free(TAKE_PTR(text));
	bool whole = false;
	if (!unreadable)
		loaded->draft = machine_read(&loaded->doc, &files, findings, &whole);
	loaded->machine = whole ? loaded->draft : NULL;
	return 0;
}

void loaded_done(struct loaded *loaded)
{
	machine_free(loaded->draft);
	if (loaded->has_doc)
		doc_done(&loaded->doc);
	prompt_docs_done(&loaded->prompts);
	bundle_free(loaded->bundle);
	*loaded = (struct loaded){0};
}

size_t loaded_docs(const struct loaded *loaded, const struct doc ***docs, size_t count)
{
	size_t more = loaded->prompts.count + (loaded->has_doc ? 1 : 0);
	const struct doc **grown = reallocarray(*docs, count + more + 1, sizeof(*grown));
	if (!grown)
		return count;
	*docs = grown;
	if (loaded->has_doc)
		grown[count++] = &loaded->doc;
	for (size_t i = 0; i < loaded->prompts.count; i++)
		grown[count++] = loaded->prompts.items[i];
	return count;
}

int loaded_usable(const struct loaded *loaded, struct findings *findings)
{
	AUTO_FREE const struct doc **docs = NULL;
	size_t doc_count = loaded_docs(loaded, &docs, 0);
	text_findings(findings, docs, doc_count);
	return findings->errors || !loaded->machine ? -1 : 0;
}

int loaded_with(const char *path, int (*use)(void *ctx, const struct loaded *l), void *ctx)
{
	struct findings findings;
	struct loaded loaded;
	struct err e = ERR_NONE;
	int code = EXIT_REFUSED;
	findings_init(&findings);
	if (loaded_open(&loaded, path, &findings, &e)) {
		verb_fail(EXIT_REFUSED, &e);
	} else {
		if (!loaded_usable(&loaded, &findings))
			code = use(ctx, &loaded);
		loaded_done(&loaded);
	}
	findings_done(&findings);
	return code;
}
