/*
 * The inside of the configuration: its layers, the look-up through them, the steps of loading.
 */
#ifndef CONFIG_STORE_H
#define CONFIG_STORE_H
#include "config/config.h"

struct config_source {
	struct doc own;              /* a file read for this configuration */
	const struct doc *doc;       /* `own`, or the machine's document */
	const struct doc_node *root; /* NULL: the layer is missing */
};

struct config_store {
	struct arena arena;
	struct config_source layers[LAYER_COUNT];
	const char *config_dir;
	const char *file;       /* that of --config, NULL: none */
	const char *state_home; /* AGENT6_STATE_HOME, NULL: not set */
	const char *state_dir_default;
};

struct config *config_new(void);
/* Sets a built-in layer, which findings call `name`; NULL: it stays as it is. */
void config_set_layer(
	struct config *config, enum config_layer layer, const char *name, const char *json);
/* Reads a layer's file. Decode later. */
void config_read_layer(struct config *config, enum config_layer layer, const char *path,
	struct findings *findings);
/* Returns the value at a path of keys in the highest layer that has one; NULL: none. In the
 * defaults, "*" stands for any name. `layer` may be NULL. */
const struct doc_node *config_find(const struct config *config, const char *const *path,
	size_t depth, enum config_layer *layer);
/* Does the same for a dotted name without free parts. */
const struct doc_node *config_find_key(
	const struct config *config, const char *key, enum config_layer *layer);

/* Read the typed values from the layers (again). */
void config_decode(struct config *config);
void config_decode_providers(struct config *config);
/* Checks what the shape cannot: addresses, paths, roles, contradictions. */
void config_check(
	const struct config *config, const struct config_paths *paths, struct findings *findings);
/* Returns the names of the entries of the map at `section`, over all layers, in the store's
 * memory. */
size_t config_names(const struct config *config, const char *const *path, size_t depth,
	const char *const **out);
#endif
