#include "base/num.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_digits(const char *text, size_t len, int base, bool negative, int64_t *out)
{
	int64_t value = 0;
	if (!len)
		return -1;
	for (size_t i = 0; i < len; i++) {
		int letter = text[i] | 0x20;
		int digit = text[i] >= '0' && text[i] <= '9' ? text[i] - '0'
			    : letter >= 'a'                  ? letter - 'a' + 10
							     : base;
		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, negative ? -digit : digit, &value))
			return -1;
	}
	*out = value;
	return 0;
}

int num_int(const char *text, size_t len, int64_t *out)
{
	bool is_signed = len && (text[0] == '-' || text[0] == '+');
	return read_digits(text + is_signed, len - is_signed, 10, is_signed && text[0] == '-', out);
}

int num_based_int(const char *text, size_t len, bool negative, int64_t *out)
{
	if (len < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'o'))
		return -1;
	return read_digits(text + 2, len - 2, text[1] == 'x' ? 16 : 8, negative, out);
}

int num_port(const char *text, size_t len, uint16_t *out)
{
	int64_t port;
	if (len > 5 || text[0] < '1' || text[0] > '9' || num_int(text, len, &port) < 0 ||
		port < 1 || port > UINT16_MAX)
		return -1;
	*out = (uint16_t)port;
	return 0;
}

int num_float(const char *text, size_t len, double *out)
{
	char copy[512];
	if (!len || len >= sizeof(copy))
		return -1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strspn(copy, "+-.0123456789eE") < len)
		return -1;
	char *end;
	errno = 0;
	double value = strtod(copy, &end);
	if (end != copy + len || !isfinite(value))
		return -1;
	*out = value;
	return 0;
}

/* Reports whether the decimal reads back as the value. Doubles lie half as far apart below a power
 * of two as above it: there the nearest decimal may read back as another double, and the next one
 * away from zero as this one. */
static bool reads_back(char *sci, double value)
{
	int exponent;
	if (strtod(sci, NULL) == value)
		return true;
	char *last = strchr(sci, 'e') - 1;
	if (fabs(frexp(value, &exponent)) > 0.5 || *last == '9')
		return false;
	++*last;
	return strtod(sci, NULL) == value;
}

size_t num_float_text(double value, char out[NUM_FLOAT_BYTES])
{
	char sci[40];
	int precision = 0;
	do
		snprintf(sci, sizeof(sci), "%.*e", precision, value);
	while (!reads_back(sci, value) && precision++ < 17);

	int exponent = (int)strtol(strchr(sci, 'e') + 1, NULL, 10);
	if (value != 0 && (exponent < -4 || exponent >= 16))
		return (size_t)snprintf(out, NUM_FLOAT_BYTES, "%s", sci);
	int decimals = precision - exponent;
	return (size_t)snprintf(out, NUM_FLOAT_BYTES, "%.*f", decimals > 0 ? decimals : 1, value);
}

int64_t num_add(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t num_microusd(double usd)
{
	double micro = usd * 1e6;
	if (!(usd > 0))
		return 0;
	if (micro >= 9e18)
		return INT64_MAX;
	int64_t nearest = (int64_t)(micro + 0.5);
	return nearest ? nearest : 1;
}
