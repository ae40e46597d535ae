/*
 * The AppArmor profile that lets agent6's own programs make user namespaces where the distribution
 * forbids them to everybody else (Ubuntu 23.10 and later).
 */
#ifndef CLI_CHECK_APPARMOR_H
#define CLI_CHECK_APPARMOR_H
#include "base/err.h"

/* Writes /etc/apparmor.d/agent6 for the programs beside this one and loads it. Needs root. */
int apparmor_install(struct err *e);
#endif
