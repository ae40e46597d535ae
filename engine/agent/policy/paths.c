/* Paths as the text of a command names them. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <string.h>

void path_normalise(const char *path, char out[POLICY_PATH_BYTES])
{
	size_t used = 0;
	bool absolute = *path == '/';
	while (*path && used + 1 < POLICY_PATH_BYTES) {
		size_t len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2) && absolute) {
			while (used && out[--used] != '/')
				;
		} else if (len && !(len == 1 && *path == '.') &&
			   used + len + 2 < POLICY_PATH_BYTES) {
			if (used || absolute)
				out[used++] = '/';
			memcpy(out + used, path, len);
			used += len;
		}
		path += len + (path[len] == '/');
	}
	if (!used && absolute)
		out[used++] = '/';
	out[used] = '\0';
}

/* Normalises a path; a trailing wildcard for a directory's whole content is the directory. */
static void normalise_tree(const char *path, char out[POLICY_PATH_BYTES])
{
	path_normalise(path, out);
	char *base = strrchr(out, '/');
	if (base && list_has("* .* {*,.*} ..?* .[!.]*", base + 1, false))
		base[base == out] = '\0';
}

/* Reports whether the path is a home directory, however it is spelled, or above it. */
static bool is_home(const struct judge *judge, const char *path)
{
	static const char *const spellings[] = {"~", "$HOME", "${HOME}", "/root"};
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		size_t len = strlen(spellings[i]);
		if (!strncmp(path, spellings[i], len) && !path[len + strspn(path + len, "./")])
			return true;
	}
	const char *end = strncmp(path, "${HOME:", 7) ? NULL : strchr(path, '}');
	return (judge->world->home && !strcmp(path, judge->world->home)) ||
	       (end && !end[1 + strspn(end + 1, "./")]) || (*path == '~' && !strchr(path, '/')) ||
	       !strcmp(path, "/home") || (!fnmatch("/home/*", path, FNM_PATHNAME));
}

bool path_is_vital(const struct judge *judge, const char *path)
{
	char whole[POLICY_PATH_BYTES], tree[POLICY_PATH_BYTES];
	const char *workspace = judge->world->workspace;
	normalise_tree(path, tree);
	if (!strcmp(tree, "/") || is_home(judge, tree))
		return true;
	bool relative = *path != '/';
	path += !strncmp(path, "$PWD", 4) ? 4 : !strncmp(path, "${PWD}", 6) ? 6 : 0;
	int len = snprintf(
		whole, sizeof(whole), "%s/%s", relative && workspace ? workspace : "", path);
	if (!workspace || len < 0 || len >= POLICY_PATH_BYTES)
		return false;
	normalise_tree(whole, tree);
	size_t bytes = strlen(tree);
	return !strcmp(tree, "/") || (!strncmp(workspace, tree, bytes) && workspace[bytes] == '/');
}

bool path_is_outside(const struct judge *judge, const char *path)
{
	char whole[POLICY_PATH_BYTES];
	const char *workspace = judge->world->workspace;
	if (*path == '~' || !strncmp(path, "$HOME", 5) || !strncmp(path, "${HOME", 6))
		return true;
	path_normalise(path, whole);
	if (*whole != '/')
		return !strncmp(path, "..", 2);
	size_t len = workspace ? strlen(workspace) : 0;
	bool inside = len && !strncmp(whole, workspace, len) && (!whole[len] || whole[len] == '/');
	return !inside && strncmp(whole, "/tmp/", 5) && strcmp(whole, "/dev/null");
}

bool path_is_stdin(const char *path)
{
	return list_has("- /dev/stdin /dev/fd/0 /proc/self/fd/0", path, false);
}

bool path_is_sensitive(const char *path)
{
	path += *path == '@';
	const char *base = strrchr(path, '/');
	return list_has("*.ssh/* *.gnupg/* *.aws/* *.config/agent6/* */.netrc* *.git-credentials* "
			"*/etc/shadow* */etc/gshadow* *.docker/config.json* *.kube/config* "
			"/proc/*/environ",
		       path, true) ||
	       list_has(
		       ".env .env.* *.pem *.key id_rsa* id_dsa* id_ecdsa* id_ed25519* .netrc "
		       ".git-credentials secrets.yaml secrets.toml .npmrc .pypirc .ssh .gnupg .aws",
		       base ? base + 1 : path, true);
}

bool path_is_socket(const char *path)
{
	return !strncmp(path, "/dev/tcp/", 9) || !strncmp(path, "/dev/udp/", 9);
}

bool path_is_device(const char *path)
{
	char whole[POLICY_PATH_BYTES];
	path_normalise(path, whole);
	if (list_has("/dev/null /dev/zero /dev/full /dev/std* /dev/tty /dev/random /dev/urandom "
		     "/dev/fd/* /dev/shm/* /dev/tcp/* /dev/udp/*",
		    whole, true))
		return false;
	return list_has(
		"/dev /dev/* /proc/sys* /sys/* /etc/passwd /etc/shadow /etc/sudoers", whole, true);
}
