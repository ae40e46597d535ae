#include "provider/usage.h"

#include <math.h>

enum { NANO_PER_MICRO = 1000 };
static const int64_t count_max = 1000000000000;

int usage_count(const json_t *value, int64_t *out)
{
	int64_t n = -1;
	if (json_is_integer(value))
		n = json_integer_value(value);
	else if (json_is_real(value) && json_real_value(value) >= 0 &&
		 json_real_value(value) <= (double)count_max &&
		 floor(json_real_value(value)) == json_real_value(value))
		n = (int64_t)json_real_value(value);
	if (n < 0 || n > count_max)
		return -1;
	*out = n;
	return 0;
}

void usage_add(struct usage *sum, const struct usage *one)
{
	sum->input += one->input;
	sum->output += one->output;
	sum->cache_read += one->cache_read;
	sum->cache_write += one->cache_write;
	sum->known = sum->known || one->known;
}

static double nano(int64_t tokens, double microusd_each)
{
	return (double)tokens * round(microusd_each * NANO_PER_MICRO);
}

/* Ignores a stated charge of 0 for a model that has a price. */
int64_t usage_microusd(const struct usage *usage, const struct prices *prices)
{
	if (usage->cost_microusd > 0 || !prices)
		return usage->cost_microusd;
	/* A gateway may count cached tokens in addition to the prompt instead of in it. */
	int64_t fresh = usage->input - usage->cache_read - usage->cache_write;
	double sum = nano(fresh > 0 ? fresh : 0, prices->input) +
		     nano(usage->cache_read, prices->cache_read) +
		     nano(usage->cache_write, prices->cache_write) +
		     nano(usage->output, prices->output);
	return (int64_t)ceil(sum / NANO_PER_MICRO);
}
