/*
 * Why a connection was refused: the words of the control line's "refused" field; NULL: it was not.
 */
#ifndef BROKER_PARSE_REFUSAL_H
#define BROKER_PARSE_REFUSAL_H

#define REFUSED_SNI     "sni"     /* the hello names no server, another one, or hides the name */
#define REFUSED_HOST    "host"    /* a plain request without exactly the endpoint's Host */
#define REFUSED_ADDRESS "address" /* the name resolves to no address the channel may reach */
#define REFUSED_BUDGET  "budget"  /* a byte beyond --max-bytes */
#define REFUSED_DIAL    "dial"    /* no connection: no such name, no answer, no descriptor left */
#define REFUSED_HELLO   "hello"   /* the first bytes are no timely, well-formed ClientHello */
#endif
