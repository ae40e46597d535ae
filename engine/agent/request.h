/*
 * The supervisor's request: two JSON lines on descriptor 0. The first is the order, which holds no
 * secret; the second, which is read only after the process is confined, is the task with the keys.
 */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H
#include "contract/agent_order.h"
#include "types/types.h"

/* Read one line each from `fd`, the first not a byte more. `*result` is the schema of the task's
 * result, NULL if it has none; it lives as long as the task. Refuse what agent_order_decode and
 * agent_task_decode refuse. */
int order_read(int fd, struct agent_order *out, struct err *e);
int task_read(int fd, struct agent_task *out, const struct record **result, struct err *e);
/* Wipes the keys and secrets, and releases the task. */
void task_done(struct agent_task *task);
#endif
