#include "base/clock.h"

#include "base/cleanup.h"
#include "base/num.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The years 1 to 9999 in UTC: an instant outside has no text that could be parsed again. */
#define SECONDS_MIN INT64_C(-62135596800)
#define SECONDS_MAX INT64_C(253402300799)

void clock_text(int64_t unix_us, char out[CLOCK_TEXT_BYTES])
{
	int64_t us = unix_us % 1000000;
	time_t seconds = (time_t)(unix_us / 1000000);
	if (us < 0) {
		us += 1000000;
		seconds--;
	}
	struct tm tm;
	gmtime_r(&seconds, &tm);
	size_t n = strftime(out, CLOCK_TEXT_BYTES, "%04Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, CLOCK_TEXT_BYTES - n, ".%06dZ", (int)us);
}

struct timestamp_cursor {
	const char *at, *end;
};

static bool take(struct timestamp_cursor *cursor, char wanted)
{
	if (cursor->at == cursor->end || *cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

/* Reads exactly `digits` decimal digits within [low, high]. */
static bool field(struct timestamp_cursor *cursor, int digits, int low, int high, int *out)
{
	int value = 0;
	for (int i = 0; i < digits; i++, cursor->at++) {
		if (cursor->at == cursor->end || *cursor->at < '0' || *cursor->at > '9')
			return false;
		value = value * 10 + (*cursor->at - '0');
	}
	*out = value;
	return value >= low && value <= high;
}

static bool fraction(struct timestamp_cursor *cursor, int64_t *us)
{
	int64_t unit = 100000;
	const char *start = cursor->at;
	for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
		cursor->at++, unit /= 10)
		*us += (*cursor->at - '0') * unit;
	return cursor->at > start;
}

static bool offset(struct timestamp_cursor *cursor, int *seconds)
{
	if (cursor->at == cursor->end || take(cursor, 'Z') || take(cursor, 'z'))
		return true;
	int sign = take(cursor, '+') ? 1 : take(cursor, '-') ? -1 : 0;
	int hours, minutes = 0;
	if (!sign || !field(cursor, 2, 0, 23, &hours))
		return false;
	bool colon = take(cursor, ':');
	if ((colon || cursor->at < cursor->end) && !field(cursor, 2, 0, 59, &minutes))
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

enum { MONTHS = 12, FEBRUARY = 2 };

static int days_in(int year, int month)
{
	static const int days[MONTHS] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == FEBRUARY && leap);
}

/* Reads a date. Returns the part that is wrong, in words for a message; NULL: it is right. */
static const char *date(struct timestamp_cursor *cursor, struct tm *tm)
{
	int year, month, day;
	if (!field(cursor, 4, 1, 9999, &year) || !take(cursor, '-'))
		return "the year takes four digits and a `-`";
	if (!field(cursor, 2, 1, MONTHS, &month) || !take(cursor, '-'))
		return "the month goes from 01 to 12, with a `-` after it";
	if (!field(cursor, 2, 1, 31, &day))
		return "the day takes two digits, from 01 to 31";
	if (day > days_in(year, month))
		return "the month has no such day";
	*tm = (struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
	return NULL;
}

static const char *time_of_day(struct timestamp_cursor *cursor, struct tm *tm, int64_t *us)
{
	if (!(take(cursor, 'T') || take(cursor, 't') || take(cursor, ' ')))
		return "between date and time stands a `T`";
	if (!field(cursor, 2, 0, 23, &tm->tm_hour))
		return "the hour takes two digits, from 00 to 23";
	if (!take(cursor, ':') || !field(cursor, 2, 0, 59, &tm->tm_min))
		return "the minute takes a `:` and two digits, from 00 to 59";
	if (!take(cursor, ':'))
		return NULL;
	if (!field(cursor, 2, 0, 59, &tm->tm_sec))
		return "the second takes two digits, from 00 to 59";
	return take(cursor, '.') && !fraction(cursor, us) ? "a fraction of a second takes digits"
							  : NULL;
}

static const char *parse(const char *text, size_t len, int64_t *unix_us)
{
	struct timestamp_cursor c = {text, text + len};
	struct tm tm;
	int zone = 0;
	int64_t us = 0;
	const char *fault = date(&c, &tm);
	if (!fault && c.at < c.end)
		fault = time_of_day(&c, &tm, &us);
	if (fault)
		return fault;
	if (!offset(&c, &zone) || c.at != c.end)
		return "`Z` or an offset, such as +02:00, must follow the time";
	int64_t seconds = (int64_t)timegm(&tm) - zone;
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return "it lies outside the years 1 to 9999";
	*unix_us = seconds * 1000000 + us;
	return NULL;
}

int clock_parse(const char *text, size_t len, int64_t *unix_us)
{
	return parse(text, len, unix_us) ? -1 : 0;
}

const char *clock_fault(const char *text, size_t len)
{
	int64_t unused;
	/* A text that does not begin like a date was not meant as one. */
	return len >= 5 && strspn(text, "0123456789") == 4 && text[4] == '-'
		       ? parse(text, len, &unused)
		       : NULL;
}

/* Returns the seconds in the unit at `c`, and moves past it; 0: there is none. */
static int unit(const char **c)
{
	static const struct {
		const char *name;
		int secs;
	} units[] = {{"s", 1}, {"sec", 1}, {"secs", 1}, {"second", 1}, {"seconds", 1}, {"m", 60},
		{"min", 60}, {"mins", 60}, {"minute", 60}, {"minutes", 60}, {"h", 3600},
		{"hr", 3600}, {"hrs", 3600}, {"hour", 3600}, {"hours", 3600}, {"d", 86400},
		{"day", 86400}, {"days", 86400}};
	size_t len = strspn(*c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strlen(units[i].name) == len && !strncasecmp(units[i].name, *c, len)) {
			*c += len;
			return units[i].secs;
		}
	return 0;
}

int clock_length(const char *text, int64_t *secs)
{
	double sum = 0, number;
	do {
		size_t len = strspn(text, "0123456789.");
		if (num_float(text, len, &number))
			return -1;
		text += len + strspn(text + len, " ");
		int one = unit(&text);
		sum += number * one;
		text += strspn(text, " ");
		if (!one || sum > (double)SECONDS_MAX)
			return -1;
	} while (*text);
	if ((double)(int64_t)sum != sum)
		return -1;
	*secs = (int64_t)sum;
	return 0;
}
