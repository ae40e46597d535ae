/* A cassette, which a bundle may bring: any bytes are read or refused with their line, and what was
 * read is played to its end. */
#include "base/io.h"
#include "rehearse/cassette.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void play(struct cassette *cassette)
{
	struct asker who = {.seq = 1, .state = NULL};
	size_t served = 0;
	for (struct exchange *x; (x = cassette_next(cassette, &who)); who.turn++) {
		json_decref(cassette_differences(x->match, x->reply));
		cassette_served(cassette, &who, x);
		if (++served > cassette->count)
			abort();
	}
	cassette_unused(cassette);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char name[64];
	struct cassette c = {0};
	struct err e = ERR_NONE;
	AUTO_FD int fd = memfd_create("cassette", MFD_CLOEXEC);
	if (fd < 0 || io_write(fd, data, len))
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!cassette_read(&c, name, &e))
		play(&c);
	else if (!*e.text)
		abort();
	cassette_done(&c);
	return 0;
}
