/*
 * The system's certificate authorities: each is read when a certificate names it. Reading all
 * before the first byte is sent would take 25 ms for Debian's 140.
 */
#ifndef PROVIDER_TRUST_H
#define PROVIDER_TRUST_H

/* Returns libcurl's directory of authorities if it can be searched by name; NULL: only the one file
 * can be used. */
const char *trust_directory(void);
/* Returns libcurl's one file of all authorities; NULL: it has none. */
const char *trust_file(void);
#endif
