# Actions that a machine's own steps must not be able to do, tried inside a real run.
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

# A machine of one tool state, $SCRATCH/does, whose command is the script on standard input.
does() {
	mkdir -p "$SCRATCH/does/scripts"
	cat >"$SCRATCH/does/scripts/do"
	cat >"$SCRATCH/does/machine.yaml" <<-'END'
		machine: does
		version: 1
		initial: do
		budget: {max_transitions: 5}
		states:
		  do: {kind: tool, command: [sh, scripts/do], timeout_secs: 10, on: {ok: done, nonzero: bad, timeout: bad}}
		  done: {kind: terminal, status: ok, reason: did}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
}

@test "what later confinements rest on is not for commands: configuration, keys, signers, agent6 itself" {
	export XDG_CONFIG_HOME=$SCRATCH/repo/.config
	cd "$SCRATCH/repo"
	mkdir -p .config/agent6 tools
	cp "$AGENT6_BIN"/agent6* tools
	printf '%s\n' 'sandbox: {profile: strict}' "machine: {allowed_signers: $SCRATCH/repo/signers}" >.config/agent6/config.yaml
	echo 'me ssh-ed25519 AAAA' | tee signers >"$SCRATCH/signers"
	echo 'providers = {p = "sk-the-secret"}' >.config/agent6/secrets.toml
	chmod 600 .config/agent6/secrets.toml
	does <<-'END'
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
	cp -r .config tools "$SCRATCH"
	tools/agent6 machine run "$SCRATCH/does"
	untouched
	tools/agent6 jail -- sh -c "$(<"$SCRATCH/does/scripts/do")"
	untouched
	run -0 tools/agent6 jail --read "$SCRATCH/repo/.config" -- cat .config/agent6/secrets.toml
	[[ -z $output ]]
	mkdir "$SCRATCH/elsewhere"
	(cd "$SCRATCH/elsewhere" && ../repo/tools/agent6 jail --write "$SCRATCH/repo" -- sh -c "cd '$SCRATCH/repo'; $(<"$SCRATCH/does/scripts/do")")
	untouched
}

untouched() {
	[[ -e seen && ! -s seen ]]
	rm seen
	diff -r .config "$SCRATCH/.config"
	cmp signers "$SCRATCH/signers"
	diff -r tools "$SCRATCH/tools"
}

@test "no command makes what the next run trusts, nor turns a link on the way there" {
	local config=$SCRATCH/config/agent6
	export XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/repo"
	does <<<'touch made'
	mkdir -p "$config"
	refused() { # what is said
		run --separate-stderr -2 agent6 machine run "${options[@]}" "$SCRATCH/does"
		[[ $stderr == *"$1"* && ! -e made ]] || { echo "$stderr"; false; }
		run --separate-stderr -2 agent6 jail "${options[@]}" -- touch made
		[[ $stderr == *"$1"* && ! -e made ]]
	}
	local options=()
	echo "machine: {allowed_signers: $SCRATCH/repo/signers}" >"$config/config.yaml"
	refused "machine.allowed_signers: $SCRATCH/repo/signers is not there, and a command could put it there"
	echo 'me ssh-ed25519 AAAA' >real
	ln -s real signers
	refused "machine.allowed_signers: $SCRATCH/repo/signers is a link that a command could turn"
	rm signers "$config/config.yaml"
	ln -s "$SCRATCH/repo/link.yaml" "$config/config.yaml"
	ln -s settings link.yaml
	echo 'sandbox: {profile: strict}' >settings
	refused "the configuration: $SCRATCH/repo/link.yaml is a link that a command could turn"
	rm "$config/config.yaml"
	options=(--config link.yaml)
	refused "--config: link.yaml is a link that a command could turn"
	# A command that only reads the workspace redirects no link in it.
	agent6 jail --read-only --config link.yaml -- true
	sed 's/command:/workspace: read, &/' "$SCRATCH/does/machine.yaml" >reads.asm.yaml
	cp -r "$SCRATCH/does/scripts" .
	run -1 agent6 machine run --id reads --allow-uncommitted --config link.yaml reads.asm.yaml
	[[ $output == *"failed"* && ! -e made ]]
	mkdir sub
	echo "sandbox: {profile: strict, protect: [$SCRATCH/repo/sub]}" >plain.yaml
	ln -s ../plain.yaml sub/link.yaml
	agent6 jail --config sub/link.yaml -- true
	echo 'sandbox: {profile: strict}' >plain.yaml
	options=(--config sub/../plain.yaml)
	refused "--config: sub/.. leads out of a directory that a command could replace"
	options=()
	mkdir "$SCRATCH/grant"
	ln -s "$SCRATCH/state" "$SCRATCH/grant/state"
	echo "sandbox: {write: [$SCRATCH/grant]}" >"$config/config.yaml"
	AGENT6_STATE_HOME=$SCRATCH/grant/state refused "the state directory: $SCRATCH/grant/state is a link that a command could turn"
	printf '%s\n' "sandbox: {write: [$SCRATCH/grant]}" "audit: {path: $SCRATCH/grant/audit.jsonl}" >"$config/config.yaml"
	refused "audit.path lies in $SCRATCH/grant, where commands can write"
	for word in "$SCRATCH/repo/hook" ./hook ../repo/hook; do
		echo "machine: {notify: {on_event: [sh, $word]}}" >"$config/config.yaml"
		refused "machine.notify.on_event: $word is not there, and a command could put it there"
	done
	echo 'machine: {notify: {on_event: [echo, a/b, hook, "https://example.com/hook"]}}' >"$config/config.yaml"
	agent6 jail -- true
	rm "$config/config.yaml"
	mv "$SCRATCH/config" .
	ln -s "$SCRATCH/repo/moved" "$SCRATCH/config"
	refused "the configuration directory: $SCRATCH/config/agent6 is not there, and a command could put it there"
	ln -s config moved
	refused "the configuration directory: $SCRATCH/repo/moved is a link that a command could turn"
}

@test "no state picks a part of what is protected" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/repo"
	mkdir -p "$SCRATCH/config/agent6/more" "$SCRATCH/kept/in" "$SCRATCH/bin"
	cp "$AGENT6_BIN"/agent6* "$SCRATCH/bin"
	echo "sandbox: {protect: [$SCRATCH/kept]}" >"$SCRATCH/config/agent6/config.yaml"
	local place
	for place in "$SCRATCH/repo/.git/hooks" "$SCRATCH/kept/in" "$SCRATCH/config/agent6/more"; do
		run --separate-stderr -2 "$SCRATCH/bin/agent6" jail --write "$place" -- touch "$place/made"
		[[ $stderr == *"$place lies in ${place%/*}, which no command may write"* && ! -e $place/made ]]
		run --separate-stderr -2 "$SCRATCH/bin/agent6" jail --write "${place%/*}" --write "$place" -- touch "$place/made"
		[[ $stderr == *"$place lies in ${place%/*}, which no command may write"* && ! -e $place/made ]]
	done
	run "$SCRATCH/bin/agent6" jail --write "$SCRATCH/bin/agent6-agent" -- sh -c "echo x >>'$SCRATCH/bin/agent6-agent'"
	cmp "$SCRATCH/bin/agent6-agent" "$AGENT6_BIN/agent6-agent"
	"$SCRATCH/bin/agent6" jail -- touch made
	[[ -e made ]]
	# Other files beside the programs are not protected, by either verb.
	mkdir "$SCRATCH/bin/other"
	"$SCRATCH/bin/agent6" jail --write "$SCRATCH/bin/other" -- touch "$SCRATCH/bin/other/made"
	[[ -e $SCRATCH/bin/other/made ]]
}

@test "that agent6 or sandbox.protect lies above the workspace keeps no command from what is in it" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/repo"
	does <<<'touch made'
	mkdir -p "$SCRATCH/config/agent6"
	cp "$AGENT6_BIN"/agent6* "$SCRATCH"
	echo 'sandbox: {profile: strict}' >settings
	ln -s settings link.yaml
	run --separate-stderr -2 "$SCRATCH/agent6" machine run --config link.yaml "$SCRATCH/does"
	[[ $stderr == *"--config: link.yaml is a link that a command could turn"* && ! -e made ]]
	run --separate-stderr -2 "$SCRATCH/agent6" jail --config link.yaml -- touch made
	[[ $stderr == *"--config: link.yaml is a link that a command could turn"* && ! -e made ]]
	echo "audit: {path: $SCRATCH/repo/audit.jsonl}" >"$SCRATCH/config/agent6/config.yaml"
	run --separate-stderr -2 "$SCRATCH/agent6" machine run "$SCRATCH/does"
	[[ $stderr == *"audit.path lies in $SCRATCH/repo, where commands can write"* && ! -e made ]]
	echo "sandbox: {protect: [$SCRATCH]}" >"$SCRATCH/config/agent6/config.yaml"
	run --separate-stderr -2 agent6 machine run --config link.yaml "$SCRATCH/does"
	[[ $stderr == *"--config: link.yaml is a link that a command could turn"* && ! -e made ]]
	echo "sandbox: {protect: [$SCRATCH/repo/kept]}" >"$SCRATCH/config/agent6/config.yaml"
	mkdir kept
	mv link.yaml settings kept
	agent6 machine run --config kept/link.yaml "$SCRATCH/does"
	[[ -e made ]]
	# Nor does what lies in one grant keep them from another one in it.
	mkdir -p "$SCRATCH/grant/bin/inner"
	cp "$AGENT6_BIN"/agent6* "$SCRATCH/grant/bin"
	printf '%s\n' "sandbox: {write: [$SCRATCH/grant, $SCRATCH/grant/bin/inner]}" \
		"audit: {path: $SCRATCH/grant/bin/inner/audit.jsonl}" >"$SCRATCH/config/agent6/config.yaml"
	run --separate-stderr -2 "$SCRATCH/grant/bin/agent6" jail -- true
	[[ $stderr == *"audit.path lies in $SCRATCH/grant/bin/inner, where commands can write"* ]]
}

@test "what sandbox.protect or sandbox.hide names is there, and no link, before a command could make or turn it" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	local file=$SCRATCH/config/agent6/config.yaml
	mkdir -p "$SCRATCH/config/agent6"
	cd "$SCRATCH/repo"
	does <<<'touch kept made'
	echo "sandbox: {profile: strict, protect: [$SCRATCH/repo/kept]}" >"$file"
	run --separate-stderr -2 agent6 machine run "$SCRATCH/does"
	[[ $stderr == *"state do: sandbox.protect: $SCRATCH/repo/kept: No such file"* && ! -e made ]]
	run --separate-stderr -2 agent6 jail -- touch kept
	[[ $stderr == *"sandbox.protect: $SCRATCH/repo/kept: No such file"* && ! -e kept ]]
	agent6 jail --read-only -- true
	mkdir real
	ln -s real kept
	for key in protect hide; do
		echo "sandbox: {profile: strict, $key: [$SCRATCH/repo/kept]}" >"$file"
		run --separate-stderr -2 agent6 machine run "$SCRATCH/does"
		[[ $stderr == *"state do: sandbox.$key: $SCRATCH/repo/kept leads through a link; name $SCRATCH/repo/real itself"* ]]
	done
	# Nor by another name in the workspace, in what a state may write, or where the link leads nowhere.
	ln -s "$SCRATCH/repo" "$SCRATCH/alias"
	ln -s repo/none "$SCRATCH/ahead"
	mkdir "$SCRATCH/grant"
	for path in "$SCRATCH/alias/none" "$SCRATCH/alias/none/deep" "$SCRATCH/ahead" "$SCRATCH/grant/none/deep"; do
		echo "sandbox: {profile: strict, write: [$SCRATCH/grant], protect: [$path]}" >"$file"
		run --separate-stderr -2 agent6 jail --write "$SCRATCH/grant" -- true
		[[ $stderr == *"sandbox.protect: $path: No such file"* ]]
	done
	ln -sfn nowhere kept
	echo "sandbox: {profile: strict, hide: [$SCRATCH/repo/kept]}" >"$file"
	run --separate-stderr -2 agent6 machine run "$SCRATCH/does"
	[[ $stderr == *"state do: sandbox.hide: $SCRATCH/repo/kept is a link that leads nowhere"* ]]
	echo "sandbox: {profile: strict, hide: [$SCRATCH/repo]}" >"$file"
	run --separate-stderr -2 agent6 machine run "$SCRATCH/does"
	[[ $stderr == *"state do: sandbox.hide: $SCRATCH/repo is the whole workspace; name what"* ]]
	run --separate-stderr -2 agent6 jail --read-only -- true
	[[ $stderr == *"sandbox.hide: $SCRATCH/repo is the whole workspace; name what"* ]]
	# Paths that no command of this run could make are allowed.
	echo "sandbox: {profile: strict, protect: [$SCRATCH/none, $SCRATCH/repo/real], hide: [$SCRATCH/repo/none]}" >"$file"
	agent6 jail -- touch made
	[[ -e made ]]
}

@test "a configuration that is kept in the workspace and linked to is not for commands" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/repo"
	mkdir -p "$SCRATCH/config/agent6"
	echo 'sandbox: {profile: strict}' | tee settings >"$SCRATCH/settings"
	echo 'me ssh-ed25519 AAAA' | tee signers >"$SCRATCH/signers"
	ln -s "$SCRATCH/repo/settings" "$SCRATCH/config/agent6/config.yaml"
	does <<<'touch made; for file in settings signers; do echo x >>$file; mv $file away; done; true'
	agent6 machine run "$SCRATCH/does"
	cmp settings "$SCRATCH/settings"
	mv away signers
	cp signers "$SCRATCH/signers"
	local own=("$AGENT6_STATE_HOME"/repo-*)
	mv "$SCRATCH/config/agent6/config.yaml" "${own[0]}"
	run agent6 machine run --id linked "$SCRATCH/does"
	cmp settings "$SCRATCH/settings"
	mv away signers
	cp settings root.pem
	printf '%s\n' 'sandbox: {profile: strict}' "providers: {p: {api_format: openai, base_url: 'http://127.0.0.1:9', ca_file: $SCRATCH/repo/root.pem}}" >"$SCRATCH/config/agent6/config.yaml"
	rm "${own[0]}/config.yaml"
	does <<<'for file in signers root.pem; do echo x >>$file; mv $file away; done; true'
	run agent6 machine run --id pinned "$SCRATCH/does"
	cmp settings root.pem
	mv away signers
	ssh-keygen -q -t ed25519 -N '' -f "$SCRATCH/key"
	echo "me namespaces=\"agent6-bundle\" $(<"$SCRATCH/key.pub")" | tee signers >"$SCRATCH/signers"
	agent6 machine sign --key "$SCRATCH/key" "$SCRATCH/does"
	agent6 machine run --id signed --allowed-signers signers "$SCRATCH/does"
	cmp signers "$SCRATCH/signers"
}

@test "no grant reaches agent6's own state, and no rehearsal the keys" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	mkdir -p "$SCRATCH/config/agent6"
	cd "$SCRATCH/repo"
	run -2 agent6 jail --read / -- true
	[[ $output == "agent6: --read grants /, which holds agent6's own state directory"* ]]
	does <<<"cat '$SCRATCH/config/agent6/secrets.yaml' >seen; cat seen"
	echo 'providers: {p: sk-the-secret}' >"$SCRATCH/config/agent6/secrets.yaml"
	chmod 600 "$SCRATCH/config/agent6/secrets.yaml"
	echo "sandbox: {read: [$SCRATCH/config]}" >"$SCRATCH/settings.yaml"
	agent6 machine rehearse --config "$SCRATCH/settings.yaml" --dir "$SCRATCH/stage" "$SCRATCH/does"
	[[ -e $SCRATCH/stage/workspace/seen && ! -s $SCRATCH/stage/workspace/seen ]]
	agent6 machine run "$SCRATCH/does" || true
	local state other
	state=$(realpath "$AGENT6_STATE_HOME")
	other=$(realpath "$state"/repo-*)
	for option in read write; do
		run -2 agent6 jail --$option "$SCRATCH" -- touch made
		[[ $output == "agent6: --$option grants $SCRATCH, which holds agent6's own state directory"* ]]
		run -2 agent6 jail --$option "$state" -- touch made
	done
	run -2 agent6 jail --write "$other" -- touch made
	[[ $output == *"--write grants $other, which lies in agent6's own state directory"* && ! -e made ]]
	echo "sandbox: {read: [$SCRATCH]}" >"$SCRATCH/config/agent6/config.yaml"
	run -2 agent6 jail -- touch made
	[[ $output == *"sandbox.read grants $SCRATCH, which holds agent6's own state directory"* && ! -e made ]]
	echo "sandbox: {write: [$other/machines/does/states]}" >"$SCRATCH/config/agent6/config.yaml"
	run -2 agent6 machine run --id other "$SCRATCH/does"
	[[ $output == *"sandbox.write grants $other/machines/does/states, which lies in agent6's own state directory"* ]]
}

@test "a path of sandbox.read that is not there is refused by that name before a command needs it" {
	local why="sandbox.read: $SCRATCH/gone: No such file or directory; no command runs without it"
	export XDG_CONFIG_HOME=$SCRATCH/config
	mkdir -p "$SCRATCH/config/agent6"
	cd "$SCRATCH/repo"
	does <<<true
	echo "sandbox: {read: [$SCRATCH/gone], write: [$SCRATCH/gone]}" | tee "$SCRATCH/settings.yaml" >"$SCRATCH/config/agent6/config.yaml"
	run -2 agent6 jail -- true
	[[ $output == "agent6: $why" ]]
	run -2 agent6 machine run "$SCRATCH/does"
	echo "$output"
	[[ $output == *"agent6: $why" ]]
	agent6 machine list --json | jq -e '. == []'
	agent6 machine check --report --json "$SCRATCH/does" | jq -e --arg why "$why" '.[0].refusals == [$why]'
	# A machine without commands is not refused.
	agent6 machine rehearse --quiet --config "$SCRATCH/settings.yaml" "$AGENT6_SRC/examples/hello"
}

@test "more paths than a jail takes are refused before anything runs" {
	export XDG_CONFIG_HOME=$SCRATCH/config
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/many"
	cd "$SCRATCH/repo"
	(cd "$SCRATCH/many" && seq 256 | xargs mkdir)
	does <<<true
	printf 'sandbox: {read: [%s]}\n' "$(seq -s , -f "$SCRATCH/many/%.0f" 256)" >"$SCRATCH/config/agent6/config.yaml"
	agent6 machine run --quiet "$SCRATCH/does"
	sed -i "s|kind: tool|&, reads: [$SCRATCH/many/1]|" "$SCRATCH/does/machine.yaml"
	run -2 agent6 machine run --id more "$SCRATCH/does"
	echo "$output"
	[[ $output == *"sandbox.read comes to 257 paths with what is added to it, and a jail takes 256;"* ]]
}

@test "a script that a file system will not execute is refused before anything runs" {
	need_root
	cd "$SCRATCH/repo"
	does <<<'#!/bin/sh'
	chmod 755 "$SCRATCH/does/scripts/do"
	mkdir -p "$SCRATCH/kept"
	kept() { # COMMAND...: with instances kept on a file system that executes nothing
		# shellcheck disable=SC2016
		AGENT6_STATE_HOME=$SCRATCH/kept unshare -m sh -ec 'mount --bind "$0" "$0" && mount -o remount,noexec,bind "$0"; exec "$@"' \
			"$SCRATCH/kept" "$@"
	}
	kept "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/does" # sh reads it
	sed -i 's|sh, scripts|scripts|' "$SCRATCH/does/machine.yaml"
	run -2 kept "$AGENT6_BIN/agent6" machine run --id direct "$SCRATCH/does"
	echo "$output"
	[[ $output == *"state do: scripts/do cannot be executed: $SCRATCH/kept/"*" is mounted noexec; keep instances elsewhere (AGENT6_STATE_HOME"* ]]
}

@test "on hardened no state starts that could write what every confinement rests on" {
	need_hardened
	export XDG_CONFIG_HOME=$SCRATCH/repo/.config
	cd "$SCRATCH/repo"
	mkdir -p .config/agent6 tools
	cp "$AGENT6_BIN"/agent6* tools
	echo 'sandbox: {profile: hardened}' >.config/agent6/config.yaml
	[[ $(id -u) -ne 0 ]] || chown -R nobody .
	does <<<'touch made'
	refused() { # what may not be written
		run --separate-stderr -2 "$@" machine run --allow-root-jail "$SCRATCH/does"
		[[ $stderr == *"state do: $held is not to be written, and lies where commands may write"*"use sandbox.profile strict"* ]]
		run --separate-stderr -2 "$@" jail -- touch made
		[[ $stderr == *"$held is not to be written"* && ! -e made ]]
	}
	held=$SCRATCH/repo/tools
	refused tools/agent6
	held=$SCRATCH/repo/.config/agent6
	refused agent6
	mkdir "$SCRATCH/elsewhere"
	(cd "$SCRATCH/elsewhere" && held=$SCRATCH/repo/.config/agent6 && run -2 agent6 jail --write "$SCRATCH/repo" -- true && [[ $output == *"$held is not to be written"* ]])
	mv .config "$SCRATCH"
	export XDG_CONFIG_HOME=$SCRATCH/.config
	echo "sandbox: {profile: hardened, protect: [$SCRATCH/repo/kept]}" >"$XDG_CONFIG_HOME/agent6/config.yaml"
	held=$SCRATCH/repo/kept
	refused agent6
	agent6 jail --read-only -- true
	sed -i 's/command:/workspace: read, &/' "$SCRATCH/does/machine.yaml"
	run --separate-stderr agent6 machine run --allow-root-jail --id reads "$SCRATCH/does"
	echo "$output" "$stderr"
	[[ $status -eq 1 && $output == *"failed: bad"* && ! -e made ]]
	echo 'sandbox: {profile: hardened}' >"$XDG_CONFIG_HOME/agent6/config.yaml"
	agent6 jail -- touch made
	[[ -e made ]]
}

@test "on hardened no grant holds what is protected, by whatever name, and both paths are named" {
	need_hardened
	export XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/repo"
	[[ $(id -u) -ne 0 ]] || chown -R nobody .
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/grant/kept" "$SCRATCH/inner"
	ln -s "$SCRATCH/grant" "$SCRATCH/link"
	does <<<'touch made'
	local held
	refused() { # GRANT
		sed "s|kind: tool|&, writes: [$1]|; s|command:|workspace: read, &|" "$SCRATCH/does/machine.yaml" >"$SCRATCH/given.yaml"
		cp -r "$SCRATCH/does" "$SCRATCH/given" && mv "$SCRATCH/given.yaml" "$SCRATCH/given/machine.yaml"
		run --separate-stderr -2 agent6 machine run --allow-root-jail "$SCRATCH/given"
		[[ $stderr == *"state do: $held is not to be written, and lies where commands may write, in $2, which sandbox.profile hardened"* ]]
		agent6 machine check --report --json "$SCRATCH/given" | jq -e --arg why "$held is not to be written" '.[0].refusals | any(contains($why))'
		agent6 machine check --report "$SCRATCH/given" | tr -s ' \n' ' ' >"$SCRATCH/shown" # long paths are broken anywhere
		grep -q "with this configuration it would be refused on this host state do: .* is not to be written, .* or use sandbox.profile strict" "$SCRATCH/shown"
		run --separate-stderr -2 agent6 jail --read-only --write "$1" -- true
		[[ $stderr == *"$held is not to be written, and lies where commands may write, in $2, "* ]]
		rm -r "$SCRATCH/given"
	}
	local place
	for place in grant link; do
		held=$SCRATCH/$place/kept
		echo "sandbox: {profile: hardened, write: [$SCRATCH/grant], protect: [$held]}" >"$SCRATCH/config/agent6/config.yaml"
		refused "$SCRATCH/grant" "$SCRATCH/grant"
	done
	# strict takes the part out of the grant.
	echo "sandbox: {profile: strict, write: [$SCRATCH/grant], protect: [$SCRATCH/grant/kept]}" >"$SCRATCH/config/agent6/config.yaml"
	run agent6 jail --write "$SCRATCH/grant" -- touch "$SCRATCH/grant/made" "$SCRATCH/grant/kept/made"
	echo "$output"
	[[ $status -eq 1 && $output == *"kept/made': Read-only file system"* && -e $SCRATCH/grant/made && ! -e $SCRATCH/grant/kept/made ]]
	# The workspace's own .git, where a grant lies around a workspace that is only read.
	echo "sandbox: {profile: hardened, write: [$SCRATCH/repo]}" >"$SCRATCH/config/agent6/config.yaml"
	held=$SCRATCH/repo/.git
	refused "$SCRATCH/repo" "$SCRATCH/repo"
}

@test "agent6 jail as root asks for what a run asks for" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	cd "$SCRATCH/repo"
	AGENT6_ALLOW_ROOT='' run -2 "$AGENT6_BIN/agent6" jail -- touch made
	[[ $output == *"running as root is refused"*"--allow-root"* && ! -e made ]]
	AGENT6_ALLOW_ROOT='' "$AGENT6_BIN/agent6" jail --allow-root -- touch made
	[[ -e made ]]
}
