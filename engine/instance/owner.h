/*
 * Ownership under sudo: the state belongs to the user who called sudo, whose next plain run must be
 * able to go on.
 */
#ifndef INSTANCE_OWNER_H
#define INSTANCE_OWNER_H
#include "base/err.h"

/* If root acts for another user (SUDO_UID, SUDO_GID): gives that user root's files below `name` in
 * `dir_fd` ("." is all of it), and the directories above up to one that the user owns already. A
 * missing file is no error. */
int owner_give_back(int dir_fd, const char *name, struct err *e);
#endif
