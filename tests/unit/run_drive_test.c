/* Whole runs in this process, of machines that need no jail: begin, resume, waits, pokes, stops,
 * budgets, replay, and journals that say something else than their machine. */
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "config/config.h"
#include "instance/pokes.h"
#include "instance/recover.h"
#include "instance/stop.h"
#include "journal/journal.h"
#include "run/drive.h"
#include "run/replay.h"
#include "run/status.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct config *config;
static struct statedir statedir;
static int instances;

struct trial {
	struct fixture fixture;
	struct instance instance;
	struct drive_request request;
	struct drive_listener listener;
	struct drive_result result;
	int lines, notices;
};

static void count_line(void *ctx, const char *line, size_t len)
{
	struct trial *t = ctx;
	(void)line;
	(void)len;
	t->lines++;
}

static void count_notice(void *ctx, const char *text)
{
	struct trial *t = ctx;
	diag("%s", text);
	t->notices++;
}

static void trial_init(struct trial *trial, const char *yaml)
{
	char id[32];
	struct err e = ERR_NONE;
	*trial = (struct trial){.listener = {.line = count_line, .notice = count_notice}};
	trial->listener.ctx = trial;
	fixture_init(&trial->fixture, yaml);
	if (!trial->fixture.m)
		bail("the fixture is wrong: %s", trial->fixture.findings.items[0].message);
	snprintf(id, sizeof(id), "i%d", ++instances);
	if (instance_lock(&statedir, id, &trial->instance, &e))
		bail("%s", e.text);
	trial->request = (struct drive_request){.machine = trial->fixture.m,
		.config = config,
		.bundle_digest = "sha256:one",
		.workspace = statedir.workspace,
		.allow_root = true};
}

static void trial_done(struct trial *trial)
{
	instance_done(&trial->instance);
	fixture_done(&trial->fixture);
}

static enum run_status go(struct trial *trial)
{
	trial->lines = 0;
	drive_run(&trial->instance, &trial->request, &trial->listener, &trial->result);
	return trial->result.status;
}

static json_t *blackboard_of(struct trial *trial, struct err *e)
{
	struct replay_request q = {.machine = trial->fixture.m, .to_seq = UINT64_MAX};
	struct drive_result result;
	json_t *board = NULL;
	return replay_run(&trial->instance, &q, &result, &board, e) ? NULL : board;
}

#define HEAD "machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 9}\n"
#define DONE "  done: {kind: terminal, status: ok, reason: 'all of it'}\n"

static const char *const short_wait = HEAD
	"vars: {operator: {n: {type: int, value: 3}}}\nstates:\n"
	"  a: {kind: branch, when: [{if: 'n == 3', goto: w}, {else: true, goto: done}]}\n"
	"  w: {kind: wait, until: '2001-01-01', notify: 'n is {{ n }}', on: {tick: b, signal: b}}\n"
	"  b: {kind: branch, when: [{else: true, goto: done}]}\n" DONE;

#define PARKED                                                                                     \
	"vars: {operator: {n: {type: int, value: 3}, f: {type: 'list[float]', value: []}}}\n"      \
	"states:\n"                                                                                \
	"  a: {kind: wait, on: {signal: b}}\n"                                                     \
	"  b: {kind: wait, every_secs: 3600, on: {tick: done, signal: done}}\n" DONE

static const char *const parked = HEAD PARKED;
/* The same machine with the budget lowered to the one transition that it has made. */
static const char *const lowered = "machine: m\nversion: 1\ninitial: a\n"
				   "budget: {max_transitions: 1}\n" PARKED;

static void test_run(void)
{
	struct trial t;
	trial_init(&t, short_wait);
	is(go(&t), RUN_OK, "a machine runs to its end");
	is_str(t.result.reason, "all of it", "with its terminal's reason");
	is(t.result.totals.transitions, 3, "after three transitions");
	is(t.lines, 7, "every line is told: begin, 3 steps, notify, wait.armed, end");
	is(t.notices, !geteuid(), "and root that it is root, nothing else");
	uint64_t lines = 0;
	is(replay_verify(&t.instance, &lines, NULL), 0, "the journal verifies");
	is(lines, 7, "all of it");
	is(go(&t), RUN_OK, "a second run says how it ended");
	ok(t.result.already_ended && t.lines == 0, "and does nothing");
	json_auto_t *poke = json_object();
	ok(pokes_add(&t.instance, poke, NULL) < 0, "an ended machine refuses pokes");
	struct stat st;
	fstatat(t.instance.dir_fd, "journal.jsonl", &st, 0);
	is(st.st_mode & 0777, 0600, "the journal is the user's own");
	trial_done(&t);
}

static void test_parameters(void)
{
	struct trial t;
	trial_init(&t, short_wait);
	json_auto_t *two = json_pack("{s:i}", "n", 2), *text = json_pack("{s:s}", "n", "2");
	t.request.parameters = text;
	is(go(&t), RUN_REFUSED, "a parameter of another type begins nothing");
	t.request.parameters = two;
	is(go(&t), RUN_OK, "a parameter steers");
	is(t.result.totals.transitions, 1, "another way");
	trial_done(&t);
	trial_init(&t, parked);
	t.request.exit_on_wait = true;
	is(go(&t), RUN_WAITING, "a machine without the parameter");
	t.request.parameters = two;
	is(go(&t), RUN_REFUSED, "is not continued with another value");
	trial_done(&t);
}

/* A float may be given as an integer, and then is the same float. */
static void test_float_parameter(void)
{
	struct trial t;
	json_auto_t *whole = json_pack("{s:[i,i]}", "f", 1, 2);
	json_auto_t *same = json_pack("{s:[f,i]}", "f", 1.0, 2);
	json_auto_t *other = json_pack("{s:[f,i]}", "f", 1.5, 2);
	trial_init(&t, parked);
	t.request.exit_on_wait = true;
	t.request.parameters = whole;
	is(go(&t), RUN_WAITING, "a machine begun with an integer");
	t.request.parameters = same;
	is(go(&t), RUN_WAITING, "goes on with the same number as a float");
	t.request.parameters = other;
	is(go(&t), RUN_REFUSED, "and not with another");
	trial_done(&t);
}

static void test_waits(void)
{
	struct trial t;
	struct err e = ERR_NONE;
	trial_init(&t, parked);
	t.request.exit_on_wait = true;
	is(go(&t), RUN_WAITING, "a wait is left with --exit-on-wait");
	is(t.lines, 2, "begin and wait.armed are written");
	is(go(&t), RUN_WAITING, "a look at it");
	is(t.lines, 0, "writes nothing");
	json_auto_t *payload = json_pack("{s:{s:i}}", "data", "n", 1);
	for (int i = 0; i < 64; i++)
		if (pokes_add(&t.instance, payload, &e))
			bail("%s", e.text);
	ok(pokes_add(&t.instance, payload, &e) < 0, "the 65th poke is refused");
	json_auto_t *status = status_run(&t.instance, t.fixture.m, NULL);
	is(json_integer_value(json_object_get(status, "pokes")), 64, "and not queued");
	is_str(json_string_value(json_object_get(status, "status")), "waiting", "it waits");
	is(go(&t), RUN_OK, "two pokes wake two waits");
	is(t.result.seq, 2, "one each");
	status = (json_decref(status), status_run(&t.instance, t.fixture.m, NULL));
	is(json_integer_value(json_object_get(status, "pokes")), 62, "the rest stays");
	trial_done(&t);
}

/* A poke whose step is durable but whose file is still there wakes nothing more. */
static void test_poke_once(void)
{
	struct trial t;
	trial_init(&t, parked);
	t.request.exit_on_wait = true;
	go(&t);
	json_auto_t *payload = json_pack("{s:s}", "message", "go");
	pokes_add(&t.instance, payload, NULL);
	AUTO_FREE char *name = NULL;
	int pokes = openat(t.instance.dir_fd, "pokes", O_RDONLY | O_DIRECTORY);
	DIR *dir = fdopendir(pokes);
	for (const struct dirent *d; (d = readdir(dir));)
		if (strstr(d->d_name, ".json"))
			name = strdup(d->d_name);
	ok(name && linkat(dirfd(dir), name, t.instance.dir_fd, "kept", 0) == 0, "a poke is queued");
	is(go(&t), RUN_WAITING, "it wakes one wait");
	is(t.result.seq, 1, "and no more");
	ok(linkat(t.instance.dir_fd, "kept", dirfd(dir), name, 0) == 0, "its file comes back");
	is(go(&t), RUN_WAITING, "the next start knows it");
	is(t.result.seq, 1, "and takes no step for it");
	ok(faccessat(dirfd(dir), name, F_OK, 0) != 0, "but removes it");
	closedir(dir);
	trial_done(&t);
}

static void test_persisted_instant(void)
{
	struct trial t;
	trial_init(&t, parked);
	t.request.exit_on_wait = true;
	go(&t);
	json_auto_t *payload = json_pack("{s:s}", "message", "go");
	pokes_add(&t.instance, payload, NULL);
	is(go(&t), RUN_WAITING, "the second wait is armed");
	int64_t wake = t.result.wake_unix_us;
	ok(wake > clock_realtime_us(), "for an instant to come");
	is(go(&t), RUN_WAITING, "and again");
	is(t.result.wake_unix_us, wake, "which a restart does not move");
	AUTO_FREE char *text = NULL;
	size_t len;
	ok(io_read_file(t.instance.dir_fd, "wait.json", 4096, &text, &len, NULL) == 0 &&
			strstr(text, "\"state\":\"b\""),
		"wait.json shows it");
	struct fixture other;
	fixture_init(&other, lowered);
	t.request.machine = other.m;
	is(go(&t), RUN_BUDGET, "a budget that is lowered meanwhile ends it before it wakes");
	ok(faccessat(t.instance.dir_fd, "wait.json", F_OK, 0) != 0, "and it waits no more");
	fixture_done(&other);
	trial_done(&t);
}

static void test_stop(void)
{
	struct trial t;
	trial_init(&t, parked);
	struct err e = ERR_NONE;
	AUTO_FREE char *id = strdup(t.instance.id);
	AUTO_FD int stale = openat(t.instance.dir_fd, "stop", O_CREAT | O_WRONLY, 0600);
	ok(stale >= 0, "a stop request from before the start");
	instance_done(&t.instance);
	is(instance_lock(&statedir, id, &t.instance, &e), 0, "%s", e.text);
	t.request.exit_on_wait = true;
	is(go(&t), RUN_WAITING, "does not stop it");
	is(stop_ask(&t.instance, &e), 0, "one that was accepted before it ran %s", e.text);
	is(go(&t), RUN_STOPPED, "is not lost");
	sigset_t term;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	raise(SIGTERM);
	is(go(&t), RUN_TERMINATED, "SIGTERM parks it at the boundary");
	is(run_status_exit(t.result.status), 143, "with its exit code");
	is(go(&t), RUN_WAITING, "and it goes on from there");
	trial_done(&t);
}

static void test_budgets(void)
{
	struct trial t;
	trial_init(&t,
		"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 5}\n"
		"states:\n"
		"  a: {kind: wait, until: '2001-01-01', on: {tick: a, signal: done}}\n" DONE);
	is(go(&t), RUN_BUDGET, "max_transitions ends a loop");
	is(run_status_exit(t.result.status), 3, "with exit code 3");
	is(t.result.totals.transitions, 5, "after as many");
	has_str(t.result.reason, "max_transitions (5)", "and says so");
	trial_done(&t);
	trial_init(&t,
		"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 1}\n"
		"states:\n"
		"  a: {kind: wait, until: '2001-01-01', on: {tick: done, signal: done}}\n" DONE);
	is(go(&t), RUN_OK, "the last allowed transition may reach a terminal");
	trial_done(&t);
}

/* Each limit lets a path go exactly as far as it says, whatever the kind of the next state. */
static void test_exact_budgets(void)
{
	static const char *const next[] = {NULL, "w", "b", NULL};
	for (int most = 1; most < (int)ARRAY_LEN(next); most++) {
		struct trial t;
		char yaml[1000], want[64];
		snprintf(yaml, sizeof(yaml),
			"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: %d}\n%s",
			most, short_wait + strlen(HEAD));
		trial_init(&t, yaml);
		is(go(&t), next[most] ? RUN_BUDGET : RUN_OK, "max_transitions: %d", most);
		is(t.result.totals.transitions, most, "are made");
		snprintf(want, sizeof(want), "max_transitions (%d) is used up before state %s",
			most, next[most] ? next[most] : "");
		is_str(t.result.reason, next[most] ? want : "all of it", "and the next is named");
		trial_done(&t);
	}
}

static void test_halt(void)
{
	struct trial t;
	trial_init(&t, HEAD "schemas: {r: {x: {type: int, optional: true}}}\n"
			    "vars: {operator: {r: {type: r, value: {}}}}\nstates:\n"
			    "  a: {kind: branch, when: [{if: 'r.x > 1', goto: done}, "
			    "{else: true, goto: done}]}\n" DONE);
	is(go(&t), RUN_FAILED, "a read of an absent field halts the machine");
	has_str(t.result.reason, "r.x", "and names it");
	is(go(&t), RUN_FAILED, "for good");
	ok(t.result.already_ended, "as its journal says");
	trial_done(&t);
}

/* A terminal may say more than fits a status line, in letters of two bytes. */
static void test_long_reason(void)
{
	struct trial t;
	enum { LETTERS = 3000 };
	AUTO_BUF text;
	buf_init(&text, 1 << 16);
	for (int i = 0; i < LETTERS; i++)
		buf_adds(&text, "\xc3\xbc");
	json_auto_t *given = json_pack("{s:s}", "text", text.data);
	trial_init(&t, HEAD "vars: {operator: {text: {type: str, value: x}}}\nstates:\n"
			    "  a: {kind: terminal, status: ok, reason: '{{ text }}'}\n");
	t.request.parameters = given;
	is(go(&t), RUN_OK, "a long reason is no obstacle");
	size_t len = strlen(t.result.reason);
	is(utf8_prefix(t.result.reason, len), len, "what is shown of it is whole letters");
	is(len, 1022, "as many as fit");
	json_auto_t *board = blackboard_of(&t, NULL);
	ok(board != NULL, "it replays");
	json_auto_t *status = status_run(&t.instance, t.fixture.m, NULL);
	is(strlen(json_string_value(json_object_get(status, "reason"))), 1022, "and has a status");
	is(go(&t), RUN_OK, "and a snapshot");
	trial_done(&t);
}

/* --- journals that were changed and chained anew ---------------------------------------------- */

/* A change to one event: `type` and `seq` (0: any) select it, `value` is JSON. */
struct edit {
	const char *type;
	int seq;
	const char *within, *key, *value;
};

static void change(json_t *event, const struct edit *e)
{
	const char *type = json_string_value(json_object_get(event, "t"));
	if (!e->type || strcmp(type, e->type) != 0 ||
		(e->seq && json_integer_value(json_object_get(event, "seq")) != e->seq))
		return;
	json_t *map = e->within ? json_object_get(event, e->within) : event;
	if (json_object_set_new(map, e->key, json_loads(e->value, JSON_DECODE_ANY, NULL)))
		bail("cannot change %s", e->key);
}

/* Line by line. */
static void rewrite(struct trial *trial, const struct edit *edit)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	struct journal_mark mark = journal_start();
	AUTO_BUF out;
	buf_init(&out, 1 << 20);
	if (io_read_file(trial->instance.dir_fd, "journal.jsonl", 1 << 20, &text, &len, NULL))
		bail("no journal");
	for (char *at = text, *nl; *at; at = nl + 1) {
		nl = strchr(at, '\n');
		json_auto_t *event = journal_decode(at, (size_t)(nl - at), NULL);
		change(event, edit);
		if (journal_encode(event, mark.chain, &out, NULL))
			bail("cannot encode");
	}
	if (io_replace_file(trial->instance.dir_fd, "journal.jsonl", out.data, out.len, 0600, NULL))
		bail("cannot write");
}

static const char *const branches =
	"machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 3000}\n"
	"vars: {operator: {n: {type: int, value: 3}}}\nstates:\n"
	"  a: {kind: branch, when: [{if: 'n == 0', goto: done}, {else: true, goto: b}]}\n"
	"  b: {kind: branch, when: [{else: true, goto: a}]}\n" DONE;

/* Looks for the end in the journal when the first step is reported. */
static void look_for_end(void *ctx, const char *line, size_t len)
{
	struct trial *t = ctx;
	AUTO_FREE char *text = NULL;
	if (t->lines++ != 1)
		return;
	(void)line;
	if (io_read_file(t->instance.dir_fd, "journal.jsonl", 1 << 24, &text, &len, NULL))
		bail("no journal");
	t->lines += strstr(text, "\n{\"t\":\"end\"") ? 1 << 20 : 0;
}

/* They ride with the next commit, which would outgrow every limit. */
static void test_many_branches(void)
{
	struct trial t;
	trial_init(&t, branches);
	t.listener.line = look_for_end;
	is(go(&t), RUN_BUDGET, "branches go on until the budget ends them");
	is(t.lines, 3002, "each is told, in more than one piece");
	trial_done(&t);
}

static void test_divergence(void)
{
	static const struct {
		struct edit edit;
		const char *says;
	} cases[] = {
		{{0}, NULL},
		{{"step", 2, NULL, "label", "\"signal\""}, "seq 2: label signal is recorded"},
		{{"step", 2, NULL, "goto", "\"done\""}, "seq 2: edge tick -> done is recorded"},
		{{"step", 1, "fact", "clause", "1"}, "seq 1: clause 1 is recorded"},
		{{"step", 2, NULL, "state", "\"nowhere\""}, "seq 2: it is about state nowhere"},
		{{"step", 2, NULL, "seq", "7"}, "step: seq is not 2"},
		{{"step", 2, NULL, "t", "\"begin\""}, ": a second begin"},
		{{"step", 2, NULL, "t", "\"novel\""},
			"type \"novel\"; a newer version of agent6 may have written it"},
		{{"step", 2, NULL, "ts", "\"noon\""}, "seq 2: ts is not an instant"},
		{{"end", 0, NULL, "blackboard", "\"sha256:0\""}, "blackboard"},
		{{"begin", 0, "parameters", "nobody", "1"}, "nobody"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct trial t;
		struct err e = ERR_NONE;
		trial_init(&t, short_wait);
		go(&t);
		unlinkat(t.instance.dir_fd, "snapshot.json", 0);
		rewrite(&t, &cases[i].edit);
		uint64_t lines;
		is(replay_verify(&t.instance, &lines, NULL), 0, "a journal chained anew verifies");
		json_auto_t *board = blackboard_of(&t, &e);
		if (cases[i].says)
			has_str(e.text, cases[i].says, "but replay says: %s", cases[i].says);
		else
			ok(board != NULL, "and replays when nothing was changed");
		is(go(&t), cases[i].says ? RUN_DAMAGED : RUN_OK, "and so does a start");
		if (cases[i].says)
			has_str(t.result.reason, "; bring the file back from a copy",
				"with what to do about it");
		trial_done(&t);
	}
}

static bool count_applied(void *ctx, const struct line *line, const struct position *position)
{
	(void)line;
	(void)position;
	++*(uint64_t *)ctx;
	return false;
}

/* --- snapshots -------------------------------------------------------------------------------- */

/* Returns the instance's position by its journal, with its snapshot used at any length. */
static uint64_t recovered_seq(struct trial *trial, uint64_t *lines_read)
{
	AUTO_FD int fd = openat(trial->instance.dir_fd, "journal.jsonl", O_RDONLY);
	struct recovery r = {.instance = &trial->instance,
		.machine = trial->fixture.m,
		.fd = fd,
		.each = count_applied,
		.ctx = lines_read};
	struct err e = ERR_NONE;
	*lines_read = 0;
	is(recover(&r, &e), RECOVER_DONE, "it is recovered");
	uint64_t seq = r.position.seq;
	position_done(&r.position);
	return seq;
}

static void replace_snapshot(struct trial *trial, const char *text)
{
	if (io_replace_file(
		    trial->instance.dir_fd, "snapshot.json", text, strlen(text), 0600, NULL))
		bail("cannot write a snapshot");
}

/* The machine waits, and has left this behind. */
static char *parked_snapshot(struct trial *trial)
{
	char *text;
	size_t len;
	trial_init(trial, parked);
	trial->request.exit_on_wait = true;
	go(trial);
	if (io_read_file(trial->instance.dir_fd, "snapshot.json", 1 << 20, &text, &len, NULL))
		bail("no snapshot");
	return text;
}

static void test_snapshot(void)
{
	static const char *const fallen[] = {"\"chain\":\"",
		"\"transitions\":", "\"position_sha256\":\"", "\"digest\":\"sha256:"};
	static const char *const damaged[] = {"", "{", "{}", "[1]", "{\"version\":1}",
		"{\"version\":1,\"journal\":{\"offset\":-1,\"lines\":0,\"chain\":\"\"}}"};
	struct trial t, another;
	uint64_t applied;
	AUTO_FREE char *foreign = parked_snapshot(&another);
	AUTO_FREE char *old = parked_snapshot(&t);
	is(recovered_seq(&t, &applied), 0, "a snapshot is taken");
	is(applied, 0, "and nothing in front of it is read");
	json_auto_t *payload = json_pack("{s:s}", "message", "go");
	pokes_add(&t.instance, payload, NULL);
	go(&t);
	replace_snapshot(&t, old);
	is(recovered_seq(&t, &applied), 1, "an old snapshot is a shorter way to the same place");
	is(applied, 2, "by the lines behind it");
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		replace_snapshot(&t, damaged[i]);
		is(recovered_seq(&t, &applied), 1, "a damaged one is ignored: %s", damaged[i]);
		is(applied, 4, "for the whole journal");
	}
	for (size_t i = 0; i < ARRAY_LEN(fallen); i++) {
		char *digit = strstr(old, fallen[i]) + strlen(fallen[i]);
		*digit ^= 1;
		replace_snapshot(&t, old);
		is(recovered_seq(&t, &applied), 1, "one in which a bit fell over, too: %s",
			fallen[i]);
		is(applied, 4, "for the whole journal");
		*digit ^= 1;
	}
	replace_snapshot(&t, foreign);
	is(recovered_seq(&t, &applied), 1, "one of another journal too");
	is(applied, 4, "for the whole journal");
	trial_done(&another);
	trial_done(&t);
}

int main(void)
{
	char workspace[4096], state[4096];
	struct err e = ERR_NONE;
	snprintf(workspace, sizeof(workspace), "%s/ws", tap_scratch());
	snprintf(state, sizeof(state), "%s/state", tap_scratch());
	mkdir(workspace, 0700);
	config = config_rehearsal(NULL, 0, API_ANTHROPIC, "http://127.0.0.1:1", state);
	if (statedir_find(workspace, state, "ws", &statedir, &e))
		bail("%s", e.text);
	test_run();
	test_parameters();
	test_float_parameter();
	test_waits();
	test_poke_once();
	test_persisted_instant();
	test_stop();
	test_budgets();
	test_exact_budgets();
	test_halt();
	test_long_reason();
	test_many_branches();
	test_divergence();
	test_snapshot();
	statedir_done(&statedir);
	config_free(config);
	return tap_done();
}
