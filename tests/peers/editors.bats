# Editors: schema/machine.schema.json completes and validates in the language servers that editors use,
# yaml-language-server and taplo, named by a comment in the file as an author would.
load ../kit/common

setup() {
	MODULES=$AGENT6_SRC/build/peers/node_modules
	[[ -e $MODULES/yaml-language-server && -e $MODULES/@taplo/lsp ]] ||
		skip "the language servers are not installed: they need node 20 and npm"
}

# ask NAME <TEXT: what the language server says of a file of that name, in $output
ask() {
	local comment='# yaml-language-server: $schema='
	[[ $1 == *.yaml ]] || comment='#:schema '
	{
		echo "${comment}file://$AGENT6_SRC/schema/machine.schema.json"
		cat
	} >"$SCRATCH/$1"
	run --separate-stderr node "$AGENT6_SRC/tests/peers/editor.mjs" "$MODULES" "$SCRATCH/$1"
	echo "$1: $status"
	echo "$output"
	echo "${stderr-}"
	[[ $status -eq 0 ]]
}

offers() { # LABEL...
	local label
	for label; do
		grep -qx "complete $label" <<<"$output" || { echo "not offered: $label"; return 1; }
	done
}

yaml_machine() { # MARK: beside the keys of a tool state
	cat <<-YAML
		machine: demo
		version: 1
		initial: go
		budget: {max_transitions: 5}
		states:
		  go:
		    kind: tool
		    command: [ls]
		    timeout_secs: 3
		    on: {ok: done, nonzero: done, timeout: done}
		    $1
		  done: {kind: terminal, status: ok, reason: x}
	YAML
}

toml_machine() { # MARK
	cat <<-TOML
		machine = "demo"
		version = 1
		initial = "go"
		[budget]
		max_transitions = 5
		[states.go]
		kind = "tool"
		command = ["ls"]
		timeout_secs = 3
		on = {ok = "done", nonzero = "done", timeout = "done"}
		$1
		[states.done]
		kind = "terminal"
		status = "ok"
		reason = "x"
	TOML
}

@test "yaml-language-server: valid machines have no finding" {
	ask machine.yaml < <(yaml_machine 'description: lists')
	[[ -z $output ]]
	ask golden.yaml <"$AGENT6_SRC/tests/golden/good/triage/machine.yaml"
	[[ -z $output ]]
	ask defaults.yaml <"$AGENT6_SRC/tests/golden/good/defaults/machine.yaml"
	[[ -z $output ]]
}

@test "yaml-language-server: mistakes are found where they stand" {
	ask machine.yaml < <(yaml_machine 'comand: [ls]' | sed 's/version: 1/version: 2/; s/: 5}/: 0}/; / command: /d')
	grep -qx 'diagnostic 3: Value must be 1.' <<<"$output"
	grep -qx 'diagnostic 5: Value is below the minimum of 1.' <<<"$output"
	grep -qx 'diagnostic 7: Missing property "command".' <<<"$output"
	grep -qx 'diagnostic 11: Property comand is not allowed.' <<<"$output"
	[[ $(wc -l <<<"$output") -eq 4 ]]
}

@test "yaml-language-server: offers the keys of the state's kind, and only those" {
	ask machine.yaml < <(yaml_machine '<?>')
	offers description notify retry capture output_schema allow_network env stdin workspace limits secrets
	run ! grep -qxE 'complete (prompt|when|every_secs|command|kind)' <<<"$output"
}

@test "yaml-language-server: offers the values of a key" {
	ask machine.yaml < <(yaml_machine 'workspace: <?>')
	offers write read none
}

@test "taplo: valid machines have no finding" {
	ask machine.toml < <(toml_machine 'description = "lists"')
	[[ -z $output ]]
	ask golden.toml <"$AGENT6_SRC/tests/golden/good/toml/machine.toml"
	[[ -z $output ]]
	ask defaults.toml <"$AGENT6_SRC/tests/golden/good/defaults-toml/machine.toml"
	[[ -z $output ]]
}

@test "taplo: mistakes are found where they stand" {
	ask machine.toml < <(toml_machine 'comand = ["ls"]' | sed 's/^version = 1/version = 2/; s/= 5$/= 0/; /timeout_secs/d')
	grep -q '^diagnostic 3: 1 was expected' <<<"$output"
	grep -q '^diagnostic 6: 0 is less than the minimum of 1' <<<"$output"
	# It has no words of its own for a state that fits no kind, and points at the state.
	grep -q '^diagnostic 7: .*"comand".* is not valid' <<<"$output"
}

@test "taplo: offers keys and values" {
	ask machine.toml < <(toml_machine '<?>')
	offers description retry.max retry.on output_schema capture.set
	ask value.toml < <(toml_machine 'workspace = <?>')
	offers '"write"' '"read"' '"none"'
}
