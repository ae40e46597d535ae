#include "run/live.h"

#include "base/io.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

void live_notice(const struct live *w, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (w->listener->notice)
		w->listener->notice(w->listener->ctx, text);
}

void live_tick(void *ctx)
{
	struct live *w = ctx;
	if (w->listener->activity && !w->asking)
		w->listener->activity(w->listener->ctx, &w->now);
}

int live_memory_file(const char *name, const void *bytes, size_t len, struct err *e)
{
	AUTO_FD int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || io_write(fd, bytes, len) || lseek(fd, 0, SEEK_SET) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return err_errno(e, "cannot pass %s to a child", name);
	return TAKE_FD(fd);
}
