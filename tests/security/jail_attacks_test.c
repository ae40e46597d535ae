/*
 * The attack corpus against the jail: each row outside first, where it has to work, then inside, as
 * root and as an ordinary user, strict and hardened. After every run the host is looked at: the
 * decoy tree, the canaries, the victim process, set-id files and processes left behind.
 *
 * Those at the workspace and its repository once more for each way in which a workspace belongs to
 * one: there only the host is judged, and that nothing was let through.
 *
 *   jail_attacks_test [ID [PROFILE [LAYOUT]]]
 *                                       JAIL=path: another launcher; TEETH=1: print what succeeds,
 *                                       TEETH=holes: with the known holes, TEETH=list: the rows
 */
#include "tests/security/attacks/attack.h"

#include "base/cleanup.h"
#include "tests/kit/tap.h"
#include "tests/security/attacks/decoy_layout.h"
#include "tests/security/attacks/decoy_run.h"
#include "tests/security/attacks/held_together.h"
#include <stdio.h>
#include <string.h>

enum { ANSWERS = 3, END = -2 };

struct attack {
	const char *id;
	int by;
	int strict[ANSWERS + 1], hardened[ANSWERS + 1];
	const char *what;
};

#define LIST(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__, END                                                                   \
	}
static const struct attack attacks[] = {
#define ATTACK_ROW(id, by, strict, hardened, what) {#id, by, LIST strict, LIST hardened, what},
	ATTACKS(ATTACK_ROW)};

static bool in_list(int got, const int *list)
{
	for (; *list != END; list++)
		if (*list == got || *list == ANYTHING)
			return true;
	return false;
}

static bool lacks_kernel(int number)
{
	return number == ENOSYS || number == EAFNOSUPPORT || number == EPROTONOSUPPORT ||
	       number == EOPNOTSUPP || number == ESOCKTNOSUPPORT || number == ENODEV;
}

/* 0: it works outside, so it can be tried inside. */
static int try_outside(struct decoy *decoy, const struct attack *attack, const char *who)
{
	decoy_fill(decoy);
	int got = decoy_run_outside(decoy, attack->id);
	decoy_clear(decoy);
	if (!got)
		return 0;
	if (decoy->layout)
		return -1; /* it is at what is not there in this layout */
	if (lacks_kernel(got))
		diag("%s: this kernel has no such thing (%s)", attack->id, strerror(got));
	else
		skip("%s as %s: fails outside too (%s)", attack->id, who,
			got < 134 ? strerror(got) : "it was killed");
	return -1;
}

static void try_inside(
	struct decoy *decoy, const struct attack *attack, const char *who, const char *profile)
{
	const int *allowed = strcmp(profile, "strict") ? attack->hardened : attack->strict;
	bool hole = allowed[0] == 0 && !decoy_layout_hardened_holds(decoy, attack->id);
	decoy_fill(decoy);
	int got = decoy_run_inside(decoy, attack->id, profile);
	AUTO_FREE char *harm = hole ? NULL : decoy_harm(decoy);
	decoy_clear(decoy);
	bool refused = decoy->layout ? (got && got != 125) || *allowed <= 0 : in_list(got, allowed);
	bool held = refused && !harm;
	const char *teeth = getenv("TEETH");
	if (teeth) {
		bool open = !held || (hole && !strcmp(teeth, "holes"));
		if (open && (!got || harm))
			printf("%s\n", attack->id);
		else if (got == 125)
			printf("set-up\n");
		if (harm)
			fprintf(stderr, "# %s, without %s: %s\n", attack->id,
				getenv("JAIL_LEAVE_OUT"), harm);
		return;
	}
	ok(held, "%s, %s, %s, %s: %s%s", attack->id, who, profile, decoy_layout_name(decoy->layout),
		attack->what, hole ? " (a known hole)" : "");
	if (!held)
		diag("got %d (%s)%s%s", got, got < 134 ? strerror(got) : "", harm ? ", " : "",
			harm ? harm : "");
}

/* Every row, and after those that no layer holds alone what has to be left out. */
static void list_rows(void)
{
#define ATTACK_ID(id, by, strict, hardened, what) #id,
#define ATTACK_HELD(id, profile, layers)          #id " " #profile " " layers,
	static const char *const rows[] = {ATTACKS(ATTACK_ID)};
	static const char *const held[] = {HELD_TOGETHER(ATTACK_HELD)};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		puts(rows[i]);
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		puts(held[i]);
}

/* Reports whether the attack is about the workspace, so that a layout could change its result. */
static bool is_about_workspace(const struct attack *attack)
{
	static const char *const kinds[] = {
		"git_", "fs_rename_", "fs_symlink", "fs_hardlink", "unix_inside", "unix_renamed"};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strncmp(attack->id, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

/* The attacks to run; NULL: all of them. */
struct choice {
	const char *id, *profile, *layout;
};

static void run_layout(struct decoy *decoy, const char *who, int by, const struct choice *choice)
{
	for (size_t i = 0; i < ARRAY_LEN(attacks); i++) {
		const struct attack *a = &attacks[i];
		/* Root's attempts are the stronger: of an ordinary user's, teeth wants only those
		 * that root does not make. */
		bool again = by == BY_USER && geteuid() == 0 && a->by & BY_ROOT && getenv("TEETH");
		if (!(a->by & by) || again || (choice->id && strcmp(choice->id, a->id) != 0) ||
			(decoy->layout && !is_about_workspace(a)))
			continue;
		if (!getenv("TEETH") && try_outside(decoy, a, who))
			continue;
		if (!choice->profile || !strcmp(choice->profile, "strict"))
			try_inside(decoy, a, who, "strict");
		if ((!choice->profile || !strcmp(choice->profile, "hardened")) &&
			tap_can_harden(a->id))
			try_inside(decoy, a, who, "hardened");
	}
}

static void run_all(const char *who, int by, const struct choice *choice)
{
	struct decoy d;
	const char *name;
	decoy_init(&d, tap_scratch(), by == BY_USER);
	for (; (name = decoy_layout_name(d.layout)); d.layout++)
		if (!choice->layout || !strcmp(choice->layout, name))
			run_layout(&d, who, by, choice);
	decoy_done(&d);
}

static const char *word(int argc, char **argv, int at)
{
	return argc > at && *argv[at] ? argv[at] : NULL;
}

int main(int argc, char **argv)
{
	const char *teeth = getenv("TEETH"), *config = getenv("AGENT6_CONFIG");
	bool sanitized = config && strcmp(config, "release") != 0;
	struct choice choice = {word(argc, argv, 1), word(argc, argv, 2), word(argc, argv, 3)};
	if (teeth && !strcmp(teeth, "list")) {
		list_rows();
		return 0;
	}
	/* A layout is the kernel's and git's matter: the release build tries them all. */
	if ((teeth || sanitized) && !choice.layout)
		choice.layout = decoy_layout_name(0);
	if (geteuid() == 0)
		run_all("root", BY_ROOT, &choice);
	run_all("user", BY_USER, &choice);
	if (teeth)
		return 0;
	return tap_done();
}
