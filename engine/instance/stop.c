#include "instance/stop.h"

#include "base/io.h"
#include "instance/recover.h"

#include <fcntl.h>

int stop_ask(const struct instance *instance, struct err *e)
{
	struct holder who;
	if (instance_holder(instance, &who, e))
		return -1;
	if (!who.pid)
		return err_set(e,
			"instance %s is not running: there is nothing to stop; `agent6 machine "
			"prune %s --unfinished` removes it",
			instance->id, instance->id);
	/* An empty file suffices: its presence is the request, while that runner is there. */
	AUTO_FD int fd = io_open_plain(instance->dir_fd, "stop", O_WRONLY | O_CREAT, e);
	return fd < 0 ? err_wrap(e, "%s", instance->path) : 0;
}

bool stop_asked(const struct instance *instance)
{
	return faccessat(instance->dir_fd, "stop", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool stop_is_last(int journal)
{
	AUTO_LINE last;
	return recover_last(journal, &last, NULL) && last.type == LINE_STOP;
}

int stop_clear(const struct instance *instance, struct err *e)
{
	if (unlinkat(instance->dir_fd, "stop", 0) && errno != ENOENT)
		return err_errno(e, "cannot remove %s/stop", instance->path);
	return 0;
}
