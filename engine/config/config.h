/*
 * The operator's configuration (docs/configuration.md): every key typed, with the layer that set
 * it.
 *
 * Layers, lowest first: built-in defaults (config.schema.json), the global file, the repository's
 * file in the state directory, --config FILE, a machine's `config` overlay. They are merged key by
 * key; lists are replaced whole. The configuration owns its layers' documents and all texts, and is
 * const after loading and overlay.
 *
 * Integers are CONFIG_NONE and pointers NULL where a key has no value. Money is micro-USD.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H
#include "config/values.h"
#include "schema/finding.h"
#include <sys/stat.h>
#include <sys/types.h>

struct state;

enum config_layer {
	LAYER_DEFAULT,
	LAYER_GLOBAL,
	LAYER_REPOSITORY,
	LAYER_FILE,
	LAYER_MACHINE,
	LAYER_COUNT,
	LAYER_ENVIRONMENT = LAYER_COUNT /* AGENT6_STATE_HOME; no document */
};

/* Returns "default", "global", "repository", "--config", "machine" or "environment". */
const char *config_layer_name(enum config_layer layer);

/* Returns the name of the repository's directory below `state_dir`, which is known only after the
 * global file and --config are read; NULL: there is none, or the caller knows why. */
typedef const char *config_repo_fn(void *ctx, const char *state_dir);

/* The places to look in. Directories are absolute, files may be; NULL: there is none. */
struct config_paths {
	const char *config_dir;        /* holds config.yaml (.yml .toml .json) and secrets.yaml */
	const struct buf *config_text; /* the text of a config.yaml there, without a directory */
	const char *state_home;        /* AGENT6_STATE_HOME: wins over agent6.state_dir */
	const char *state_dir;         /* the default of agent6.state_dir */
	const char *repo_id;       /* names the repository's directory below the state directory */
	const char *workspace;     /* the state directory must not lie inside it */
	const char *file;          /* --config */
	config_repo_fn *find_repo; /* asked with repo_ctx if repo_id is NULL */
	void *repo_ctx;
};

/* The possible endings of config.* and secrets.*, in the order in which they are looked for. */
enum { CONFIG_SUFFIXES = 4 };
extern const char *const config_suffixes[CONFIG_SUFFIXES];

/* Fills in the usual places from the environment (XDG_CONFIG_HOME, XDG_STATE_HOME, HOME,
 * AGENT6_STATE_HOME; under sudo those of the invoking user). Strings live in `arena`; the members
 * after state_dir stay NULL. */
int config_paths_init(struct config_paths *paths, struct arena *arena, struct err *e);

/* Reads and checks all layers. Always returns a configuration, since the findings' excerpts need
 * its documents; use it only if findings hold no error. config_free releases it. */
struct config *config_load(const struct config_paths *paths, struct findings *findings);
/* Takes agent6.state_dir out of files that are refused for another reason, and nothing else. For
 * commands that look for instances, which go on running when the configuration is broken. */
void config_salvage_state_dir(struct config *config);
/* Returns the real path of the effective agent6.state_dir, whose last components need not exist
 * yet. Heap; NULL with the reason: it lies in the workspace, or the workspace lies in it.
 * `workspace` is a real path; NULL: only check the form, and follow no link. */
char *config_state_dir(const char *state_dir, const char *workspace, struct err *e);
/* Returns the built-in configuration of a rehearsal: one loopback provider per name, each with
 * `format` and `base_url` and a price for every model; everything else is the default. */
struct config *config_rehearsal(const char *const *providers, size_t count, enum api_format format,
	const char *base_url, const char *state_dir);
/* Takes the settings that the rehearsal leaves open from `file`. Use the configuration only if
 * findings hold no error. */
void config_rehearsal_settings(
	struct config *config, const char *file, const char *workspace, struct findings *findings);
void config_free(struct config *config);

/* Applies a machine's `config` map (docs/machine.md): an allow-list, and limits only downwards.
 * Returns 0, or -1 with findings and `config` unchanged. `doc` and `overlay` must outlive `config`;
 * NULL overlay: none. */
int config_overlay(struct config *config, const struct doc *doc, const struct doc_node *overlay,
	struct findings *findings);
/* Stores the documents of the findings. Returns their number (at most LAYER_COUNT). */
size_t config_docs(const struct config *config, const struct doc *out[LAYER_COUNT]);

/* Returns a provider; NULL: not configured. A NULL name means the only provider, if there is
 * exactly one. */
const struct config_provider *config_provider(const struct config *config, const char *name);
/* Returns the provider and model of an agent state; NULL: not configured. */
const struct config_provider *config_agent_provider(
	const struct config *config, const struct state *state, const char **model);
/* Returns the provider that summarises an agent's dropped turns; NULL: nobody does. */
const struct config_provider *config_reviewer(const struct config *config, const char **model);
/* Returns the price of a model; NULL: unpriced. The operator's prices win over the built-in table;
 * "*" prices every model. */
const struct config_price *config_price(const struct config_provider *provider, const char *model);
/* Finds the provider's key: its api_key_env, else secrets.yaml (a regular file, mode 0600, owned by
 * the user). Heap text that the caller wipes and frees; *out is NULL if the provider needs none.
 * Returns -1 with the places where a key was looked for; e->number ENOENT: there is none. */
int config_provider_key(const struct config *config, const struct config_provider *provider,
	char **out, struct err *e);
/* Returns the value of a header or query parameter of the provider: its text, or its variable's
 * value. Borrowed. NULL with the reason; e->number ENOENT: the variable is not set. `what` is for
 * the message. */
const char *config_sent_text(const struct config_provider *provider, const char *what,
	const struct config_sent *sent, struct err *e);
/* Reports whether `uid` is ours or, under sudo, the caller's: then the right file is theirs. */
bool config_is_owner(uid_t uid);
/* Reports whether others than the owner may change a file: everybody, or a group that is not the
 * owner's alone. In a directory with the sticky bit, files are safe from them. */
bool config_others_may_write(const struct stat *st);
/* Checks that the text can be a key. */
int config_check_key(const char *provider, const char *key, struct err *e);

/* Returns the word for `value` of a key that is a choice ("sandbox.profile", of a provider
 * "auth"). */
const char *config_word(const char *key, unsigned value);

/* Appends the keys whose last part is `part`, as budget.max_usd for max_usd: each in quotes, with "
 * or " between them. Returns false if there are none, or keys begin with `part`. */
bool config_keys_ending(const char *part, struct buf *out);

/* Called for every effective key in the order of keys.def, with `value` as JSON (null: none) and
 * the layer that set it. */
typedef void config_each_fn(
	void *ctx, const char *key, const json_t *value, enum config_layer layer);
void config_each(const struct config *config, config_each_fn *each, void *ctx);
#endif
