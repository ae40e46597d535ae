/* Provider keys: read when an agent starts, handed out once, wiped. */
#include "base/io.h"
#include "config/store.h"
#include "schema/read.h"
#include "schema/shape.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

bool config_is_owner(uid_t uid)
{
	const char *sudo = getenv("SUDO_UID");
	return uid == geteuid() || (!geteuid() && sudo && (uid_t)strtoul(sudo, NULL, 10) == uid);
}

/* Opens the file. Returns 1 if it does not exist. */
static int open_secrets(const char *path, int *out, struct err *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 && errno == ELOOP)
		return err_set(e, "%s is not read: it must be a regular file, not a link", path);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return err_errno(e, "cannot open %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s is not read: it must be a regular file", path);
	if (st.st_mode & 07177)
		return err_set(e,
			"%s is not read: its mode is %04o and must be 0600 (chmod 600 it)", path,
			(unsigned)st.st_mode & 07777);
	if (!config_is_owner(st.st_uid))
		return err_set(e, "%s is not read: it belongs to another user", path);
	*out = TAKE_FD(fd);
	return 0;
}

/* Wipes the document's copies of the keys; it is about to be released. */
static void wipe(const struct doc *doc)
{
	explicit_bzero((char *)(uintptr_t)doc->text, doc->len);
	const struct doc_node *map = doc_get(doc->root, "providers");
	for (uint32_t i = 0; map && map->kind == DOC_MAP && i < map->count; i++)
		if (map->pairs[i].value.kind == DOC_STR)
			explicit_bzero((char *)(uintptr_t)map->pairs[i].value.text,
				map->pairs[i].value.count);
}

static int key_in(const struct doc *doc, const char *provider, char **out)
{
	const struct doc_node *key = doc_get(doc_get(doc->root, "providers"), provider);
	*out = key ? strdup(key->text) : NULL;
	return 0;
}

/* Finds a key. Messages name only the place, since findings may quote the file's text. */
static int key_from_text(const char *path, const char *text, size_t len, const char *provider,
	char **out, struct err *e)
{
	struct findings f;
	struct doc d;
	findings_init(&f);
	int rc = doc_read(&d, path, text, len, &f);
	if (!rc)
		rc = shape_check(shape_secrets, &d, d.root, &f);
	if (rc || f.errors) {
		findings_sort(&f);
		rc = err_set(e,
			"%s is not understood at line %u, column %u [%s]; it holds `providers: "
			"{NAME: KEY}`",
			path, f.items[0].pos.line, f.items[0].pos.column,
			rule_info(f.items[0].rule)->id);
	} else {
		rc = key_in(&d, provider, out);
	}
	wipe(&d);
	doc_done(&d);
	findings_done(&f);
	return rc;
}

static int key_from_file(const char *path, const char *provider, char **out, struct err *e)
{
	AUTO_FD int fd = -1;
	int rc = open_secrets(path, &fd, e);
	if (rc)
		return rc;
	struct buf text = BUF_INIT(1024 * 1024);
	rc = io_read_all(fd, &text, path, e);
	if (!rc)
		rc = key_from_text(path, text.data, text.len, provider, out, e);
	explicit_bzero(text.data, text.size);
	buf_done(&text);
	return rc;
}

static int key_from_directory(
	const struct config *config, const char *provider, char **out, struct err *e)
{
	for (size_t i = 0; config->store->config_dir && i < CONFIG_SUFFIXES; i++) {
		char path[4200];
		snprintf(path, sizeof(path), "%s/secrets.%s", config->store->config_dir,
			config_suffixes[i]);
		int rc = key_from_file(path, provider, out, e);
		if (rc <= 0)
			return rc;
	}
	*out = NULL;
	return 0;
}

/* Refuses a line break, as at a file's end: the key is sent in a header, where it would fail
 * later. */
int config_check_key(const char *provider, const char *key, struct err *e)
{
	for (const char *at = key; *at; at++)
		if (*at < ' ' || *at > '~')
			return err_set(e,
				"the key for the provider %s holds a byte outside printable ASCII, "
				"perhaps a stray line break: set it again without",
				provider);
	return 0;
}

int config_provider_key(const struct config *config, const struct config_provider *provider,
	char **out, struct err *e)
{
	const char *value = provider->api_key_env ? getenv(provider->api_key_env) : NULL;
	char *key = NULL;
	if (provider->auth == AUTH_NONE) {
		*out = NULL;
		return 0;
	}
	if (value && *value)
		key = strdup(value);
	else if (key_from_directory(config, provider->name, &key, e))
		return -1;
	if (!key && !provider->loopback) {
		if (e)
			e->number = ENOENT;
		return err_set(e,
			"there is no key for the provider %s: %s%s%sput it into %s/secrets.yaml "
			"(mode 0600) as `providers: {%s: KEY}`",
			provider->name, provider->api_key_env ? "set " : "",
			provider->api_key_env ? provider->api_key_env : "",
			provider->api_key_env ? ", or " : "",
			config->store->config_dir ? config->store->config_dir
						  : "the configuration directory",
			provider->name);
	}
	if (key && config_check_key(provider->name, key, e)) {
		explicit_bzero(key, strlen(key));
		free(key);
		return -1;
	}
	*out = key;
	return 0;
}

const char *config_sent_text(const struct config_provider *provider, const char *what,
	const struct config_sent *sent, struct err *e)
{
	const char *text = sent->text ? sent->text : getenv(sent->env);
	if (!text || !*text) {
		if (e)
			e->number = ENOENT;
		err_set(e, "there is no value for the %s %s of the provider %s: set %s", what,
			sent->name, provider->name, sent->env ? sent->env : "it");
		return NULL;
	}
	for (const char *at = text; *at; at++)
		if (*at < ' ' || *at > '~') {
			err_set(e,
				"the %s %s of the provider %s holds a byte outside printable "
				"ASCII, perhaps a stray line break: set it again without",
				what, sent->name, provider->name);
			return NULL;
		}
	return text;
}
