/*
 * A request to stop at the next boundary: the file `stop` in the instance's directory.
 */
#ifndef INSTANCE_STOP_H
#define INSTANCE_STOP_H
#include "instance/instance.h"

/* Asks the runner to stop. Refused if nobody runs the instance. */
int stop_ask(const struct instance *instance, struct err *e);
bool stop_asked(const struct instance *instance);
/* Reports whether `journal` ends in a stop line: the run is parked, if nobody runs it. */
bool stop_is_last(int journal);
/* Removes the request. A missing one is no error. */
int stop_clear(const struct instance *instance, struct err *e);
#endif
