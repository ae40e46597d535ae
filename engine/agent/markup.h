/*
 * Calls that a model wrote as text, because the server that runs it did not take them out of it.
 */
#ifndef AGENT_MARKUP_H
#define AGENT_MARKUP_H

/* Returns what a call of some family of models begins with, as it stands in a message of the
 * provider's; NULL: nothing does. */
const char *markup_find(const char *message);
#endif
