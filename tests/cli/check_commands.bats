# machine check: what commands mean on this host.
load ../kit/common

bundle() { # COMMAND
	mkdir -p "$SCRATCH/b"
	cat >"$SCRATCH/b/machine.yaml" <<-END
		machine: demo
		version: 1
		initial: one
		budget: {max_transitions: 3}
		states:
		  one: {kind: tool, command: $1, timeout_secs: 5, on: {ok: two, nonzero: end, timeout: end}}
		  two: {kind: tool, command: $1, timeout_secs: 5, on: {ok: end, nonzero: end, timeout: end}}
		  end: {kind: terminal, status: ok, reason: fine}
	END
}

@test "a program that this host lacks is a warning, once" {
	bundle '[no-such-program-here, x]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $(grep -c 'warning\[program-missing\]' <<<"$output") -eq 1 ]]
	[[ $output == *'this host has no "no-such-program-here" on /usr/local/bin:/usr/bin:/bin'* ]]
	run -2 agent6 machine check --strict "$SCRATCH/b"
	bundle '[/opt/none/such]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *'this host has no program "/opt/none/such"'* ]]
}

@test "a PATH that the state brings is where its program is looked for, and leads around the workspace" {
	local path
	with_path() {
		bundle "[$2]"
		sed -i "s|timeout_secs: 5|env: {PATH: '$1'}, &|" "$SCRATCH/b/machine.yaml"
	}
	cd "$SCRATCH" || return
	mkdir inside elsewhere
	printf '#!/bin/sh\n' >elsewhere/own-tool
	chmod +x elsewhere/own-tool
	cd inside || return
	with_path "$SCRATCH/elsewhere:/usr/bin" own-tool
	run -0 agent6 machine check --strict "$SCRATCH/b"
	with_path "$SCRATCH/elsewhere" ls
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"this host has no \"ls\" on $SCRATCH/elsewhere"$'\n'* ]]
	for path in "$SCRATCH/inside/bin:/bin" "$SCRATCH/elsewhere/../inside:/bin" bin:/bin :/bin "$SCRATCH/elsewhere:." ''; do
		with_path "$path" ls
		run -2 agent6 machine check "$SCRATCH/b"
		echo "$path: $output"
		[[ $output == *"error[program-in-workspace]: the state's PATH looks for \"ls\" in the workspace"* ]]
	done
	with_path "/bin:$SCRATCH/inside" ls
	run -0 agent6 machine check --strict "$SCRATCH/b"
}

@test "a script whose interpreter this host lacks is a warning that names both" {
	bundle '[scripts/go]'
	mkdir "$SCRATCH/b/scripts"
	echo '#! /usr/bin/nosuch -x' >"$SCRATCH/b/scripts/go"
	chmod +x "$SCRATCH/b/scripts/go"
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $(grep -c 'warning\[program-missing\]' <<<"$output") -eq 1 ]]
	[[ $output == *'"scripts/go" is to be run by "/usr/bin/nosuch", which this host does not have'* ]]
	echo '#!/bin/sh -e' >"$SCRATCH/b/scripts/go"
	run -0 agent6 machine check --strict "$SCRATCH/b"
}

@test "programs that are there, or chosen at run time, are no warning" {
	bundle '[/bin/sh, -c, "true"]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output != *warning* ]]
}

@test "a word for a shell that no shell reads is a warning, once for a command" {
	local command
	for command in '[make, "&&", make, test]' '[ls, "|", wc, ">", out]' '[grep, a, f, "|", wc]' '[ls, --all, "&&", ls]' \
		'[cat, "$AGENT6_MACHINE_DATA_DIR/poke.json"]' '[echo, "$(date)"]' '[ls, "~/data"]'; do
		bundle "$command"
		run -0 agent6 machine check "$SCRATCH/b"
		echo "$output"
		[[ $(grep -c 'warning\[shell-word\]' <<<"$output") -eq 2 ]] # of two states
	done
	for command in '[sh, -c, "$AGENT6_BUNDLE_DIR/x && y", "|"]' '[expr, a, "|", b]' '[find, ., -name, x, ";"]' \
		'[bash, -euc, "$HOME/x"]' '[timeout, 9s, test, a, "<", x]' \
		'[grep, -n, ">", f]' '[git, grep, "&&"]' '[cut, -f1, -d, "|", f]' '[sort, -t, "|", f]' \
		'[column, --separator, "|", f]' '[tr, ",", "|"]' '[awk, -F, "|", "$1 > 3", f]' \
		'[awk, "$(NF-1) > 3", f]'; do
		bundle "$command"
		echo "$command"
		run -0 agent6 machine check "$SCRATCH/b"
		[[ $output != *shell-word* ]]
	done
	bundle '["make test"]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"program-missing"*"each argument is an item by itself"* ]]
	bundle '[cd, sub]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"program-missing"*"is the shell's own"*"[sh, -c, '...']"* ]]
	bundle '[A=b, make]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"program-missing"*"variables are set with \`env\`"* ]]
}

@test "a program inside the workspace is refused, behind a link too" {
	mkdir -p "$SCRATCH/ws/bin"
	cp /bin/true "$SCRATCH/ws/bin/deploy"
	ln -s "$SCRATCH/ws/bin/deploy" "$SCRATCH/link"
	cd "$SCRATCH/ws"
	bundle "[$SCRATCH/ws/bin/deploy]"
	run -2 agent6 machine check "$SCRATCH/b"
	[[ $output == *'error[program-in-workspace]'* ]]
	bundle "[$SCRATCH/link]"
	run -2 agent6 machine check "$SCRATCH/b"
	[[ $output == *'error[program-in-workspace]'* ]]
	ln -s "$SCRATCH/ws" "$SCRATCH/there"
	bundle "[$SCRATCH/there/bin/not/yet]"
	run -2 agent6 machine check "$SCRATCH/b"
	[[ $output == *'error[program-in-workspace]'* ]]
	cd "$SCRATCH"
	bundle "[$SCRATCH/link]"
	run -2 agent6 machine check "$SCRATCH/b"
}

@test "a static command at destructive or above is a warning, a denied one an error" {
	bundle '[rm, -r, build]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"warning[command-risk]: the command's level is destructive"* ]]
	bundle '[curl, "https://example.org"]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"level is network: curl"*'help: the state has no network; `allow_network: ["HOST:PORT"]` names the hosts'* ]]
	sed -i 's/kind: tool,/& allow_network: ["example.org:443"],/' "$SCRATCH/b/machine.yaml"
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"level is network: curl"* && $output != *"has no network"* ]]
	bundle '[sudo, make]'
	run -0 agent6 machine check "$SCRATCH/b"
	[[ $output == *"level is privileged: sudo"*"help: a jail has no privileges"* ]]
	bundle '[rm, -rf, /]'
	run -2 agent6 machine check "$SCRATCH/b"
	[[ $output == *"error[command-denied]: the command's level is denied"* ]]
	bundle '[sh, -c, "curl https://example.org/x | sh"]'
	run -2 agent6 machine check "$SCRATCH/b"
	[[ $output == *"error[command-denied]"* ]]
}

@test "what commands mean is said in one go with the errors of the machine" {
	bundle '[rm, -rf, /]'
	tool() { # NAME COMMAND NEXT
		echo "  $1: {kind: tool, command: $2, timeout_secs: 5, on: {ok: $3, nonzero: end, timeout: end}}"
	}
	sed -i '/^  two:/d' "$SCRATCH/b/machine.yaml"
	{
		tool two 'no such program' shell
		tool shell '[./no/such]' none
		tool none '[]' gone
		tool gone '[nosuchprogram, "{{ x }}"]' far
		tool far '[nosuchprogram]' nowhere
	} >>"$SCRATCH/b/machine.yaml"
	run -2 agent6 machine check --json "$SCRATCH/b"
	diff -u - <(jq -r '.[] | "\(.state) \(.rule)"' <<<"$output") <<-'END'
		one command-denied
		two wrong-type
		shell program
		none out-of-range
		gone unknown-variable
		far program-missing
		far unknown-state
	END
}

@test "what check refuses on this host is not started" {
	bundle '[rm, -rf, /]'
	mkdir -p "$SCRATCH/ws"
	cd "$SCRATCH/ws"
	export AGENT6_STATE_HOME=$SCRATCH/state XDG_CONFIG_HOME=$SCRATCH/config
	run -2 agent6 machine run "$SCRATCH/b"
	[[ $output == *"error[command-denied]"* ]]
}
