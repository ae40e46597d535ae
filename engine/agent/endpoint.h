/*
 * A provider as the task describes it, ready to be asked over its channel.
 */
#ifndef AGENT_ENDPOINT_H
#define AGENT_ENDPOINT_H
#include "agent/request.h"
#include "provider/client.h"

/* Fills *out but for its callbacks. What `p` says is borrowed. */
int endpoint_open(const struct task_provider *p, int channel_fd, struct client *out, struct err *e);
void endpoint_close(struct client *c);
#endif
