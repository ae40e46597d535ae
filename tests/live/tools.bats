#!/usr/bin/env bats
# Tool states through the real jail: what becomes of a command's exit, output and environment.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
}

@test "exit codes are the command's own, 124 and 125 included" {
	local code
	for code in 1 124 125 137; do
		tool_machine "exit$code" "[sh, -c, 'exit $code']"
		run go "exit$code"
		[[ $status -eq 1 ]]
		[[ $(fact "exit$code" '"\(.exit) \(.signal) \(.timed_out)"') == "$code null false" ]]
		journal_has "exit$code" '"label":"nonzero"'
	done
}

@test "a signal, and a program that does not exist" {
	tool_machine killed "[sh, -c, 'kill -9 \$\$']"
	run go killed
	[[ $(fact killed '"\(.exit) \(.signal)"') == "null 9" ]]
	tool_machine missing "[no-such-program]"
	run go missing
	[[ $status -eq 1 && $(fact missing .exit) == 127 ]]
}

@test "a limit that stopped a command is the reason of its step: in the journal, on its line, in the report" {
	local reason="a file that it wrote became too long (limits.file_mb: 1)"
	tool_machine long "[sh, -c, 'head -c 3000000 /dev/zero >big']"
	sed -i 's/^    timeout_secs/    limits: {file_mb: 1}\n&/' "$SCRATCH/long/machine.yaml"
	run agent6 machine run "$SCRATCH/long"
	[[ $status -eq 1 && $output == *"$reason"* ]]
	[[ $(fact long .reason) == "$reason" ]]
	agent6 machine report long -o "$SCRATCH/page.html"
	[[ $(<"$SCRATCH/page.html") == *"$reason"* ]]
}

@test "a time-out ends the whole tree" {
	tool_machine slow "[sh, -c, 'sleep 60 & sleep 60']" 1
	run go slow
	[[ $status -eq 1 ]]
	journal_has slow '"label":"timeout"'
	[[ $(fact slow .timed_out) == true ]]
}

@test "a background child that holds the pipes is not waited for" {
	tool_machine daemon "[sh, -c, 'sleep 300 & echo started']"
	SECONDS=0
	go daemon
	((SECONDS < 60))
	[[ $(fact daemon .stdout) == started ]]
}

@test "output over the limit keeps its edges and a digest" {
	tool_machine loud "[sh, -c, 'echo first; head -c 5000000 /dev/zero | tr \"\\\\0\" x; echo last']"
	go loud
	[[ $(fact loud '.stdout | startswith("first\nxxx")') == true ]]
	[[ $(fact loud '.stdout | endswith("xxxlast\n")') == true ]]
	[[ $(fact loud .stdout_dropped) -gt 4900000 ]]
	[[ $(fact loud .stdout_sha256) == "$({ echo first; head -c 5000000 /dev/zero | tr '\0' x; echo last; } | sha256sum | cut -d' ' -f1)" ]]
	[[ $(journal loud | wc -c) -lt 100000 ]]
	[[ $(stat -c %s "$(instance loud)/states/1-work/stdout") -eq 1048576 ]]
}

@test "output that cannot be kept whole is said at once, in the journal and in the report" {
	need strace
	local reason="output: cannot write it: No space left on device" name
	for name in stdout stderr; do
		tool_machine "$name" "[sh, -c, 'echo out; echo err >&2']"
		go "$name"
		[[ $(fact "$name" .logs_cut) == null ]]
		local kept
		kept=$(instance "$name")/states/1-work/$name
		[ -s "$kept" ]
		rm -r "$(instance "$name")"
		run -0 strace -o "$SCRATCH/trace" -P "$kept" -e trace=write -e inject=write:error=ENOSPC:when=1+ \
			"$AGENT6_BIN/agent6" machine run "$SCRATCH/$name"
		[[ $(grep -c "the output of state work is not kept: cannot write it: No space left on device" <<<"$output") -eq 1 ]]
		[[ $(fact "$name" .logs_cut) == "$reason" && $(fact "$name" .stdout) == out ]]
		agent6 machine report "$name" -o "$SCRATCH/page.html"
		[[ $(<"$SCRATCH/page.html") == *"not kept whole"*"$reason"* ]]
		agent6 machine verify "$name"
	done
}

@test "bytes that are not UTF-8, and NUL, are journaled as replacement characters" {
	tool_machine bytes "[printf, 'a\\377b\\000c']"
	go bytes
	[[ $(fact bytes .stdout) == $'a\uFFFDb\uFFFDc' ]]
	[[ $(fact bytes .not_utf8) == true ]]
	[[ $(stat -c %s "$(instance bytes)/states/1-work/stdout") -eq 5 ]]
}

@test "output that would be far larger as a tree of values is not read as one" {
	machine_file wide <<'END'
initial: work
budget: {max_transitions: 9}
vars: {code: {all: {type: json, default: null}}}
states:
  work:
    kind: tool
    command: [sh, -c, "printf '[0'; yes ,{} | head -n 200000 | tr -d '\\n'; printf ']'"]
    capture: {stdout_json: all}
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run go wide
	[[ $status -eq 1 ]]
	[[ $(fact wide .too_many_values) == true ]]
	[[ $(fact wide .reason) == *"more than 524288 values"* ]]
	agent6 machine replay wide
}

@test "the most that check accepts, a run takes, too; one more is refused before it" {
	local hosts env
	hosts() { seq -f '"h%g.example:1"' -s, "$1"; }
	env() { seq -f 'V%g: x' -s', ' "$1"; }
	most() { # HOSTS VARIABLES SECS
		tool_machine most "[\"true\"]" "$3"
		sed -i "s/^    timeout_secs/    allow_network: [$(hosts "$1")]\n    env: {$(env "$2")}\n&/" "$SCRATCH/most/machine.yaml"
	}
	echo 'sandbox: {tool_network: only_explicit_states}' >"$SCRATCH/config.yaml"
	most 64 1000 3155760000
	go most --config "$SCRATCH/config.yaml"
	most 65 1001 3155760001
	run -2 agent6 machine run "$SCRATCH/most" --id other --config "$SCRATCH/config.yaml"
	[[ $output == *'`allow_network` has 65 items, and at most 64 '*'`env` has 1001 keys, and at most 1000 '*'`timeout_secs` must be '* ]]
}

@test "the environment is short, and the step's key is the same on a retry" {
	machine_file env <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [sh, -c, 'env; test -e $AGENT6_MACHINE_DATA_DIR/x || { touch $AGENT6_MACHINE_DATA_DIR/x; exit 1; }']
    env: {MINE: "1"}
    timeout_secs: 20
    retry: {on: [nonzero], max: 1, backoff_secs: 0}
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	SECRET=s3cret TZ=Asia/Tokyo TERM="" go env
	journal env | jq -r 'select(.fact) | .fact.stdout' >"$SCRATCH/env-out"
	[[ $(grep -c '^AGENT6_STEP_KEY=env-1$' "$SCRATCH/env-out") -eq 2 ]]
	grep -qx MINE=1 "$SCRATCH/env-out"
	grep -qx TZ=Asia/Tokyo "$SCRATCH/env-out"
	run ! grep ^TERM= "$SCRATCH/env-out"
	[[ -z $(grep s3cret "$SCRATCH/env-out") ]]
	[[ -z $(cut -d= -f1 "$SCRATCH/env-out" | sort -u | grep -vxE 'PATH|HOME|PWD|OLDPWD|SHLVL|_|LANG|LC_ALL|TERM|TZ|TMPDIR|MINE|AGENT6_[A-Z_]+') ]]
	[[ $(journal env | jq -r 'select(.t == "retry") | .attempt') == 1 ]]
	[[ $(journal env | jq -r 'select(.t == "end") | .transitions') == 2 ]]
}

@test "a command that renders to nothing, or to too much, routes" {
	machine_file empty <<'END'
initial: work
budget: {max_transitions: 9}
vars: {operator: {argv: {type: "list[str]", value: []}}}
states:
  work:
    kind: tool
    command: ["{{ argv }}"]
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: late}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
  late: {kind: terminal, status: failed, reason: late}
END
	run go empty
	[[ $status -eq 1 ]]
	[[ $(fact empty .not_run) == *"no arguments"* ]]
	jq -nc '{argv: (["echo"] + [range(5000) | "x"])}' >"$SCRATCH/params.json"
	run go empty --id many --params "$SCRATCH/params.json"
	[[ $(fact many .not_run) == *"4096"* ]]
	jq -nc '{argv: ["echo", ("x" * 300000)]}' >"$SCRATCH/params.json"
	run go empty --id long --params "$SCRATCH/params.json"
	[[ $(fact long .not_run) == *"192 KiB"* ]]
	jq -nc '{argv: ["printf", "%s|", "a b", "$HOME", "", "*"]}' >"$SCRATCH/params.json"
	go empty --id spliced --params "$SCRATCH/params.json"
	[[ $(fact spliced .stdout) == 'a b|$HOME||*|' ]]
}

@test "stdin, and the workspace as the state asks for it" {
	machine_file io <<'END'
initial: work
budget: {max_transitions: 9}
vars: {operator: {text: {type: str, value: "grüße"}}}
states:
  work:
    kind: tool
    command: [sh, -c, 'cat; pwd; echo x >made && echo wrote']
    stdin: "{{ text }}!"
    workspace: read
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run go io
	[[ $(fact io .stdout) == "grüße!$SCRATCH/ws" ]]
	[[ ! -e $SCRATCH/ws/made ]]
}

@test "the network is refused at start, by name, unless the operator opened it" {
	machine_file net <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: ["true"]
    allow_network: allow
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run go net
	[[ $status -eq 2 ]]
	[[ $output == *"state work"*"tool_network"*"only_explicit_states"* ]]
	[[ ! -s $(instance net)/journal.jsonl ]]
	mkdir -p "$SCRATCH/config/agent6"
	echo 'sandbox: {tool_network: only_explicit_states}' >"$SCRATCH/config/agent6/config.yaml"
	go net
}

@test "what a state reads must be granted" {
	mkdir "$SCRATCH/library" "$SCRATCH/private"
	echo book >"$SCRATCH/library/b"
	ln -s "$SCRATCH/private" "$SCRATCH/library/way-out"
	mkdir -p "$SCRATCH/config/agent6"
	echo "sandbox: {read: [$SCRATCH/library]}" >"$SCRATCH/config/agent6/config.yaml"
	local path
	for path in library library/way-out private; do
		machine_file reads <<END
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [cat, $SCRATCH/library/b]
    reads: [$SCRATCH/$path]
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
		run go reads --id "reads-${path//\//-}"
		echo "$path: $status $output"
		[[ $status -eq $([[ $path == library ]] && echo 0 || echo 2) ]]
	done
	[[ $output == *"state work"*"sandbox.read"* ]]
}

@test "a granted secret reaches its command alone and is taken out of what it prints" {
	machine_file holder <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [sh, -c, 'echo "token: $DEPLOY_TOKEN."; echo "$DEPLOY_TOKEN" >&2; test ${#DEPLOY_TOKEN} -eq 14']
    secrets: [deploy]
    timeout_secs: 20
    on: {ok: other, nonzero: bad, timeout: bad}
  other:
    kind: tool
    command: [sh, -c, 'test -z "$DEPLOY_TOKEN"']
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run go holder
	[[ $status -eq 2 && $output == *"state work"*"sandbox.secrets.deploy"* ]]
	mkdir -p "$SCRATCH/config/agent6"
	echo 'sandbox: {secrets: {deploy: {env: DEPLOY_TOKEN, machines: [somebody-else]}}}' >"$SCRATCH/config/agent6/config.yaml"
	run go holder
	[[ $status -eq 2 && $output == *"not granted to machine holder"* ]]
	sed -i 's/somebody-else/holder/' "$SCRATCH/config/agent6/config.yaml"
	run go holder
	[[ $status -eq 2 && $output == *"DEPLOY_TOKEN"*"not set"* ]]
	DEPLOY_TOKEN=s3cr3t-abcdefg go holder
	[[ $(fact holder .stdout) == "token: [REDACTED:key]." && $(fact holder .stderr_tail) == "[REDACTED:key]" ]]
	[[ -z $(grep -r s3cr3t "$SCRATCH/state") ]]
}

@test "of a secret that begins like another nothing is left, nor of one as JSON writes it" {
	tool_machine holder "[sh, -c, 'printf %s \"b\\\\u0026w-beg\" \"ins\"; echo \"\$LONG_TOKEN\" >&2']"
	sed -i '/timeout_secs/s/^/    secrets: [short, long, odd]\n/' "$SCRATCH/holder/machine.yaml"
	mkdir -p "$SCRATCH/config/agent6"
	cat >"$SCRATCH/config/agent6/config.yaml" <<-'END'
		sandbox:
		  secrets:
		    short: {env: SHORT_TOKEN, machines: [holder]}
		    long: {env: LONG_TOKEN, machines: [holder]}
		    odd: {env: ODD_TOKEN, machines: [holder]}
	END
	SHORT_TOKEN=s3cr3t-a LONG_TOKEN=s3cr3t-and-more ODD_TOKEN='b&w-begins' go holder
	[[ $(fact holder .stderr_tail) == "[REDACTED:key]" && $(fact holder .stdout) == "[REDACTED:key]" ]]
	[[ -z $(grep -rE 'nd-more|w-begins' "$SCRATCH/state") ]]
}

@test "the operator's keys are hidden wherever a grant would show them" {
	mkdir -p "$SCRATCH/config/agent6"
	printf 'providers: {p: sk-very-secret}\n' >"$SCRATCH/config/agent6/secrets.yaml"
	chmod 600 "$SCRATCH/config/agent6/secrets.yaml"
	echo "sandbox: {read: [$SCRATCH/config]}" >"$SCRATCH/config/agent6/config.yaml"
	tool_machine thief "[sh, -c, 'cat $SCRATCH/config/agent6/config.yaml $SCRATCH/config/agent6/secrets.yaml']"
	run go thief
	[[ $(fact thief .stdout) == *sandbox* ]]
	[[ -z $(grep -r very-secret "$SCRATCH/state") ]]
}

@test "step directories are kept to a number" {
	machine_file many <<'END'
initial: work
budget: {max_transitions: 40}
states:
  work: {kind: tool, command: [echo, x], timeout_secs: 20, on: {ok: work, nonzero: bad, timeout: bad}}
  bad: {kind: terminal, status: failed, reason: bad}
END
	mkdir -p "$SCRATCH/config/agent6"
	echo "machine: {state_log_keep: 3}" >"$SCRATCH/config/agent6/config.yaml"
	run go many
	[[ $status -eq 3 ]]
	[[ $(ls "$(instance many)/states" | sort -n | tr '\n' ' ') == "38-work 39-work 40-work " ]]
}

@test "what a failed command said last is on its line and in the status, and drives no terminal" {
	machine_file sad <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [sh, -c, 'echo one >&2; printf "\\033[31mno space\\033[0m left\\n\\n" >&2; exit 3']
    timeout_secs: 20
    on: {ok: good, nonzero: after, timeout: good}
  after: {kind: tool, command: [sh, -c, 'echo unheard >&2'], timeout_secs: 20, on: {ok: park, nonzero: good, timeout: good}}
  park: {kind: wait, every_secs: 3600, on: {tick: good, signal: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	run -0 agent6 machine run --exit-on-wait "$SCRATCH/sad"
	echo "$output"
	[[ $output == *"nonzero -> after"*"exit 3  \\x1b[31mno space\\x1b[0m left"* ]]
	[[ $output != *$'\033'* && $output != *unheard* && $output != *one* ]]
	run -0 agent6 machine status sad
	echo "$output"
	[[ $output == *"failed      step 1, work: nonzero, exit 3: \\x1b[31mno space\\x1b[0m left"* ]]
	run -0 agent6 machine status sad --json
	[[ $(jq -r '"\(.failure.seq) \(.failure.state) \(.failure.exit) \(.failure.words)"' <<<"$output") == "1 work 3 "*" left" ]]
}
