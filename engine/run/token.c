#include "run/token.h"

#include "base/capture.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/num.h"
#include "run/hook.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	COMMAND_MS = 30 * 1000,
	PRINTED_BYTES_MAX = 64 * 1024,
	SAID_BYTES_MAX = 4096,
	SHOWN_BYTES = 200,
	KEPT_BYTES_MAX = 1024 * 1024,
	USUAL_SECS = 5 * 60,
	LONGEST_SECS = 365 * 24 * 60 * 60,
	EARLY_SECS = 30, /* a token is not used up to its last moment */
};

/* The token that a command printed. */
struct token {
	char *text; /* heap */
	int64_t secs;
};

int token_open(struct err *e)
{
	int fd = memfd_create("tokens", MFD_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot make memory for the providers' tokens") : fd;
}

/* --- what is kept --- */

/* Makes processes wait for one another, so that a token is fetched once. */
static void lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	while (fcntl(fd, F_SETLKW, &whole) < 0 && errno == EINTR)
		continue;
}

static json_t *read_kept(int fd)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > KEPT_BYTES_MAX)
		return json_object();
	size_t len = (size_t)st.st_size;
	char *text = malloc(len);
	json_t *kept = text && pread(fd, text, len, 0) == (ssize_t)len
			       ? json_read(text, len, KEPT_BYTES_MAX, NULL)
			       : NULL;
	if (text)
		explicit_bzero(text, len);
	free(text);
	return kept ? kept : json_object();
}

static void write_kept(int fd, const json_t *kept)
{
	AUTO_BUF text = BUF_INIT(KEPT_BYTES_MAX);
	if (fd < 0 || json_write(&text, kept) || ftruncate(fd, 0))
		return;
	io_write_at(fd, text.data, text.len, 0);
	explicit_bzero(text.data, text.size);
}

static char *find_kept(const json_t *kept, const char *provider)
{
	const json_t *entry = json_object_get(kept, provider);
	const char *text = json_string_value(json_object_get(entry, "token"));
	return text && json_get_int(entry, "until_ms") > clock_monotonic_ms() ? strdup(text) : NULL;
}

char *token_kept(const struct config_provider *provider, int kept_fd)
{
	json_auto_t *kept = read_kept(kept_fd);
	return find_kept(kept, provider->name);
}

/* --- what a command prints --- */

/* Returns `expires_in` in seconds; some services write it as a text. */
static int64_t lifetime(const json_t *value)
{
	int64_t secs = USUAL_SECS;
	const char *text = json_string_value(value);
	if (json_is_number(value) && json_number_value(value) <= LONGEST_SECS)
		secs = (int64_t)json_number_value(value);
	else if (json_is_number(value))
		secs = LONGEST_SECS;
	else if (text && num_int(text, strlen(text), &secs) < 0)
		secs = USUAL_SECS;
	return secs < LONGEST_SECS ? secs : LONGEST_SECS;
}

/* Reads the answer of an OAuth server; any other text is the key itself. */
static int read_printed(const char *text, size_t len, struct token *out, struct err *e)
{
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	*out = (struct token){.secs = USUAL_SECS};
	if (!len)
		return err_set(e, "printed nothing");
	if (*text != '{') {
		out->text = strndup(text, len);
		return out->text ? 0 : err_set(e, "out of memory");
	}
	json_auto_t *all = json_read(text, len, PRINTED_BYTES_MAX, NULL);
	const char *token = json_string_value(json_object_get(all, "access_token"));
	if (!token || !*token)
		return err_set(e, "printed %s",
			all ? "JSON without the text `access_token`" : "text that is no JSON");
	out->secs = lifetime(json_object_get(all, "expires_in"));
	out->text = strdup(token);
	return out->text ? 0 : err_set(e, "out of memory");
}

/* Copies the last line that is not blank, for a message. */
static void last_words(const struct buf *said, char out[SHOWN_BYTES])
{
	size_t end = said->len, start, used = 0;
	while (end && isspace((unsigned char)said->data[end - 1]))
		end--;
	for (start = end; start && said->data[start - 1] != '\n';)
		start--;
	if (end > start)
		used = (size_t)snprintf(out, SHOWN_BYTES, ": ");
	for (size_t i = start; i < end && used + 1 < SHOWN_BYTES; i++)
		out[used++] = said->data[i] < ' ' || said->data[i] > '~' ? '?' : said->data[i];
	out[used] = '\0';
}

static int judge(int status, const struct buf *said, struct err *e)
{
	char words[SHOWN_BYTES] = "";
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	last_words(said, words);
	if (WIFSIGNALED(status))
		return err_set(e, "was killed by signal %d%s", WTERMSIG(status), words);
	return err_set(e, "failed with exit status %d%s", WEXITSTATUS(status), words);
}

static int run(const struct config *config, const struct config_list *command, struct token *out,
	struct err *e)
{
	AUTO_FREE char *program = hook_program(config, command->items[0]);
	AUTO_FREE char **argv = calloc(command->count + 1, sizeof(*argv));
	AUTO_BUF said = BUF_INIT(SAID_BYTES_MAX);
	struct buf printed;
	struct err why = ERR_NONE;
	if (!program)
		return err_set(e, "is not there, or cannot be run");
	if (!argv)
		return err_set(e, "out of memory");
	memcpy(argv, command->items, command->count * sizeof(*argv));
	argv[0] = program;
	struct capture_spec spec = {.argv = argv,
		.env = environ,
		.stdin_fd = -1,
		.deadline_ms = COMMAND_MS,
		.own_session = true};
	buf_init(&printed, PRINTED_BYTES_MAX);
	int status = capture_run(&spec, &printed, &said, &why);
	int rc = status >= 0 ? judge(status, &said, e)
		 : why.number == EFBIG
			 ? err_set(e, "printed more than %d KiB", PRINTED_BYTES_MAX / 1024)
		 : why.number == ETIMEDOUT
			 ? err_set(e, "took longer than %d s", COMMAND_MS / 1000)
			 : err_set(e, "could not be run to its end: %s", why.text);
	rc = rc ? rc : read_printed(printed.data, printed.len, out, e);
	explicit_bzero(printed.data, printed.size);
	buf_done(&printed);
	return rc;
}

static int fetch(const struct config *config, const struct config_provider *provider, json_t *kept,
	char **out, struct err *e)
{
	struct token token = {.secs = USUAL_SECS};
	struct err why = ERR_NONE;
	if (run(config, &provider->token_command, &token, &why))
		return err_set(e, "there is no key for the provider %s: its token_command, %s, %s",
			provider->name, provider->token_command.items[0], why.text);
	if (config_check_key(provider->name, token.text, e)) {
		explicit_bzero(token.text, strlen(token.text));
		free(token.text);
		return -1;
	}
	int64_t early = token.secs / 10 < EARLY_SECS ? token.secs / 10 : EARLY_SECS;
	json_object_set_new(kept, provider->name,
		json_pack("{s:s,s:I}", "token", token.text, "until_ms",
			(json_int_t)(clock_monotonic_ms() + (token.secs - early) * 1000)));
	*out = token.text;
	return 0;
}

int token_take(const struct config *config, const struct config_provider *provider, int kept_fd,
	char **out, struct err *e)
{
	if (kept_fd >= 0)
		lock(kept_fd, F_WRLCK);
	json_auto_t *kept = read_kept(kept_fd);
	int rc = 0;
	*out = find_kept(kept, provider->name);
	if (!*out) {
		rc = fetch(config, provider, kept, out, e);
		if (!rc)
			write_kept(kept_fd, kept);
	}
	if (kept_fd >= 0)
		lock(kept_fd, F_UNLCK);
	return rc;
}
