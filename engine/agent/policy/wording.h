/*
 * Names that are spelt with words, told from the random letters of keys.
 */
#ifndef POLICY_WORDING_H
#define POLICY_WORDING_H
#include <stdbool.h>
#include <stddef.h>

/* Reports whether `text`, of 40 bytes or more, is made of words, in any case and however joined:
 * "buildAndPublishDockerImageForQuayRegistryV2". Random letters and digits pass once in
 * millions. */
bool wording_is(const char *text, size_t len);
#endif
