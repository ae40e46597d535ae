/*
 * The agent's end of a broker channel: one byte asks, one connected descriptor comes back.
 */
#ifndef PROVIDER_CHANNEL_H
#define PROVIDER_CHANNEL_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

/* Returns a connected AF_UNIX stream descriptor, owned by the caller. -1 with an error: the broker
 * is slow, or gone. */
int channel_connect(int channel_fd, int64_t timeout_ms, struct err *e);
/* Reports whether the broker has ended, or ends within `patience_ms`. */
bool channel_gone(int channel_fd, int patience_ms);
#endif
