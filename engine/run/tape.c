#include "run/tape.h"

#include "base/io.h"
#include "base/json.h"
#include "run/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The directory may lie where commands can write: a link or a pipe in the cassette's place would
 * lead our writing elsewhere. */
static int open_cassette(const struct live *w, const char *name, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = io_open_plain(w->record_fd, name, O_WRONLY | O_CREAT | O_APPEND, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || st.st_nlink != 1)
		return err_set(e, "%s has other names, too", name);
	return TAKE_FD(fd);
}

/* Takes `line`. */
static int add(const struct live *w, json_t *line, struct err *e)
{
	json_auto_t *taken = line;
	AUTO_FREE char *text = json_text(taken);
	size_t len = text ? strlen(text) : 0;
	char name[DRIVE_NAME_BYTES + 8];
	if (!text)
		return err_set(e, "out of memory");
	text[len] = '\n';
	snprintf(name, sizeof(name), "%s.jsonl", w->machine);
	AUTO_FD int fd = open_cassette(w, name, e);
	return fd < 0 || io_write(fd, text, len + 1) ? err_errno(e, "cannot write %s", name) : 0;
}

/* What a rehearsal will ask again: the model is the operator's choice, and the messages repeat what
 * `prompt`, `last` and `turn` say. */
static json_t *recorded_match(const json_t *request)
{
	static const char *const kept[] = {"prompt", "last", "turn", "tools"};
	json_t *match = json_object();
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_object_get(request, kept[i]))
			json_object_set(match, kept[i], json_object_get(request, kept[i]));
	return match;
}

void tape_exchange(const struct live *w, const char *state, const json_t *line)
{
	struct err e = ERR_NONE;
	if (w->record_fd >= 0 && add(w,
					 json_pack("{s:s,s:o,s:O*}", "state", state, "match",
						 recorded_match(json_object_get(line, "request")),
						 "reply", json_object_get(line, "reply")),
					 &e))
		live_notice(w, "an exchange of state %s is not recorded in %s: %s", state,
			w->record_dir, e.text);
}

struct poke {
	const struct live *live;
	const char *state;
	const json_t *payload;
};

static int add_poke(void *ctx, const json_t *secrets, struct err *e)
{
	const struct poke *p = ctx;
	return add(p->live,
		json_pack("{s:s,s:o}", "state", p->state, "poke",
			p->live->without_secrets(secrets, p->payload)),
		e);
}

void tape_poke(const struct live *w, const char *state, const json_t *payload)
{
	struct err e = ERR_NONE;
	struct poke poke = {w, state, payload};
	if (w->record_fd >= 0 && secret_apart(w->config, add_poke, &poke, w->record_fd, &e))
		live_notice(w, "what state %s was poked with is not recorded in %s: %s", state,
			w->record_dir, e.text);
}
