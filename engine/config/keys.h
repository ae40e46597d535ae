/*
 * Keys: one table with the kind and the place of every fixed configuration key.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H
#include "config/store.h"

enum key_kind {
	KEY_TEXT,
	KEY_INT,
	KEY_LIMIT, /* an INT that a machine's overlay may lower, never raise */
	KEY_USD,   /* USD in the file, micro-USD in the field; also a limit */
	KEY_FLAG,
	KEY_CHOICE, /* an enum; keys.c has its words */
	KEY_LIST,
	KEY_NEVER /* accepted but ignored: always false */
};

struct key {
	enum key_kind kind;
	const char *name;
	size_t offset;
};

extern const struct key config_keys[];
extern const size_t config_key_count;
extern const struct key config_provider_keys[]; /* offsets into struct config_provider */
extern const size_t config_provider_key_count;

/* Stores the value of `node` (NULL: none) in the field of `base`. */
void key_store(const struct config *config, const struct key *key, const struct doc_node *node,
	void *base);
/* Returns the field's value as JSON; new reference, null if there is none. */
json_t *key_json(const struct key *key, const void *base);
#endif
