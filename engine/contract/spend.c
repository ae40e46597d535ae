#include "contract/spend.h"

#include <math.h>

static int count_decode(const json_t *from, const char *key, int64_t *out, struct err *e)
{
	const json_t *value = json_object_get(from, key);
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return err_set(e, "%s is not a count", key);
	*out = json_integer_value(value);
	return 0;
}

int spend_decode(const json_t *from, struct spend *out, struct err *e)
{
	struct spend s = {0};
	if (count_decode(from, "input_tokens", &s.input_tokens, e) ||
		count_decode(from, "output_tokens", &s.output_tokens, e) ||
		count_decode(from, "cached_tokens", &s.cached_tokens, e))
		return -1;
	const json_t *usd = json_object_get(from, "usd");
	s.unpriced = !usd || json_is_null(usd);
	if (!s.unpriced && (!json_is_number(usd) || !(json_number_value(usd) >= 0) ||
				   json_number_value(usd) > 1e12))
		return err_set(e, "usd is not an amount");
	s.microusd = s.unpriced ? 0 : llround(json_number_value(usd) * 1e6);
	s.unmetered = json_is_true(json_object_get(from, "unmetered"));
	*out = s;
	return 0;
}

json_t *spend_encode(const struct spend *spend)
{
	json_t *usd = spend->unpriced ? json_null() : json_real((double)spend->microusd / 1e6);
	json_t *spent = json_pack("{s:I,s:I,s:I,s:o}", "input_tokens",
		(json_int_t)spend->input_tokens, "output_tokens", (json_int_t)spend->output_tokens,
		"cached_tokens", (json_int_t)spend->cached_tokens, "usd", usd);
	if (spend->unmetered)
		json_object_set_new(spent, "unmetered", json_true());
	return spent;
}
