/* Server-sent events: whatever arrives in two pieces yields what it yields in one. */
#include "base/sha256.h"
#include "provider/sse.h"

enum { CAP_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int on_event(void *context, const char *data, size_t len, struct err *e)
{
	(void)e;
	sha256_add(context, data, len);
	sha256_add(context, "", 1);
	return 0;
}

static int digest(const char *text, size_t len, size_t split, unsigned char out[SHA256_BYTES])
{
	struct sha256 hash;
	struct sse s;
	sha256_init(&hash);
	sse_init(&s, CAP_BYTES, on_event, &hash);
	int rc = sse_feed(&s, text, split, NULL) || sse_feed(&s, text + split, len - split, NULL);
	sse_done(&s);
	sha256_end(&hash, out);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 2)
		return 0;
	const char *text = (const char *)data + 1;
	unsigned char whole[SHA256_BYTES], parts[SHA256_BYTES];
	int a = digest(text, len - 1, 0, whole);
	int b = digest(text, len - 1, data[0] % len, parts);
	if (a != b || memcmp(whole, parts, SHA256_BYTES))
		abort();
	return 0;
}
