#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char buf_nothing[1] = "";

void buf_init(struct buf *b, size_t cap_bytes)
{
	*b = BUF_INIT(cap_bytes);
}

void buf_done(struct buf *b)
{
	if (b->size)
		free(b->data);
	*b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->size)
		b->data[0] = '\0';
}

static int buf_reserve(struct buf *b, size_t more)
{
	if (b->failed)
		return -1;
	if (more > b->cap_bytes || b->len > b->cap_bytes - more) {
		b->failed = true;
		return -1;
	}
	size_t need = b->len + more + 1;
	if (need <= b->size)
		return 0;
	size_t size = b->size ? b->size : 64;
	while (size < need)
		size = size > SIZE_MAX / 2 ? need : size * 2;
	char *data = realloc(b->size ? b->data : NULL, size);
	if (!data) {
		b->failed = true;
		return -1;
	}
	b->data = data;
	b->size = size;
	return 0;
}

int buf_add(struct buf *b, const void *bytes, size_t len)
{
	if (buf_reserve(b, len))
		return -1;
	if (len)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int buf_adds(struct buf *b, const char *text)
{
	return buf_add(b, text, strlen(text));
}

int buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || buf_reserve(b, (size_t)len)) {
		b->failed = true;
		va_end(again);
		return -1;
	}
	vsnprintf(b->data + b->len, (size_t)len + 1, format, again);
	va_end(again);
	b->len += (size_t)len;
	return 0;
}

void buf_drop(struct buf *b, size_t len)
{
	if (len > b->len)
		len = b->len;
	if (!len)
		return;
	memmove(b->data, b->data + len, b->len - len + 1);
	b->len -= len;
}

char *buf_take(struct buf *b, size_t *len)
{
	if (buf_reserve(b, 0))
		return NULL;
	b->data[b->len] = '\0';
	char *data = b->data;
	if (len)
		*len = b->len;
	buf_init(b, b->cap_bytes);
	return data;
}
