#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

void path_normalise(const char *path, char out[POLICY_PATH_BYTES])
{
	size_t n = 0;
	bool absolute = *path == '/';
	while (*path && n + 1 < POLICY_PATH_BYTES) {
		size_t len = strcspn(path, "/");
		bool up = len == 2 && !strncmp(path, "..", 2);
		if (up && absolute) {
			while (n && out[--n] != '/')
				;
		} else if (len && !(len == 1 && *path == '.') && n + len + 2 < POLICY_PATH_BYTES) {
			if (n || absolute)
				out[n++] = '/';
			memcpy(out + n, path, len);
			n += len;
		}
		path += len + (path[len] == '/');
	}
	if (!n && absolute)
		out[n++] = '/';
	out[n] = '\0';
}

/* A trailing wildcard for everything in a directory is the directory, for who deletes it. */
static void normalise_tree(const char *path, char out[POLICY_PATH_BYTES])
{
	path_normalise(path, out);
	char *base = strrchr(out, '/');
	if (base && word_in(base + 1, WORDS("*", ".*", "{*,.*}", "..?*", ".[!.]*")))
		base[base == out] = '\0';
}

bool path_is_root(const char *path)
{
	char p[POLICY_PATH_BYTES];
	normalise_tree(path, p);
	return !strcmp(p, "/");
}

bool path_is_home(const struct judge *j, const char *path)
{
	static const char *const spellings[] = {"~", "$HOME", "${HOME}", "/root"};
	char p[POLICY_PATH_BYTES];
	normalise_tree(path, p);
	/* It, or with nothing but dots behind it, what is above. */
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		size_t len = strlen(spellings[i]);
		if (!strncmp(p, spellings[i], len) && !p[len + strspn(p + len, "./")])
			return true;
	}
	if (j->world->home && !strcmp(p, j->world->home))
		return true;
	const char *end = strncmp(p, "${HOME:", 7) ? NULL : strchr(p, '}');
	if (end && !end[1 + strspn(end + 1, "./")])
		return true;
	/* ~user, /home, /home/user */
	return (p[0] == '~' && !strchr(p, '/')) || !strcmp(p, "/home") ||
	       (!strncmp(p, "/home/", 6) && !strchr(p + 6, '/'));
}

bool path_is_above(const struct judge *j, const char *path)
{
	static const char *const here[] = {"$PWD", "${PWD}"};
	char whole[POLICY_PATH_BYTES], p[POLICY_PATH_BYTES];
	const char *workspace = j->world->workspace;
	bool relative = *path != '/';
	for (size_t i = 0; i < ARRAY_LEN(here); i++)
		if (!strncmp(path, here[i], strlen(here[i])))
			path += strlen(here[i]);
	int n = snprintf(whole, sizeof(whole), "%s%s%s", relative && workspace ? workspace : "",
		relative ? "/" : "", path);
	if (!workspace || n < 0 || n >= POLICY_PATH_BYTES)
		return false;
	normalise_tree(whole, p);
	size_t len = strlen(p);
	return !strcmp(p, "/") || (!strncmp(workspace, p, len) && workspace[len] == '/');
}

bool path_is_outside(const struct judge *j, const char *path)
{
	char p[POLICY_PATH_BYTES];
	const char *workspace = j->world->workspace;
	if (*path == '~' || !strncmp(path, "$HOME", 5) || !strncmp(path, "${HOME", 6))
		return true;
	path_normalise(path, p);
	if (*p != '/')
		return !strncmp(path, "..", 2);
	size_t len = workspace ? strlen(workspace) : 0;
	bool inside = len && !strncmp(p, workspace, len) && (!p[len] || p[len] == '/');
	return !inside && strncmp(p, "/tmp/", 5) && strcmp(p, "/dev/null");
}

bool path_is_stdin(const char *path)
{
	return word_in(path, WORDS("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"));
}

bool path_is_sensitive(const char *path)
{
	static const char *const parts[] = {".ssh/", ".gnupg/", ".aws/", ".config/agent6/",
		"/.netrc", ".git-credentials", "/etc/shadow", "/etc/gshadow", ".docker/config.json",
		".kube/config"};
	static const char *const names[] = {".env", ".env.*", "*.pem", "*.key", "id_rsa*",
		"id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", ".git-credentials", "secrets.yaml",
		"secrets.toml", ".npmrc", ".pypirc", ".ssh", ".gnupg", ".aws"};
	if (*path == '@')
		path++;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(path, parts[i]))
			return true;
	if (!fnmatch("/proc/*/environ", path, 0))
		return true;
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!fnmatch(names[i], base, 0))
			return true;
	return false;
}

bool path_is_socket(const char *path)
{
	return !strncmp(path, "/dev/tcp/", 9) || !strncmp(path, "/dev/udp/", 9);
}

bool path_is_device(const char *path)
{
	static const char *const sinks[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/stdout",
		"/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/random", "/dev/urandom", NULL};
	char p[POLICY_PATH_BYTES];
	path_normalise(path, p);
	if (word_in(p, sinks) || !strncmp(p, "/dev/fd/", 8) || !strncmp(p, "/dev/shm/", 9) ||
		path_is_socket(p))
		return false;
	return !strcmp(p, "/dev") || !strncmp(p, "/dev/", 5) || !strncmp(p, "/proc/sys", 9) ||
	       !strncmp(p, "/sys/", 5) ||
	       word_in(p, WORDS("/etc/passwd", "/etc/shadow", "/etc/sudoers"));
}
