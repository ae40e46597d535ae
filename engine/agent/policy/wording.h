/*
 * Names that are spelt with words, told from the random letters of keys.
 */
#ifndef POLICY_WORDING_H
#define POLICY_WORDING_H
#include <stdbool.h>
#include <stddef.h>

/* Whether `text` of 40 bytes and more is made of words, in whatever case and however joined:
 * "buildAndPublishDockerImageForQuayRegistryV2". Of random letters and digits one in millions is.
 */
bool wording_is(const char *text, size_t len);
#endif
