#!/bin/bash
# How long an agent process takes from its start to its first byte on the provider's socket: broker,
# namespaces, Landlock, seccomp, request; over TLS the system's certificates, too. The promise is
# 25 ms on top of the provider. And what it holds in memory while it reads the longest stream that it
# reads at all: 64 MiB.
set -eu -o pipefail
export LC_ALL=C
limit=25000 runs=21
scratch=$(mktemp -d "${TMPDIR:-/tmp}/agent6-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
limits='"timeout_secs":20,"max_iterations":1,"max_output_tokens_per_call":10,"context_tokens":1000,"max_calls_per_turn":1,"max_input_tokens":null,"max_output_tokens":null,"max_microusd":null,"best_effort_microusd":null'

# request SCHEME PORT: the two lines that the supervisor would send
request() {
	local tls=false
	[[ $1 == http ]] || tls=true
	printf '%s\n' '{"version":1,"profile":"strict","agent_network":"providers","workspace":"'"$scratch"'","state_dir":"'"$scratch"'","channels":[{"name":"p","endpoint":"localhost:'"$2"'","tls":'$tls',"local":true,"private":false}],"max_egress_bytes":null,"upstream_proxy":null}' \
		'{"version":1,"mode":"agent","prompt":"x","result":null,"provider":{"name":"p","api_format":"anthropic","base_url":"'"$1://localhost:$2"'","auth":"none","api_version":null,"ca_file":null,"key":null,"connect_timeout_secs":5,"idle_timeout_secs":5,"timeout_secs":20,"max_retries":0,"prices":null},"reviewer":null,"model":"m","thinking":null,"temperature":null,"limits":{'"$limits"'},"protect":[],"hide":[],"secrets":[],"record":false}'
}

listening() {
	until ss -ltn 2>/dev/null | grep -q "127.0.0.1:$1 "; do sleep 0.01; done
}

# once SCHEME PORT: microseconds from the start of the agent to the first byte that arrives.
once() {
	local begun arrived
	coproc server { exec socat -u "TCP-LISTEN:$2,bind=127.0.0.1,reuseaddr" -; }
	listening "$2"
	begun=${EPOCHREALTIME/./}
	"$AGENT6_BIN/agent6-agent" < <(request "$1" "$2") >/dev/null 2>&1 &
	read -r -n 1 _ <&"${server[0]}"
	arrived=${EPOCHREALTIME/./}
	# shellcheck disable=SC2154 # coproc sets it
	kill "$!" "$server_PID"
	wait 2>/dev/null || true
	echo $((arrived - begun))
}

failed=0
report() { # NAME MEASURED UNIT LIMIT
	local verdict=ok
	[[ $2 -lt $4 ]] || { verdict=FAILED failed=1; }
	printf '%-52s %9s %s  (< %s)  %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

for scheme in http https; do
	for ((i = 0; i < runs; i++)); do
		once "$scheme" $((20000 + RANDOM % 20000)) 2>/dev/null
	done | sort -n >"$scratch/times"
	report "agent: start to first byte, $scheme, median of $runs" "$(sed -n "$((runs / 2 + 1))p" "$scratch/times")" us "$limit"
done

# A whole turn of 64 MiB, 4 MiB of it text: what is read is not kept.
awk 'function event(json) { text = "data: " json "\n\n"; total += length(text); printf "%s", text }
	BEGIN {
		printf "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
		event("{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}")
		event("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}")
		for (i = 0; i < 262144; i++)
			event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"16 bytes of text\"}}")
		while (total < 64 * 1024 * 1024 - 4096)
			event("{\"type\":\"ping\"}")
		event("{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"finish_run\",\"input\":{\"summary\":\"x\"}}}")
		event("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}")
		event("{\"type\":\"message_stop\"}")
	}' >"$scratch/stream"
port=$((20000 + RANDOM % 20000))
socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr" SYSTEM:"dd bs=64k count=1 of=/dev/null 2>/dev/null; cat $scratch/stream" &
listening "$port"
request http "$port" >"$scratch/request"
${CC:-gcc} -O2 -D_GNU_SOURCE -o "$scratch/usage" "$(dirname "$0")/usage.c"
"$scratch/usage" sh -c "exec '$AGENT6_BIN/agent6-agent' >'$scratch/events'" <"$scratch/request" >"$scratch/used"
wait
grep -q '"outcome":"ok"' "$scratch/events"
report "agent: peak memory, a turn of 64 MiB" "$(cut -d' ' -f1 "$scratch/used")" KiB $((24 * 1024))

# 1 MB that goes on as a hundred secrets begin.
head -c 1000000 /dev/zero | tr '\0' a >"$scratch/alike"
secrets=()
for i in {100..199}; do secrets+=("S${i}_KEY=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$i"); done
redacting() {
	for _ in 1 2 3; do
		env "$@" "$scratch/usage" "$AGENT6_BIN/agent6" check redact --as file <"$scratch/alike"
	done | sort -k 2n | head -n 1 | cut -d' ' -f2
}
one=$(redacting "${secrets[0]}") all=$(redacting "${secrets[@]}")
report "redacting with 100 secrets that begin alike, over 1" "$(awk -v a="$all" -v b="$one" 'BEGIN { printf "%d", a / b * 100 }')" % 500
exit "$failed"
