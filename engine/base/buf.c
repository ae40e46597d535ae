#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char buf_nothing[1] = "";

void buf_init(struct buf *buf, size_t cap_bytes)
{
	*buf = BUF_INIT(cap_bytes);
}

void buf_done(struct buf *buf)
{
	if (buf->size)
		free(buf->data);
	*buf = (struct buf){0};
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->size)
		buf->data[0] = '\0';
}

static int buf_reserve(struct buf *buf, size_t more)
{
	if (buf->failed)
		return -1;
	if (more > buf->cap_bytes || buf->len > buf->cap_bytes - more) {
		buf->failed = true;
		return -1;
	}
	size_t need = buf->len + more + 1;
	if (need <= buf->size)
		return 0;
	size_t size = buf->size ? buf->size : 64;
	while (size < need)
		size = size > SIZE_MAX / 2 ? need : size * 2;
	char *data = realloc(buf->size ? buf->data : NULL, size);
	if (!data) {
		buf->failed = true;
		return -1;
	}
	buf->data = data;
	buf->size = size;
	return 0;
}

int buf_add(struct buf *buf, const void *bytes, size_t len)
{
	if (buf_reserve(buf, len))
		return -1;
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return 0;
}

int buf_adds(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

int buf_addc(struct buf *buf, char c)
{
	return buf_add(buf, &c, 1);
}

int buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || buf_reserve(buf, (size_t)len)) {
		buf->failed = true;
		va_end(again);
		return -1;
	}
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
	va_end(again);
	buf->len += (size_t)len;
	return 0;
}

void buf_drop(struct buf *buf, size_t len)
{
	if (len > buf->len)
		len = buf->len;
	if (!len)
		return;
	memmove(buf->data, buf->data + len, buf->len - len + 1);
	buf->len -= len;
}

char *buf_take(struct buf *buf, size_t *len)
{
	if (buf_reserve(buf, 0))
		return NULL;
	buf->data[buf->len] = '\0';
	char *data = buf->data;
	if (len)
		*len = buf->len;
	buf_init(buf, buf->cap_bytes);
	return data;
}
