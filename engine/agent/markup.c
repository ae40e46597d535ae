#include "agent/markup.h"

#include "base/cleanup.h"
#include <string.h>

const char *markup_find(const char *message)
{
	static const char *const marks[] = {
		"<tool_call>",                  /* Qwen, Hermes, GLM */
		"<tool_calls>",                 /* Jamba, Hunyuan */
		"<|tool_call|>",                /* Granite, Phi */
		"<|tool_call>",                 /* Gemma 4 */
		"<function=",                   /* Llama, Qwen Coder */
		"<function_calls>",             /* Claude's older form, and Nemotron's */
		"<start_function_call>",        /* FunctionGemma */
		"<minimax:tool_call>",          /* MiniMax */
		"[TOOL_CALLS]",                 /* Mistral */
		"<|python_tag|>",               /* Llama */
		"<|tool_call_start|>",          /* LFM */
		"<|tool_calls_section_begin|>", /* Kimi */
		"<|action_start|>",             /* InternLM */
		"<\xef\xbd\x9c"
		"tool\xe2\x96\x81"
		"calls\xe2\x96\x81"
		"begin\xef\xbd\x9c>",            /* DeepSeek */
		"<\357\275\234DSML\357\275\234", /* and since 3.2 */
		"to=functions.",                 /* gpt-oss */
		"functools[",                    /* Phi */
	};
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strstr(message, marks[i]))
			return marks[i];
	return NULL;
}
