# The official SDKs (@anthropic-ai/sdk, openai) against agent6-cassette, so that the provider our own
# client is tested with is not merely that client's mirror.
load ../kit/common

@test "the vendors' SDKs work against the loopback provider, and it refuses what the APIs refuse" {
	[[ -e $AGENT6_SRC/build/peers/node_modules/@anthropic-ai/sdk ]] ||
		skip "the SDKs are not installed: they need node 20 and npm (found $(node --version 2>/dev/null || echo no node))"
	mkfifo "$SCRATCH/stdin" "$SCRATCH/ready"
	"$AGENT6_BIN/agent6-cassette" --cassette "$AGENT6_SRC/tests/peers/sdk.jsonl" --ready-fd 4 \
		<"$SCRATCH/stdin" 4>"$SCRATCH/ready" 3>&- &
	exec 5>"$SCRATCH/stdin"
	read -r port <"$SCRATCH/ready"
	run node "$AGENT6_SRC/tests/peers/sdk.mjs" "$port" "$AGENT6_SRC/build/peers"
	exec 5>&-
	wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 14 ]
}
