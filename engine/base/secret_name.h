/*
 * Names of environment variables that say that their value is a secret.
 */
#ifndef BASE_SECRET_NAME_H
#define BASE_SECRET_NAME_H
#include <stdbool.h>
#include <stddef.h>

/* Reports whether `name` ends in _KEY, _SECRET, _TOKEN, _PASSWORD or _CREDENTIALS. */
bool secret_name(const char *name, size_t len);
#endif
