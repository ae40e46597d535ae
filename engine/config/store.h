/*
 * Inside the configuration: its layers, the look-up through them, the steps of loading.
 */
#ifndef CONFIG_STORE_H
#define CONFIG_STORE_H
#include "config/config.h"

struct config_source {
	struct doc own;              /* a file read for this configuration */
	const struct doc *doc;       /* `own`, or the machine's document */
	const struct doc_node *root; /* NULL: the layer is not there */
};

struct config_store {
	struct arena arena;
	struct config_source layers[LAYER_COUNT];
	const char *config_dir;
	const char *state_home; /* AGENT6_STATE_HOME, NULL: not set */
	const char *state_dir_default;
};

struct config *config_new(void);
/* A layer of our own making, which findings call `name`; NULL: it stays as it is. */
void config_set_layer(
	struct config *config, enum config_layer layer, const char *name, const char *json);
/* Reads a layer's file; decoding comes after. */
void config_read_layer(struct config *config, enum config_layer layer, const char *path,
	struct findings *findings);
/* The value at a path of keys in the highest layer that has one; NULL: none. In the defaults, "*"
 * stands for any name. `layer` may be NULL. */
const struct doc_node *config_find(const struct config *config, const char *const *path,
	size_t depth, enum config_layer *layer);
/* The same by a dotted name, for names without free parts. */
const struct doc_node *config_find_key(
	const struct config *config, const char *key, enum config_layer *layer);

/* Reads the typed values out of the layers (again). */
void config_decode(struct config *config);
void config_decode_providers(struct config *config);
/* What no shape can say: addresses, paths, roles, contradictions. */
void config_check(
	const struct config *config, const struct config_paths *paths, struct findings *findings);
/* The names of the entries of the map at `section`, over all layers. In the store's memory. */
size_t config_names(const struct config *config, const char *const *path, size_t depth,
	const char *const **out);
#endif
