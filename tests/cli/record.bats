# run --record: what a provider said becomes a cassette that rehearses the same run.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config AGENT6_STATE_HOME=$SCRATCH/state
	mkfifo ready end
}

# provider FORMAT [CASSETTE]: an operator's own configuration that leads to a loopback provider.
provider() {
	"$AGENT6_BIN/agent6-cassette" --cassette "${2-$AGENT6_SRC/examples/hello/rehearsal/hello.jsonl}" \
		--ready-fd 7 <end 7>ready 3>&- &
	exec 8>end
	read -r port <ready
	agent6 connect --name local --format "$1" --base-url "http://127.0.0.1:$port" --model test <<<'sk-secret-key-1'
	agent6 config set providers.local.prices.test '{input: 1, output: 5}'
}

for_format() {
	provider "$1"
	cp -r "$AGENT6_SRC/examples/hello/rehearsal/workspace" work
	cp -r "$AGENT6_SRC/examples/hello" hello
	cd work
	run --separate-stderr agent6 machine run ../hello --record ../tapes
	exec 8>&-
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	cd ..
	[ "$(wc -l <tapes/hello.jsonl)" -eq 2 ]
	run ! grep -q secret tapes/hello.jsonl
	run --separate-stderr agent6 machine rehearse hello --cassette tapes/hello.jsonl --quiet
	echo "$stderr"
	[ "$status" -eq 0 ]
	run --separate-stderr agent6 machine rehearse hello --cassette tapes/hello.jsonl --wire openai --quiet
	[ "$status" -eq 0 ]
}

@test "a run over the Anthropic format, recorded, rehearses" {
	for_format anthropic
}

@test "a run over the OpenAI format, recorded, rehearses" {
	for_format openai
}

@test "a run that was killed and resumed, recorded, rehearses" {
	need jq
	local killed
	cp -r "$AGENT6_SRC/examples/hello" hello
	cp -r hello/rehearsal/workspace work
	jq -c 'if .match.turn == 1 then .reply.delay_ms = 100000 else . end' hello/rehearsal/hello.jsonl >slow.jsonl
	for killed in true false; do
		if $killed; then provider anthropic slow.jsonl; else provider anthropic; fi
		(cd work && exec "$AGENT6_BIN/agent6" machine run --quiet ../hello --record ../tapes) 3>&- 8>&- &
		if $killed; then
			answered() { grep '"event":"turn"' state/*/machines/hello/states/1-greet/events.jsonl; }
			eventually answered
			kill -9 $!
		fi
		wait $! || $killed
		exec 8>&-
	done
	[ "$(wc -l <tapes/hello.jsonl)" -eq 2 ]
	run --separate-stderr agent6 machine rehearse hello --cassette tapes/hello.jsonl --quiet
	echo "$stderr"
	[ "$status" -eq 0 ]
}

@test "a cassette for which there is no room keeps no half of a line" {
	need_root
	provider anthropic
	cp -r "$AGENT6_SRC/examples/hello" hello
	cp -r hello/rehearsal/workspace work
	mkdir tapes
	# shellcheck disable=SC2016
	run unshare -m sh -ec 'mount -t tmpfs -o size=8k tmpfs tapes && head -c 8000 /dev/zero | tr "\0" " " >tapes/hello.jsonl
		cd work && "$1" machine run ../hello --record ../tapes; wc -c <../tapes/hello.jsonl' _ "$AGENT6_BIN/agent6"
	exec 8>&-
	echo "$output"
	[[ $status -eq 0 && $output == *"not recorded in ../tapes: cannot write hello.jsonl: No space left on device"*8000 ]]
}

@test "a command that plants a link in the cassette's place does not choose where it is written" {
	local plant
	provider anthropic
	cp -r "$AGENT6_SRC/examples/hello/rehearsal/workspace" work
	cp -r "$AGENT6_SRC/examples/hello" hello
	echo mine >victim
	plant="ln -s $SCRATCH/victim tapes/hello.jsonl"
	sed -i -e "s/^initial: .*/initial: plant/" \
		-e "s|^states:|states:\n  plant: {kind: tool, command: [sh, -c, '$plant'], timeout_secs: 20, on: {ok: $(awk '/^initial:/ {print $2}' hello/machine.yaml), nonzero: bad, timeout: bad}}\n  bad: {kind: terminal, status: failed, reason: bad}|" hello/machine.yaml
	cd work
	run agent6 machine run ../hello --record tapes
	exec 8>&-
	echo "$output"
	[[ $status -eq 0 && $output == *"not recorded in tapes: cannot open hello.jsonl: Too many levels of symbolic links"* ]]
	[[ -L tapes/hello.jsonl && $(cat ../victim) == mine ]]
}

@test "what the operator's environment and other providers keep secret reaches no model" {
	agent6 connect --name other --format openai --base-url "http://127.0.0.1:1" --model x <<<'an-other-key-0001'
	provider anthropic
	cp -r "$AGENT6_SRC/examples/hello/rehearsal/workspace" work
	cp -r "$AGENT6_SRC/examples/hello" hello
	echo "and of the deployment: orange elephant 77, an-other-key-0001" >>work/note.txt
	cd work
	DEPLOY_PASSWORD="orange elephant 77" run agent6 machine run ../hello --record ../tapes
	exec 8>&-
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q 'of the deployment: \[REDACTED:key\], \[REDACTED:key\]' ../tapes/hello.jsonl
	run ! grep -rq "orange elephant\|an-other-key" ../tapes "$SCRATCH/state"
}

@test "of another provider's key that cannot be read a run says that it cannot be hidden; of none nothing" {
	agent6 connect --name other --format openai --base-url "https://api.example.com" --model x <<<''
	agent6 config set providers.other.api_key_env OTHER_ONE
	provider anthropic
	cp -r "$AGENT6_SRC/examples/hello/rehearsal/workspace" work
	cp -r "$AGENT6_SRC/examples/hello" hello
	cd work
	run agent6 machine run --id without ../hello --exit-on-wait
	[[ $output != *"cannot be hidden"* ]]
	OTHER_ONE=$'two\nlines' run agent6 machine run --id with ../hello --exit-on-wait
	exec 8>&-
	echo "$output"
	[[ $output == *"the key of provider other cannot be hidden from models: "*"stray line break"* ]]
}
