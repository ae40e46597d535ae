#include "report/layers.h"

#include "report/text.h"
#include <string.h>

enum { LAYERS_BYTES_MAX = 16 * 1024 * 1024 };

/* Words for layers; "" for a value without interest. */
static const struct {
	/* Value NULL: any other; the value may follow the words. */
	const char *name, *value, *words;
} layer_words[] = {
	{"profile", NULL, ""},
	{"uid", "mapped", "an unused user id"},
	{"uid", "same", "the caller's user id"},
	{"uid", NULL, "user id: %s"},
	{"namespaces", "null", "no namespaces"},
	{"namespaces", NULL, "namespaces %s"},
	{"network", "none", "no network"},
	{"network", "proxy", "network by proxy"},
	{"network", NULL, "network: %s"},
	{"proc", NULL, "/proc: %s"},
	{"unix_sockets", "open", ""},
	{"unix_sockets", NULL, "no unix sockets"},
	{"scan", "whole", ""},
	{"scan", "none", ""}, /* unix sockets are closed */
	{"scan", NULL, "search for sockets cut short"},
	{"memory", "rlimit", "memory of each process by rlimit"},
	{"memory", "watch", "memory by its watched sum"},
	{"memory", NULL, "memory by %s"},
	{"processes", NULL, "processes by %s"},
	{"landlock", "0", "no Landlock"},
	{"landlock", NULL, "Landlock ABI %s"},
	{"landlock_abi", "0", "no Landlock"},
	{"landlock_abi", NULL, "Landlock ABI %s"},
	{"landlock_scopes", "true", "Landlock scopes"},
	{"landlock_scopes", NULL, "no Landlock scopes"},
	{"landlock_tcp", "true", "Landlock for TCP"},
	{"landlock_tcp", NULL, "no Landlock for TCP"},
	{"landlock_files", "true", "Landlock for files"},
	{"landlock_files", NULL, "no Landlock for files"},
	{"seccomp", "0", "no seccomp"},
	{"seccomp", NULL, "seccomp"},
	{"capabilities", "true", "no capabilities"},
	{"capabilities", "none", "no capabilities"},
	{"capabilities", NULL, "capabilities kept"},
	{"keyring", "true", "an own keyring"},
	{"userns_limit", "true", "no new user namespaces"},
	{"userns_limit", NULL, "no limit on user namespaces"},
	{"watches", "true", "half of the inotify watches"},
	{"watches", NULL, "no limit on inotify watches"},
	{"idmap", "true", "id-mapped mounts"},
	{"idmap", NULL, ""},
	{"protect", "true", "protected paths"},
	{"protect", NULL, "no protected paths"},
	{"pinned", "0", ""},
	{"pinned", NULL, "directories pinned: %s"},
	{"masked", "0", ""},
	{"masked", NULL, "sockets masked: %s"},
	{"no_new_privs", "true", "no new privileges"},
	{"reaper", "true", "nothing outlives it"},
	{"dumpable", "false", "not dumpable"},
	{"user_namespace", "true", "an own user namespace"},
	{"network_namespace", NULL, "network namespace: %s"},
	{"sockets", "none", "no new sockets"},
};

static const char *words_of(const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(layer_words); i++)
		if (!strcmp(layer_words[i].name, name) &&
			(!layer_words[i].value || !strcmp(layer_words[i].value, value)))
			return layer_words[i].words;
	return NULL;
}

void layers_word(struct buf *out, const char *name, const json_t *value)
{
	AUTO_FREE char *text =
		json_is_string(value) ? strdup(json_string_value(value)) : json_text(value);
	const char *words = text ? words_of(name, text) : "";
	const char *blank = words ? strstr(words, "%s") : NULL;
	if (!words)
		buf_addf(out, "%s: %s", name, text);
	else if (blank)
		buf_addf(out, "%.*s%s", (int)(blank - words), words, text);
	else
		buf_adds(out, words);
}

void layers_text(struct buf *out, const json_t *layers, size_t indent)
{
	const char *name;
	json_t *value;
	AUTO_BUF all = BUF_INIT(LAYERS_BYTES_MAX), clean = BUF_INIT(LAYERS_BYTES_MAX);
	json_object_foreach ((json_t *)(uintptr_t)layers, name, value) {
		AUTO_BUF layer = BUF_INIT(512);
		layers_word(&layer, name, value);
		if (layer.len)
			buf_addf(&all, "%s%s", all.len ? ", " : "", layer.data);
	}
	text_clean(&clean, all.len ? all.data : "none", SIZE_MAX);
	wrap_text(out, clean.data, indent, text_page_columns());
	buf_addc(out, '\n');
}
