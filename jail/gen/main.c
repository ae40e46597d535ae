/*
 * Host program: turns jail/seccomp_table.h into filter programs, once per architecture, as C arrays
 * on stdout. Numbers come from libseccomp.
 *
 * A filter is a diagram: each node asks one question about one word (the architecture, the number,
 * an argument) and has two ways on; equal nodes are one node. When the kernel loads a filter it
 * compiles every instruction, and it walks the way of every call number of two architectures to
 * find those that are allowed whatever their arguments are. So of all trees over the ranges of a
 * word that with the least of both is taken.
 */
#include "jail/seccomp_table.h"

#include "base/cleanup.h"
#include "jail/seccomp.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* NEAR: a conditional jump reaches 255 instructions; two may still be inserted. */
enum { NUMBERS = 1024, NODES_MAX = 8192, CODE_MAX = 4096, RULES_MAX = 64, RANGES_MAX = 320 };
enum { NEAR = 253 };

/* The cost of an instruction and of a step in the kernel's walk through one call's number;
 * measured: a tenth of a microsecond and 6 ns. The kernel does not walk through arguments. */
enum { COST_INSTRUCTION = 24, COST_STEP = 1, NUMBERS_WALKED = 470 };

/* --- nodes ----------------------------------------------------------------------------------- */

/* A word of struct seccomp_data, of which only the bits of `mask` matter. */
struct word {
	uint32_t offset, mask;
};

struct filter_node {
	uint16_t ask; /* BPF_JEQ, BPF_JGE or BPF_JSET with k; 0: k is the filter's answer */
	uint32_t k;
	struct word word;
	const struct filter_node *yes, *no;
	/* The beginning of its code: if the word is yet to be loaded, and if it is loaded. */
	size_t at[2];
};

static struct filter_node nodes[NODES_MAX];
static size_t node_count;

static bool is_same_word(struct word a, struct word b)
{
	return a.offset == b.offset && a.mask == b.mask;
}

static struct filter_node *node(struct filter_node wanted)
{
	for (struct filter_node *n = nodes; n < nodes + node_count; n++)
		if (n->ask == wanted.ask && n->k == wanted.k && n->yes == wanted.yes &&
			n->no == wanted.no && is_same_word(n->word, wanted.word))
			return n;
	if (node_count == NODES_MAX)
		abort();
	nodes[node_count] = wanted;
	return &nodes[node_count++];
}

static struct filter_node *ask(
	uint16_t how, struct word word, uint32_t k, struct filter_node *yes, struct filter_node *no)
{
	return yes == no ? yes
			 : node((struct filter_node){
				   .ask = how, .k = k, .word = word, .yes = yes, .no = no});
}

static struct filter_node *answer(enum answer what)
{
	static const uint32_t values[] = {
		[ANSWER_ABSENT] = SECCOMP_RET_ERRNO | ENOSYS,
		[ANSWER_ALLOW] = SECCOMP_RET_ALLOW,
		[ANSWER_DENY] = SECCOMP_RET_ERRNO | EPERM,
		[ANSWER_FAMILY] = SECCOMP_RET_ERRNO | EAFNOSUPPORT,
		[ANSWER_TOO_LARGE] = SECCOMP_RET_ERRNO | EFBIG,
		[ANSWER_KILL] = SECCOMP_RET_KILL_PROCESS,
	};
	return node((struct filter_node){.k = values[what]});
}

/* --- a word's ranges, as a tree -------------------------------------------------------------- */

struct range {
	uint32_t from;
	struct filter_node *to;
	unsigned walks; /* how often the kernel walks through it */
};

struct ranges {
	struct word word;
	size_t count;
	struct range of[RANGES_MAX]; /* each ends where the next begins */
	/* The best tree over ranges i to j: its cost, and the range before which its first question
	 * cuts; 0: it picks single values out of a range instead. */
	unsigned cost[RANGES_MAX][RANGES_MAX];
	size_t cut[RANGES_MAX][RANGES_MAX];
};

static void add_range(struct ranges *r, uint32_t from, struct filter_node *to, unsigned walks)
{
	struct range *last = r->count ? &r->of[r->count - 1] : NULL;
	if (last && last->to == to) {
		last->walks += walks;
		return;
	}
	if (r->count == RANGES_MAX)
		abort();
	r->of[r->count++] = (struct range){from, to, walks};
}

static bool is_single(const struct ranges *r, size_t i)
{
	return i + 1 < r->count ? r->of[i + 1].from == r->of[i].from + 1
				: r->of[i].from == UINT32_MAX;
}

/* Returns the node to which all ranges from i to j lead, apart from single values; NULL: there is
 * none. */
static struct filter_node *common(const struct ranges *r, size_t i, size_t j)
{
	struct filter_node *found = NULL;
	for (size_t at = i; at <= j; at++) {
		if (is_single(r, at))
			continue;
		if (found && found != r->of[at].to)
			return NULL;
		found = r->of[at].to;
	}
	return found ? found : r->of[j].to;
}

static unsigned cost_of_picking(const struct ranges *r, size_t i, size_t j)
{
	unsigned cost = 0, picked = 0, rest = 0;
	const struct filter_node *base = common(r, i, j);
	for (size_t at = i; at <= j; at++)
		if (r->of[at].to == base)
			rest += r->of[at].walks;
		else
			cost += COST_INSTRUCTION + COST_STEP * r->of[at].walks * ++picked;
	return base ? cost + COST_STEP * rest * picked : ~0u / 2;
}

static void choose(struct ranges *r, size_t i, size_t j)
{
	unsigned walks = 0;
	for (size_t at = i; at <= j; at++)
		walks += r->of[at].walks;
	r->cost[i][j] = cost_of_picking(r, i, j);
	r->cut[i][j] = 0;
	for (size_t cut = i + 1; cut <= j; cut++) {
		unsigned cost = r->cost[i][cut - 1] + r->cost[cut][j] + COST_INSTRUCTION +
				COST_STEP * walks;
		if (cost >= r->cost[i][j])
			continue;
		r->cost[i][j] = cost;
		r->cut[i][j] = cut;
	}
}

static struct filter_node *tree_over(const struct ranges *r, size_t i, size_t j)
{
	size_t cut = r->cut[i][j];
	if (cut)
		return ask(BPF_JGE, r->word, r->of[cut].from, tree_over(r, cut, j),
			tree_over(r, i, cut - 1));
	struct filter_node *base = common(r, i, j), *from = base;
	for (size_t at = j + 1; at-- > i;)
		if (r->of[at].to != base)
			from = ask(BPF_JEQ, r->word, r->of[at].from, r->of[at].to, from);
	return from;
}

static struct filter_node *tree(struct ranges *r)
{
	for (size_t len = 0; len < r->count; len++)
		for (size_t i = 0; i + len < r->count; i++)
			choose(r, i, i + len);
	return tree_over(r, 0, r->count - 1);
}

/* --- a call's rules, as a diagram ------------------------------------------------------------ */

/* The rest of a call's rules when some of their tests are decided. */
struct rules {
	struct arg_rule rule[RULES_MAX];
	size_t count;
};

/* A known fact: whether `test` holds; or, if its word is examined by ranges, the value. */
struct known_test {
	const struct arg_test *test;
	bool holds, ranges;
	uint32_t value;
};

static bool is_any(const struct arg_test *t)
{
	return t->negate && !t->value;
}

/* Returns the word of a test: a mask of high bits asks for a range of the whole word, any other
 * mask for a value of the masked word. */
static struct word word_of(const struct arg_test *t)
{
	bool high = !(~t->mask & (~t->mask + 1));
	unsigned at = 8u * (t->arg % UPPER(0)) + (t->arg >= UPPER(0) ? 4 : 0);
	return (struct word){(uint32_t)offsetof(struct seccomp_data, args) + at,
		high || is_any(t) ? WHOLE : t->mask};
}

static bool is_same_test(const struct arg_test *a, const struct arg_test *b)
{
	return a->arg == b->arg && a->negate == b->negate && a->mask == b->mask &&
	       a->value == b->value;
}

/* Returns 1: it holds, 0: it does not, -1: it is unknown. */
static int known(const struct arg_test *t, const struct known_test *f)
{
	if (!f->ranges)
		return is_same_test(t, f->test) ? f->holds : -1;
	struct word word = word_of(t);
	if (is_any(t) || !is_same_word(word, word_of(f->test)))
		return -1;
	uint32_t looked_at = word.mask == WHOLE ? f->value & t->mask : f->value;
	return (looked_at == t->value) != t->negate;
}

static struct filter_node *decide(const struct rules *rules);

static struct filter_node *decide_knowing(const struct rules *rules, struct known_test f)
{
	struct rules *left = calloc(1, sizeof(*left));
	if (!left)
		abort();
	for (size_t i = 0; i < rules->count; i++) {
		const struct arg_rule *rule = &rules->rule[i];
		struct arg_rule rest = {.name = rule->name, .answer = rule->answer};
		size_t kept = 0, at = 0;
		for (; at < ARG_TESTS_MAX && rule->tests[at].mask; at++) {
			int holds = known(&rule->tests[at], &f);
			if (!holds)
				break;
			if (holds < 0)
				rest.tests[kept++] = rule->tests[at];
		}
		if (at == ARG_TESTS_MAX || !rule->tests[at].mask)
			left->rule[left->count++] = rest;
	}
	struct filter_node *n = decide(left);
	free(left);
	return n;
}

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

/* Decides by ranges: between all values at which a test of the first test's word may begin or cease
 * to hold. */
static struct filter_node *decide_by_ranges(const struct rules *rules, const struct arg_test *first)
{
	uint32_t from[2 * RULES_MAX * ARG_TESTS_MAX + 1] = {0};
	size_t count = 1;
	for (size_t i = 0; i < rules->count * ARG_TESTS_MAX; i++) {
		const struct arg_test *t = &rules->rule[i / ARG_TESTS_MAX].tests[i % ARG_TESTS_MAX];
		if (!t->mask || is_any(t) || !is_same_word(word_of(t), word_of(first)))
			continue;
		uint32_t width = word_of(t).mask == WHOLE ? ~t->mask : 0;
		from[count++] = t->value;
		if (t->value + width != UINT32_MAX)
			from[count++] = t->value + width + 1;
	}
	qsort(from, count, sizeof(*from), by_value);
	struct ranges *r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->word = word_of(first);
	for (size_t i = 0; i < count; i++)
		if (!i || from[i] != from[i - 1])
			add_range(r, from[i],
				decide_knowing(rules,
					(struct known_test){
						.test = first, .ranges = true, .value = from[i]}),
				1);
	struct filter_node *n = tree(r);
	free(r);
	return n;
}

static struct filter_node *decide(const struct rules *rules)
{
	const struct arg_test *first = rules->rule[0].tests;
	if (!rules->count)
		return answer(ANSWER_ALLOW);
	if (!first->mask)
		return answer(rules->rule[0].answer);
	if (!is_any(first))
		return decide_by_ranges(rules, first);
	return ask(BPF_JSET, word_of(first), first->mask,
		decide_knowing(rules, (struct known_test){.test = first, .holds = true}),
		decide_knowing(rules, (struct known_test){.test = first, .holds = false}));
}

/* --- a filter -------------------------------------------------------------------------------- */

static const struct arg_rule table_rules[] = {
#define RULE(call, what, ...) {#call, ANSWER_##what, {__VA_ARGS__}},
	SECCOMP_RULES(RULE)};
static const struct arg_rule no_internet_rules[] = {SECCOMP_NO_INTERNET_RULES(RULE)};
static const struct arg_rule no_unix_rules[] = {SECCOMP_NO_UNIX_RULES(RULE)};
static const struct arg_rule no_host_rules[] = {SECCOMP_NO_HOST_RULES(RULE)};
static const struct arg_rule no_terminal_rules[] = {SECCOMP_NO_TERMINAL_RULES(RULE)};

struct answers {
	uint32_t arch, audit;
	struct filter_node *verdict[NUMBERS + 1]; /* the last one: for all higher numbers */
	struct arg_rule rules[2 * RULES_MAX];
	size_t rule_count;
};

static void set_verdict(struct answers *f, const char *name, int since, struct filter_node *verdict)
{
	int nr = since ? since : seccomp_syscall_resolve_name_arch(f->arch, name);
	if (nr == __NR_SCMP_ERROR) {
		fprintf(stderr, "seccomp table: libseccomp does not know %s\n", name);
		exit(1);
	}
	if (nr >= NUMBERS)
		abort();
	if (nr >= 0) /* negative: not on this architecture */
		f->verdict[nr] = verdict;
}

static int ruled_since(const char *name)
{
#define SINCE(call, nr)                                                                            \
	if (!strcmp(name, #call))                                                                  \
		return nr;
	SECCOMP_RULED_SINCE(SINCE)
	return 0;
}

static void add_rules(struct answers *f, const struct arg_rule *rules, size_t count)
{
	if (f->rule_count + count > ARRAY_LEN(f->rules))
		abort();
	memcpy(f->rules + f->rule_count, rules, count * sizeof(*rules));
	f->rule_count += count;
}

static void set_rules(struct answers *f)
{
	for (size_t i = 0; i < f->rule_count; i++) {
		struct rules own = {.count = 0};
		const char *name = f->rules[i].name;
		for (size_t k = 0; k < f->rule_count; k++) {
			if (strcmp(f->rules[k].name, name) != 0)
				continue;
			if (own.count == RULES_MAX) /* a rule left out could allow a call */
				abort();
			own.rule[own.count++] = f->rules[k];
		}
		set_verdict(f, name, ruled_since(name), decide(&own));
	}
}

static struct filter_node *root_of(const struct answers *f)
{
	struct word nr = {(uint32_t)offsetof(struct seccomp_data, nr), WHOLE};
	struct word arch = {(uint32_t)offsetof(struct seccomp_data, arch), WHOLE};
	struct ranges *r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->word = nr;
	for (uint32_t i = 0; i <= NUMBERS; i++)
		add_range(r, i, f->verdict[i], i < NUMBERS_WALKED);
	add_range(r, 0x40000000u /* x32 */, answer(ANSWER_KILL), 0);
	struct filter_node *n = ask(BPF_JEQ, arch, f->audit, tree(r), answer(ANSWER_KILL));
	free(r);
	return n;
}

/* --- a filter's code, from its end to its beginning ------------------------------------------- */

struct code {
	struct sock_filter of[CODE_MAX];
	size_t first; /* `of` is filled from here on */
};

static size_t put(struct code *c, uint16_t code, uint32_t k, size_t yes, size_t no)
{
	if (!c->first)
		abort();
	c->of[--c->first] =
		(struct sock_filter){.code = code, .k = k, .jt = (uint8_t)yes, .jf = (uint8_t)no};
	return c->first;
}

static void place(struct code *c, struct filter_node *n, bool loaded);

/* Returns the distance from the next instruction to the code of `to`, which it makes nearer than
 * NEAR. */
static size_t reach(struct code *c, const struct filter_node *to, const struct filter_node *from)
{
	struct filter_node *n = &nodes[to - nodes];
	bool loaded = n->ask && is_same_word(n->word, from->word);
	size_t *at = &n->at[loaded];
	if (!*at)
		place(c, n, loaded);
	if (*at - c->first > NEAR)
		*at = n->ask ? put(c, BPF_JMP | BPF_JA, (uint32_t)(*at - c->first), 0, 0)
			     : put(c, BPF_RET | BPF_K, n->k, 0, 0);
	return *at - c->first;
}

static void place(struct code *c, struct filter_node *n, bool loaded)
{
	if (!n->ask) {
		n->at[0] = put(c, BPF_RET | BPF_K, n->k, 0, 0);
		return;
	}
	reach(c, n->no, n);
	reach(c, n->yes, n);
	reach(c, n->no, n); /* reaching the other one may have moved it away */
	size_t yes = reach(c, n->yes, n), no = reach(c, n->no, n);
	n->at[loaded] = put(c, (uint16_t)(BPF_JMP | BPF_K | n->ask), n->k, yes, no);
	if (loaded)
		return;
	if (n->word.mask != WHOLE)
		put(c, BPF_ALU | BPF_AND | BPF_K, n->word.mask, 0, 0);
	n->at[0] = put(c, BPF_LD | BPF_W | BPF_ABS, n->word.offset, 0, 0);
}

static void print_filter(struct answers *f, const char *arch, unsigned number)
{
	static struct code code;
	code.first = CODE_MAX;
	for (struct filter_node *n = nodes; n < nodes + node_count; n++)
		n->at[0] = n->at[1] = 0;
	struct filter_node *root = root_of(f);
	place(&code, root, false);
	printf("static const struct sock_filter seccomp_%s_%u[] = {\n", arch, number);
	for (const struct sock_filter *i = code.of + code.first; i < code.of + CODE_MAX; i++)
		printf("\t{0x%02x, %u, %u, 0x%08xu},\n", i->code, i->jt, i->jf, i->k);
	printf("};\n");
}

/* --- the filters ----------------------------------------------------------------------------- */

/* For `make teeth`: a group of calls that the table lets pass, or "table": everything. */
static const char *left_out = "";

static void allow_left_out(struct answers *f)
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
			set_verdict(f, name, ruled_since(name), answer(ANSWER_ALLOW));
			call += len;
		}
	}
}

static void set_all(struct answers *f, enum answer otherwise)
{
	for (int nr = 0; nr <= NUMBERS; nr++)
		f->verdict[nr] = answer(otherwise);
}

#define ALLOWED(call)           set_verdict(f, #call, 0, answer(ANSWER_ALLOW));
#define ALLOWED_SINCE(call, nr) set_verdict(f, #call, nr, answer(ANSWER_ALLOW));
#define REFUSED(call)           set_verdict(f, #call, 0, answer(ANSWER_DENY));
#define REFUSED_SINCE(call, nr) set_verdict(f, #call, nr, answer(ANSWER_DENY));
#define ABSENT(call)            set_verdict(f, #call, 0, answer(ANSWER_ABSENT));

/* Adds the stricter rules first: of a call's rules the first that matches holds. */
static void fill_command(struct answers *f, unsigned number)
{
	bool table = strcmp(left_out, "table") != 0;
	set_all(f, table ? ANSWER_ABSENT : ANSWER_ALLOW);
	if (number & FILTER_NO_INTERNET)
		add_rules(f, no_internet_rules, ARRAY_LEN(no_internet_rules));
	if (number & FILTER_NO_UNIX)
		add_rules(f, no_unix_rules, ARRAY_LEN(no_unix_rules));
	if (number & FILTER_NO_HOST)
		add_rules(f, no_host_rules, ARRAY_LEN(no_host_rules));
	if (number & FILTER_NO_TERMINAL)
		add_rules(f, no_terminal_rules, ARRAY_LEN(no_terminal_rules));
	if (table) {
		SECCOMP_ALLOWED(ALLOWED, ALLOWED_SINCE)
		SECCOMP_REFUSED(REFUSED, REFUSED_SINCE)
		SECCOMP_ABSENT(ABSENT)
		add_rules(f, table_rules, ARRAY_LEN(table_rules));
	}
	set_rules(f);
	if (number & FILTER_NO_HOST) {
		SECCOMP_HOST_IPC(REFUSED)
	}
	allow_left_out(f);
}

static void fill_reaper(struct answers *f)
{
	set_all(f, ANSWER_DENY);
	SECCOMP_REAPER(ALLOWED)
}

static void print_arch(const char *name, uint32_t arch, uint32_t audit)
{
	printf("#if defined(__%s__) || defined(SECCOMP_EVERY_ARCH)\n", name);
	for (unsigned number = 0; number < FILTERS; number++) {
		static struct answers f;
		f = (struct answers){.arch = arch, .audit = audit};
		if (number == FILTER_REAPER)
			fill_reaper(&f);
		else
			fill_command(&f, number);
		print_filter(&f, name, number);
	}
	printf("static const struct sock_fprog seccomp_%s[] = {\n", name);
	for (unsigned number = 0; number < FILTERS; number++)
		printf("\t{sizeof(seccomp_%s_%u) / sizeof(struct sock_filter),\n"
		       "\t\t(struct sock_filter *)(unsigned long)seccomp_%s_%u},\n",
			name, number, name, number);
	printf("};\n#endif\n#if defined(__%s__)\n#define SECCOMP_HERE seccomp_%s\n#endif\n", name,
		name);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		left_out = argv[1];
	printf("/* Generated from jail/seccomp_table.h. */\n#include <linux/filter.h>\n");
	print_arch("x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64);
	print_arch("aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64);
	return fflush(stdout) ? 1 : 0;
}
