/*
 * The recorded journals of tests/golden/journals.
 */
#ifndef TESTS_KIT_JOURNALS_H
#define TESTS_KIT_JOURNALS_H
#include <jansson.h>
#include <stddef.h>

/* Calls `each` with every line and the part of its file's path from the journal's directory on, and
 * returns how many there were. */
size_t journals_each(void (*each)(const char *name, json_t *line));
#endif
