/*
 * Tar archives built byte by byte, honest or not; POSIX.1-2001, pax(1).
 */
#ifndef TESTS_KIT_TAR_H
#define TESTS_KIT_TAR_H
#include "base/buf.h"
#include "tests/kit/tap.h"
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

enum { TAR_MAX = 1200 * 1024 * 1024, BLOCK = 512 };

struct entry {
	const char *name;
	char type;             /* 0: '0' */
	unsigned mode;         /* 0: 0644 */
	const char *mode_text; /* the mode as it is written, 4 bytes; NULL: the true mode */
	const char *link;      /* NULL: none */
	const char *prefix;    /* of the name; NULL: none */
	const char *data;      /* NULL: none */
	size_t zeros;          /* that many zero bytes instead */
	const char *size;      /* the size field as it is written; NULL: the true size */
	bool bad_checksum;
};

static inline void pad(struct buf *tar)
{
	static const char zeros[BLOCK];
	buf_add(tar, zeros, (BLOCK - tar->len % BLOCK) % BLOCK);
}

static inline void add_zeros(struct buf *tar, size_t count)
{
	static const char zeros[1 << 16];
	for (; count; count -= count < sizeof(zeros) ? count : sizeof(zeros))
		buf_add(tar, zeros, count < sizeof(zeros) ? count : sizeof(zeros));
}

/* A ustar header. */
static inline void add_header(struct buf *tar, const struct entry *e, size_t size)
{
	unsigned char h[BLOCK] = {0};
	unsigned sum = 0;
	memcpy(h, e->name, strlen(e->name) < 100 ? strlen(e->name) : 100);
	snprintf((char *)h + 100, 8, "%07o", e->mode ? e->mode : 0644);
	if (e->mode_text)
		memcpy(h + 103, e->mode_text, 4);
	snprintf((char *)h + 108, 8, "%07o", 0);
	snprintf((char *)h + 116, 8, "%07o", 0);
	if (e->size)
		memcpy(h + 124, e->size, 12);
	else
		snprintf((char *)h + 124, 12, "%011zo", size);
	snprintf((char *)h + 136, 12, "%011o", 0);
	memset(h + 148, ' ', 8);
	h[156] = (unsigned char)(e->type ? e->type : '0');
	if (e->link)
		memcpy(h + 157, e->link, strlen(e->link));
	memcpy(h + 257, "ustar\00000", 8);
	if (e->prefix)
		memcpy(h + 345, e->prefix, strlen(e->prefix));
	for (size_t i = 0; i < BLOCK; i++)
		sum += h[i];
	snprintf((char *)h + 148, 8, "%06o", sum + (e->bad_checksum ? 1 : 0));
	buf_add(tar, h, BLOCK);
}

static inline void add(struct buf *tar, const struct entry *e)
{
	size_t size = e->data ? strlen(e->data) : e->zeros;
	add_header(tar, e, size);
	if (e->data)
		buf_add(tar, e->data, size);
	else
		add_zeros(tar, size);
	pad(tar);
}

/* A pax extended header ('x', or 'g') with one record. */
static inline void add_pax(
	struct buf *tar, char type, const char *key, const char *value, size_t value_len)
{
	AUTO_BUF record;
	buf_init(&record, 4 << 20);
	size_t body = strlen(key) + value_len + 3, total = body + 1;
	char digits[24];
	while ((size_t)snprintf(digits, sizeof(digits), "%zu", total) + body != total)
		total = (size_t)snprintf(digits, sizeof(digits), "%zu", total) + body;
	buf_addf(&record, "%zu %s=", total, key);
	buf_add(&record, value, value_len);
	buf_addc(&record, '\n');
	add_header(tar, &(struct entry){.name = "PaxHeader", .type = type}, record.len);
	buf_add(tar, record.data, record.len);
	pad(tar);
}

static inline void end(struct buf *tar)
{
	add_zeros(tar, 2 * BLOCK);
}

static inline la_ssize_t keep(struct archive *archive, void *out, const void *bytes, size_t len)
{
	(void)archive;
	return buf_add(out, bytes, len) ? -1 : (la_ssize_t)len;
}

/* One zstd frame. */
static inline void compress_into(const struct buf *in, struct buf *out)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	archive_write_set_format_raw(a);
	archive_write_add_filter_zstd(a);
	archive_write_set_bytes_in_last_block(a, 1);
	archive_entry_set_filetype(entry, AE_IFREG);
	if (archive_write_open(a, out, NULL, keep, NULL) || archive_write_header(a, entry) ||
		archive_write_data(a, in->data, in->len) != (la_ssize_t)in->len ||
		archive_write_close(a))
		bail("cannot compress: %s", archive_error_string(a));
	archive_entry_free(entry);
	archive_write_free(a);
}
#endif
