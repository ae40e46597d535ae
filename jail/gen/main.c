/*
 * Host program: turns jail/seccomp_table.h into filter programs, once per architecture, as C arrays
 * on stdout. Numbers come from libseccomp. The program is a balanced tree over ranges of call
 * numbers with equal answers, because the kernel pays for every instruction on the path of every
 * call when it loads a filter; argument blocks stand behind the tree.
 */
#include "jail/seccomp_table.h"

#include "base/own.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 1024, CODE_MAX = 4096, BLOCK = 100 };

static const struct arg_rule table_rules[] = {
#define RULE(call, what, ...) {#call, ANSWER_##what, {__VA_ARGS__}},
	SECCOMP_RULES(RULE)};
static const struct arg_rule no_internet_rules[] = {SECCOMP_NO_INTERNET_RULES(RULE)};
static const struct arg_rule no_unix_rules[] = {SECCOMP_NO_UNIX_RULES(RULE)};

struct program {
	struct sock_filter code[CODE_MAX];
	size_t len;
	int verdict[NUMBERS + 1]; /* an answer, or BLOCK + index of the first rule of the call */
	const struct arg_rule *rules;
	size_t rule_count;
	struct {
		size_t at;
		int verdict;
	} jumps[NUMBERS];
	size_t jump_count;
	uint32_t arch, audit;
};

static size_t emit(struct program *p, uint16_t code, uint32_t k)
{
	if (p->len == CODE_MAX)
		abort();
	p->code[p->len] = (struct sock_filter){.code = code, .k = k};
	return p->len++;
}

static uint32_t answer_value(enum answer answer)
{
	switch (answer) {
	case ANSWER_ABSENT: return SECCOMP_RET_ERRNO | ENOSYS;
	case ANSWER_ALLOW: return SECCOMP_RET_ALLOW;
	case ANSWER_DENY: return SECCOMP_RET_ERRNO | EPERM;
	case ANSWER_FAMILY: return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
	case ANSWER_KILL: return SECCOMP_RET_KILL_PROCESS;
	}
	abort();
}

static void set_verdict(struct program *p, const char *name, int since, int verdict)
{
	int nr = since ? since : seccomp_syscall_resolve_name_arch(p->arch, name);
	if (nr == __NR_SCMP_ERROR) {
		fprintf(stderr, "seccomp table: libseccomp does not know %s\n", name);
		exit(1);
	}
	if (nr >= NUMBERS)
		abort();
	if (nr >= 0) /* negative: not on this architecture */
		p->verdict[nr] = verdict;
}

static int ruled_since(const char *name)
{
#define SINCE(call, nr)                                                                            \
	if (!strcmp(name, #call))                                                                  \
		return nr;
	SECCOMP_RULED_SINCE(SINCE)
	return 0;
}

static void set_rules(struct program *p, const struct arg_rule *rules, size_t count)
{
	p->rules = rules;
	p->rule_count = count;
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(rules[i].name, rules[i - 1].name) != 0)
			set_verdict(p, rules[i].name, ruled_since(rules[i].name), BLOCK + (int)i);
}

/* Answers for the numbers [from, to) of equal-verdict runs `starts`. */
static void emit_tree(struct program *p, const int *starts, size_t from, size_t to)
{
	if (to - from == 1) {
		int verdict = p->verdict[starts[from]];
		if (verdict < BLOCK) {
			emit(p, BPF_RET | BPF_K, answer_value((enum answer)verdict));
			return;
		}
		p->jumps[p->jump_count].at = emit(p, BPF_JMP | BPF_JA, 0);
		p->jumps[p->jump_count++].verdict = verdict;
		return;
	}
	size_t middle = from + (to - from) / 2;
	size_t test = emit(p, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)starts[middle]);
	p->code[test].jf = 1;
	size_t jump = emit(p, BPF_JMP | BPF_JA, 0);
	emit_tree(p, starts, from, middle);
	p->code[jump].k = (uint32_t)(p->len - jump - 1);
	if (p->len - test - 2 <= 255) { /* near enough for the test itself: drop the long jump */
		memmove(&p->code[jump], &p->code[jump + 1],
			(p->len - jump - 1) * sizeof(p->code[0]));
		p->len--;
		for (size_t i = 0; i < p->jump_count; i++)
			if (p->jumps[i].at > jump)
				p->jumps[i].at--;
		p->code[test].jf = 0;
		p->code[test].jt = (uint8_t)(p->len - test - 1);
	}
	emit_tree(p, starts, middle, to);
}

/* The accumulator holds `loaded` (-1: unknown) on entry; a masked compare spoils it. */
static void emit_rule(struct program *p, const struct arg_rule *rule, int *loaded)
{
	size_t misses[ARG_TESTS_MAX], count = 0;
	bool negate[ARG_TESTS_MAX];
	int first = -1;
	for (; count < ARG_TESTS_MAX && rule->tests[count].mask; count++) {
		const struct arg_test *t = &rule->tests[count];
		bool any_bit = t->negate && !t->value;
		if (*loaded != t->arg)
			emit(p, BPF_LD | BPF_W | BPF_ABS,
				(uint32_t)offsetof(struct seccomp_data, args) + 8u * t->arg);
		*loaded = t->arg;
		if (!any_bit && t->mask != WHOLE) {
			emit(p, BPF_ALU | BPF_AND | BPF_K, t->mask);
			*loaded = -1;
		}
		misses[count] = any_bit ? emit(p, BPF_JMP | BPF_JSET | BPF_K, t->mask)
					: emit(p, BPF_JMP | BPF_JEQ | BPF_K, t->value);
		negate[count] = t->negate && !any_bit;
		first = count ? first : *loaded;
	}
	emit(p, BPF_RET | BPF_K, answer_value(rule->answer));
	for (size_t i = 0; i < count; i++) {
		uint8_t far = (uint8_t)(p->len - misses[i] - 1);
		if (negate[i])
			p->code[misses[i]].jt = far;
		else
			p->code[misses[i]].jf = far;
	}
	/* The next rule is reached from any of the misses: only a lone test leaves a known value.
	 */
	*loaded = count == 1 ? first : -1;
}

static void emit_blocks(struct program *p)
{
	for (size_t i = 0; i < p->jump_count; i++) {
		size_t at = p->jumps[i].at, rule = (size_t)(p->jumps[i].verdict - BLOCK);
		const char *name = p->rules[rule].name;
		int loaded = -1;
		p->code[at].k = (uint32_t)(p->len - at - 1);
		for (; rule < p->rule_count && !strcmp(p->rules[rule].name, name); rule++)
			emit_rule(p, &p->rules[rule], &loaded);
		emit(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
}

static void emit_program(struct program *p)
{
	int starts[NUMBERS + 1];
	size_t runs = 0;
	for (int nr = 0; nr <= NUMBERS; nr++)
		if (!nr || p->verdict[nr] >= BLOCK || p->verdict[nr] != p->verdict[nr - 1])
			starts[runs++] = nr;
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch));
	size_t ours = emit(p, BPF_JMP | BPF_JEQ | BPF_K, p->audit);
	p->code[ours].jt = 1;
	emit(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr));
	size_t x32 = emit(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000u);
	p->code[x32].jf = 1;
	emit(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	emit_tree(p, starts, 0, runs);
	emit_blocks(p);
}

static void print_program(const struct program *p, const char *name)
{
	printf("static const struct sock_filter seccomp_%s[%zu] = {\n", name, p->len);
	for (size_t i = 0; i < p->len; i++)
		printf("\t{0x%02x, %u, %u, 0x%08xu},\n", p->code[i].code, p->code[i].jt,
			p->code[i].jf, p->code[i].k);
	printf("};\n");
}

/* For `make teeth`: a group of calls that the table is made to let pass. */
static const char *left_out = "";

static void allow_left_out(struct program *p)
{
	static const struct {
		const char *group, *calls;
	} groups[] = {
#define GROUP(name, calls) {#name, calls},
		SECCOMP_GROUPS(GROUP)};
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		if (strcmp(groups[i].group, left_out) != 0)
			continue;
		for (const char *call = groups[i].calls; *call; call += *call == ' ') {
			char name[64];
			size_t len = strcspn(call, " ");
			snprintf(name, sizeof(name), "%.*s", (int)len, call);
			set_verdict(p, name, ruled_since(name), ANSWER_ALLOW);
			call += len;
		}
	}
}

static struct program *begin(uint32_t arch, uint32_t audit, enum answer otherwise)
{
	struct program *p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	p->arch = arch;
	p->audit = audit;
	for (int nr = 0; nr <= NUMBERS; nr++)
		p->verdict[nr] = (int)otherwise;
	return p;
}

static void finish(struct program *p, const char *name)
{
	emit_program(p);
	print_program(p, name);
	free(p);
}

#define ALLOWED(call)           set_verdict(p, #call, 0, ANSWER_ALLOW);
#define ALLOWED_SINCE(call, nr) set_verdict(p, #call, nr, ANSWER_ALLOW);
#define REFUSED(call)           set_verdict(p, #call, 0, ANSWER_DENY);
#define REFUSED_SINCE(call, nr) set_verdict(p, #call, nr, ANSWER_DENY);
#define ABSENT(call)            set_verdict(p, #call, 0, ANSWER_ABSENT);

static void print_arch(const char *macro, uint32_t arch, uint32_t audit)
{
	printf("#if defined(%s)\n", macro);
	struct program *p = begin(arch, audit, ANSWER_ABSENT);
	SECCOMP_ALLOWED(ALLOWED, ALLOWED_SINCE)
	SECCOMP_REFUSED(REFUSED, REFUSED_SINCE)
	SECCOMP_ABSENT(ABSENT)
	set_rules(p, table_rules, ARRAY_LEN(table_rules));
	allow_left_out(p);
	finish(p, "table");
	p = begin(arch, audit, ANSWER_ALLOW);
	set_rules(p, no_internet_rules, ARRAY_LEN(no_internet_rules));
	finish(p, "no_internet");
	p = begin(arch, audit, ANSWER_ALLOW);
	set_rules(p, no_unix_rules, ARRAY_LEN(no_unix_rules));
	finish(p, "no_unix");
	p = begin(arch, audit, ANSWER_ALLOW);
	SECCOMP_HOST_IPC(REFUSED)
	finish(p, "no_host_ipc");
	p = begin(arch, audit, ANSWER_DENY);
	SECCOMP_REAPER(ALLOWED)
	finish(p, "reaper");
	printf("#endif\n");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		left_out = argv[1];
	printf("/* Generated from jail/seccomp_table.h. */\n#include <linux/filter.h>\n");
	print_arch("__x86_64__", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64);
	print_arch("__aarch64__", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64);
	return fflush(stdout) ? 1 : 0;
}
