/*
 * Under sudo the state belongs to whoever called it, or the next plain run could not go on.
 */
#ifndef RUN_OWNER_H
#define RUN_OWNER_H
#include "base/err.h"

/* When root acts for another user (SUDO_UID, SUDO_GID): gives that user what is root's of the
 * instance at `path`, and of the directories between it and one that is the user's already. */
int owner_give_back(const char *path, struct err *e);
#endif
