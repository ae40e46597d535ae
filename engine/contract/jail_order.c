#include "contract/jail_order.h"

#include "base/json.h"

void jail_order_done(struct jail_order *order)
{
	json_decref(order->argv);
	json_decref(order->env);
	*order = (struct jail_order){.argv = NULL};
}

json_t *jail_order_encode(const struct jail_order *order)
{
	return json_pack("{s:O, s:O*, s:I}", "argv", order->argv, "env", order->env, "timeout_secs",
		(json_int_t)order->timeout_secs);
}

char *jail_order_text(const struct jail_order *order)
{
	json_auto_t *object = jail_order_encode(order);
	return object ? json_text(object) : NULL;
}
