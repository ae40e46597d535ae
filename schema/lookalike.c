#include "schema/lookalike.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include <string.h>

/* The letters. Source: Unicode's confusables (UTS 39), those of letters and digits in names. */
static const struct {
	uint32_t code;
	char like;
} known[] = {{0x0430, 'a'}, {0x0435, 'e'}, {0x043e, 'o'}, {0x0440, 'p'}, {0x0441, 'c'},
	{0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x0501, 'd'},
	{0x051b, 'q'}, {0x051d, 'w'}, {0x04bb, 'h'}, {0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'},
	{0x041a, 'K'}, {0x041c, 'M'}, {0x041d, 'H'}, {0x041e, 'O'}, {0x0420, 'P'}, {0x0421, 'C'},
	{0x0422, 'T'}, {0x0425, 'X'}, {0x03b1, 'a'}, {0x03b9, 'i'}, {0x03bd, 'v'}, {0x03bf, 'o'},
	{0x03c1, 'p'}, {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x039f, 'O'}, {0x03a4, 'T'},
	{0x0131, 'i'}, {0x0261, 'g'}, {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'},
	{0x2014, '-'}, {0x2212, '-'}, {0x00ad, '\0'}, {0x200b, '\0'}, {0x200c, '\0'},
	{0x200d, '\0'}, {0x2060, '\0'}, {0xfeff, '\0'}};

enum { FULL_FIRST = 0xff01, FULL_LAST = 0xff5e, FULL_OFFSET = 0xfee0 };

static bool look_up(uint32_t code, char *like)
{
	if (code >= FULL_FIRST && code <= FULL_LAST) {
		*like = (char)(code - FULL_OFFSET);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].code == code) {
			*like = known[i].like;
			return true;
		}
	return false;
}

struct lookalike lookalike_find(const char *text, struct buf *plain)
{
	struct lookalike first = {.code = 0};
	size_t len = strlen(text), step;
	for (size_t at = 0; at < len; at += step) {
		uint32_t code = 0;
		char like = '\0';
		step = utf8_step(text + at, len - at, &code);
		step = step ? step : 1;
		bool found = code > 0x7f && look_up(code, &like);
		if (found && !first.code) {
			first.code = code;
			first.like = like;
			memcpy(first.bytes, text + at, step);
		}
		if (plain && found && like)
			buf_addc(plain, like);
		else if (plain && !found)
			buf_add(plain, text + at, step);
	}
	return first;
}
