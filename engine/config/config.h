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

/* "default", "global", "repository", "--config", "machine", "environment". */
const char *config_layer_name(enum config_layer layer);

/* Names the repository's directory below `state_dir`, which is known only once the global file and
 * --config are read; NULL: there is none, or the caller knows why. */
typedef const char *config_repo_fn(void *ctx, const char *state_dir);

/* Where to look. Directories are absolute, files may be; NULL: there is none. */
struct config_paths {
	const char *config_dir;        /* holds config.yaml (.yml .toml .json) and secrets.yaml */
	const struct buf *config_text; /* what config.yaml there would be, without a directory */
	const char *state_home;        /* AGENT6_STATE_HOME: wins over agent6.state_dir */
	const char *state_dir;         /* the default of agent6.state_dir */
	const char *repo_id;       /* names the repository's directory below the state directory */
	const char *workspace;     /* the state directory must not lie inside */
	const char *file;          /* --config */
	config_repo_fn *find_repo; /* asked where repo_id is NULL; with it, of repo_ctx */
	void *repo_ctx;
};

/* What config.* and secrets.* may end with, in the order in which they are looked for. */
enum { CONFIG_SUFFIXES = 4 };
extern const char *const config_suffixes[CONFIG_SUFFIXES];

/* The usual places from the environment (XDG_CONFIG_HOME, XDG_STATE_HOME, HOME, AGENT6_STATE_HOME;
 * under sudo those of the invoking user). Strings live in `arena`; what follows state_dir stays
 * NULL. */
int config_paths_init(struct config_paths *paths, struct arena *arena, struct err *e);

/* Reads and checks all layers. Always returns a configuration, whose documents the findings' carets
 * need; it may be used only when findings hold no error. config_free releases it. */
struct config *config_load(const struct config_paths *paths, struct findings *findings);
/* For whoever looks for instances, which go on running when the configuration is broken: takes
 * agent6.state_dir out of files that are refused for something else. Nothing else of them is used.
 */
void config_salvage_state_dir(struct config *config);
/* The real path of the effective agent6.state_dir, whose last components need not exist yet. Heap;
 * NULL with the reason: it lies in the workspace (a real path; NULL: only the form is looked at,
 * and no link followed) or has that in it. */
char *config_state_dir(const char *state_dir, const char *workspace, struct err *e);
/* The built-in configuration of a rehearsal: one loopback provider per name, each with `format` and
 * `base_url` and a price for every model; everything else is the default. */
struct config *config_rehearsal(const char *const *providers, size_t count, enum api_format format,
	const char *base_url, const char *state_dir);
/* Takes what the rehearsal leaves open from `file`; it may be used only when findings hold no
 * error.
 */
void config_rehearsal_settings(
	struct config *config, const char *file, const char *workspace, struct findings *findings);
void config_free(struct config *config);

/* Applies a machine's `config` map (docs/machine.md): an allow-list, limits only downwards. Returns
 * 0, or -1 with findings and `config` unchanged. `doc` and `overlay` must outlive `config`; NULL
 * overlay: none.
 */
int config_overlay(struct config *config, const struct doc *doc, const struct doc_node *overlay,
	struct findings *findings);
/* The documents behind the findings. Returns how many were stored (at most LAYER_COUNT). */
size_t config_docs(const struct config *config, const struct doc *out[LAYER_COUNT]);

/* NULL: not configured. A NULL name means the only provider, when there is exactly one. */
const struct config_provider *config_provider(const struct config *config, const char *name);
/* The provider and model of an agent state; NULL: not configured. */
const struct config_provider *config_agent_provider(
	const struct config *config, const struct state *state, const char **model);
/* Who summarises for an agent whose turns give way; NULL: nobody is to. */
const struct config_provider *config_reviewer(const struct config *config, const char **model);
/* NULL: unpriced. The operator's prices win over the built-in table; "*" prices every model. */
const struct config_price *config_price(const struct config_provider *provider, const char *model);
/* The provider's key: its api_key_env, else secrets.yaml (a regular file, mode 0600, owned by the
 * user). Heap text that the caller wipes and frees; *out is NULL when the provider needs none. -1
 * with the place where a key was looked for, e->number ENOENT: it has none. */
int config_provider_key(const struct config *config, const struct config_provider *provider,
	char **out, struct err *e);
/* What a header or query parameter of the provider is sent as: its text, or its variable's value.
 * Borrowed. NULL with the reason: e->number ENOENT: the variable is not set. `what` is for it. */
const char *config_sent_text(const struct config_provider *provider, const char *what,
	const struct config_sent *sent, struct err *e);
/* Whether that is us or, under sudo, who called it: theirs is the right file then. */
bool config_is_owner(uid_t uid);
/* Whether others than its owner may change it: everybody, or a group that is not the owner's alone;
 * of a directory with the sticky bit, what is in it is safe from them. */
bool config_others_may_write(const struct stat *st);
/* Whether that text can be a key. */
int config_check_key(const char *provider, const char *key, struct err *e);

/* The word that stands for `value` in a key that is a choice ("sandbox.profile", of a provider
 * "auth"): the inverse of what its enum was read from. */
const char *config_word(const char *key, unsigned value);
/* The word for a policy's "limits.memory_by"; NULL: anything will do. */
const char *config_memory_by(const struct config_limits *limits);

/* The keys whose last part is `part`, as budget.max_usd is for max_usd: each in quotes, with " or "
 * between them. False: none, or keys begin with `part`. */
bool config_keys_ending(const char *part, struct buf *out);

/* Every effective key in the order of keys.def, `value` as JSON (null: none), and who set it. */
typedef void config_each_fn(
	void *ctx, const char *key, const json_t *value, enum config_layer layer);
void config_each(const struct config *config, config_each_fn *each, void *ctx);
#endif
