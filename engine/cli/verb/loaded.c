#include "cli/verb/loaded.h"

#include "cli/verb/verb.h"
#include "report/text.h"
#include "schema/read.h"

int loaded_open(struct loaded *l, const char *path, struct findings *f, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	*l = (struct loaded){0};
	if (bundle_open(path, f, &l->bundle, e))
		return -1;
	const struct bundle *b = l->bundle;
	if (!b->machine)
		return 0;
	if (bundle_take_machine(l->bundle, &text, &len, e)) {
		loaded_done(l);
		return -1;
	}
	l->has_doc = true;
	struct member_files files = {
		.read = bundle_read_member, .ctx = l->bundle, .prompts = &l->prompts};
	int unreadable = doc_read(&l->doc, b->machine_label, text, len, f);
	/* The document has its own copy. */
	free(TAKE_PTR(text));
	bool whole = false;
	if (!unreadable)
		l->draft = machine_read(&l->doc, &files, f, &whole);
	l->machine = whole ? l->draft : NULL;
	return 0;
}

void loaded_done(struct loaded *l)
{
	machine_free(l->draft);
	if (l->has_doc)
		doc_done(&l->doc);
	prompt_docs_done(&l->prompts);
	bundle_free(l->bundle);
	*l = (struct loaded){0};
}

size_t loaded_docs(const struct loaded *l, const struct doc ***docs, size_t count)
{
	size_t more = l->prompts.count + (l->has_doc ? 1 : 0);
	const struct doc **grown = reallocarray(*docs, count + more + 1, sizeof(*grown));
	if (!grown)
		return count;
	*docs = grown;
	if (l->has_doc)
		grown[count++] = &l->doc;
	for (size_t i = 0; i < l->prompts.count; i++)
		grown[count++] = l->prompts.items[i];
	return count;
}

int loaded_usable(const struct loaded *l, struct findings *f)
{
	AUTO_FREE const struct doc **docs = NULL;
	size_t doc_count = loaded_docs(l, &docs, 0);
	text_findings(f, docs, doc_count);
	return f->errors || !l->machine ? -1 : 0;
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
