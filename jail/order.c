#include "jail/order.h"

#include "base/pass.h"
#include <string.h>

int order_receive(int socket_fd, struct order *o, int count, struct err *e)
{
	*o = (struct order){.text = malloc(ORDER_BYTES_MAX), .fds = {-1, -1, -1, -1}};
	if (!o->text)
		return err_set(e, "out of memory");
	struct passed passed;
	ssize_t len = pass_receive(socket_fd, o->text, ORDER_BYTES_MAX, &passed);
	memcpy(o->fds, passed.fds, sizeof(o->fds));
	if (len < 0)
		return err_errno(e, "cannot receive an order");
	if (!len)
		return 1;
	o->len = (size_t)len;
	if (passed.cut)
		return err_set(e,
			"the order is larger than %d bytes or has more than %d descriptors",
			ORDER_BYTES_MAX, ORDER_FDS);
	return passed.count == count ? 0
				     : err_set(e, "%d descriptors came with the order, not %d",
					       passed.count, count);
}

int order_send(int socket_fd, const struct order *o, int count, struct err *e)
{
	return pass_send(socket_fd, o->text, o->len, o->fds, count)
		       ? err_errno(e, "cannot hand the order to the jail")
		       : 0;
}

void order_done(struct order *o)
{
	free(TAKE_PTR(o->text));
	for (int i = 0; i < ORDER_FDS; i++)
		own_close(&o->fds[i]);
}
