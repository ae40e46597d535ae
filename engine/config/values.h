/*
 * The values of a configuration, one struct per section of docs/configuration.md.
 */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONFIG_NONE = -1, ALLOW_URLS_MAX = 31, PRIVATE_HOSTS_MAX = 64 };

enum api_format { API_ANTHROPIC, API_OPENAI };
enum provider_auth { AUTH_X_API_KEY, AUTH_BEARER, AUTH_NONE };
enum sandbox_profile { PROFILE_AUTO, PROFILE_STRICT, PROFILE_HARDENED };
enum agent_network { AGENT_NETWORK_PROVIDERS, AGENT_NETWORK_LOCAL, AGENT_NETWORK_OPEN };
/* The least that bounds the memory of a command and all that it starts together. */
enum memory_bound { MEMORY_BOUND_ANY, MEMORY_BOUND_WATCH, MEMORY_BOUND_CGROUP };
enum tool_network { TOOL_NETWORK_BLOCK, TOOL_NETWORK_ONLY_EXPLICIT, TOOL_NETWORK_ALLOW };
enum run_commands { RUN_COMMANDS_NO, RUN_COMMANDS_ASK, RUN_COMMANDS_YES };
enum approval_default { APPROVAL_AUTO, APPROVAL_CONFIRM, APPROVAL_STEP };
enum summarise { SUMMARISE_DIGEST, SUMMARISE_MODEL };

struct config_list {
	const char *const *items; /* NULL-terminated when count > 0 */
	size_t count;
};

/* Micro-USD per token, which is USD per million tokens. */
struct config_price {
	const char *model;
	double input, output, cache_read, cache_write;
};

/* A header or query parameter that is sent with every request. */
struct config_sent {
	const char *name;
	const char *text; /* NULL: `env` names the variable that holds it */
	const char *env;
};

struct config_provider {
	const char *name;
	enum api_format api_format;
	enum provider_auth auth;
	const char *base_url, *api_key_env, *api_version, *ca_file;
	int64_t connect_timeout_secs, idle_timeout_secs, timeout_secs, max_retries;
	bool private_network;
	struct config_list token_command; /* prints the key; empty: none */
	const struct config_sent *headers, *query;
	size_t header_count, query_count;
	const struct config_price *prices; /* the operator's */
	size_t price_count;
	/* From base_url. The host is without brackets; the endpoint is HOST:PORT as the broker
	 * takes it. `loopback`: a loopback address or localhost. */
	const char *host, *endpoint;
	int port;
	bool tls, loopback;
};

struct config_role {
	const char *provider, *model;
};

struct config_limits {
	int64_t memory_mb, cpu_secs, processes, open_files, file_mb, tmp_mb, output_kb;
	enum memory_bound memory_by;
};

struct config_secret {
	const char *name, *env;
	struct config_list machines;
};

struct config_sandbox {
	enum sandbox_profile profile;
	enum agent_network agent_network;
	enum tool_network tool_network;
	enum run_commands run_commands;
	struct config_list allow_urls, private_hosts, read, write, protect, hide;
	const char *upstream_proxy;
	int64_t max_egress_bytes;
	const struct config_secret *secrets;
	size_t secret_count;
	struct config_limits limits;
};

struct config {
	struct config_store *store; /* layers, documents, memory */
	const char *state_dir;      /* agent6.state_dir after AGENT6_STATE_HOME; absolute */
	const struct config_provider *providers;
	size_t provider_count;
	struct {
		struct config_role worker, reviewer, planner;
	} models;
	struct {
		int64_t max_iterations, max_iterations_run, max_output_tokens, context_tokens,
			max_calls_per_turn;
		enum summarise summarise;
	} agent;
	struct {
		int64_t max_microusd, max_input_tokens, max_output_tokens;
	} budget;
	struct config_sandbox sandbox;
	struct {
		enum approval_default mode;
		int64_t timeout_secs;
	} approval;
	struct {
		struct config_list verify_command;
		int64_t verify_timeout_secs;
	} workflow;
	struct {
		const char *name, *email;
		bool run_repo_hooks, run_repo_filters;
	} git;
	struct {
		bool require_signature;
		const char *allowed_signers;
		struct config_list on_event; /* machine.notify.on_event */
		int64_t state_log_keep;
	} machine;
	struct {
		const char *path; /* NULL: in the state directory */
		int64_t retain_days;
	} audit;
};
#endif
