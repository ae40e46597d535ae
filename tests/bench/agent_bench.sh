#!/bin/bash
# How long an agent process takes from its start to its first byte on the provider's socket: broker,
# namespaces, Landlock, seccomp, request. The promise is 25 ms on top of the provider.
set -eu -o pipefail
export LC_ALL=C
limit=25000 runs=21
scratch=$(mktemp -d "${TMPDIR:-/tmp}/agent6-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
limits='"timeout_secs":20,"max_iterations":1,"max_output_tokens_per_call":10,"context_tokens":1000,"max_calls_per_turn":1,"max_input_tokens":null,"max_output_tokens":null,"max_microusd":null,"best_effort_microusd":null'

# once PORT: microseconds from the start of the agent to the first byte that arrives.
once() {
	local port=$1 begun arrived
	order='{"version":1,"profile":"strict","agent_network":"providers","workspace":"'$scratch'","state_dir":"'$scratch'","channels":[{"name":"p","endpoint":"127.0.0.1:'$port'","tls":false,"local":true,"private":false}],"max_egress_bytes":null,"upstream_proxy":null}'
	task='{"version":1,"state":"s","step_key":"1","mode":"agent","prompt":"x","result":null,"provider":{"name":"p","api_format":"anthropic","base_url":"http://127.0.0.1:'$port'","auth":"none","api_version":null,"ca_file":null,"key":null,"connect_timeout_secs":5,"idle_timeout_secs":5,"timeout_secs":5,"max_retries":0,"prices":null},"model":"m","thinking":null,"temperature":null,"limits":{'$limits'},"protect":[],"record":false}'
	coproc server { exec socat -u "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr" -; }
	until ss -ltn 2>/dev/null | grep -q "127.0.0.1:$port "; do sleep 0.01; done
	begun=${EPOCHREALTIME/./}
	"$AGENT6_BIN/agent6-agent" < <(printf '%s\n%s\n' "$order" "$task") >/dev/null 2>&1 &
	read -r -n 1 _ <&"${server[0]}"
	arrived=${EPOCHREALTIME/./}
	kill "$!" "$server_PID"
	wait 2>/dev/null || true
	echo $((arrived - begun))
}

for ((i = 0; i < runs; i++)); do
	once $((20000 + RANDOM % 20000)) 2>/dev/null
done | sort -n >"$scratch/times"
median=$(sed -n "$((runs / 2 + 1))p" "$scratch/times")
verdict=ok
[[ $median -lt $limit ]] || verdict=FAILED
printf '%-52s %9s us  (< %s)  %s\n' "agent: start to first byte, median of $runs" "$median" "$limit" "$verdict"
[[ $verdict == ok ]]
