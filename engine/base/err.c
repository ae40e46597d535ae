#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, const char *format, ...)
{
	if (!e || e->text[0])
		return -1;
	va_list args;
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return -1;
}

int err_errno(struct err *e, const char *format, ...)
{
	int number = errno;
	if (!e || e->text[0])
		return -1;
	va_list args;
	va_start(args, format);
	int used = vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	errno = number;
	if (used >= 0 && (size_t)used < sizeof(e->text))
		snprintf(e->text + used, sizeof(e->text) - (size_t)used, ": %m");
	e->number = number;
	errno = number;
	return -1;
}

int err_wrap(struct err *e, const char *format, ...)
{
	if (!e)
		return -1;
	struct err inner = *e;
	va_list args;
	va_start(args, format);
	int used = vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	if (used >= 0 && (size_t)used < sizeof(e->text))
		snprintf(e->text + used, sizeof(e->text) - (size_t)used, ": %s", inner.text);
	return -1;
}
