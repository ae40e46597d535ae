#include "base/io.h"
#include "base/json.h"
#include "base/landlock.h"
#include "base/num.h"
#include "cli/check/apparmor.h"
#include "cli/check/probe.h"
#include "cli/check/probe_target.h"
#include "cli/verb/jail_call.h"
#include "cli/verb/verb.h"
#include "confine/offline.h"
#include "report/text.h"
#include "run/profile.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum { PROBE_SECS = 20, ANSWER_BYTES_MAX = 64 * 1024, NOBODY = 65534 };

/* The trial of one profile. */
struct trial {
	const char *profile;
	bool works;
	struct err why;  /* why it does not work */
	json_t *layers;  /* the layers that the launcher applied */
	json_t *answers; /* probe -> errno inside; 0: it succeeded */
	bool hit;        /* a target was reached, whatever the probe reported */
};

struct checking {
	int landlock_abi;
	struct utsname host;
	struct probe_target target;
	/* Probe -> errno without a jail: a probe that fails there proves nothing. */
	json_t *outside;
	struct trial trials[2];
	char *directory; /* for root: the working directory, owned; NULL: not examined */
	struct err here; /* why a strict jail cannot write there; empty: it can */
};

/* --- trying ----------------------------------------------------------------------------------- */

/* Reads everything written to `fd` as JSON. */
static json_t *read_answers(int fd, struct err *e)
{
	AUTO_BUF text = BUF_INIT(ANSWER_BYTES_MAX);
	if (lseek(fd, 0, SEEK_SET) < 0 || io_read_all(fd, &text, "the probes' answers", e))
		return NULL;
	return json_read(text.data, text.len, ANSWER_BYTES_MAX, e);
}

static int memory_file(struct err *e)
{
	int fd = memfd_create("answers", MFD_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot make a memory file") : fd;
}

static json_t *try_outside(const struct probe_target *target, struct err *e)
{
	AUTO_FD int answers = memory_file(e);
	if (answers < 0)
		return NULL;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		const char *name;
		json_t *value;
		json_object_foreach (target->env, name, value)
			setenv(name, json_string_value(value), 1);
		if (dup2(answers, 1) < 0 || chdir(target->workspace))
			_exit(1);
		_exit(probe_inside());
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
		err_errno(e, "cannot start the probes");
		return NULL;
	}
	return read_answers(answers, e);
}

/* The address sanitizer's shadow exceeds a command's usual memory. */
#ifdef __SANITIZE_ADDRESS__
enum { PROBE_MEMORY_MB = 1 << 24 };
#else
enum { PROBE_MEMORY_MB = 512 };
#endif

static struct jail_order probe_order(const struct probe_target *target)
{
	return (struct jail_order){
		.argv = json_pack("[s,s,s,s]", target->program, "check", "sandbox", "--inside"),
		.env = json_incref(target->env),
		.timeout_secs = PROBE_SECS};
}

static int try_inside(struct trial *trial, struct probe_target *target, struct err *e)
{
	AUTO_JAIL_STATUS status = {.given = false};
	AUTO_JAIL_POLICY policy =
		jail_policy_of(jail_profile_find(trial->profile), target->workspace, JAIL_WRITE);
	AUTO_FREE char *bundle =
		strndup(target->program, (size_t)(strrchr(target->program, '/') - target->program));
	policy.bundle = bundle;
	policy.memory_mb = PROBE_MEMORY_MB;
	AUTO_FD int answers = memory_file(e), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (answers < 0 || nothing < 0)
		return -1;
	int stdio[] = {nothing, answers, nothing};
	probe_target_hit(target);
	struct jail_order order = probe_order(target);
	int code = jail_call(&policy, &order, stdio, NULL, &status, e);
	jail_order_done(&order);
	trial->layers = json_incref(status.layers);
	if (code < 0)
		return -1;
	if (status.error)
		return err_set(e, "%s", status.error);
	trial->answers = read_answers(answers, e);
	trial->hit = probe_target_hit(target);
	return trial->answers ? 0 : err_wrap(e, "the probe ended with status %d", code);
}

/* Tries a profile. Without namespaces root's command runs as the workspace's owner, who must not be
 * root. The root of a user namespace to whom no other id is mapped (EINVAL) is not the host's
 * root. */
static int try_profile(struct trial *trial, struct probe_target *target)
{
	bool hardened = !strcmp(trial->profile, "hardened");
	if (hardened && geteuid() == 0 && chown(target->workspace, NOBODY, NOBODY) &&
		errno != EINVAL)
		return err_errno(&trial->why, "cannot give %s away", target->workspace);
	trial->works = !try_inside(trial, target, &trial->why);
	return 0;
}

/* Tries the working directory for root, whose commands run as another user. They are refused if its
 * file system cannot map ids. */
static void try_directory(struct checking *checking)
{
	AUTO_JAIL_STATUS status = {.given = false};
	if (geteuid() || !checking->trials[0].works)
		return;
	checking->directory = getcwd(NULL, 0);
	AUTO_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_JAIL_POLICY policy = profile_probe(JAIL_STRICT, false);
	int stdio[] = {nothing, nothing, nothing};
	if (!checking->directory || nothing < 0)
		return;
	policy.workspace = checking->directory;
	policy.access = JAIL_WRITE;
	struct jail_order order = profile_order(NULL);
	if (jail_call(&policy, &order, stdio, NULL, &status, &checking->here) >= 0 && status.error)
		err_set(&checking->here, "%s", status.error);
	jail_order_done(&order);
}

/* --- judging ---------------------------------------------------------------------------------- */

enum holding { HELD, OPEN, UNTRIED };

static enum holding judge(
	const struct checking *checking, const struct trial *trial, const char *probe)
{
	const json_t *inside = json_object_get(trial->answers, probe);
	if (!json_is_integer(inside) || !json_integer_value(inside))
		return OPEN;
	return json_get_int(checking->outside, probe) ? UNTRIED : HELD;
}

static size_t count_open(const struct checking *checking, const struct trial *trial)
{
	size_t open = trial->works && trial->hit;
#define PROBE_COUNT(name, says) open += trial->works && judge(checking, trial, #name) == OPEN;
	PROBES(PROBE_COUNT)
	return open;
}

static const char *automatic(const struct checking *checking)
{
	for (size_t i = 0; i < ARRAY_LEN(checking->trials); i++)
		if (checking->trials[i].works)
			return checking->trials[i].profile;
	return NULL;
}

static long long sysctl_value(const char *name)
{
	char path[128], text[32] = "";
	int64_t value = -1;
	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	return len <= 0 || num_int(text, strcspn(text, "\n"), &value) ? -1 : (long long)value;
}

/* Returns why strict does not work, as far as the host tells, and how to change that. */
static json_t *find_fixes(const struct checking *checking)
{
	json_t *fixes = json_array();
	if (checking->trials[0].works)
		return fixes;
	static const struct {
		const char *sysctl;
		long long value;
		const char *fix;
	} known[] = {
		{"kernel/apparmor_restrict_unprivileged_userns", 1,
			"AppArmor keeps user namespaces from programs without a profile: run "
			"`sudo agent6 check sandbox --install-apparmor`"},
		{"kernel/unprivileged_userns_clone", 0,
			"user namespaces are switched off: run `sudo sysctl -w "
			"kernel.unprivileged_userns_clone=1`, and put it in /etc/sysctl.d to keep "
			"it"},
		{"user/max_user_namespaces", 0,
			"no user namespace is allowed: run `sudo sysctl -w "
			"user.max_user_namespaces=15000`, and put it in /etc/sysctl.d to keep it"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (sysctl_value(known[i].sysctl) == known[i].value)
			json_array_append_new(fixes, json_string(known[i].fix));
	if (syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) && errno == ENOSYS)
		json_array_append_new(fixes,
			json_string("this kernel has no mount_setattr: start Linux 5.12 or newer"));
	if (!access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK))
		json_array_append_new(fixes,
			json_string("this is a container whose seccomp filter may forbid "
				    "namespaces: start "
				    "it with `--security-opt seccomp=unconfined --security-opt "
				    "apparmor=unconfined --security-opt systempaths=unconfined`"));
	return fixes;
}

static json_t *hardened_limits(const struct checking *checking)
{
	json_t *list = json_array();
	if (!checking->trials[1].works)
		return list;
	static const char *const always[] = {
		"hide the names, sizes and other metadata of the host's files",
		("hide what /proc says: processes with their arguments, network connections, what "
		 "the kernel was started with"),
		("protect .git and the bundle from a command that may write the directory around "
		 "them, any other repository there included, or keep one from being made: what a "
		 "command makes a repository is moved aside once it has ended"),
		("cover named pipes in what a command may write or read: it can talk to whoever "
		 "has opened them"),
		("protect or hide anything else there (agent6 itself, its configuration and what "
		 "it starts on the host, sandbox.protect, sandbox.hide: refused)"),
		"keep a command from changing mode, owner, times, attributes of its files outside",
		("give a command POSIX shared memory or semaphores: /dev/shm is the host's "
		 "(Python's "
		 "multiprocessing pools fail)"),
		"give a tool a list of hosts (allow_network as a list is refused)"};
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		json_array_append_new(list, json_string(always[i]));
	if (checking->landlock_abi < 6)
		json_array_append_new(
			list, json_string("keep signals to processes of the same user "
					  "inside (Landlock ABI 6, Linux 6.12)"));
	if (checking->landlock_abi < 9)
		json_array_append_new(list, json_string("tell named unix sockets apart (Landlock "
							"ABI 9, Linux 7.1), so commands "
							"get none at all"));
	return list;
}

static const char *memory_layer(const struct trial *trial)
{
	return trial->works ? json_get_text(trial->layers, "memory") : "";
}

/* Returns the limits without effect: the kernel counts these for all processes of a user together,
 * and an ordinary user cannot give a command a share of its own; or nothing counts them. */
static json_t *unbounded(const struct checking *checking)
{
	const struct trial *strict = &checking->trials[0], *hardened = &checking->trials[1];
	const char *strict_memory = memory_layer(strict), *memory = memory_layer(hardened);
	json_t *list = json_array();
	json_array_append_new(
		list, json_string("watches of epoll (fs.epoll.max_user_watches) and pages of pipes "
				  "(fs.pipe-user-pages-soft): all of the user's"));
	json_array_append_new(
		list, json_string("descriptors on their way in sockets: half of the user's"));
	if (hardened->works || !json_is_true(json_object_get(strict->layers, "watches")))
		json_array_append_new(list,
			json_string(strict->works ? "on hardened, inotify instances and watches: "
						    "all of the user's"
						  : "inotify instances and watches: all of the "
						    "user's"));
	if (!strcmp(strict_memory, "rlimit") || !strcmp(memory, "rlimit"))
		json_array_append_new(
			list, json_string("memory: every process may have memory_mb, and what they "
					  "share is not counted"));
	if (!strcmp(strict_memory, "watch") || !strcmp(memory, "watch"))
		json_array_append_new(list,
			json_string("memory that the watched sum does not see: in sockets and "
				    "pipes, in files on their way in sockets, of pages that "
				    "nobody has mapped any more (a control group sees it: "
				    "sandbox.limits.memory_by)"));
	return list;
}

/* --- showing ---------------------------------------------------------------------------------- */

enum {
	TABLE_COLUMNS = 72,
	SAYS_COLUMNS = 11,
	ANSWER_COLUMNS = 54,
	ITEM_COLUMNS = 4,
	NAME_COLUMNS = 10
};

/* Adds a probe's line. On a narrow terminal its answer comes below. */
static void add_probe(struct buf *out, enum holding verdict, const char *says, int64_t answer)
{
	static const char *const words[] = {
		[HELD] = "held", [OPEN] = "OPEN", [UNTRIED] = "untried"};
	size_t at = out->len, columns = text_page_columns();
	bool below = columns < TABLE_COLUMNS;
	buf_addf(out, "  %-8s ", words[verdict]);
	wrap_text(out, says, SAYS_COLUMNS, columns);
	if (below)
		buf_addf(out, "\n%*s", SAYS_COLUMNS, "");
	else
		text_pad(out, at, ANSWER_COLUMNS);
	wrap_text(out, strerror((int)answer), below ? SAYS_COLUMNS : ANSWER_COLUMNS, columns);
	buf_addc(out, '\n');
}

static void show_probes(const struct checking *checking, const struct trial *trial)
{
#define PROBE_SHOW(name, says)                                                                     \
	add_probe(&out, judge(checking, trial, #name), says, json_get_int(trial->answers, #name));
	AUTO_BUF out = BUF_INIT(1 << 16);
	PROBES(PROBE_SHOW)
	fputs(out.data, stdout);
	if (trial->hit)
		printf("  OPEN     a target outside was reached\n");
}

static void show_list(const char *title, const json_t *list)
{
	size_t i;
	const json_t *item;
	if (json_array_size(list))
		printf("\n%s\n", title);
	json_array_foreach (list, i, item) {
		AUTO_BUF out = BUF_INIT(1 << 16);
		buf_adds(&out, "  - ");
		wrap_text(&out, json_string_value(item), ITEM_COLUMNS, text_page_columns());
		puts(out.data);
	}
}

static void show_text(const struct checking *checking, const json_t *fixes, const json_t *limits,
	const json_t *open)
{
	printf("host      %s %s, Landlock ABI %d\n", checking->host.sysname, checking->host.release,
		checking->landlock_abi > 0 ? checking->landlock_abi : 0);
	for (size_t i = 0; i < ARRAY_LEN(checking->trials); i++) {
		const struct trial *t = &checking->trials[i];
		AUTO_BUF line = BUF_INIT(1 << 16), why = BUF_INIT(1 << 16);
		text_clean(&why, t->why.text, sizeof(t->why.text));
		buf_addf(&line, "%-9s %s", t->profile, t->works ? "works" : "does not work here: ");
		if (!t->works && why.len)
			wrap_text(&line, why.data, NAME_COLUMNS, text_page_columns());
		puts(line.data);
		if (t->works)
			show_probes(checking, t);
	}
	if (checking->directory) {
		AUTO_BUF line = BUF_INIT(1 << 16), path = BUF_INIT(1 << 16),
			 why = BUF_INIT(1 << 16);
		text_clean(&path, checking->directory, PATH_MAX);
		text_clean(&why, checking->here.text, sizeof(checking->here.text));
		buf_addf(&line, "here      root's commands %s write in %s%s",
			why.len ? "cannot" : "can", path.data, why.len ? ": " : "");
		if (why.len)
			wrap_text(&line, why.data, NAME_COLUMNS, text_page_columns());
		puts(line.data);
	}
	const char *chosen = automatic(checking);
	printf("auto      %s\n", chosen ? chosen : "nothing: agent6 will not run a command here");
	show_list("To make strict work:", fixes);
	show_list("The hardened profile cannot do this:", limits);
	show_list("No limit keeps a command from taking:", open);
}

static json_t *describe_trial(const struct checking *checking, const struct trial *trial)
{
	static const char *const words[] = {
		[HELD] = "held", [OPEN] = "open", [UNTRIED] = "untried"};
	json_t *probes = json_object();
	if (trial->works) {
#define PROBE_DESCRIBE(name, says)                                                                 \
	json_object_set_new(probes, #name,                                                         \
		json_pack("{s:s,s:O?}", "verdict", words[judge(checking, trial, #name)], "errno",  \
			json_object_get(trial->answers, #name)));
		PROBES(PROBE_DESCRIBE)
	}
	return json_pack("{s:b,s:s?,s:O?,s:o,s:b}", "works", trial->works, "reason",
		trial->works ? NULL : trial->why.text, "layers", trial->layers, "probes", probes,
		"hit", trial->hit);
}

static void show_json(const struct checking *checking, json_t *fixes, json_t *limits, json_t *open)
{
	json_t *here = checking->directory
			       ? json_pack("{s:s,s:b,s:s?}", "path", checking->directory, "works",
					 !checking->here.text[0], "reason",
					 checking->here.text[0] ? checking->here.text : NULL)
			       : NULL;
	json_auto_t *all = json_pack("{s:s,s:s,s:i,s:s?,s:o,s:o,s:O,s:O,s:O,s:o*}", "system",
		checking->host.sysname, "release", checking->host.release, "landlock_abi",
		checking->landlock_abi > 0 ? checking->landlock_abi : 0, "auto",
		automatic(checking), "strict", describe_trial(checking, &checking->trials[0]),
		"hardened", describe_trial(checking, &checking->trials[1]), "fixes", fixes,
		"hardened_cannot", limits, "unbounded", open, "directory", here);
	text_json_line(all);
}

/* --- the verb --------------------------------------------------------------------------------- */

static int check_all(struct checking *checking, struct err *e)
{
	checking->trials[0].profile = "strict";
	checking->trials[1].profile = "hardened";
	checking->landlock_abi = ll_abi();
	uname(&checking->host);
	if (probe_target_init(&checking->target, e))
		return -1;
	checking->outside = try_outside(&checking->target, e);
	int failed = checking->outside ? 0 : -1;
	for (size_t i = 0; !failed && i < ARRAY_LEN(checking->trials); i++)
		try_profile(&checking->trials[i], &checking->target);
	probe_target_done(&checking->target);
	if (!failed)
		try_directory(checking);
	return failed;
}

static int run(const struct call *call)
{
	struct err e = ERR_NONE;
	if (call_has(call, "inside"))
		return probe_inside();
	if (call_has(call, "offline"))
		return offline_attempt(call_value(call, "offline"));
	if (call_has(call, "install-apparmor") && apparmor_install(&e))
		return verb_fail(EXIT_REFUSED, &e);
	struct checking k = {0};
	if (check_all(&k, &e)) {
		json_decref(k.outside);
		return verb_fail(EXIT_SANDBOX, &e);
	}
	json_auto_t *fixes = find_fixes(&k), *limits = hardened_limits(&k), *open = unbounded(&k);
	if (call_has(call, "json"))
		show_json(&k, fixes, limits, open);
	else
		show_text(&k, fixes, limits, open);
	int code = automatic(&k) && !k.here.text[0] ? EXIT_OK : EXIT_SANDBOX;
	for (size_t i = 0; i < ARRAY_LEN(k.trials); i++) {
		if (count_open(&k, &k.trials[i]))
			code = EXIT_FAILED;
		json_decref(k.trials[i].layers);
		json_decref(k.trials[i].answers);
	}
	json_decref(k.outside);
	free(k.directory);
	return code;
}

static const struct verb_option options[] = {
	{"json", NULL, "print one JSON object", false},
	{"install-apparmor", NULL,
		"first let agent6's programs make user namespaces under AppArmor (root)", false},
	{"inside", NULL, "make the probes' attempts here and print what came of them", false},
	{"offline", "NAME",
		"make those here that a command without a network must fail at; NAME is an "
		"abstract socket of the host",
		false},
	{NULL, NULL, NULL, false},
};

const struct verb verb_check_sandbox = {
	.path = "check sandbox",
	.summary = "show what this host can confine, and prove it",
	.details = "Runs a program of attempts in a real jail of each profile: writing and "
		   "reading outside, sockets, tracing, namespaces, set-id files, signals. It "
		   "tells what `sandbox.profile: auto` gives here, why, and how to change it.\n"
		   "Exit status: 0 every attempt failed; 1 one succeeded; 125 neither profile "
		   "works, or root's "
		   "commands cannot write in the directory it is started in.",
	.options = options,
	.run = run,
};
