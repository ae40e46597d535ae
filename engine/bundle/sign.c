#include "bundle/sign.h"

#include "base/capture.h"
#include "base/io.h"
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { SIGN_BYTES_MAX = 64 * 1024, SIGN_DEADLINE_MS = 120000, SIGN_ENV_MAX = 8 };

/* Writes "NAME.asm.sig". */
static void signature_path(const struct bundle *bundle, char out[PATH_MAX])
{
	size_t len = strlen(bundle->named);
	while (len > 1 && bundle->named[len - 1] == '/')
		len--;
	snprintf(out, PATH_MAX, "%.*s.sig", (int)len, bundle->named);
}

/* Builds the environment: only what a passphrase prompt and an agent need. */
static void build_env(char *env[SIGN_ENV_MAX + 1], char storage[SIGN_ENV_MAX][PATH_MAX])
{
	static const char *const names[] = {
		"HOME", "TERM", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY"};
	size_t count = 0;
	snprintf(storage[count], PATH_MAX, "PATH=/usr/bin:/bin");
	env[count] = storage[count];
	count++;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);
		if (!value)
			continue;
		snprintf(storage[count], PATH_MAX, "%s=%.4000s", names[i], value);
		env[count] = storage[count];
		count++;
	}
	env[count] = NULL;
}

/* Runs ssh-keygen with the digest on its standard input. */
static int keygen(
	const struct bundle *bundle, const char *const *args, struct buf *out, struct err *e)
{
	char storage[SIGN_ENV_MAX][PATH_MAX], *env[SIGN_ENV_MAX + 1], *argv[16];
	size_t n = 0;
	AUTO_BUF words = BUF_INIT(4096);
	AUTO_FD int in = io_memory_file("the digest", bundle->digest, strlen(bundle->digest), e);
	if (in < 0)
		return -1;
	argv[n++] = (char *)(uintptr_t) "/usr/bin/ssh-keygen";
	for (; *args; args++)
		argv[n++] = (char *)(uintptr_t)*args;
	argv[n] = NULL;
	build_env(env, storage);
	struct capture_spec spec = {
		.argv = argv, .env = env, .stdin_fd = in, .deadline_ms = SIGN_DEADLINE_MS};
	int status = capture_run(&spec, out, &words, e);
	if (status > 0)
		return err_set(e, "ssh-keygen refuses: %.*s",
			words.len ? (int)strcspn(words.data, "\r\n") : 14,
			words.len ? words.data : "without a word");
	return status;
}

/* Refuses a pipe, for whose writer ssh-keygen would wait. For a missing file it has its own
 * message. */
static int check_file(const char *path, struct err *e)
{
	struct stat st;
	return !stat(path, &st) && !S_ISREG(st.st_mode)
		       ? err_set(e, "%s is not a regular file", path)
		       : 0;
}

int sign_write(const struct bundle *bundle, const char *key_file, struct err *e)
{
	char path[PATH_MAX];
	const char *const args[] = {"-Y", "sign", "-n", "agent6-bundle", "-f", key_file, NULL};
	AUTO_BUF signature = BUF_INIT(SIGN_BYTES_MAX);
	if (check_file(key_file, e) || keygen(bundle, args, &signature, e))
		return -1;
	/* ssh-keygen exits with 0 even if its output was lost. */
	if (!signature.len || !strstr(signature.data, "\n-----END SSH SIGNATURE-----\n"))
		return err_set(e, "ssh-keygen did not print a whole signature");
	signature_path(bundle, path);
	return io_publish_file(path, signature.data, signature.len, e);
}

bool sign_exists(const struct bundle *bundle)
{
	char path[PATH_MAX];
	signature_path(bundle, path);
	return !access(path, R_OK);
}

int sign_verify(const struct bundle *bundle, const char *allowed_signers,
	char principal[SIGN_PRINCIPAL_BYTES], struct err *e)
{
	char path[PATH_MAX];
	AUTO_BUF found = BUF_INIT(SIGN_BYTES_MAX), verdict = BUF_INIT(SIGN_BYTES_MAX);
	signature_path(bundle, path);
	if (access(path, R_OK))
		return err_errno(
			e, "the bundle is not signed (`agent6 machine sign` does it): %s", path);
	if (check_file(path, e) || check_file(allowed_signers, e))
		return -1;
	if (access(allowed_signers, R_OK))
		return err_errno(
			e, "cannot read %s, which says whose signatures count", allowed_signers);
	const char *const find[] = {
		"-Y", "find-principals", "-s", path, "-f", allowed_signers, NULL};
	if (keygen(bundle, find, &found, e)) {
		bool bare = strstr(e->text, "invalid key") != NULL; /* a line without its name */
		return err_wrap(e, "%s is by nobody whom %s accepts%s", path, allowed_signers,
			bare ? ", whose lines are NAME KEY, as `ada@example.org ssh-ed25519 "
			       "AAAA...`"
			     : "");
	}
	snprintf(principal, SIGN_PRINCIPAL_BYTES, "%.*s", (int)strcspn(found.data, "\r\n"),
		found.data);
	const char *const verify[] = {"-Y", "verify", "-n", "agent6-bundle", "-I", principal, "-s",
		path, "-f", allowed_signers, NULL};
	return keygen(bundle, verify, &verdict, e)
		       ? err_wrap(e, "%s does not vouch for this bundle", path)
		       : 0;
}
