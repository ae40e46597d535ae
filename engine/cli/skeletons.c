#include "cli/skeletons.h"

#include "base/own.h"

#define AGENT_MACHINE                                                                              \
	"machine: %NAME%\n"                                                                        \
	"version: 1\n"                                                                             \
	"description: Says in one word what a text is about.\n"                                    \
	"initial: judge\n"                                                                         \
	"budget: {max_transitions: 10, max_usd: 0.50}\n"                                           \
	"\n"                                                                                       \
	"schemas:\n"                                                                               \
	"  verdict:\n"                                                                             \
	"    topic: {type: str, enum: [work, weather, other]}\n"                                   \
	"    why: str\n"                                                                           \
	"\n"                                                                                       \
	"vars:\n"                                                                                  \
	"  operator:\n"                                                                            \
	"    file: {type: str, value: input.txt}\n"                                                \
	"  agent:\n"                                                                               \
	"    verdict: {type: verdict, default: {}}\n"                                              \
	"\n"                                                                                       \
	"states:\n"                                                                                \
	"  judge:\n"                                                                               \
	"    kind: agent\n"                                                                        \
	"    prompt: |\n"                                                                          \
	"      Read {{ file }} and say what it is about, and why you think so.\n"                  \
	"    output_schema: verdict\n"                                                             \
	"    capture: {finish_json: verdict}\n"                                                    \
	"    timeout_secs: 120\n"                                                                  \
	"    on: {ok: done, failed: gave_up, budget_exhausted: gave_up, timeout: gave_up}\n"       \
	"\n"                                                                                       \
	"  done: {kind: terminal, status: ok, reason: \"{{ verdict.topic }}: {{ verdict.why "      \
	"}}\"}\n"                                                                                  \
	"  gave_up: {kind: terminal, status: failed, reason: no verdict}\n"

static const struct skeleton_file agent_files[] = {{"machine.yaml", AGENT_MACHINE, 0644},
	{"rehearsal/workspace/input.txt", "It rained all morning; the river is high.\n", 0644},
	{"rehearsal/judge.jsonl",
		"{\"state\":\"judge\",\"match\":{\"prompt\":\"input.txt\",\"turn\":0},\"reply\":{"
		"\"tool_calls\":"
		"[{\"name\":\"read_file\",\"arguments\":{\"path\":\"input.txt\"}}],\"usage\":{"
		"\"input_tokens\":"
		"500,\"output_tokens\":30}}}\n"
		"{\"state\":\"judge\",\"match\":{\"last\":\"It "
		"rained\"},\"reply\":{\"tool_calls\":[{\"name\":"
		"\"finish_run\",\"arguments\":{\"topic\":\"weather\",\"why\":\"It speaks of "
		"rain.\"}}],"
		"\"usage\":{\"input_tokens\":600,\"output_tokens\":30}}}\n",
		0644},
	{0}};

#define TOOL_MACHINE                                                                               \
	"machine: %NAME%\n"                                                                        \
	"version: 1\n"                                                                             \
	"description: Runs a script and branches on what it found.\n"                              \
	"initial: look\n"                                                                          \
	"budget: {max_transitions: 10}\n"                                                          \
	"\n"                                                                                       \
	"schemas:\n"                                                                               \
	"  found:\n"                                                                               \
	"    files: int\n"                                                                         \
	"\n"                                                                                       \
	"vars:\n"                                                                                  \
	"  code:\n"                                                                                \
	"    files: {type: int, default: 0}\n"                                                     \
	"\n"                                                                                       \
	"states:\n"                                                                                \
	"  look:\n"                                                                                \
	"    kind: tool\n"                                                                         \
	"    command: [scripts/look.sh]\n"                                                         \
	"    workspace: read\n"                                                                    \
	"    timeout_secs: 30\n"                                                                   \
	"    output_schema: found\n"                                                               \
	"    capture: {set: {files: \"{{ result.files }}\"}}\n"                                    \
	"    on: {ok: decide, nonzero: broken, timeout: broken}\n"                                 \
	"\n"                                                                                       \
	"  decide:\n"                                                                              \
	"    kind: branch\n"                                                                       \
	"    when:\n"                                                                              \
	"      - {if: \"files == 0\", goto: nothing}\n"                                            \
	"      - {else: true, goto: something}\n"                                                  \
	"\n"                                                                                       \
	"  something: {kind: terminal, status: ok, reason: \"{{ files }} files\"}\n"               \
	"  nothing: {kind: terminal, status: ok, reason: an empty directory}\n"                    \
	"  broken: {kind: terminal, status: failed, reason: the script failed}\n"

static const struct skeleton_file tool_files[] = {{"machine.yaml", TOOL_MACHINE, 0644},
	{"scripts/look.sh",
		"#!/bin/sh\n"
		"# Prints one JSON object that conforms to the schema `found`.\n"
		"set -eu\n"
		"printf '{\"files\":%d}\\n' \"$(find . -type f | wc -l)\"\n",
		0755},
	{"rehearsal/workspace/example.txt", "one file\n", 0644}, {0}};

const struct skeleton skeletons[] = {
	{"agent", "one agent state with a typed result", agent_files},
	{"tool", "a script with a typed result, and a branch", tool_files},
};
const size_t skeleton_count = ARRAY_LEN(skeletons);
