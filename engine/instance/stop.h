/*
 * A request to stop at the next boundary: the file `stop` in the instance's directory.
 */
#ifndef INSTANCE_STOP_H
#define INSTANCE_STOP_H
#include "instance/instance.h"

/* Refused where nobody runs the instance. */
int stop_ask(const struct instance *instance, struct err *e);
bool stop_asked(const struct instance *instance);
/* Whether `journal` ends in the line of a stop: it is parked, where nobody runs it. */
bool stop_is_last(int journal);
/* Removes the request; that there is none is no error. */
int stop_clear(const struct instance *instance, struct err *e);
#endif
