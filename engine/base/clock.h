/*
 * Time: microseconds since the epoch and RFC 3339 text. Only clock.c reads the clock; clock_text.c
 * is pure.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <stddef.h>
#include <stdint.h>

int64_t clock_realtime_us(void);
/* Returns a time that never goes back, unrelated to the calendar. */
int64_t clock_monotonic_ms(void);

enum { CLOCK_TEXT_BYTES = 40 };
/* Writes "2026-11-21T19:05:53.000000Z". */
void clock_text(int64_t unix_us, char out[CLOCK_TEXT_BYTES]);
/* Parses an ISO-8601 instant: YYYY-MM-DD[(T| )hh:mm[:ss[.fraction]][Z|±hh[:mm]]]; no offset means
 * UTC. Checks the calendar (no 30 February). Returns -1 if it is none. */
int clock_parse(const char *text, size_t len, int64_t *unix_us);
/* Returns which part of an instant is wrong; NULL: it is one, or does not begin like one. */
const char *clock_fault(const char *text, size_t len);
/* Parses a length of time as people write it, "90s", "5 min", "1h30m" or "1.5 days", into seconds.
 * Returns -1 if it is none, or not a whole number of seconds. */
int clock_length(const char *text, int64_t *secs);
#endif
