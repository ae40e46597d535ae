/*
 * The prices of a model, as the configuration has them and as an agent is told them.
 */
#ifndef CONTRACT_PRICES_H
#define CONTRACT_PRICES_H

/* In micro-USD per token, which equals USD per million tokens. */
struct prices {
	double input, output, cache_read, cache_write;
};
#endif
