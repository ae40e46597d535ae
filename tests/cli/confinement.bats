# What a machine's own steps cannot do, seen from inside a real run.
load ../kit/common

setup() {
	need git strace
	export AGENT6_STATE_HOME=$SCRATCH/state
	mkdir "$SCRATCH/outside" "$SCRATCH/repo"
	echo secret >"$SCRATCH/outside/secret"
	git -C "$SCRATCH/repo" init -q
	cp -r "$AGENT6_SRC/tests/cli/bundles/escape" "$SCRATCH/escape"
}

# A port on which somebody really listens; ends with the descriptor.
listen() {
	mkfifo "$SCRATCH/ready" "$SCRATCH/end"
	"$AGENT6_BIN/agent6-cassette" --ready-fd 7 <"$SCRATCH/end" 7>"$SCRATCH/ready" 3>&- &
	exec 8>"$SCRATCH/end"
	read -r port <"$SCRATCH/ready"
}

check_escape() {
	listen
	bash -c ": </dev/tcp/127.0.0.1/$port" # outside the jail it answers
	cp "$SCRATCH/repo/.git/config" "$SCRATCH/config.before"
	cd "$SCRATCH/repo"
	run --separate-stderr "$@" "$AGENT6_BIN/agent6" machine run "$SCRATCH/escape" \
		--set outside="$SCRATCH/outside" --set port="$port" --json
	exec 8>&-
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	result=$(tail -n 1 <<<"$output")
	for name in read_outside list_outside write_outside write_git add_hook write_bundle tcp; do
		[[ $result == *"\\\"$name\\\":false"* ]] || { echo "$name worked"; return 1; }
	done
	[[ $result == *'\"write_workspace\":true'* ]]
	[ -f made-here ]
	[ ! -e "$SCRATCH/outside/planted" ]
	cmp .git/config "$SCRATCH/config.before"
	[ ! -e .git/hooks/post-commit ]
}

@test "a tool state cannot read outside, write .git or the bundle, or open TCP" {
	check_escape
}

@test "the same for an ordinary user" {
	give_user "$SCRATCH"
	export XDG_STATE_HOME=
	check_escape as_user env AGENT6_STATE_HOME="$SCRATCH/state"
}

@test "after it confined itself the agent connects to nothing but unix sockets" {
	cd "$SCRATCH"
	run strace -f -o trace -e trace=execve,connect,unshare,socket \
		"$AGENT6_BIN/agent6" machine rehearse "$AGENT6_SRC/examples/hello" --quiet
	echo "$output"
	# LeakSanitizer cannot look while strace does, and says so with an exit code of its own.
	[ "$status" -eq 0 ] || grep -q __asan_init "$AGENT6_BIN/agent6"
	agent=$(sed -n 's/^\([0-9]*\) *execve(.*agent6-agent".*/\1/p' trace)
	broker=$(sed -n 's/^\([0-9]*\) *execve(.*agent6-broker".*/\1/p' trace)
	[ -n "$agent" ] && [ -n "$broker" ]
	# The trace sees connections, and the broker makes them. Only root's shows where to: they are
	# not dumpable, so an address that cannot be read counts against the agent.
	grep -q "^$broker *socket(AF_INET, SOCK_STREAM.* = [0-9]" trace
	grep -q "^$broker *connect(" trace
	grep -q "^$agent *socket(AF_INET, .* = -1 EAFNOSUPPORT" trace
	run -0 awk -v agent="$agent" '
		$1 != agent { next }
		/ = -1 EAFNOSUPPORT/ { confined = 1 }
		/ connect\(/ && !/AF_UNIX/ { print }
		/ socket\(/ && confined && / = [0-9]/ { print }' trace
	[[ -z $output ]]
}

@test "the operator's configuration inside the workspace: read-only, its secrets hidden" {
	export XDG_CONFIG_HOME=$SCRATCH/repo/.config
	agent6 connect --name p --format openai --base-url http://127.0.0.1:9 --model m <<<'sk-the-secret'
	mkdir "$SCRATCH/peek"
	cat >"$SCRATCH/peek/machine.yaml" <<-'END'
		machine: peek
		version: 1
		initial: look
		budget: {max_transitions: 5}
		vars: {code: {seen: {type: json, default: null}}}
		states:
		  look:
		    kind: tool
		    command:
		      - sh
		      - -c
		      - 'printf "\"%s|" "$(cat .config/agent6/secrets.yaml)"; echo x >.config/agent6/config.yaml; printf "%s\"" $?'
		    timeout_secs: 10
		    capture: {stdout_json: seen}
		    on: {ok: done, nonzero: bad, timeout: bad}
		  done: {kind: terminal, status: ok, reason: "{{ seen | json }}"}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	cp "$SCRATCH/repo/.config/agent6/config.yaml" "$SCRATCH/before"
	cd "$SCRATCH/repo"
	run --separate-stderr agent6 machine run "$SCRATCH/peek"
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output != *sk-the* ]]
	[[ $output == *'ok: "|'[1-9]*'"'* ]]
	cmp .config/agent6/config.yaml "$SCRATCH/before"
}

@test "what later confinements rest on is not for commands: configuration, keys, signers, agent6 itself" {
	export XDG_CONFIG_HOME=$SCRATCH/repo/.config
	cd "$SCRATCH/repo"
	mkdir -p .config/agent6 tools "$SCRATCH/peek/scripts"
	cp "$AGENT6_BIN"/agent6* tools
	printf '%s\n' 'sandbox: {profile: strict}' "machine: {allowed_signers: $SCRATCH/repo/signers}" >.config/agent6/config.yaml
	echo 'me ssh-ed25519 AAAA' | tee signers >"$SCRATCH/signers"
	echo 'providers = {p = "sk-the-secret"}' >.config/agent6/secrets.toml
	chmod 600 .config/agent6/secrets.toml
	cat >"$SCRATCH/peek/scripts/peek" <<-'END'
		cat .config/agent6/secrets.* >seen
		echo x >.config/agent6/config.yaml
		echo x >>signers
		mv signers away
		mv tools away
		mv tools/agent6-jail tools/away
		cp /bin/true tools/agent6-jail
		cp /bin/true tools/new
		true
	END
	cat >"$SCRATCH/peek/machine.yaml" <<-'END'
		machine: peek
		version: 1
		initial: look
		budget: {max_transitions: 5}
		states:
		  look: {kind: tool, command: [sh, scripts/peek], timeout_secs: 10, on: {ok: done, nonzero: bad, timeout: bad}}
		  done: {kind: terminal, status: ok, reason: looked}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	cp -r .config tools "$SCRATCH"
	tools/agent6 machine run "$SCRATCH/peek"
	untouched
	tools/agent6 jail -- sh -c "$(<"$SCRATCH/peek/scripts/peek")"
	untouched
	run -0 tools/agent6 jail --read "$SCRATCH/repo/.config" -- cat .config/agent6/secrets.toml
	[[ -z $output ]]
	mkdir "$SCRATCH/elsewhere"
	(cd "$SCRATCH/elsewhere" && ../repo/tools/agent6 jail --write "$SCRATCH/repo" -- sh -c "cd '$SCRATCH/repo'; $(<"$SCRATCH/peek/scripts/peek")")
	untouched
}

untouched() {
	[[ -e seen && ! -s seen ]]
	rm seen
	diff -r .config "$SCRATCH/.config"
	cmp signers "$SCRATCH/signers"
	diff -r tools "$SCRATCH/tools"
}
