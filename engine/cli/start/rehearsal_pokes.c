#include "cli/start/rehearsal_pokes.h"

#include "base/io.h"
#include "base/json.h"
#include "instance/pokes.h"
#include "instance/reduce.h"
#include "machine/kind.h"
#include <fcntl.h>
#include <string.h>

enum { CASSETTE_BYTES_MAX = 32 * 1024 * 1024 };

/* --- reading ---------------------------------------------------------------------------------- */

static int add(struct rehearsal_pokes *pokes, const struct machine *machine, const json_t *line,
	struct err *e)
{
	json_t *poke = json_object_get(line, "poke");
	const char *name = json_get_text(line, "state");
	const struct state *s = machine_state(machine, name);
	if (!poke && json_object_get(line, "reply") && (!s || !state_is(s, TRAIT_MODEL)))
		return err_set(e,
			"\"reply\" needs an agent state, and the machine has none called \"%.64s\"",
			name);
	if (!poke)
		return 0;
	if (!s || !state_wait(s))
		return err_set(
			e, "\"poke\" needs a wait, and the machine has none called \"%s\"", name);
	/* An empty poke is the one that `machine poke ID` sends. */
	json_auto_t *sent =
		json_object_size(poke) ? json_incref(poke) : json_pack("{s:s}", "message", "");
	if (reduce_poke(s, sent, NULL, e))
		return err_wrap(e, "state \"%s\" does not take this poke", name);
	json_t *queue = json_object_get(pokes->pokes, name);
	if (!queue) {
		queue = json_array();
		json_object_set_new(pokes->pokes, name, queue);
	}
	return json_array_append(queue, sent);
}

static int read_cassette(struct rehearsal_pokes *pokes, const struct machine *machine,
	const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len, number = 1;
	const char *slash = strrchr(path, '/');
	if (io_read_file(AT_FDCWD, path, CASSETTE_BYTES_MAX, &text, &len, e))
		return -1;
	for (char *line = text, *end = text + len; line < end; number++) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((newline ? newline : end) - line);
		/* agent6-cassette reads all lines, and refuses one that is not JSON. */
		json_auto_t *value = json_read(line, size, size, NULL);
		if (value && add(pokes, machine, value, e))
			return err_wrap(e, "%s:%zu", slash ? slash + 1 : path, number);
		line += size + 1;
	}
	return 0;
}

int rehearsal_pokes_read(struct rehearsal_pokes *pokes, const struct machine *machine,
	char *const *cassettes, int count, struct err *e)
{
	*pokes = (struct rehearsal_pokes){json_object(), json_object(), journal_start()};
	for (int i = 0; i < count; i++)
		if (read_cassette(pokes, machine, cassettes[i], e))
			return -1;
	return 0;
}

void rehearsal_pokes_done(struct rehearsal_pokes *pokes)
{
	json_decref(pokes->pokes);
	json_decref(pokes->woken);
	*pokes = (struct rehearsal_pokes){0};
}

/* --- giving ----------------------------------------------------------------------------------- */

static void count_woken(void *ctx, const json_t *fields)
{
	struct rehearsal_pokes *c = ctx;
	AUTO_LINE line;
	line_decode(fields, &line, NULL);
	bool taken = line.type == LINE_STEP && line.fact.kind == FACT_WAIT &&
		     line.fact.wait.woke_by == WOKEN_BY_POKE;
	if (taken || line.type == LINE_REFUSED)
		json_add_int(c->woken, line.state, 1);
}

int rehearsal_pokes_give(struct rehearsal_pokes *pokes, const struct instance *instance,
	const char *state, enum cue *out, struct err *e)
{
	*out = pokes_count(instance) ? CUE_GIVEN : CUE_NONE;
	if (*out == CUE_GIVEN)
		return 0;
	AUTO_FD int fd = instance_journal(instance, e);
	if (fd < 0 || journal_each(fd, &pokes->read, count_woken, pokes, e))
		return -1;
	const json_t *payload = json_array_get(
		json_object_get(pokes->pokes, state), (size_t)json_get_int(pokes->woken, state));
	if (!payload)
		return 0;
	*out = CUE_GIVEN;
	return pokes_add(instance, payload, e);
}
