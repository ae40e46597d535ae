/*
 * Why a connection was refused: the words of the control line's "refused" field.
 */
#ifndef BROKER_PARSE_REFUSAL_H
#define BROKER_PARSE_REFUSAL_H

/*      name     text */
#define REFUSALS(X)                                                                                \
	X(SNI, "sni")         /* the hello names no server, another one, or hides the name */      \
	X(HOST, "host")       /* a plain request without exactly the endpoint's Host */            \
	X(ADDRESS, "address") /* the name resolves to no address the channel may reach */          \
	X(BUDGET, "budget")   /* a byte beyond --max-bytes */                                      \
	X(DIAL, "dial")       /* no connection: no such name, no answer, no descriptor left */     \
	X(HELLO, "hello")     /* the first bytes are no timely, well-formed ClientHello */

enum refusal {
	REFUSED_NOT,
#define X(name, text) REFUSED_##name,
	REFUSALS(X)
#undef X
};

/* NULL: not refused. */
const char *refusal_text(enum refusal refused);
#endif
