/*
 * Any bytes as a packed bundle: no crash, and what is accepted keeps every rule. After a first byte
 * '0' the rest is the file; after any other it is a tar, compressed here.
 */
#include "bundle/bundle_private.h"
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void write_tar(int fd, const uint8_t *data, size_t len)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	archive_write_set_format_raw(a);
	archive_write_add_filter_zstd(a);
	archive_write_set_filter_option(a, "zstd", "compression-level", "1");
	archive_write_set_bytes_in_last_block(a, 1);
	archive_entry_set_filetype(entry, AE_IFREG);
	if (archive_write_open_fd(a, fd) || archive_write_header(a, entry) ||
		archive_write_data(a, data, len) < 0 || archive_write_close(a))
		abort();
	archive_entry_free(entry);
	archive_write_free(a);
}

static void check_accepted(const struct bundle *bundle)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < bundle->count; i++) {
		const struct member *m = &bundle->members[i];
		bytes += m->size;
		if (!member_path_allowed(m->path) || m->path[0] == '/' ||
			!strncmp(m->path, "../", 3) || strstr(m->path, "/../") ||
			(m->mode != 0644 && m->mode != 0755) || m->size > BUNDLE_MEMBER_BYTES_MAX)
			abort();
		if (i && strcmp(bundle->members[i - 1].path, m->path) >= 0)
			abort();
	}
	if (!bundle->machine || bytes != bundle->bytes || bytes > BUNDLE_BYTES_MAX ||
		bundle->count > BUNDLE_MEMBERS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bundle *b = calloc(1, sizeof(*b));
	struct findings findings;
	AUTO_FD int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (!b || fd < 0 || !len) {
		free(b);
		return 0;
	}
	findings_init(&findings);
	arena_init(&b->arena);
	b->root_fd = -1;
	b->named = "fuzz.asm";
	struct intake in = {.bundle = b, .findings = &findings};
	if (data[0] != '0')
		write_tar(fd, data + 1, len - 1);
	else if (write(fd, data + 1, len - 1) < 0)
		abort();
	lseek(fd, 0, SEEK_SET);
	if (bundle_unpack(&in, fd, NULL))
		abort();
	intake_end(&in);
	if (!findings.errors)
		check_accepted(b);
	findings_done(&findings);
	bundle_free(b);
	return 0;
}
