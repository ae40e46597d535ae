#include "base/io.h"
#include "base/json.h"
#include "cli/bundle/signers.h"
#include "cli/start/interface_help.h"
#include "cli/start/parameters.h"
#include "cli/start/start.h"
#include "cli/verb/setup.h"
#include "instance/recover.h"
#include "report/show.h"
#include "run/workspace.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *overrides_of(const struct call *call)
{
	static const char *const names[] = {
		"allow-uncommitted", "allow-root", "allow-root-jail", "auto-approve"};
	json_t *out = json_array();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		/* Root runs where AGENT6_ALLOW_ROOT allows it, too. */
		bool root = !strcmp(names[i], "allow-root") && !geteuid();
		if (call_has(call, names[i]) || root)
			json_array_append_new(out, json_string(names[i]));
	}
	return out;
}

struct running {
	const struct call *call;
	struct setup setup;
};

/* Tells where the commits of a machine that writes code are; they are easily overlooked. */
static void tell_branch(
	const struct show *show, const struct start *start, const struct drive_result *result)
{
	struct instance i = INSTANCE_NONE;
	struct workspace_branch b;
	struct err e = ERR_NONE;
	if (!show_tells(show) || !*result->state ||
		instance_open(start->statedir, start->id, &i, &e))
		return;
	if (workspace_branch(&i, result->seq, &b))
		printf("Its commits: %s\n", b.log);
	instance_done(&i);
}

/* The file that takes the machine's result. Its directory is opened before anything runs: a command
 * of the machine cannot lead the file elsewhere by a link. */
struct result_file {
	const char *path, *name;
	int dir_fd;
};

static int result_file_open(
	struct result_file *output, const char *path, const struct machine *machine, struct err *e)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	*output = (struct result_file){path, slash ? slash + 1 : path, -1};
	if (!path)
		return 0;
	if (!machine->result)
		return err_set(e,
			"--output: machine \"%s\" has no result; it declares no `returns`",
			machine->name);
	if (!*output->name)
		return err_set(e, "--output: %s names no file", path);
	AUTO_FREE char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	output->dir_fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return output->dir_fd < 0 ? err_errno(e, "--output: cannot open %s", dir ? dir : path) : 0;
}

/* Writes the result of a run that has ended with one; else the file stays as it is. */
static int result_file_write(
	const struct result_file *output, const struct start *start, struct err *e)
{
	struct instance i = INSTANCE_NONE;
	struct err none = ERR_NONE;
	if (!output->path || instance_open(start->statedir, start->id, &i, &none))
		return 0;
	AUTO_FD int journal = instance_journal(&i, &none);
	AUTO_LINE line;
	recover_last(journal, &line, &none);
	instance_done(&i);
	if (line.type != LINE_END || !line.end.returns)
		return 0;
	AUTO_BUF text = BUF_INIT(SIZE_MAX / 4);
	json_write(&text, line.end.returns);
	buf_addc(&text, '\n');
	return io_replace_file(output->dir_fd, output->name, text.data, text.len, 0644, e)
		       ? err_wrap(e, "--output %s", output->path)
		       : 0;
}

static int run_loaded(void *ctx, const struct loaded *loaded)
{
	struct running *r = ctx;
	const struct call *c = r->call;
	struct err e = ERR_NONE;
	struct drive_result result;
	struct show show;
	char principal[SIGN_PRINCIPAL_BYTES];
	const char *id = call_value(c, "id");
	if (signers_check(c, r->setup.config, loaded->bundle, principal, &e))
		return verb_fail(EXIT_REFUSED, &e);
	const char *record = call_value(c, "record");
	if (record && mkdir(record, 0700) && errno != EEXIST) {
		err_errno(&e, "cannot create %s", record);
		return verb_fail(EXIT_REFUSED, &e);
	}
	if (call_value(c, "allowed-signers")) /* reserved like the configured file */
		r->setup.config->machine.allowed_signers = call_value(c, "allowed-signers");
	json_auto_t *overrides = overrides_of(c);
	json_auto_t *parameters = parameters_read(c, loaded->machine, &e);
	struct result_file output = {.dir_fd = -1};
	if (!parameters || result_file_open(&output, call_value(c, "output"), loaded->machine, &e))
		return verb_fail(EXIT_REFUSED, &e);
	AUTO_FD int output_fd = output.dir_fd;
	struct start start = {.statedir = &r->setup.statedir,
		.repository = r->setup.repository.top,
		.config = r->setup.config,
		.authored = loaded,
		.id = id ? id : loaded->machine->name,
		.digest = call_value(c, "digest"),
		.gate = !call_has(c, "allow-uncommitted"),
		.parameters = parameters,
		.overrides = overrides,
		.paths = &r->setup.paths,
		.record_dir = record,
		.allow_root = call_has(c, "allow-root"),
		.allow_root_jail = call_has(c, "allow-root-jail"),
		.auto_approve = call_has(c, "auto-approve"),
		.exit_on_wait = call_has(c, "exit-on-wait")};
	show_init(&show, call_has(c, "json"), call_has(c, "quiet"));
	show.id = start.id;
	show.machine = loaded->machine;
	show_terminal(&show);
	struct drive_listener listener = show_listener(&show);
	start_run(&start, &listener, &result);
	/* A timer may start the run again after its end. */
	bool again = result.already_ended && !(start.exit_on_wait && result.status == RUN_OK);
	if (again)
		show_ended(&show, start.id, &result);
	else
		show_result(&show, start.id, &result);
	tell_branch(&show, &start, &result);
	show_done(&show);
	if (result_file_write(&output, &start, &e))
		return verb_fail(EXIT_FAILED, &e);
	if (again)
		return EXIT_REFUSED;
	return result.exit_code ? result.exit_code : run_status_exit(result.status);
}

/* Refuses an instance's id in place of a bundle. */
static int refuse_id(const struct setup *setup, const char *named, struct err *e)
{
	struct instance i = INSTANCE_NONE;
	struct err none = ERR_NONE;
	if (!access(named, F_OK) || !instance_id_valid(named) ||
		instance_open(&setup->statedir, named, &i, &none))
		return 0;
	err_set(e,
		"there is no bundle %s, but an instance: name the bundle that it began with, or "
		"let it go on with its own copy: agent6 machine run --id %s %s/bundle",
		named, named, i.path);
	instance_done(&i);
	return -1;
}

static int run(const struct call *call)
{
	struct running r = {.call = call};
	struct err e = ERR_NONE;
	if (setup_open(&r.setup, call))
		return EXIT_REFUSED;
	if (!call_has(call, "quiet")) {
		setup_tell(&r.setup);
		setup_tell_link(&r.setup);
	}
	int code = refuse_id(&r.setup, call->arguments[0], &e)
			   ? verb_fail(EXIT_REFUSED, &e)
			   : loaded_with(call->arguments[0], run_loaded, &r);
	setup_done(&r.setup);
	return code;
}

static void explain(const struct call *call)
{
	interface_help(call->arguments[0]);
}

static const struct verb_option options[] = {
	{"id", "ID", "name the instance (default: the machine's name)", false},
	{"set", "NAME=VALUE", "set an operator parameter", true},
	{"params", "FILE", "read operator parameters from a YAML, JSON or TOML file", false},
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{"exit-on-wait", NULL, "park at a wait and exit 0 instead of sleeping", false},
	{"allow-uncommitted", NULL, "run a bundle that git does not hold as it is", false},
	{"allow-root", NULL, "run although this is root (AGENT6_ALLOW_ROOT=1)", false},
	{"allow-root-jail", NULL, "as root, accept file systems without id-mapped mounts", false},
	{"auto-approve", NULL, "let agents run commands up to level `write` without asking", false},
	{"digest", "sha256:HEX", "refuse a bundle with any other digest", false},
	{"allowed-signers", "FILE", "refuse a bundle that nobody in FILE signed", false},
	{"output", "FILE", "write the machine's result to FILE as JSON when it ends with one",
		false},
	{"record", "DIR", "keep every provider exchange and poke as a cassette in DIR", false},
	{"json", NULL, "print the journal's lines as they are committed", false},
	{"quiet", NULL, "print errors only", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_run = {.path = "machine run",
	.summary = "start a machine, or continue the instance that has begun",
	.arguments = "BUNDLE",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = "The working directory is the workspace. Every step is journaled before the "
		   "next begins, so the same command continues after any interruption.\n"
		   "An instance that has ended is refused, but for --exit-on-wait where it ended "
		   "ok: another --id begins a new one, `machine prune` removes the old.\n"
		   "`agent6 machine run BUNDLE --help` also lists the parameters, the result and "
		   "the ends of that machine.\n"
		   "Exit status: 0 ended ok, waiting or stopped; 1 failed; 2 refused, nothing "
		   "ran; 3 a budget; 5 journal damaged; 125 no sandbox; 130, 143 interrupted.",
	.options = options,
	.run = run,
	.explain = explain};
