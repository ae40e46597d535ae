#!/usr/bin/env bats
# Providers of companies: headers, query parameters and keys that a command prints.

load ../kit/common
load machine

setup() {
	need jq
	need python3
	live_setup
	mkfifo "$SCRATCH/ready"
	python3 "$BATS_TEST_DIRNAME/gateway.py" "$SCRATCH/seen" >"$SCRATCH/ready" 2>/dev/null 3>&- &
	GATEWAY=$!
	read -r PORT <"$SCRATCH/ready"
	machine_file corp <<'END'
initial: one
budget: {max_transitions: 9}
schemas: {note: {text: str}}
states:
  one: {kind: agent, prompt: Say hi., output_schema: note, timeout_secs: 60, on: {ok: two, failed: bad, budget_exhausted: bad, timeout: bad}}
  two: {kind: agent, prompt: Say hi., output_schema: note, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/bin"
	FILE=$SCRATCH/config/agent6/config.yaml
}

teardown() {
	kill "$GATEWAY"
}

# provider MORE: the provider `corp` at the gateway
provider() {
	cat >"$FILE" <<END
providers: {corp: {api_format: openai, base_url: "http://127.0.0.1:$PORT/v1", max_retries: 0, prices: {"*": {input: 0, output: 0}}, $1}}
models: {worker: {model: m}}
END
}

# prints TEXT [MORE]: the token command, which counts how often it is run
prints() {
	printf '#!/bin/sh\necho x >>"%s"\n%s\nprintf "%%s" '"'%s'\n" "$SCRATCH/count" "${2-}" "$1" >"$SCRATCH/bin/token"
	chmod 755 "$SCRATCH/bin/token"
	rm -f "$SCRATCH/count"
}

runs() {
	[[ -e $SCRATCH/count ]] && wc -l <"$SCRATCH/count" || echo 0
}

@test "headers and query parameters are sent with every request, and written nowhere" {
	provider 'auth: none, headers: {X-Org: acme-literal-org, X-Gateway: {env: GATEWAY_PASS}}, query: {api-version: 2024-10-21, code: {env: GATEWAY_CODE}}'
	export GATEWAY_PASS=pass-word-of-gateway GATEWAY_CODE='co de/&=%ü'
	run -2 go corp
	[[ $output == *"the query parameter code of the provider corp holds a byte outside printable ASCII"* ]]
	GATEWAY_CODE='co de/&=%-of-gateway'
	run -0 agent6 machine run --record "$SCRATCH/recorded" "$SCRATCH/corp"
	[[ $(grep -c '^/v1/chat/completions?api-version=2024-10-21&code=co%20de%2F%26%3D%25-of-gateway$' "$SCRATCH/seen") -eq 2 ]]
	[[ $(grep -ic '^x-org: acme-literal-org$' "$SCRATCH/seen") -eq 2 && $(grep -ic '^x-gateway: pass-word-of-gateway$' "$SCRATCH/seen") -eq 2 ]]
	[[ -z $(grep -rE 'acme-literal-org|pass-word-of|of-gateway' "$SCRATCH/state" "$SCRATCH/recorded") && $output != *-of-gateway* ]]
	unset GATEWAY_PASS
	run -2 go corp --id another
	[[ $output == *"state one: there is no value for the header X-Gateway of the provider corp: set GATEWAY_PASS"* ]]
	run -0 agent6 check config
	[[ $output == *"there is no value for the header X-Gateway of the provider corp: set GATEWAY_PASS"* ]]
	run -0 agent6 config show
	[[ $output == *"providers.corp.headers.X-Org"*"[REDACTED]"*"providers.corp.headers.X-Gateway"*'{"env":"GATEWAY_PASS"}'* && $output != *acme-literal-org* ]]
	[ "$(agent6 config get providers.corp.headers.X-Org)" = "[REDACTED]" ]
}

@test "what a server echoes of a header or the query is hidden" {
	provider 'auth: none, headers: {X-Refuse: {env: GATEWAY_PASS}}, query: {code: {env: GATEWAY_CODE}}'
	export GATEWAY_PASS=pass-word-of-gateway GATEWAY_CODE=code-word-of-gateway
	run -1 agent6 machine run "$SCRATCH/corp"
	[[ $output != *-word-of-gateway* && -z $(grep -r -- '-word-of-gateway' "$SCRATCH/state") ]]
}

@test "a token command's text is the key of all states for five minutes" {
	prints $'\n  corp-token-of-the-day \n'
	provider "token_command: [$SCRATCH/bin/token, arg]"
	run -0 agent6 machine run "$SCRATCH/corp"
	[[ $(grep -ic '^authorization: bearer corp-token-of-the-day$' "$SCRATCH/seen") -eq 2 && $(runs) -eq 1 ]]
	[[ -z $(grep -r corp-token-of-the-day "$SCRATCH/state") && $output != *corp-token-of* ]]
	run -0 agent6 check config
	[[ $(runs) -eq 1 && $output != *"no key"* ]]
}

@test "of an OAuth server's answer it is access_token, until expires_in" {
	prints '{"access_token":"oauth-token-of-the-day","expires_in":"3600","token_type":"Bearer"}'
	provider "token_command: [$SCRATCH/bin/token]"
	run -0 go corp
	[[ $(grep -ic '^authorization: bearer oauth-token-of-the-day$' "$SCRATCH/seen") -eq 2 && $(runs) -eq 1 ]]
	prints '{"access_token":"oauth-token-of-the-day","expires_in":0}'
	run -0 go corp --id short
	[[ $(runs) -eq 3 ]]
}

@test "why there is no token is one plain message, before anything runs" {
	provider "token_command: [$SCRATCH/bin/token]"
	local how
	while IFS='|' read -r more text how; do
		prints "$text" "$more"
		run -2 go corp
		echo "$output"
		[[ $(grep -c 'there is no key for the provider corp: its token_command, ' <<<"$output") -eq 1 && $output == *"$SCRATCH/bin/token, $how"* ]]
	done <<-'END'
		echo one >&2; echo "log in first" >&2; exit 3|x|failed with exit status 3: log in first
		kill -9 $$|x|was killed by signal 9
		||printed nothing
		|{"token":1}|printed JSON without the text `access_token`
		|{"access_token":|printed text that is no JSON
		head -c 70000 /dev/zero|x|printed more than 64 KiB
	END
	prints "two words"$'\n'"and lines"
	run -2 go corp
	[[ $output == *"the key for the provider corp holds a byte outside printable ASCII"* && $output != *"two words"* ]]
	rm "$SCRATCH/bin/token"
	run -2 go corp
	[[ $output == *"its token_command, $SCRATCH/bin/token, is not there, or cannot be run"* ]]
	run -0 agent6 check config
	[[ $output == *"providers.corp.token_command: there is no program $SCRATCH/bin/token to run"* ]]
	[ ! -e "$SCRATCH/seen" ]
}

@test "no bundle, no rehearsal and no state's command has a say in a token command" {
	prints corp-token-of-the-day
	provider "token_command: [$SCRATCH/bin/token]"
	echo "config: {providers: {corp: {token_command: [touch, $SCRATCH/told]}}}" >>"$SCRATCH/corp/machine.yaml"
	run -2 go corp
	[[ $output == *"providers"* && ! -e $SCRATCH/told && $(runs) -eq 0 ]]
	sed -i '$d' "$SCRATCH/corp/machine.yaml"
	mkdir "$SCRATCH/corp/rehearsal"
	printf '{"state":"%s","reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"hi"}}]}}\n' one two >"$SCRATCH/corp/rehearsal/a.jsonl"
	sed -i 's/max_retries: 0/headers: {X-Org: {env: NOWHERE}}, query: {code: {env: NOWHERE}}, &/' "$FILE"
	run -0 agent6 machine rehearse --config "$FILE" "$SCRATCH/corp"
	[ "$(runs)" -eq 0 ]
	tool_machine idle '["true"]'
	run -0 go idle
	[ "$(runs)" -eq 0 ]
	sed -i "s,\[$SCRATCH/bin/token\],[./token]," "$FILE"
	run -2 go idle --id other
	[[ $output == *"a provider's token_command: ./token is not there, and a command could put it there"* ]]
}
