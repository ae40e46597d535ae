/*
 * The ClientHello that opens a TLS connection: finds the server that it names.
 *
 * Pure: bytes in, answer out. The records may be cut anywhere and the handshake message spread over
 * several of them. Unknown extensions, ciphers and versions (GREASE, RFC 8701) are skipped. Source:
 * RFC 8446 sections 4.1.2 and 5.1, RFC 6066 section 3, RFC 9849 (encrypted hello).
 */
#ifndef BROKER_PARSE_CLIENT_HELLO_H
#define BROKER_PARSE_CLIENT_HELLO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_HANDSHAKE = 22, RECORD_HEADER_BYTES = 5 };
enum { CLIENT_HELLO_MAX_BYTES = 16 * 1024 }; /* record headers included */

struct client_hello {
	char server_name[256]; /* the first name, NUL-terminated */
	unsigned name_count;   /* entries of any type, over all server_name extensions */
	bool encrypted;        /* an encrypted hello or name hides another name */
	size_t bytes;          /* how many of the given bytes the hello's records took */
};

enum hello_answer { HELLO_MORE, HELLO_WHOLE, HELLO_BAD };

/* Looks at the first `len` bytes of a connection. HELLO_MORE: the beginning of a hello. HELLO_BAD:
 * not a hello, malformed, or longer than CLIENT_HELLO_MAX_BYTES. `out` is valid with HELLO_WHOLE
 * only. */
enum hello_answer client_hello_decode(const uint8_t *bytes, size_t len, struct client_hello *out);
#endif
