/*
 * The files of the jail's /etc and /dev that are written rather than taken from the host: they name
 * one user and this machine's loopback, and nothing else.
 */
#ifndef JAIL_ETC_H
#define JAIL_ETC_H
#include "base/err.h"

/* Writes them into the new root, where /etc and /dev exist or can be made. */
int etc_write(int root_fd, struct err *e);
#endif
