/*
 * Markup: finds calls that a model wrote as text because its server did not recognise them.
 */
#ifndef AGENT_MARKUP_H
#define AGENT_MARKUP_H

/* Returns the mark with which a call of some family of models begins in the message; NULL: there is
 * none. */
const char *markup_find(const char *message);
#endif
