/*
 * The system's certificate authorities: one is read when a certificate names it, instead of all of
 * them before the first byte is sent (25 ms for Debian's 140).
 */
#ifndef PROVIDER_TRUST_H
#define PROVIDER_TRUST_H

/* libcurl's directory of authorities, when it can be searched by name; NULL: only its one file can
 * be used. */
const char *trust_directory(void);
/* libcurl's one file of all authorities; NULL: it has none. */
const char *trust_file(void);
#endif
