#include "config/config.h"

#include "base/io.h"
#include "config/keys.h"
#include "schema/read.h"
#include "schema/shape.h"
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

const char *config_layer_name(enum config_layer layer)
{
	static const char *const names[] = {[LAYER_DEFAULT] = "default",
		[LAYER_GLOBAL] = "global",
		[LAYER_REPOSITORY] = "repository",
		[LAYER_FILE] = "--config",
		[LAYER_MACHINE] = "machine",
		[LAYER_ENVIRONMENT] = "environment"};
	return names[layer];
}

/* --- look-up ---------------------------------------------------------------------------------- */

static const struct doc_node *find_in(
	const struct config *config, enum config_layer layer, const char *const *path, size_t depth)
{
	const struct config_source *s = &config->store->layers[layer];
	const struct doc_node *node = s->root;
	for (size_t i = 0; node && i < depth; i++) {
		const struct doc_node *inner = doc_get(node, path[i]);
		if (!inner && layer == LAYER_DEFAULT)
			inner = doc_get(node, "*");
		node = inner;
	}
	return node;
}

const struct doc_node *config_find(const struct config *config, const char *const *path,
	size_t depth, enum config_layer *layer)
{
	if (layer)
		*layer = LAYER_DEFAULT;
	for (int i = LAYER_COUNT - 1; i >= 0; i--) {
		const struct doc_node *node = find_in(config, (enum config_layer)i, path, depth);
		if (!node)
			continue;
		if (layer)
			*layer = (enum config_layer)i;
		/* Only a key without a default can be null: nothing is set. */
		return node->kind == DOC_NULL ? NULL : node;
	}
	return NULL;
}

const struct doc_node *config_find_key(
	const struct config *config, const char *key, enum config_layer *layer)
{
	char copy[64], *rest = copy;
	const char *path[4];
	size_t depth = 0;
	snprintf(copy, sizeof(copy), "%s", key);
	for (char *part; depth < ARRAY_LEN(path) && (part = strsep(&rest, "."));)
		path[depth++] = part;
	return config_find(config, path, depth, layer);
}

/* Reports whether one of the maps has the name. A map finds a name by its index, so that many names
 * cost no more than a look at each. */
static bool listed(const struct doc_node *const *maps, int from, int end, const char *name)
{
	for (int i = from; i < end; i++)
		if (doc_pair(maps[i], name))
			return true;
	return false;
}

size_t config_names(
	const struct config *config, const char *const *path, size_t depth, const char *const **out)
{
	size_t room = 0, count = 0;
	int lowest = LAYER_GLOBAL; /* a null map removes all lower layers */
	const struct doc_node *maps[LAYER_COUNT];
	for (int i = LAYER_GLOBAL; i < LAYER_COUNT; i++) {
		maps[i] = find_in(config, (enum config_layer)i, path, depth);
		if (maps[i] && maps[i]->kind != DOC_MAP)
			lowest = i + 1;
		else
			room += maps[i] ? maps[i]->count : 0;
	}
	const char **names = arena_array(&config->store->arena, room, sizeof(*names));
	for (int i = lowest; i < LAYER_COUNT; i++)
		for (uint32_t k = 0; maps[i] && k < maps[i]->count; k++)
			if (!listed(maps, lowest, i, maps[i]->pairs[k].key.text))
				names[count++] = maps[i]->pairs[k].key.text;
	*out = names;
	return count;
}

/* --- decoding --------------------------------------------------------------------------------- */

static void decode_secrets(struct config *config)
{
	const char *path[] = {"sandbox", "secrets", NULL, NULL}, *const * names;
	size_t count = config_names(config, path, 2, &names);
	struct config_secret *all = arena_array(&config->store->arena, count, sizeof(*all));
	static const struct key fields[] = {
		{KEY_TEXT, "env", offsetof(struct config_secret, env)},
		{KEY_LIST, "machines", offsetof(struct config_secret, machines)},
	};
	for (size_t i = 0; i < count; i++) {
		path[2] = all[i].name = names[i];
		for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
			path[3] = fields[k].name;
			key_store(config, &fields[k], config_find(config, path, 4, NULL), &all[i]);
		}
	}
	config->sandbox.secrets = all;
	config->sandbox.secret_count = count;
}

static void decode_role(struct config *config, struct config_role *role)
{
	if (!role->model)
		*role = config->models.worker;
	if (!role->provider && role->model && config->provider_count == 1)
		role->provider = config->providers[0].name;
}

void config_decode(struct config *config)
{
	for (size_t i = 0; i < config_key_count; i++)
		key_store(config, &config_keys[i],
			config_find_key(config, config_keys[i].name, NULL), config);
	config_decode_providers(config);
	decode_secrets(config);
	decode_role(config, &config->models.worker);
	decode_role(config, &config->models.reviewer);
	decode_role(config, &config->models.planner);
	const struct doc_node *dir = config_find_key(config, "agent6.state_dir", NULL);
	if (config->store->state_home)
		config->state_dir = config->store->state_home;
	else
		config->state_dir = dir ? dir->text : config->store->state_dir_default;
}

/* --- layers ----------------------------------------------------------------------------------- */

void config_set_layer(
	struct config *config, enum config_layer layer, const char *name, const char *json)
{
	struct config_source *s = &config->store->layers[layer];
	struct findings none;
	findings_init(&none);
	if (json && !doc_read_json(&s->own, name, json, strlen(json), &none)) {
		s->doc = &s->own;
		s->root = s->own.root;
	}
	findings_done(&none);
}

struct config *config_new(void)
{
	struct config *c = calloc(1, sizeof(*c));
	struct config_store *store = calloc(1, sizeof(*store));
	if (!c || !store) {
		fputs("agent6: out of memory\n", stderr);
		abort();
	}
	arena_init(&store->arena);
	c->store = store;
	config_set_layer(c, LAYER_DEFAULT, "defaults", shape_config_defaults);
	return c;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (int i = 0; i < LAYER_COUNT; i++)
		doc_done(&config->store->layers[i].own);
	arena_done(&config->store->arena);
	free(config->store);
	free(config);
}

size_t config_docs(const struct config *config, const struct doc *out[LAYER_COUNT])
{
	size_t count = 0;
	for (int i = LAYER_GLOBAL; i < LAYER_COUNT; i++)
		if (config->store->layers[i].doc)
			out[count++] = config->store->layers[i].doc;
	return count;
}

static const char *keep(struct config *config, const char *text)
{
	return text ? arena_copy(&config->store->arena, text, strlen(text)) : NULL;
}

static void report_file(struct findings *findings, const char *path, const char *why)
{
	struct doc named = {.file = path};
	finding_add(findings, RULE_CONFIG_FILE, &named, NULL, "%s", why);
}

/* Reports whether a text has only comments: the file sets nothing yet. */
static bool is_blank(const char *text)
{
	for (text += strspn(text, " \t\r\n"); *text == '#'; text += strspn(text, " \t\r\n"))
		text += strcspn(text, "\n");
	return !*text;
}

/* Reports whether a group is the owner's first, has the owner's name and no other member. Where
 * every user has such a group, files are often group-writable, and nobody else gains by it. */
static bool is_private_group(uid_t uid, gid_t gid)
{
	const struct passwd *owner = getpwuid(uid);
	const struct group *group = owner && owner->pw_gid == gid ? getgrgid(gid) : NULL;
	if (!group || strcmp(group->gr_name, owner->pw_name) != 0)
		return false;
	for (char *const *member = group->gr_mem; *member; member++)
		if (strcmp(*member, owner->pw_name) != 0)
			return false;
	return true;
}

bool config_others_may_write(const struct stat *st)
{
	if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
		return false;
	return st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && !is_private_group(st->st_uid, st->st_gid));
}

/* Warns of a file that others can change: they could write the grants themselves. For secrets.yaml
 * it is an error. */
static void check_mode(const char *path, struct findings *findings)
{
	struct doc named = {.file = path};
	struct stat st;
	if (stat(path, &st))
		return;
	if (st.st_uid && !config_is_owner(st.st_uid))
		finding_help(findings,
			finding_add(findings, RULE_CONFIG_WRITABLE, &named, NULL,
				"it belongs to user %u, who can change what machines are granted",
				(unsigned)st.st_uid),
			"chown it to yourself: %s", path);
	if (config_others_may_write(&st))
		finding_help(findings,
			finding_add(findings, RULE_CONFIG_WRITABLE, &named, NULL,
				"its mode is %04o: others can change what machines are granted",
				(unsigned)st.st_mode & 07777),
			"chmod go-w %s", path);
}

static void take_layer(struct config *config, enum config_layer layer, const char *path,
	const struct buf *text, struct findings *findings)
{
	struct config_source *s = &config->store->layers[layer];
	size_t before = findings->errors;
	s->doc = &s->own;
	if (is_blank(text->data)) {
		s->own.file = keep(config, path);
		return;
	}
	/* A value that the reader refused has no shape, and no kind that decoding expects. */
	if (!doc_read(&s->own, path, text->data, text->len, findings) &&
		!shape_check(shape_config, &s->own, s->own.root, findings) &&
		findings->errors == before)
		s->root = s->own.root;
}

void config_read_layer(
	struct config *config, enum config_layer layer, const char *path, struct findings *findings)
{
	AUTO_FREE char *text = NULL;
	struct buf view = {0};
	struct err e = ERR_NONE;
	if (io_read_file(AT_FDCWD, path, DOC_BYTES_MAX, &text, &view.len, &e)) {
		report_file(findings, path, e.text);
		return;
	}
	view.data = text;
	check_mode(path, findings);
	take_layer(config, layer, path, &view, findings);
}

/* Reports whether --config names this very file: its layer is above and has all of it. Reading it
 * twice would tell every problem twice. */
static bool is_read_above(const struct config *config, const char *path)
{
	struct stat own, other;
	return config->store->file && !stat(path, &own) && !stat(config->store->file, &other) &&
	       io_is_same(&own, &other);
}

/* Reads the one config.* file in `dir`; two of them would hide one another. */
static void read_directory(
	struct config *config, enum config_layer layer, const char *dir, struct findings *findings)
{
	const char *found = NULL;
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		char path[4200];
		snprintf(path, sizeof(path), "%s/config.%s", dir, config_suffixes[i]);
		struct stat st; /* a link to a missing file counts: somebody put it there */
		bool there = !lstat(path, &st);
		if (!there && (found || errno == ENOENT))
			continue;
		if (found) {
			report_file(findings, path,
				"there is another configuration file in this directory; "
				"keep one of them");
			continue;
		}
		found = keep(config, path);
	}
	if (!found)
		return;
	check_mode(keep(config, dir), findings);
	if (!is_read_above(config, found))
		config_read_layer(config, layer, found, findings);
}

static void read_repository(
	struct config *config, const struct config_paths *paths, struct findings *findings)
{
	const char *repo_id = paths->repo_id;
	char dir[4096];
	config_decode(config);
	if (config->state_dir && !repo_id && paths->find_repo)
		repo_id = paths->find_repo(paths->repo_ctx, config->state_dir);
	if (!config->state_dir || !repo_id)
		return;
	snprintf(dir, sizeof(dir), "%s/%s", config->state_dir, repo_id);
	read_directory(config, LAYER_REPOSITORY, dir, findings);
	const struct config_source *s = &config->store->layers[LAYER_REPOSITORY];
	const struct doc_pair *key = doc_pair(doc_get(s->root, "agent6"), "state_dir");
	if (key) {
		struct finding *it = finding_add(findings, RULE_CONFIG_LAYER, s->doc, &key->key,
			"the state directory cannot be set in a file that lies in it");
		finding_help(findings, it, "set it in the global configuration");
	}
}

struct config *config_load(const struct config_paths *paths, struct findings *findings)
{
	struct config *c = config_new();
	c->store->config_dir = keep(c, paths->config_dir);
	c->store->file = keep(c, paths->file);
	c->store->state_home = keep(c, paths->state_home);
	c->store->state_dir_default = keep(c, paths->state_dir);
	size_t before = findings->errors;
	if (paths->config_text)
		take_layer(c, LAYER_GLOBAL, "config.yaml", paths->config_text, findings);
	else if (paths->config_dir)
		read_directory(c, LAYER_GLOBAL, paths->config_dir, findings);
	if (paths->file)
		config_read_layer(c, LAYER_FILE, paths->file, findings);
	read_repository(c, paths, findings);
	config_decode(c);
	if (findings->errors == before)
		config_check(c, paths, findings);
	return c;
}
