/*
 * Writes docs/network.md from the network matrix (engine/config/network.def), or with --json the
 * matrix itself, for the test that starts every row. A build tool.
 */
#include "config/network.h"
#include <stdio.h>
#include <string.h>

static const char *const profiles[] = {"strict", "hardened"};
static const char *const agents[] = {"providers", "local", "open"};
static const char *const tools[] = {"block", "only_explicit_states", "allow"};
static const char *const asked[] = {"auto", "block", "allow", "list"};

static void print_words(void)
{
	puts("\n## What the words mean\n\n| | |\n|---|---|");
#define WAY(name, words)                       puts("| " #name " | " words " |");
#define REFUSAL(name, reason, fix, one, other) puts("| " #name " | refused: " reason "; " fix " |");
#include "config/network.def"
}

static const char *const ways[] = {
#define WAY(name, words)                       [WAY_##name] = #name,
#define REFUSAL(name, reason, fix, one, other) [WAY_##name] = #name,
#include "config/network.def"
};

/* --- as JSON: no string of the table needs an escape ------------------------------------------ */

static void print_case(const struct network_case *on)
{
	const struct {
		const char *name;
		int value;
		const char *const *names;
	} settings[] = {{"profile", on->profile, profiles}, {"agent", on->agent, agents},
		{"tool", on->tool, tools}, {"asked", on->asked, asked}};
	const char *comma = "";
	printf("{");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (settings[i].value == NETWORK_KEEP)
			continue;
		printf("%s\"%s\":\"%s\"", comma, settings[i].name,
			settings[i].names[settings[i].value]);
		comma = ",";
	}
	printf("}");
}

static void print_refusal(enum network_way way, const char *comma)
{
	const struct network_refusal *r = network_refusal(way);
	printf("%s\"%s\":{\"reason\":\"%s\",\"fix\":\"%s\",\"changes\":[", comma, ways[way],
		r->reason, r->fix);
	print_case(&r->changes[0]);
	printf(",");
	print_case(&r->changes[1]);
	printf("]}");
}

static void print_json(void)
{
	printf("{\"rows\":[");
	for (size_t i = 0; i < network_row_count; i++) {
		const struct network_row *r = &network_rows[i];
		printf("%s{\"on\":", i ? "," : "");
		print_case(&r->on);
		printf(",\"agent\":\"%s\",\"command\":\"%s\",\"tool\":\"%s\"}", ways[r->agent],
			ways[r->command], ways[r->tool]);
	}
	printf("],\"refusals\":{");
	const char *comma = "";
	for (int way = 0; way < (int)(sizeof(ways) / sizeof(ways[0])); way++) {
		if (!network_refusal((enum network_way)way))
			continue;
		print_refusal((enum network_way)way, comma);
		comma = ",";
	}
	puts("}}");
}

/* --- as a page -------------------------------------------------------------------------------- */

static void print_page(void)
{
	puts("# The network matrix\n\n"
	     "What an agent, the commands it runs and a tool state may reach, under every\n"
	     "combination of the operator's `sandbox.profile` (as it came out), "
	     "`sandbox.agent_network`\n"
	     "and `sandbox.tool_network` with a state's `allow_network`. A tool state is refused "
	     "or not by\n"
	     "itself: the other states of a machine do not change its row.\n\n"
	     "This page is generated from `engine/config/network.def` by `make docs`; do not edit "
	     "it.");
	for (size_t i = 0; i < network_row_count; i++) {
		const struct network_row *r = &network_rows[i];
		if (i == 0 || r->on.profile != network_rows[i - 1].on.profile)
			printf("\n## On %s\n\n| agent_network | tool_network | allow_network | "
			       "agent | its commands | tool state |\n|---|---|---|---|---|---|\n",
				profiles[r->on.profile]);
		printf("| %s | %s | %s | %s | %s | %s |\n", agents[r->on.agent], tools[r->on.tool],
			asked[r->on.asked], ways[r->agent], ways[r->command], ways[r->tool]);
	}
	print_words();
	puts("\nAn agent keeps its broker under `open`, too: the setting exists so that "
	     "`tool_network: allow`\n"
	     "can be a deliberate choice. Under `local` a provider that is not on this host is "
	     "refused at\n"
	     "start. `hardened` starts where a command in a jail of that profile, tried first, "
	     "could make no\n"
	     "socket that leads out; else the start is refused and says what it could make. The "
	     "agent proves the\n"
	     "same of itself before it is given its key.");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--json"))
		print_json();
	else
		print_page();
	return fflush(stdout) ? 1 : 0;
}
