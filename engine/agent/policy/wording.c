#include "agent/policy/wording.h"

#include <ctype.h>
#include <string.h>

/* The pairs of letters that are most of any text in English, and many in its neighbours: behind `a`
 * stands one of the first, and so on. */
static const char *const behind[26] = {"cdgilmnprstuy", "eou", "aehklot", "eios", "acdflmnprstx",
	"aio", "e", "aeio", "cdglnorstz", "s", "e", "adeilosu", "aep", "acdegostu", "cdlmnoprtuw",
	"aeort", "", "aeinorsu", "eiost", "aehiorsu", "cdelmnrst", "ae", "h", "t", "", "e"};

/* Reports whether `b` often follows `a` inside a word. A capital begins another word. */
static bool is_usual_pair(char a, char b)
{
	return isalpha((unsigned char)a) && islower((unsigned char)b) &&
	       strchr(behind[tolower((unsigned char)a) - 'a'], b);
}

/* Reports whether a text is made of words. Measured: of 17 long names 16 have 42 such pairs in a
 * hundred; of 800,000 random words of 40 characters none has 40. There must be some pairs
 * everywhere, so that words do not vouch for a key that is joined to them: each of 19 names has 7
 * among any 20 pairs, of random words 3 in a thousand have 6. */
bool wording_is(const char *text, size_t len)
{
	enum { NEAR = 20, NEAR_LEAST = 6 };
	size_t usual = 0, near = 0;
	for (size_t i = 1; i < len; i++) {
		bool is = is_usual_pair(text[i - 1], text[i]);
		usual += is;
		near += is;
		if (i > NEAR)
			near -= is_usual_pair(text[i - NEAR - 1], text[i - NEAR]);
		if (i >= NEAR && near < NEAR_LEAST)
			return false;
	}
	return len > 1 && usual * 100 >= (len - 1) * 42;
}
