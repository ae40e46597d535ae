#include "contract/jail_order.h"

#include "base/json.h"

void jail_order_done(struct jail_order *order)
{
	json_decref(order->argv);
	json_decref(order->env);
	*order = (struct jail_order){.argv = NULL};
}

static json_t *encode(const struct jail_order *order)
{
	return json_pack("{s:O, s:O*, s:I}", "argv", order->argv, "env", order->env, "timeout_secs",
		(json_int_t)order->timeout_secs);
}

char *jail_order_text(const struct jail_order *order)
{
	json_auto_t *object = encode(order);
	return object ? json_text(object) : NULL;
}

char *jail_policy_text(const json_t *policy, const struct jail_order *order)
{
	json_auto_t *argv = json_pack("[s]", "true");
	const struct jail_order none = {.argv = argv, .timeout_secs = 1};
	json_auto_t *whole = json_copy((json_t *)(uintptr_t)policy);
	json_auto_t *more = encode(order ? order : &none);
	return whole && more && !json_object_update(whole, more) ? json_text(whole) : NULL;
}
