/*
 * Time: microseconds since the epoch and RFC 3339 text. clock.c is the only file that asks the
 * clock; clock_text.c is pure.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <stddef.h>
#include <stdint.h>

int64_t clock_realtime_us(void);
/* Never goes back; unrelated to the calendar. */
int64_t clock_monotonic_ms(void);

enum { CLOCK_TEXT_BYTES = 40 };
/* "2026-11-21T19:05:53.000000Z" */
void clock_text(int64_t unix_us, char out[CLOCK_TEXT_BYTES]);
/* An ISO-8601 instant: YYYY-MM-DD[(T| )hh:mm[:ss[.fraction]][Z|±hh[:mm]]]; no offset means UTC.
 * The calendar is checked (no 30 February). -1: not one. */
int clock_parse(const char *text, size_t len, int64_t *unix_us);
/* Says which part of an instant is wrong; NULL: it is one, or does not begin like one. */
const char *clock_fault(const char *text, size_t len);
/* A length of time as people write it, "90s", "5 min", "1h30m" or "1.5 days", in seconds. -1: not
 * one, or no whole number of them. */
int clock_length(const char *text, int64_t *secs);
#endif
