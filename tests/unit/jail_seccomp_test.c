/*
 * The generated filter programs against the table they come from: every call number with benign,
 * hostile and wide (bit 32 and up) arguments, foreign architectures and x32.
 */
#define SECCOMP_EVERY_ARCH
#include "jail/seccomp.h"
#include "jail/seccomp_programs.h"
#include "jail/seccomp_table.h"
#include "tests/kit/tap.h"
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { NUMBERS = 1024, RULES_MAX = 128, ARGS = 6, X32 = 0x40000000 };

/* Each architecture's filters, whichever this is. */
static const struct machine {
	const char *name;
	uint32_t number, own, foreign; /* libseccomp's; the kernel's, and another one's */
	const struct sock_fprog *programs;
} machines[] = {
	{"x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, seccomp_x86_64},
	{"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM, seccomp_aarch64},
};
static const struct machine *on; /* the one under test */

/* Classic BPF as seccomp runs it; -1 for anything the kernel would refuse to load. */
static int64_t simulate(const struct sock_fprog *fprog, const struct seccomp_data *data)
{
	uint32_t a = 0;
	for (size_t at = 0, steps = 0; at < fprog->len && steps < fprog->len; at++, steps++) {
		const struct sock_filter *i = &fprog->filter[at];
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 || i->k + 4 > sizeof(*data))
				return -1;
			memcpy(&a, (const char *)data + i->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
		case BPF_JMP | BPF_JA: at += i->k; break;
		case BPF_JMP | BPF_JEQ | BPF_K: at += a == i->k ? i->jt : i->jf; break;
		case BPF_JMP | BPF_JSET | BPF_K: at += a & i->k ? i->jt : i->jf; break;
		case BPF_JMP | BPF_JGE | BPF_K: at += a >= i->k ? i->jt : i->jf; break;
		case BPF_RET | BPF_K: return i->k;
		default: return -1;
		}
	}
	return -1;
}

static uint32_t value_of(enum answer answer)
{
	static const uint32_t values[] = {
		[ANSWER_ABSENT] = SECCOMP_RET_ERRNO | 38,
		[ANSWER_ALLOW] = SECCOMP_RET_ALLOW,
		[ANSWER_DENY] = SECCOMP_RET_ERRNO | 1,
		[ANSWER_FAMILY] = SECCOMP_RET_ERRNO | 97,
		[ANSWER_TOO_LARGE] = SECCOMP_RET_ERRNO | 27,
		[ANSWER_KILL] = SECCOMP_RET_KILL_PROCESS,
	};
	return values[answer];
}

static const struct arg_rule rules[] = {
#define RULE(call, what, ...) {#call, ANSWER_##what, {__VA_ARGS__}},
	SECCOMP_RULES(RULE)};
static const struct arg_rule no_internet[] = {SECCOMP_NO_INTERNET_RULES(RULE)};
static const struct arg_rule no_unix[] = {SECCOMP_NO_UNIX_RULES(RULE)};
static const struct arg_rule no_host[] = {SECCOMP_NO_HOST_RULES(RULE)};
static const struct arg_rule no_terminal[] = {SECCOMP_NO_TERMINAL_RULES(RULE)};

/* The table, read without the generator: one answer per number, then the rules of its name. */
struct reading {
	enum answer answer[NUMBERS];
	const char *name[NUMBERS];
	const struct arg_rule *rules;
	size_t rule_count;
	int rule_nr[RULES_MAX]; /* the number of each rule's name; -1: none here */
};

static void note(struct reading *reading, const char *name, int since, enum answer answer)
{
	int nr = seccomp_syscall_resolve_name_arch(on->number, name);
	if (nr < 0)
		nr = since;
	if (nr <= 0 && strcmp(name, "read") != 0 && strcmp(name, "io_setup") != 0)
		return;
	reading->answer[nr] = answer;
	reading->name[nr] = name;
}

static int number_of(const struct reading *reading, const char *name)
{
	for (int nr = 0; nr < NUMBERS; nr++)
		if (reading->name[nr] && !strcmp(reading->name[nr], name))
			return nr;
	return -1;
}

static void note_rules(struct reading *reading, const struct arg_rule *list, size_t count)
{
	reading->rules = list;
	reading->rule_count = count;
	for (size_t i = 0; i < count; i++)
		note(reading, list[i].name, 0, ANSWER_ALLOW);
#define SINCE(call, nr) note(reading, #call, nr, ANSWER_ALLOW);
	if (list == rules) {
		SECCOMP_RULED_SINCE(SINCE)
	}
	if (count > RULES_MAX)
		bail("more than %d rules", RULES_MAX);
	for (size_t i = 0; i < count; i++)
		reading->rule_nr[i] = number_of(reading, list[i].name);
}

/* The half of an argument that a test looks at. */
static uint32_t half_of(const uint64_t args[ARGS], const struct arg_test *arg_test)
{
	return (uint32_t)(args[arg_test->arg % UPPER(0)] >> (arg_test->arg >= UPPER(0) ? 32 : 0));
}

static bool holds(const struct arg_rule *rule, const uint64_t args[ARGS])
{
	for (size_t i = 0; i < ARG_TESTS_MAX && rule->tests[i].mask; i++) {
		const struct arg_test *t = &rule->tests[i];
		bool equal = (half_of(args, t) & t->mask) == t->value;
		if (equal == (bool)t->negate)
			return false;
	}
	return true;
}

static uint32_t expected(const struct reading *reading, int nr, const uint64_t args[ARGS])
{
	if (nr >= NUMBERS)
		return value_of(reading->answer[NUMBERS - 1]);
	for (size_t i = 0; i < reading->rule_count; i++)
		if (reading->rule_nr[i] == nr && holds(&reading->rules[i], args))
			return value_of(reading->rules[i].answer);
	return value_of(reading->answer[nr]);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Readings as the kernel would combine them, each a filter laid on those before: the answer that
 * does the most holds, and of equals the first one's. */
struct stack {
	const struct reading *of[5];
	size_t count;
};

static uint32_t expected_of(const struct stack *stack, int nr, const uint64_t args[ARGS])
{
	uint32_t found = expected(stack->of[0], nr, args);
	for (size_t i = 1; i < stack->count; i++) {
		uint32_t other = expected(stack->of[i], nr, args);
		if ((int32_t)(other & SECCOMP_RET_ACTION_FULL) <
			(int32_t)(found & SECCOMP_RET_ACTION_FULL))
			found = other;
	}
	return found;
}

/* Arguments that meet `rule` (NULL: none), the rest from `state`. */
static void make_args(const struct arg_rule *rule, uint64_t *state, uint64_t args[ARGS])
{
	for (int i = 0; i < ARGS; i++) {
		uint64_t any = next_random(state);
		args[i] = any & 1 ? 0 : any & 2 ? any >> 56 : any;
	}
	for (size_t i = 0; rule && i < ARG_TESTS_MAX && rule->tests[i].mask; i++) {
		const struct arg_test *t = &rule->tests[i];
		uint32_t bit = 1u << next_random(state) % 32;
		while (t->negate && !(bit & t->mask))
			bit = bit << 1 | bit >> 31;
		/* Bits outside the mask may have any value. */
		uint64_t beside = next_random(state) & 1 ? next_random(state) & ~t->mask : 0;
		uint64_t wanted = (t->negate ? bit : t->value) | (uint32_t)beside;
		args[t->arg % UPPER(0)] =
			t->arg >= UPPER(0) ? wanted << 32 | beside >> 32 : wanted | beside;
	}
}

static int mismatches_with(const struct stack *stack, const struct sock_fprog *fprog, int nr,
	const uint64_t args[ARGS])
{
	static const uint64_t high[] = {0, 1ull << 32, 1ull << 40, 1ull << 63, 0xffffffffull << 32};
	int wrong = 0;
	for (size_t h = 0; h < ARRAY_LEN(high); h++) {
		struct seccomp_data data = {.nr = nr, .arch = on->own};
		uint64_t given[ARGS];
		for (int i = 0; i < ARGS; i++)
			data.args[i] = given[i] = args[i] ^ high[h];
		uint32_t want = expected_of(stack, nr, given);
		if (simulate(fprog, &data) != want && !wrong++)
			diag("number %d: %#llx, expected %#x", nr,
				(unsigned long long)simulate(fprog, &data), want);
	}
	return wrong;
}

static int mismatches(const struct stack *stack, const struct sock_fprog *fprog, int nr)
{
	uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)nr, args[ARGS];
	int wrong = 0;
	for (size_t i = 0; i < stack->count; i++)
		for (size_t pick = 0; pick < 4 * stack->of[i]->rule_count; pick++) {
			make_args(&stack->of[i]->rules[pick / 4], &state, args);
			wrong += mismatches_with(stack, fprog, nr, args);
		}
	for (size_t pick = 0; pick < 64; pick++) {
		make_args(NULL, &state, args);
		wrong += mismatches_with(stack, fprog, nr, args);
	}
	return wrong;
}

/* The kernel compiles all of a filter for every command: a tenth of a microsecond an instruction.
 */
enum { LENGTH_MAX = 236 };

static void test_program(const struct stack *stack, unsigned which, const char *name)
{
	const struct sock_fprog *p = &on->programs[which];
	int wrong = 0, alive = 0, beyond = 0;
	for (int nr = 0; nr < NUMBERS + 8; nr++)
		wrong += mismatches(stack, p, nr);
	is(wrong, 0, "%s: every number answers as the table says", name);
	for (int nr = 0; nr < NUMBERS; nr++) {
		struct seccomp_data foreign = {.nr = nr, .arch = on->foreign};
		struct seccomp_data x32 = {.nr = nr | X32, .arch = on->own};
		struct seccomp_data negative = {.nr = -1 - nr, .arch = on->own};
		alive += simulate(p, &foreign) != SECCOMP_RET_KILL_PROCESS;
		alive += simulate(p, &x32) != SECCOMP_RET_KILL_PROCESS;
		alive += simulate(p, &negative) != SECCOMP_RET_KILL_PROCESS;
	}
	is(alive, 0, "%s: foreign architectures, x32 and negative numbers kill", name);
	for (unsigned bit = 10; bit < 32; bit++)
		for (unsigned less = 0; less < 2; less++) {
			uint32_t nr = (1u << bit) - less;
			uint32_t want = nr < X32 ? value_of(stack->of[0]->answer[NUMBERS - 1])
						 : SECCOMP_RET_KILL_PROCESS;
			beyond += simulate(p, &(struct seccomp_data){
						      .nr = (int)nr, .arch = on->own}) != want;
		}
	is(beyond, 0, "%s: numbers that no kernel has are unknown, or x32", name);
	ok(p->len <= LENGTH_MAX, "%s: %d instructions", name, p->len);
}

static int64_t call(const char *name, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct seccomp_data data = {.nr = seccomp_syscall_resolve_name_arch(on->number, name),
		.arch = on->own,
		.args = {a0, a1, a2, a3}};
	return simulate(&on->programs[0], &data);
}

/* Returns the answer to a call for which the build's libseccomp may be too old. */
static int64_t call_number(int nr)
{
	return simulate(&on->programs[0], &(struct seccomp_data){.nr = nr, .arch = on->own});
}

/* Written out, so that a mistake in the table's notation cannot agree with itself. */
static void test_known(void)
{
	const int64_t allow = SECCOMP_RET_ALLOW, deny = SECCOMP_RET_ERRNO | 1,
		      absent = SECCOMP_RET_ERRNO | 38, family = SECCOMP_RET_ERRNO | 97,
		      too_large = SECCOMP_RET_ERRNO | 27;
	is(call("read", 0, 0, 0, 0), allow, "read");
	is(call("mount", 0, 0, 0, 0), deny, "mount");
	is(call("clone3", 0, 0, 0, 0), absent, "clone3 is absent");
	is(call("openat2", 0, 0, 0, 0), absent, "openat2 is absent");
	is(call("io_uring_setup", 0, 0, 0, 0), absent, "io_uring is absent");
	is(call("io_setup", 1, 0, 0, 0), absent, "asynchronous input and output is absent");
	is(call("ftruncate", 3, 1ull << 41, 0, 0), too_large, "a file of 2 TiB");
	is(call("ftruncate", 3, 1ull << 40, 0, 0), too_large, "a file of 1 TiB");
	is(call("ftruncate", 3, (1ull << 40) - 1, 0, 0), allow, "a file of less than 1 TiB");
	is(call("clone", 0x11, 0, 0, 0), allow, "fork");
	is(call("clone", 0x3d0f00, 0, 0, 0), allow, "a thread");
	is(call("clone", 0x10000011, 0, 0, 0), deny, "clone(CLONE_NEWUSER)");
	is(call("clone", 0x00020011, 0, 0, 0), deny, "clone(CLONE_NEWNS)");
	is(call("unshare", 0x80, 0, 0, 0), deny, "unshare(CLONE_NEWTIME)");
	is(call("unshare", 0x400, 0, 0, 0), allow, "unshare(CLONE_FILES)");
	is(call("openat", 0, 0, 0101, 0644), allow, "openat(O_CREAT, 0644)");
	is(call("openat", 0, 0, 0101, 04755), deny, "openat(O_CREAT, 04755)");
	is(call("openat", 0, 0, 0x410002, 02755), deny, "openat(O_TMPFILE, 02755)");
	is(call("openat", 0, 0, 0, 04755), allow, "openat for reading ignores the mode");
	is(call("fchmodat", 0, 0, 04755, 0), deny, "fchmodat(04755)");
	is(call("fchmodat", 0, 0, 01777, 0), allow, "the sticky bit is harmless");
	is(call("mknodat", 0, 0, 0020666, 0), deny, "mknodat(S_IFCHR)");
	is(call("mknodat", 0, 0, 0060666, 0), deny, "mknodat(S_IFBLK)");
	is(call("mknodat", 0, 0, 0010666, 0), allow, "mknodat(S_IFIFO)");
	is(call("mknodat", 0, 0, 0100666, 0), allow, "mknodat(S_IFREG)");
	is(call("mknodat", 0, 0, 0140666, 0), allow, "mknodat(S_IFSOCK)");
	is(call("mknodat", 0, 0, 0666, 0), allow, "mknodat without a type");
	is(call("socket", 1, 1, 0, 0), allow, "unix socket");
	is(call("socket", 2, 0x80001, 6, 0), allow, "TCP");
	is(call("socket", 2, 1, 262, 0), family, "MPTCP");
	is(call("socket", 2, 1, 132, 0), family, "SCTP");
	is(call("socket", 2, 3, 1, 0), family, "raw ICMP");
	is(call("socket", 2, 2, 1, 0), family, "ICMP ping");
	is(call("socket", 40, 1, 0, 0), family, "vsock");
	is(call("socket", 0x100000028ull, 1, 0, 0), family, "vsock with bit 32");
	is(call("socket", 16, 3, 0, 0), allow, "netlink route");
	is(call("socket", 16, 3, 12, 0), family, "netlink netfilter");
	is(call("ioctl", 0, 0x5412, 0, 0), deny, "TIOCSTI");
	is(call("ioctl", 0, 0x100005412ull, 0, 0), deny, "TIOCSTI with bit 32");
	is(call("ioctl", 0, 0x5401, 0, 0), allow, "TCGETS");
	is(call("fcntl", 0, 1024, 0, 0), deny, "F_SETLEASE");
	is(call("fcntl", 0, 1040, 0, 0), deny, "F_SETDELEG");
	is(call("fcntl", 0, 1039, 0, 0), allow, "F_GETDELEG");
	is(call("fcntl", 0, 1030, 0, 0), allow, "F_DUPFD_CLOEXEC");
	is(call("sendto", 0, 0, 0, 0x20000000), deny, "MSG_FASTOPEN");
	is(call("personality", 0xffffffff, 0, 0, 0), allow, "personality query");
	is(call("personality", 0x400000, 0, 0, 0), deny, "READ_IMPLIES_EXEC");
	is(call("prctl", 35, 0, 0, 0), deny, "PR_SET_MM");
	is(call("prctl", 38, 1, 0, 0), allow, "PR_SET_NO_NEW_PRIVS");
	is(call("ptrace", 16, 1, 0, 0), deny, "ptrace");
	is(call("seccomp", 1, 8, 0, 0), deny, "a seccomp listener");
	is(call("setxattr", 0, 0, 0, 0), allow, "setxattr");
	is(call_number(463), allow, "setxattrat, which replaces it");
	is(call("removexattr", 0, 0, 0, 0), allow, "removexattr");
	is(call_number(466), allow, "removexattrat, which replaces it");
	is(call_number(468), absent, "file_getattr is absent, for the ioctl that is allowed");
	is(call_number(469), absent, "file_setattr is absent");
	is(call_number(457), absent, "statmount is absent, for what /proc says of mounts");
	is(call_number(458), absent, "listmount is absent");
	is(call_number(459), absent, "lsm_get_self_attr is absent, for /proc/self/attr");
	is(call_number(461), absent, "lsm_list_modules is absent");
	is(call_number(460), deny, "lsm_set_self_attr");
	is(call_number(467), deny, "open_tree_attr");
	is(call_number(470), absent, "listns is absent");
}

/* Counts wrong answers of the kernel itself. Each number that is refused or absent whatever its
 * arguments is called with zeros in a process that has entered the table. Allowed numbers are left
 * alone, and so are uretprobe and uprobe: the kernel exempts them from filters, and kills (SIGILL)
 * whoever calls them from anywhere but its own trampoline. */
enum { URETPROBE = 335, UPROBE = 336 };

static int count_live_mismatches(const struct reading *reading)
{
	int wrong = 0;
	for (long nr = 0; nr < NUMBERS; nr++) {
		bool ruled = nr == URETPROBE || nr == UPROBE;
		for (size_t i = 0; i < reading->rule_count; i++)
			ruled = ruled || reading->rule_nr[i] == nr;
		if (ruled || reading->answer[nr] == ANSWER_ALLOW)
			continue;
		errno = 0;
		long result = syscall(nr, 0, 0, 0, 0, 0, 0);
		int want = reading->answer[nr] == ANSWER_DENY ? EPERM : ENOSYS;
		if (result == -1 && errno == want)
			continue;
		diag("number %ld: %ld, %s", nr, result, strerror(errno));
		wrong++;
	}
	return wrong;
}

static void test_live(const struct reading *reading)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || seccomp_enter(0))
			_exit(255);
		int wrong = count_live_mismatches(reading);
		fflush(stdout);
		_exit(wrong > 254 ? 254 : wrong);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid, "a process with the filter");
	is(status, 0, "the kernel answers as simulated");
}

#define ALLOWED(name)           note(r, #name, 0, ANSWER_ALLOW);
#define ALLOWED_SINCE(name, nr) note(r, #name, nr, ANSWER_ALLOW);
#define REFUSED(name)           note(r, #name, 0, ANSWER_DENY);
#define REFUSED_SINCE(name, nr) note(r, #name, nr, ANSWER_DENY);

static void fill(struct reading *reading, enum answer otherwise)
{
	memset(reading, 0, sizeof(*reading));
	for (int nr = 0; nr < NUMBERS; nr++)
		reading->answer[nr] = otherwise;
}

static void test_machine(void)
{
	static struct reading table, internet, no_unix_sockets, host, terminal, reaper;
	struct reading *r = &table;
	fill(r, ANSWER_ABSENT);
	SECCOMP_ALLOWED(ALLOWED, ALLOWED_SINCE)
	SECCOMP_REFUSED(REFUSED, REFUSED_SINCE)
	note_rules(r, rules, ARRAY_LEN(rules));
	fill(&internet, ANSWER_ALLOW);
	note_rules(&internet, no_internet, ARRAY_LEN(no_internet));
	fill(&no_unix_sockets, ANSWER_ALLOW);
	note_rules(&no_unix_sockets, no_unix, ARRAY_LEN(no_unix));
	fill(r = &host, ANSWER_ALLOW);
	SECCOMP_HOST_IPC(REFUSED)
	note_rules(&host, no_host, ARRAY_LEN(no_host));
	fill(&terminal, ANSWER_ALLOW);
	note_rules(&terminal, no_terminal, ARRAY_LEN(no_terminal));
	fill(r = &reaper, ANSWER_DENY);
	SECCOMP_REAPER(ALLOWED)
	for (unsigned which = 0; which < FILTER_REAPER; which++) {
		struct stack s = {{&table}, 1};
		char name[64];
		if (which & FILTER_NO_INTERNET)
			s.of[s.count++] = &internet;
		if (which & FILTER_NO_UNIX)
			s.of[s.count++] = &no_unix_sockets;
		if (which & FILTER_NO_HOST)
			s.of[s.count++] = &host;
		if (which & FILTER_NO_TERMINAL)
			s.of[s.count++] = &terminal;
		snprintf(name, sizeof(name), "%s: table%s%s%s%s", on->name,
			which & FILTER_NO_INTERNET ? ", no internet" : "",
			which & FILTER_NO_UNIX ? ", no unix" : "",
			which & FILTER_NO_HOST ? ", no host" : "",
			which & FILTER_NO_TERMINAL ? ", no terminal" : "");
		test_program(&s, which, name);
	}
	test_program(&(struct stack){{&reaper}, 1}, FILTER_REAPER, "reaper");
	test_known();
	if (seccomp_arch_native() == on->number)
		test_live(&table);
}

int main(void)
{
	for (on = machines; on < machines + ARRAY_LEN(machines); on++)
		test_machine();
	return tap_done();
}
