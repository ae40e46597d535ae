/* The three forms of a bundle, their common digest, the private copy and the packed file. */
#include "bundle/bundle.h"

#include "base/io.h"
#include "base/tree.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char machine[] = "machine: demo\nversion: 1\n";

static struct bundle *open_quietly(const char *path, size_t *errors)
{
	struct findings f;
	struct bundle *b = NULL;
	struct err e = ERR_NONE;
	findings_init(&f);
	if (bundle_open(path, &f, &b, &e))
		diag("%s", e.text);
	for (size_t i = 0; i < f.count; i++)
		diag("%s: %s", f.items[i].file, f.items[i].message);
	*errors = f.errors;
	findings_done(&f);
	return b;
}

static void fill(const char *dir, const char *machine_file)
{
	tree_file(dir, machine_file, machine, 0644);
	tree_file(dir, "scripts/go.sh", "#!/bin/sh\necho go\n", 0755);
	tree_file(dir, "scripts/lib/data.txt", "data", 0640);
	tree_file(dir, "prompts/ask.md", "ask", 0600);
	tree_file(dir, "prompts/cafe\xcc\x81.md", "a decomposed name", 0644);
	tree_file(dir, "README.md", "read me", 0644);
	tree_file(dir, "Makefile", "the repository's own", 0644);
}

static void test_forms(const char *dir)
{
	size_t errors;
	fill(tree_path(dir, "flow"), "machine.yaml");
	fill(tree_path(dir, "loose"), "flow.asm.yaml");
	tree_file(dir, "loose/other.asm.yaml", "another machine", 0644);
	struct bundle *a = open_quietly(tree_path(dir, "flow"), &errors);
	is(errors, 0, "the directory form opens");
	struct bundle *b = open_quietly(tree_path(dir, "loose/flow.asm.yaml"), &errors);
	is(errors, 0, "the loose form opens");
	is(a->count, 6, "what lies beside the members is ignored");
	is_str(a->members[0].path, "README.md", "members are sorted");
	is_str(a->machine->path, "machine.yaml", "the machine file");
	is_str(b->machine->path, "machine.yaml", "a loose machine file has the same member path");
	is_str(b->machine_label, tree_path(dir, "loose/flow.asm.yaml"), "and is shown by its own");
	is(bundle_member(a, "scripts/go.sh")->mode, 0755, "an executable");
	is(bundle_member(a, "prompts/ask.md")->mode, 0644, "a text, whatever the umask");
	is_str(b->digest, a->digest, "both have the same digest");

	struct err e = ERR_NONE;
	is(bundle_pack(a, tree_path(dir, "flow.asm"), &e), 0, "packs %s", e.text);
	struct bundle *c = open_quietly(tree_path(dir, "flow.asm"), &errors);
	is(errors, 0, "the packed form opens");
	is_str(c ? c->digest : NULL, a->digest, "and has the same digest");
	bundle_free(a);
	bundle_free(b);
	bundle_free(c);
}

static void test_read(const char *dir)
{
	size_t errors, len = 0;
	char *text = NULL;
	bool executable = false;
	struct bundle *b = open_quietly(tree_path(dir, "flow"), &errors);
	is(bundle_read_member(b, "scripts/go.sh", &text, &len, &executable), 0, "reads a member");
	is_str(text, "#!/bin/sh\necho go\n", "its bytes");
	ok(executable, "which is a program");
	free(text);
	is(bundle_read_member(b, "scripts/lib/data.txt", &text, &len, &executable), 0,
		"reads data");
	ok(!executable, "which is not");
	free(text);
	is(bundle_read_member(b, "Makefile", &text, &len, &executable), -1,
		"what is no member is not read");
	is(bundle_read_member(b, "scripts/../Makefile", &text, &len, &executable), -1,
		"nor is a way out");

	struct err e = ERR_NONE;
	tree_file(dir, "flow/scripts/go.sh", "#!/bin/sh\necho no\n", 0755);
	is(bundle_read(b, "scripts/go.sh", &text, &len, &e), -1, "a swapped file is refused");
	has_str(e.text, "changed", "and said to have changed");
	e = ERR_NONE;
	AUTO_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is(bundle_install(b, at, "copy-of-swapped", &e), -1, "and not installed");
	is(access(tree_path(dir, "copy-of-swapped"), F_OK), -1, "nothing is left behind");
	is(access(tree_path(dir, ".copy-of-swapped.tmp"), F_OK), -1, "nothing at all");
	tree_file(dir, "flow/scripts/go.sh", "#!/bin/sh\necho go\n", 0755);
	bundle_free(b);
}

static void test_machine_file(const char *dir)
{
	size_t errors, len = 0;
	struct err e = ERR_NONE;
	struct bundle *b = open_quietly(tree_path(dir, "flow"), &errors);
	tree_file(dir, "flow/machine.yaml", "machine: other\n", 0644);
	char *text = NULL;
	is(bundle_take_machine(b, &text, &len, &e), 0, "the machine file is taken %s", e.text);
	is_mem(text, len, machine, strlen(machine), "as it was when the bundle was opened");
	free(text);
	is(bundle_take_machine(b, &text, &len, &e), -1, "what lies there now is not");
	has_str(e.text, "changed", "and said to have changed");
	tree_file(dir, "flow/machine.yaml", machine, 0644);
	e = ERR_NONE;
	is(bundle_take_machine(b, &text, &len, &e), 0, "once more %s", e.text);
	is_mem(text, len, machine, strlen(machine), "the same bytes");
	free(text);
	bundle_free(b);
}

static void test_install(const char *dir)
{
	size_t errors;
	struct stat st;
	struct err e = ERR_NONE;
	struct bundle *b = open_quietly(tree_path(dir, "flow.asm"), &errors);
	AUTO_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is(bundle_install(b, at, "copy", &e), 0, "installs %s", e.text);
	struct bundle *copy = open_quietly(tree_path(dir, "copy"), &errors);
	is_str(copy->digest, b->digest, "the copy is the bundle");
	stat(tree_path(dir, "copy/scripts/go.sh"), &st);
	is(st.st_mode & 07777, 0555, "a program is read-only");
	stat(tree_path(dir, "copy/scripts"), &st);
	is(st.st_mode & 07777, 0755, "a directory is its owner's to remove");
	is(bundle_install(b, at, "copy", &e), -1, "what is there is not replaced");
	is(e.number, ENOTEMPTY, "and said so");
	e = ERR_NONE;
	is(tree_remove(at, "copy", &e), 0, "is removed %s", e.text);
	is(access(tree_path(dir, "copy"), F_OK), -1, "whole");
	bundle_free(b);
	bundle_free(copy);
}

static void test_pack_is_deterministic(const char *dir)
{
	size_t errors, one_len = 0, two_len = 0;
	AUTO_FREE char *one = NULL, *two = NULL;
	struct err e = ERR_NONE;
	mode_t before = umask(077);
	tree_file(dir, "again/prompts/ask.md", "ask", 0644);
	tree_file(dir, "again/scripts/lib/data.txt", "data", 0444);
	tree_file(dir, "again/prompts/cafe\xcc\x81.md", "a decomposed name", 0600);
	tree_file(dir, "again/README.md", "read me", 0600);
	tree_file(dir, "again/scripts/go.sh", "#!/bin/sh\necho go\n", 0700);
	tree_file(dir, "again/machine.yaml", machine, 0600);
	struct bundle *b = open_quietly(tree_path(dir, "again"), &errors);
	is(bundle_pack(b, tree_path(dir, "again.asm"), &e), 0, "packs %s", e.text);
	umask(before);
	AUTO_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	io_read_file(at, "flow.asm", 1 << 20, &one, &one_len, &e);
	io_read_file(at, "again.asm", 1 << 20, &two, &two_len, &e);
	is_mem(one, one_len, two, two_len, "the same members give the same bytes");
	bundle_free(b);
}

static void test_not_a_bundle(const char *dir)
{
	struct findings f;
	struct bundle *b = NULL;
	struct err e = ERR_NONE;
	findings_init(&f);
	is(bundle_open(tree_path(dir, "nowhere"), &f, &b, &e), -1, "nothing there");
	has_str(e.text, "No such file", "is said");
	e = ERR_NONE;
	is(bundle_open(tree_path(dir, "flow/machine.yaml"), &f, &b, &e), -1, "a machine file");
	has_str(e.text, "name its directory", "is told from its bundle");
	e = ERR_NONE;
	is(bundle_open(tree_path(dir, "flow/Makefile"), &f, &b, &e), -1, "something else");
	has_str(e.text, "NAME.asm", "is told what a bundle is");
	findings_done(&f);
}

int main(void)
{
	const char *dir = tap_scratch();
	test_forms(dir);
	test_read(dir);
	test_machine_file(dir);
	test_install(dir);
	test_pack_is_deterministic(dir);
	test_not_a_bundle(dir);
	return tap_done();
}
