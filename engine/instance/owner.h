/*
 * Under sudo the state belongs to whoever called it, or the next plain run could not go on.
 */
#ifndef INSTANCE_OWNER_H
#define INSTANCE_OWNER_H
#include "base/err.h"

/* When root acts for another user (SUDO_UID, SUDO_GID): gives that user what is root's of `name` in
 * `dir_fd` ("." is all of it), and of the directories from there up to one that is the user's
 * already. What is not there is no error. */
int owner_give_back(int dir_fd, const char *name, struct err *e);
#endif
