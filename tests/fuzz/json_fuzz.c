/* The JSON reader: whatever the bytes are, a tree or findings, and every position within the text.
 * What it takes, jansson takes for the same value; what jansson takes, it never calls badly
 * written. */
#include "schema_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void fuzz_same_as_jansson(const char *text, size_t len)
{
	struct findings f;
	struct doc d;
	findings_init(&f);
	doc_read_json(&d, "f.json", text, len, &f);
	json_auto_t *theirs = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	/* A byte order mark is none of jansson's business. */
	if (d.root && !f.count && d.len == len) {
		json_auto_t *ours = doc_json(d.root);
		fuzz_require(theirs && json_equal(ours, theirs));
	}
	for (size_t i = 0; theirs && i < f.count; i++)
		fuzz_require(f.items[i].rule != RULE_JSON_SYNTAX);
	findings_done(&f);
	doc_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_read("f.json", data, len, NULL);
	fuzz_same_as_jansson((const char *)data, len);
	return 0;
}
