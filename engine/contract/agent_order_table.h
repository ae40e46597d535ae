/*
 * The members of an agent's order and task, one row each.
 */
#ifndef CONTRACT_AGENT_ORDER_TABLE_H
#define CONTRACT_AGENT_ORDER_TABLE_H

/* clang-format off */
/* Type, when it is written (contract/row.h), name, member of the object's struct. */
#define AGENT_ORDER_MEMBERS(X) \
	X(COUNT, NEEDED, "version", version) \
	X(TEXT, NEEDED, "profile", profile) \
	X(TEXT, NEEDED, "agent_network", agent_network) \
	X(TEXT, NEEDED, "workspace", workspace) \
	X(TEXT, NEEDED, "state_dir", state_dir) \
	X(CAP, ALWAYS, "max_egress_bytes", max_egress_bytes) \
	X(TEXT, ALWAYS, "upstream_proxy", upstream_proxy)
#define AGENT_CHANNEL_MEMBERS(X) \
	X(TEXT, NEEDED, "name", name) \
	X(TEXT, NEEDED, "endpoint", endpoint) \
	X(TEXT, ELSE, "ca_file", ca_file) \
	X(FLAG, NEEDED, "tls", tls) \
	X(FLAG, NEEDED, "local", local) \
	X(FLAG, NEEDED, "private", private)
#define AGENT_COMMANDS_MEMBERS(X) \
	X(TEXT, NEEDED, "run", run) \
	X(TEXT, NEEDED, "approval", approval) \
	X(FLAG, NEEDED, "auto_approve", auto_approve) \
	X(LIST, ALWAYS, "verify", verify) \
	X(COUNT, NEEDED, "timeout_secs", timeout_secs) \
	X(COUNT, NEEDED, "verify_timeout_secs", verify_timeout_secs)
#define AGENT_TASK_MEMBERS(X) \
	X(COUNT, NEEDED, "version", version) \
	X(TEXT, NEEDED, "mode", mode) \
	X(TEXT, NEEDED, "prompt", prompt) \
	X(OBJECT, ALWAYS, "result", result) \
	X(TEXT, NEEDED, "model", model) \
	X(TEXT, ALWAYS, "thinking", thinking) \
	X(REAL, ALWAYS, "temperature", temperature) \
	X(FLAG, NEEDED, "record", record)
#define AGENT_PROVIDER_MEMBERS(X) \
	X(TEXT, NEEDED, "name", name) \
	X(TEXT, NEEDED, "api_format", api_format) \
	X(TEXT, NEEDED, "base_url", base_url) \
	X(TEXT, NEEDED, "auth", auth) \
	X(TEXT, ALWAYS, "api_version", api_version) \
	X(TEXT, ALWAYS, "ca_file", ca_file) \
	X(TEXT, ALWAYS, "key", key) \
	X(TEXT, ELSE, "query", query) \
	X(COUNT, NEEDED, "connect_timeout_secs", connect_timeout_secs) \
	X(COUNT, NEEDED, "idle_timeout_secs", idle_timeout_secs) \
	X(COUNT, NEEDED, "timeout_secs", timeout_secs) \
	X(COUNT, NEEDED, "max_retries", max_retries)
#define AGENT_PRICES_MEMBERS(X) \
	X(REAL, NEEDED, "input", input) \
	X(REAL, NEEDED, "output", output) \
	X(REAL, NEEDED, "cache_read", cache_read) \
	X(REAL, NEEDED, "cache_write", cache_write)
#define AGENT_REVIEWER_MEMBERS(X) \
	X(TEXT, NEEDED, "model", model)
#define AGENT_LIMITS_MEMBERS(X) \
	X(COUNT, NEEDED, "timeout_secs", timeout_secs) \
	X(COUNT, NEEDED, "max_iterations", max_iterations) \
	X(COUNT, NEEDED, "max_output_tokens_per_call", max_output_tokens_per_call) \
	X(COUNT, NEEDED, "context_tokens", context_tokens) \
	X(COUNT, NEEDED, "max_calls_per_turn", max_calls_per_turn) \
	X(CAP, ALWAYS, "max_input_tokens", max_input_tokens) \
	X(CAP, ALWAYS, "max_output_tokens", max_output_tokens) \
	X(CAP, ALWAYS, "max_microusd", max_microusd) \
	X(CAP, ALWAYS, "best_effort_microusd", best_effort_microusd)

/* Those that are objects or lists of texts: type (agent_order.c), when it is written, name, member,
 * shape; NULL: the type says it. */
#define AGENT_ORDER_PARTS(X) \
	X(CHANNELS, NEEDED, "channels", channels, &channel_shape) \
	X(APART, ELSE, "commands", commands, &commands_shape)
#define AGENT_COMMANDS_PARTS(X) \
	X(POLICY, NEEDED, "policy", policy, NULL)
#define AGENT_TASK_PARTS(X) \
	X(INSIDE, NEEDED, "provider", provider, &provider_shape) \
	X(APART, ALWAYS, "reviewer", reviewer, &reviewer_shape) \
	X(INSIDE, NEEDED, "limits", limits, &limits_shape) \
	X(TEXTS, NEEDED, "protect", protect, NULL) \
	X(TEXTS, NEEDED, "hide", hide, NULL) \
	X(TEXTS, NEEDED, "secrets", secrets, NULL)
#define AGENT_PROVIDER_PARTS(X) \
	X(APART, ALWAYS, "prices", prices, &prices_shape) \
	X(TEXTS, ELSE, "headers", headers, NULL)
#define AGENT_REVIEWER_PARTS(X) \
	X(INSIDE, NEEDED, "provider", provider, &provider_shape)
/* clang-format on */

#endif
