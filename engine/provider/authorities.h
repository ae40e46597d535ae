/*
 * The system's certificate authorities: each is read when a certificate names it. Reading all
 * before the first byte is sent would take 25 ms for Debian's 140.
 */
#ifndef PROVIDER_AUTHORITIES_H
#define PROVIDER_AUTHORITIES_H

/* Returns libcurl's directory of authorities if it can be searched by name; NULL: only the one file
 * can be used. */
const char *authorities_directory(void);
/* Returns libcurl's one file of all authorities; NULL: it has none. */
const char *authorities_file(void);
#endif
