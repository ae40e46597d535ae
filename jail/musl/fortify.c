/*
 * What the distribution's libjansson.a was compiled to call: glibc's checked forms of three
 * functions, which musl has under their plain names only. Nothing else of it is glibc's own. Code
 * that is compiled against musl itself has no checked forms: _FORTIFY_SOURCE does nothing there.
 */
#include "base/cleanup.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int __snprintf_chk(char *to, size_t max, int flag, size_t room, const char *format, ...)
	PRINTF(5, 6);
int __vsnprintf_chk(char *to, size_t max, int flag, size_t room, const char *format, va_list args)
	PRINTF(5, 0);
char *__strncpy_chk(char *to, const char *from, size_t max, size_t room);

int __vsnprintf_chk(char *to, size_t max, int flag, size_t room, const char *format, va_list args)
{
	(void)flag;
	if (max > room)
		__builtin_trap();
	return vsnprintf(to, max, format, args);
}

int __snprintf_chk(char *to, size_t max, int flag, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = __vsnprintf_chk(to, max, flag, room, format, args);
	va_end(args);
	return len;
}

char *__strncpy_chk(char *to, const char *from, size_t max, size_t room)
{
	if (max > room)
		__builtin_trap();
	return (strncpy)(to, from, max); /* the caller is checked, not ours */
}
