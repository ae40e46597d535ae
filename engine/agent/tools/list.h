/*
 * The one list of tools; table.c and every declaration expand it. finish_run is not here: it is the
 * loop's own, because it ends the loop.
 */
#ifndef TOOLS_LIST_H
#define TOOLS_LIST_H
#include "agent/tools/tool.h"

#define TOOL_LIST(X)                                                                               \
	X(read_file) X(list_dir) X(grep) X(apply_edit) X(run_verify_command) X(run_command)

#define TOOL(name) extern const struct tool tool_##name;
TOOL_LIST(TOOL)
#undef TOOL
#endif
