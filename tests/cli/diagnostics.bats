# Every rule of the table is triggered through the program itself, by the smallest input that breaks it:
# those of a machine by the golden bundles, the others here.
load ../kit/common

setup() {
	DOC=${AGENT6_OUT:-$AGENT6_SRC/build/release}/host/rules_doc
	[[ -x $DOC ]] || skip "the build tool is not built"
	need ssh-keygen
	need jq
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config AGENT6_STATE_HOME=$SCRATCH/state
	unset SSH_AUTH_SOCK
	mkdir repo
}

# said ARGS: runs agent6 in an empty workspace and keeps the ids of what it says in $SCRATCH/said
said() {
	{ cd "$SCRATCH/repo" && agent6 "$@" 2>&1 >/dev/null; true; } |
		sed -nE 's/^.*: (error|warning|note)\[([a-z0-9-]+)\]: .*/\2/p' >>"$SCRATCH/said"
}

good_machine() { # COMMAND
	printf '%s\n' "machine: m" "version: 1" "initial: go" "budget: {max_transitions: 5}" "states:" \
		"  go: {kind: tool, command: [$1], timeout_secs: 1, on: {ok: done, nonzero: done, timeout: done}}" \
		"  done: {kind: terminal, status: ok, reason: x}"
}

# text NAME: a bundle whose machine file has that name and standard input's bytes
text() {
	rm -rf "$SCRATCH/b" && mkdir "$SCRATCH/b" && cat >"$SCRATCH/b/$1"
	said machine check "$SCRATCH/b"
}

# with CHANGE...: a good bundle, then the change made inside it
with() {
	rm -rf "$SCRATCH/b" && mkdir -p "$SCRATCH/b/scripts" && good_machine ls >"$SCRATCH/b/machine.yaml"
	(cd "$SCRATCH/b/scripts" && "$@")
	said machine check "$SCRATCH/b"
}

config() { # standard input as the operator's configuration
	mkdir -p "$SCRATCH/config/agent6"
	cat >"$SCRATCH/config/agent6/config.yaml"
	said check config
	rm "$SCRATCH/config/agent6/config.yaml"
}

documents() {
	printf 'a: !odd x\n' | text machine.yaml
	printf 'machine: a\n---\nmachine: b\n' | text machine.yaml
	printf 'a: [1, 2' | text machine.yaml
	printf 'version: !number 1\n' | text machine.yaml
	printf 'a: &x 1\n' | text machine.yaml
	printf 'a: {<<: {b: 1}}\n' | text machine.yaml
	printf '1: a\n' | text machine.yaml
	printf 'a: 9223372036854775808\n' | text machine.yaml
	printf 'a: .inf\n' | text machine.yaml
	printf 'a: "\\0"\n' | text machine.yaml
	printf '# nothing\n' | text machine.yaml
	printf 'a: \xe9\n' | text machine.yaml
	printf 'a: "\x1b"\n' | text machine.yaml
	{ printf 'a: '; printf '[%.0s' {1..65}; printf ']%.0s' {1..65}; } | text machine.yaml
	head -c 8400000 /dev/zero | tr '\0' ' ' | text machine.yaml
	{ echo 'a:'; yes -- '- 1' | head -n 1000001; } | text machine.yaml
	printf '{"a": 1,}' | text machine.json
	printf '{"a": "\\ud800"}' | text machine.json
	printf 'a = \n' | text machine.toml
	printf 'a = 2026-01-01\n' | text machine.toml
	good_machine ls | sed 's/ls\]/ls], reads: [\/usr\/a, \/usr\/a]/' | text machine.yaml
}

commands() {
	good_machine 'no-such-program' | text machine.yaml
	good_machine 'ls, "&&", ls' | text machine.yaml
	good_machine 'rm, -r, build' | text machine.yaml
	good_machine 'ls, ghp_0123456789abcdefghijABCDEFGHIJ012345' | text machine.yaml
	good_machine 'rm, -rf, /' | text machine.yaml
	good_machine "$SCRATCH/repo/x" >"$SCRATCH/b/machine.yaml"
	touch "$SCRATCH/repo/x"
	said machine check ../b
}

bundles() {
	with touch ../machine.json
	with ln -s /etc/passwd x
	with mkfifo x
	with touch 'a\b'
	with sh -c 'mkdir ../rehearsal && echo {} >../rehearsal/a.jsonl'
	with sh -c 'mkdir -p ../rehearsal/c && echo "expect: {end: nowhere}" >../rehearsal/c/case.yaml'
	with truncate -s 17M x
	printf 'no archive' >flow.asm
	said machine check ../nowhere
	said machine check ../flow.asm
	with true
	(cd repo && agent6 machine pack ../b -o ../signed.asm)
	ssh-keygen -q -t ed25519 -N '' -C '' -f key
	echo "a@example.org $(cat key.pub)" >allowed
	said machine check --allowed-signers ../allowed ../signed.asm
	cp -r b wide
	sed -i 's/timeout_secs/allow_network: allow, timeout_secs/' wide/machine.yaml
	said machine check --against ../b ../wide
	said machine check --against ../wide ../b
	sed 's/reason: /exit_code: 20, &/' b/machine.yaml >b/machine.new
	cp -r b b20 && mv b/machine.new b20/machine.yaml && rm -f b20/machine.new
	said machine check --against ../b ../b20
	cp -r b b01
	sed -i 's/timeout_secs/ok_exit: [0, 1], timeout_secs/' b01/machine.yaml
	said machine check --against ../b ../b01
	(cd repo && agent6 machine check --report --format sarif ../wide) | jq -r '.runs[0].results[].ruleId' >>"$SCRATCH/said"
}

configs() {
	said check config --config missing.yaml
	echo x >machine.txt
	said check config --config ../machine.txt
	config <<<'models: {worker: {provider: none, model: m}}'
	config <<<'providers: {a: {api_format: openai, base_url: "https://h/?q"}}'
	config <<<'providers: {a: {api_format: openai, base_url: "http://api.example.com", api_key_env: KEY}}'
	config <<<'providers: {a: {api_format: openai, base_url: "https://h", headers: {Host: h}, auth: none, token_command: [x]}}'
	(umask 0; config <<<'git: {}')
	config <<<'sandbox: {read: [/srv/../data]}'
	config <<<'sandbox: {tool_network: allow, agent_network: providers}'
	config <<<'git: {allow_push: true}'
	config <<<'providers: {a: {api_format: openai, base_url: "https://h", headers: {Content-Type: x}}}'
	config <<<'providers: {a: {api_format: openai, base_url: "https://h", api_key_env: K, token_command: [t]}}'
	config <<<'sandbox: {hide: [/etc]}'
	good_machine ls | sed '1i config: {agent: {max_iterations: 100000}}' >b/machine.yaml
	said machine run ../b
	local repository=("$SCRATCH"/state/repo-*)
	echo 'agent6: {state_dir: /elsewhere}' >"${repository[0]}/config.yaml"
	said check config
	printf '%s\n' config-held config-nested >>"$SCRATCH/said" # tests/cli/repository.bats triggers these
}

@test "every rule is triggered, and the table has no other" {
	cat "$AGENT6_SRC"/tests/golden/{broken,good}/*/expected.txt |
		sed -nE 's/^.*: (error|warning|note)\[([a-z0-9-]+)\]: .*/\2/p' >said
	documents
	commands
	bundles
	configs
	sort -u said >seen
	"$DOC" --ids | sort >known
	echo "never triggered: $(comm -23 known seen | xargs)"
	echo "not in the table: $(comm -13 known seen | xargs)"
	cmp known seen
}

@test "no text of a bundle, a file name or an argument drives the terminal, in whatever command shows it" {
	local text='\e]0;title\a\e[31m\x9b31m\u202e\u2028\u200b\U000e0041'
	local bad=$'\033|\007|\302\233|\342\200[\250\256\213]|\363\240' odd=$'x\033]0;title\007\342\200\256\342\200\250\363\240\201\201'
	cd "$SCRATCH" || return
	export AGENT6_STATE_HOME=$SCRATCH/state XDG_CONFIG_HOME=$SCRATCH/config
	mkdir -p odd/scripts repo
	cat >odd/machine.yaml <<-END
		machine: odd
		version: 1
		description: "D$text"
		initial: a
		budget: {max_transitions: 9}
		states:
		  a: {kind: tool, command: [printf, "$text"], timeout_secs: 9, notify: "N$text", on: {ok: b, nonzero: b, timeout: b}}
		  b: {kind: terminal, status: ok, reason: "R$text"}
	END
	cd repo || return
	shows() {
		run agent6 "$@"
		echo "$* ->" "$output"
		run ! env LC_ALL=C grep -qE "$bad" <<<"$output"
	}
	shows machine check --report ../odd
	shows machine check --report --format github ../odd
	shows machine graph ../odd
	shows machine graph --format text ../odd
	shows machine inspect ../odd
	shows machine run ../odd
	shows machine status odd
	shows machine list
	shows machine replay odd
	# JSON is for programs: it is spelt otherwise on a terminal alone, and means the same.
	prints() {
		agent6 "$@" >piped || [ $? -eq 2 ]
		run script -qec "$(printf '%q ' "$AGENT6_BIN/agent6" "$@")" /dev/null </dev/null
		local shown=${output//$'\r'/}
		echo "$* -> $shown"
		run ! env LC_ALL=C grep -qE "$bad" <<<"$shown"
		[ -s piped ]
		[ "$(jq -S . <<<"$shown")" = "$(jq -S . piped)" ]
	}
	prints machine inspect --json ../odd
	prints machine check --report --format json ../odd
	prints machine test --json ../odd
	prints machine status --json odd
	prints machine list --json
	prints machine watch --json odd
	prints machine replay --json odd
	prints machine replay --to 1 odd
	run script -qec "'$AGENT6_BIN/agent6' machine run ../odd --id live --json" /dev/null </dev/null
	run ! env LC_ALL=C grep -qE "$bad" <<<"$output"
	run script -qec "$(printf '%q ' "$AGENT6_BIN/agent6" check command -- "$odd")" /dev/null </dev/null
	run ! env LC_ALL=C grep -qE "$bad" <<<"$output"
	echo "sandbox: {read: [\"/$text\"], protect: [\"/$text\"]}" >"$SCRATCH/odd.yaml"
	prints config show --json --config "$SCRATCH/odd.yaml"
	printf '{"text": "%s"}\n' "${odd//$'\033'/}" | tr -d '\007' >"$SCRATCH/texts"
	run script -qec "'$AGENT6_BIN/agent6' check redact --stdin-jsonl <'$SCRATCH/texts'" /dev/null </dev/null
	echo "$output"
	[[ $output == *'"markers":0'* ]]
	run ! env LC_ALL=C grep -qE "$bad" <<<"$output"
	agent6 machine report odd -o page.html
	[ -s page.html ]
	run ! env LC_ALL=C grep -qE "$bad" page.html
	shows machine run "../$odd"
	shows machine status "$odd"
	shows config get "$odd"
	shows "$odd"
	touch "../odd/scripts/$odd"
	shows machine check ../odd
}
