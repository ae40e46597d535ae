# machine check --report and --against: what a reviewer sees, and when a second pair of eyes is asked for.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config XDG_STATE_HOME=$SCRATCH/xdg-state
	mkdir old new work
	cat >old/machine.yaml <<-'END'
		machine: demo
		version: 1
		initial: fetch
		budget: {max_transitions: 10, max_usd: 1.0}
		vars: {}
		states:
		  fetch:
		    kind: tool
		    command: ["true", "a b", "$x"]
		    workspace: read
		    timeout_secs: 10
		    limits: {memory_mb: 100}
		    env: {MODE: fast}
		    on: {ok: done, nonzero: done, timeout: done}
		  done: {kind: terminal, status: ok, reason: x}
	END
	cp old/machine.yaml new/machine.yaml
	cd work || return
}

against() {
	run --separate-stderr agent6 machine check ../new --against ../old "$@"
	echo "$output" "$stderr"
}

@test "--against none: every host, path and secret of a new bundle is a widening, and a path stays a path" {
	run --separate-stderr agent6 machine check ../new --against none
	echo "$output" "$stderr"
	[[ $status -eq 0 && $stderr != *confinement-* ]]
	sed -i 's/    env: /    allow_network: ["api.example:443", "b.example:80"]\n    writes: [\/srv\/out]\n    secrets: [TOKEN]\n&/' ../new/machine.yaml
	run --separate-stderr agent6 machine check ../new --against none
	echo "$output" "$stderr"
	[[ $status -eq 4 && $(grep -c 'warning\[confinement-widened\]: fetch: ' <<<"$stderr") -eq 4 ]]
	[[ $stderr == *"machine.yaml:13:21: warning"*"fetch: api.example:443 is new in egress"* ]]
	[[ $stderr == *"/srv/out is new in writes"* && $stderr == *"TOKEN is new in secrets"* ]]
	run --separate-stderr agent6 machine check ../new --against ./none
	[[ $status -eq 2 && $stderr == *"by its path, or \`none\`; "*"none: No such file or directory"* ]]
}

@test "--report: per state and for the machine, within 80 columns" {
	run --separate-stderr agent6 machine check --report ../old "$AGENT6_SRC/examples/triage"
	[ "$status" -eq 0 ]
	[[ $output == *"fetch (tool)"*"runs         true 'a b' '\$x'"* ]]
	[[ $output == *"workspace    reads"*"egress       none"*"env          MODE"* ]]
	[[ $output == *"memory_mb=100"* ]]
	[[ $output == *"judge (agent)"*"asks         prompts/judge.md"* ]]
	[[ $output == *"triage: ok: machine triage, "*" states,"$'\n'"  sha256:"* ]]
	# The path of a bundle is as long as its author made it.
	run ! grep -E '^.{81,}' <<<"${output//"$AGENT6_SRC"/}"
}

@test "--report: .git is promised for strict alone" {
	run --separate-stderr -0 agent6 machine check --report ../old
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ $output == *"strict profile; hardened keeps neither .git nor the bundle's source"* ]]
}

@test "--report: where a word of a command begins and ends cannot be made up" {
	sed -i "s/command: .*/command: [rm, \"a' 'b\", \"c\\\\nd\", 'e']/" ../old/machine.yaml
	run --separate-stderr agent6 machine check --report ../old
	[[ $output == *"runs         rm 'a'\\'' '\\''b' 'c\\x0ad' e"* ]]
}

@test "a report and a comparison leave nothing out, however long the command before it is" {
	local long format
	printf -v long '%*s' 70000 ''
	sed "s/command: .*/command: [sh, -c, \"true ${long// /x}; last\"]/; s/workspace: read/allow_network: allow/" \
		../old/machine.yaml >../new/machine.yaml
	for format in text markdown json sarif github; do
		run --separate-stderr -0 agent6 machine check --report --format "$format" ../new
		echo "$format: ${output: -2000}"
		[[ $output == *"last'"*"any host"* ]]
	done
	sed -i 's/  fetch:/  other:/; s/initial: fetch/initial: other/' ../new/machine.yaml
	for format in text markdown json sarif github; do
		run --separate-stderr -4 agent6 machine check --format "$format" ../new --against ../old
		echo "$format: ${output: -2000}"
		[[ $output$stderr == *"other: a new tool state: sh -c "*"last'"* ]]
	done
}

@test "--report and inspect show the parameters and the ends; --against notes what changed of them" {
	sed -i 's/^vars: {}/vars: {operator: {base: {type: str, description: to compare with}, n: {type: int, value: 3, max: 9}}}/
		s/reason: x}/reason: x}\n  odd: {kind: terminal, status: ok, exit_code: 20, reason: y}/; s/nonzero: done/nonzero: odd/' ../old/machine.yaml
	run -0 --separate-stderr agent6 machine check --report ../old
	[[ $output == *"
  parameters   base: str, required: to compare with
               n: int = 3 (at most 9)
  ends         done: ok, exit 0; odd: ok, exit 20
"* ]]
	run -0 --separate-stderr agent6 machine check --report --format markdown ../old
	[[ $output == *"| parameters | base: str, required: to compare with |"* ]]
	run -0 --separate-stderr agent6 machine inspect ../old
	[[ $output == *"
parameters   base: str, required: to compare with
             n: int = 3 (at most 9)
ends         done: ok, exit 0; odd: ok, exit 20
"* ]]
	run -0 --separate-stderr agent6 machine inspect --json ../old
	[[ $(jq -c .interface <<<"$output") == '{"ends":[{"exit":0,"state":"done","status":"ok"},{"exit":20,"state":"odd","status":"ok"}],"parameters":[{"description":"to compare with","name":"base","required":true,"type":"str"},{"allows":"at most 9","max":9,"name":"n","required":false,"type":"int","value":3}]}' ]]
	sed 's/base: {type: str, /base: {type: str, value: main, /; s/n: {type: int, value: 3, max: 9}/level: {type: str}/; s/exit_code: 20/exit_code: 21/' ../old/machine.yaml >../new/machine.yaml
	against
	[[ $status -eq 0 && $stderr == *'note[interface-changed]: the parameter was base: str, required: to compare with, and is base: str = "main": to compare with'* ]]
	[[ $stderr == *"note[interface-changed]: a new parameter: level: str, required"* ]]
	[[ $stderr == *"note[interface-changed]: a parameter is gone: n: int = 3 (at most 9)"* ]]
	[[ $stderr == *"note[interface-changed]: the end was odd: ok, exit 20, and is odd: ok, exit 21"* ]]
}

@test "--report shows other exit statuses that count as ok, and --against notes a change of them" {
	sed -i 's/timeout_secs/ok_exit: [1, 0]\n    &/' ../new/machine.yaml
	run -0 --separate-stderr agent6 machine check --report ../new
	[[ $output == *"ok at        exit 0, 1"* ]]
	run -0 --separate-stderr agent6 machine check --report ../old
	[[ $output != *"ok at"* ]]
	against
	[[ $status -eq 0 && $stderr == *"note[state-changed]: "*": it was ok at exit 0, and is ok at exit 0, 1"* ]]
}

@test "--report shows how often a state may be visited, and --against compares it" {
	sed -i 's/timeout_secs/max_visits: 3\n    &/; s/timeout: done/timeout: done, exhausted: done/' ../old/machine.yaml
	sed 's/max_visits: 3/max_visits: 4/' ../old/machine.yaml >../new/machine.yaml
	run -0 --separate-stderr agent6 machine check --report ../old
	[[ $output == *"most visits  fetch=3"* ]]
	against
	[[ $status -eq 4 && $stderr == *"fetch: limit max_visits was 3 and is 4"* ]]
	sed -i 's/max_visits: 4/max_visits: 2/' ../new/machine.yaml
	against
	[[ $status -eq 0 && $stderr == *"note[confinement-narrowed]"*"fetch: limit max_visits was 3 and is 2"* ]]
	sed -i '/max_visits/d; s/, exhausted: done//' ../new/machine.yaml
	against
	[[ $status -eq 4 && $stderr == *"fetch: limit max_visits was 3 and is unlimited"* ]]
}

@test "--report as JSON and as Markdown" {
	need jq
	run --separate-stderr agent6 machine check --report --format json ../old
	jq -e '.[0] | .machine == "demo" and .states[0].sets.env == ["MODE"] and .union.workspace == "read"
		and .states[0].limits.memory_mb == 100 and .states[0].limits.timeout_secs == 10' <<<"$output"
	run --separate-stderr agent6 machine check --report --format markdown ../old
	[[ ${lines[0]} == "## demo" ]]
	[[ $output == *"### fetch (tool)"*"| workspace | reads |"* ]]
}

@test "--report: terminals of its own, for the state and for the machine; none is not worth a line" {
	need jq
	run -0 --separate-stderr agent6 machine check --report ../old
	[[ $output != *terminal* ]]
	sed 's/workspace: read/&\n    pty: true/' ../old/machine.yaml >../new/machine.yaml
	run -0 --separate-stderr agent6 machine check --report ../new
	[[ $(grep -c "terminal     its own pseudo-terminals, nothing of this host's" <<<"$output") -eq 2 ]]
	run -0 --separate-stderr agent6 machine check --report --format json ../new
	jq -e '.[0] | .union.terminal == "own" and .states[0].ranks.terminal == "own"' <<<"$output"
	sed -i 's/pty: true/pty: yes please/' ../new/machine.yaml
	run --separate-stderr agent6 machine check ../new
	[[ $status -ne 0 && $stderr == *"machine.yaml:11:10: error[wrong-type]"*pty* ]]
}

@test "--report as SARIF and as annotations: a note per state and one for the machine" {
	need jq
	run --separate-stderr agent6 machine check --report --format sarif ../old
	[ "$status" -eq 0 ]
	jq -e '.version == "2.1.0" and [.runs[0].results[] | .ruleId] == ["confinement-report", "confinement-report"]
		and (.runs[0].results[1] | .level == "note" and .locations[0].physicalLocation.region.startLine == 7
			and (.message.text | startswith("fetch: runs true") and contains("; egress none; env MODE;")))' <<<"$output"
	run --separate-stderr agent6 machine check --report --format github ../old
	[[ $output == *"::notice file=../old/machine.yaml,line=7,"*"title=confinement-report::fetch: runs true"* ]]
}

@test "a report as a review's comment calls nobody and links nothing" {
	sed -i 's/command: .*/command: [npm, i, "@scope\/a@1", "fixes #12", "!3 a@b %x"]/' ../old/machine.yaml
	run -0 --separate-stderr agent6 machine check --report --format markdown ../old
	[[ $output == *"npm i \\@<!-- -->scope/a\\@<!-- -->1 'fixes \\#<!-- -->12' '\\!3 a\\@<!-- -->b \\%x' |"* ]]
}

@test "--against takes a path, and says how a revision becomes one" {
	run -2 --separate-stderr agent6 machine check ../new --against HEAD~1
	[[ $stderr == *"(git worktree add -q ../before REV): cannot open HEAD~1: No such file"* ]]
}

@test "--against as Markdown is a table for a review's comment" {
	run --separate-stderr agent6 machine check ../old --against ../old --format markdown
	[ "$status" -eq 0 ]
	[[ $output == "Nothing widened, nothing narrowed." ]]
	sed 's/workspace: read/workspace: write/' ../old/machine.yaml >../new/machine.yaml
	against --format markdown
	[ "$status" -eq 4 ]
	[[ ${lines[2]} == '| warning `confinement-widened` | ../new/machine.yaml:10 | fetch: workspace was read and is write |' ]]
}

@test "Markdown without a report is a table of the findings" {
	run -0 --separate-stderr agent6 machine check ../old --format markdown
	[[ $output == "Nothing found." ]]
	sed 's/workspace: read/workspace: rd/' ../old/machine.yaml >../new/machine.yaml
	run -2 --separate-stderr agent6 machine check ../new --format markdown
	[[ ${lines[2]} == '| error `not-one-of` | ../new/machine.yaml:'*' cannot be '*' |' && -z $stderr ]]
}

@test "--against the same bundle: nothing, 0" {
	against
	[ "$status" -eq 0 ]
	[[ $stderr != *confinement-* ]]
}

@test "every kind of widening exits 4, at the state it is about" {
	for change in 's/workspace: read/workspace: write/' 's/memory_mb: 100/memory_mb: 200/' \
		's/timeout_secs: 10/timeout_secs: 20/' 's/MODE: fast/MODE: fast, MORE: yes/' \
		's/workspace: read/allow_network: allow/' 's/workspace: read/&\n    pty: true/' \
		's/max_transitions: 10/max_transitions: 11/' \
		's/, max_usd: 1.0//' 's/max_usd: 1.0/best_effort_usd_limit: 1.0/'; do
		sed "$change" ../old/machine.yaml >../new/machine.yaml
		against
		echo "$change"
		[ "$status" -eq 4 ]
		[[ $stderr == *"warning[confinement-widened]"* ]]
	done
	sed 's/workspace: read/workspace: write/' ../old/machine.yaml >../new/machine.yaml
	against
	[[ $stderr == *"machine.yaml:10:5: warning[confinement-widened]: fetch: workspace was read and is write"* ]]
}

@test "another name is a widening where secrets are granted by it" {
	sed 's/machine: demo/machine: deploy/' ../old/machine.yaml >../new/machine.yaml
	against
	[ "$status" -eq 0 ]
	sed -i 's/workspace: read/secrets: [token]/' ../old/machine.yaml
	sed 's/machine: demo/machine: deploy/' ../old/machine.yaml >../new/machine.yaml
	against
	[ "$status" -eq 4 ]
	[[ $stderr == *"the machine: its name was demo and is deploy, and secrets are granted by name"* ]]
}

@test "--against points at what says so: the key, the item, or the state that leaves it out" {
	local row
	for row in 's/_mb: 100/_mb: 200/|12:14: *: fetch: limit memory_mb was 100' \
		's/{MODE: fast}/{MODE: fast, DEBUG: "1"}/|13:23: *: fetch: DEBUG is new in env' \
		's/workspace: read/allow_network: ["a.example:443"]/|10:21: *: fetch: a.example:443 is new in egress' \
		's/workspace: read/secrets: [x, deploy]/|10:18: *: fetch: deploy is new in secrets' \
		's/workspace: read/&\n    pty: true/|11:5: *: fetch: terminal was none and is own' \
		's/    workspace: read//|7:3: *: fetch: workspace was read and is write' \
		's/workspace: read/allow_network: allow/|10:5: *: fetch: any host is new in egress' \
		's/max_usd: 1.0/max_usd: 2.0/|4:31: *: the machine: limit usd was 1' \
		's/, max_usd: 1.0//|4:1: *: the machine: limit usd was 1'; do
		sed "${row%%|*}" ../old/machine.yaml >../new/machine.yaml
		against
		echo "$row"
		[[ $stderr == *"machine.yaml:"${row#*|}* ]]
	done
}

@test "a new state that runs something is a widening; one that is gone is a narrowing" {
	sed 's/^  done:/  more: {kind: tool, command: ["true"], timeout_secs: 1, on: {ok: done, nonzero: done, timeout: done}}\n  done:/
		s/ok: done, nonzero: done, timeout: done}$/ok: more, nonzero: done, timeout: done}/' \
		../old/machine.yaml >../new/machine.yaml
	against
	[ "$status" -eq 4 ]
	[[ $stderr == *"more: a new tool state: true"* ]]
	run --separate-stderr agent6 machine check ../old --against ../new
	[ "$status" -eq 0 ]
	[[ $stderr == *"note[confinement-narrowed]"*"the tool state more is gone"* ]]
}

@test "narrowing is a note: 0; also under --strict" {
	sed 's/workspace: read/workspace: none/; s/memory_mb: 100/memory_mb: 50/' ../old/machine.yaml >../new/machine.yaml
	against --strict
	[ "$status" -eq 0 ]
	[[ $stderr == *"note[confinement-narrowed]: fetch: workspace was read and is none"* ]]
	[[ $stderr == *"limit memory_mb was 100 and is 50"* ]]
	sed -i 's/max_usd: 1.0/best_effort_usd_limit: 2.0/; s/env: .*/writes: [\/srv\/a]/' ../old/machine.yaml
	sed 's/best_effort_usd_limit: 2.0/max_usd: 2.0/; s/writes:/reads:/' ../old/machine.yaml >../new/machine.yaml
	against
	[ "$status" -eq 0 ]
	[[ $stderr == *"limit usd was unlimited and is 2"*"fetch: /srv/a is no longer in writes"* ]]
	run -4 --separate-stderr agent6 machine check ../old --against ../new
	[[ $stderr == *"limit usd was 2 and is unlimited"*"fetch: /srv/a is new in writes"* && $stderr != *narrowed* ]]
}

@test "--against: fewer of the hosts that could be reached are a narrowing, however they are written" {
	hosts() { sed "s/env: .*/allow_network: $1/" ../old/machine.yaml >"$2"; }
	local row
	cp ../old/machine.yaml kept.yaml
	for row in 'allow|["b.example.org:443"]' '["*.Example.org:443"]|["x.b.example.org:443", "*.b.example.org:443"]' \
		'["A.example.org:443"]|["a.Example.org:443"]' '["[2001:DB8::1]:443"]|["[2001:db8:0::1]:443"]'; do
		cp kept.yaml ../old/machine.yaml
		hosts "${row#*|}" ../new/machine.yaml
		hosts "${row%|*}" old.yaml
		mv old.yaml ../old/machine.yaml
		against
		echo "$row: $stderr"
		[ "$status" -eq 0 ]
		[[ $stderr != *widened* ]]
		run --separate-stderr agent6 machine check ../old --against ../new
		echo "$row: $stderr"
		[[ $stderr != *narrowed* ]]
	done
	cp kept.yaml ../old/machine.yaml
	hosts '["*.a.org:443"]' ../new/machine.yaml
	hosts '["xa.org:443", "a.org:443", "x.a.org:80", "10.0.0.1:443"]' old.yaml
	mv old.yaml ../old/machine.yaml
	run -4 --separate-stderr agent6 machine check ../old --against ../new
	[ "$(grep -c widened <<<"$stderr")" -eq 4 ]
}

@test "--against as JSON has the findings" {
	need jq
	sed 's/workspace: read/workspace: write/' ../old/machine.yaml >../new/machine.yaml
	against --format json
	[ "$status" -eq 4 ]
	jq -e '.[] | select(.rule == "confinement-widened") | .state == "fetch" and .line == 10' <<<"$output"
}

@test "an old bundle that is none, and too many bundles" {
	run --separate-stderr agent6 machine check ../new --against ../nowhere
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 machine check ../new ../old --against ../old
	[ "$status" -eq 2 ]
	[[ $stderr == *"compares one bundle with an older one: run it once for each"* ]]
}

@test "what a machine's own configuration changes is part of the report and of the comparison" {
	need jq
	cat >two.yaml <<-'END'
		providers:
		  one: {api_format: anthropic, base_url: "https://one.example.org"}
		  two: {api_format: anthropic, base_url: "https://two.example.org"}
		models: {worker: {provider: one, model: m}}
		agent: {max_iterations: 9}
	END
	cp -r "$AGENT6_SRC/examples/hello" plain
	cp -r plain chooses
	printf 'config: {models: {worker: {provider: two, model: m}}}\n' >>chooses/machine.yaml
	run -0 --separate-stderr agent6 machine check --report --format json --config two.yaml plain chooses
	jq -e 'map(.states[0].sets.egress) == [["one.example.org:443"], ["two.example.org:443"]]' <<<"$output"
	run -4 --separate-stderr agent6 machine check --config two.yaml chooses --against plain
	[[ $stderr == *"two.example.org:443"* ]]
	# Without a configured provider, as in a pipeline, its name stands for it.
	run -4 --separate-stderr agent6 machine check chooses --against plain
	[[ $stderr == *"provider two (not configured) is new in egress"* ]]
	sed -i '$d' chooses/machine.yaml
	cp -r chooses spends
	sed -i 's/timeout_secs:/max_tokens_fallback: 100\n    &/' chooses/machine.yaml
	printf 'config: {budget: {max_usd: 0.05}}\n' >>chooses/machine.yaml
	run -4 --separate-stderr agent6 machine check spends --against chooses
	[[ $stderr == *"the machine: limit usd was 0.05 and is 0.1"*"limit unmetered_tokens was 100 and is unlimited"* ]]
	cp plain/machine.yaml chooses
	printf 'config: {agent: {max_iterations: 10}}\n' >>chooses/machine.yaml
	run -2 --separate-stderr agent6 machine check --report --config two.yaml chooses plain
	[[ $stderr == *"chooses/machine.yaml:"*"error[config-only-lower]"* ]]
	[[ $output != *"chooses: ok"* ]]
	[[ $output == *"plain: ok"* ]]
}

@test "the operator's own limits judge a machine's own configuration, as a start does; others need no operator" {
	export XDG_CONFIG_HOME=$PWD/operator
	mkdir -p operator/agent6
	cp -r ../old lower
	printf 'config: {agent: {max_iterations: 10}}\n' >>lower/machine.yaml
	run -0 --separate-stderr agent6 machine check lower
	printf 'agent: {max_iterations: 9}\n' >operator/agent6/config.yaml
	run -2 --separate-stderr agent6 machine check ../old lower
	[[ $stderr == *"lower/machine.yaml:"*"error[config-only-lower]"* ]]
	[[ $output == "../old: ok"* && $output != *"lower: ok"* ]]
	run -2 --separate-stderr agent6 machine run --allow-uncommitted lower
	[[ $stderr == *"error[config-only-lower]"* ]]
	printf 'nonsense: 1\n' >operator/agent6/config.yaml
	run -0 --separate-stderr agent6 machine check ../old
	run -2 --separate-stderr agent6 machine check lower
	[[ $stderr == *"operator/agent6/config.yaml:1:1: error[unknown-key]"* ]]
}

@test "--config alone judges a machine's own configuration, and a file that is not there is an error" {
	cp -r ../old lower
	printf 'config: {agent: {max_iterations: 10}}\n' >>lower/machine.yaml
	printf 'agent: {max_iterations: 9}\n' >low.yaml
	run -0 --separate-stderr agent6 machine check lower
	run -2 --separate-stderr agent6 machine check --config low.yaml lower
	[[ $stderr == *"lower/machine.yaml:"*"error[config-only-lower]"* ]]
	sed -i '$d' lower/machine.yaml
	printf 'config: {budget: {max_usd: 5.5}}\n' >>lower/machine.yaml
	printf 'budget: {max_usd: 5.5}\n' >low.yaml
	run -0 --separate-stderr agent6 machine check --config low.yaml lower
	printf 'budget: {max_usd: 5.25}\n' >low.yaml
	run -2 --separate-stderr agent6 machine check --config low.yaml lower
	[[ $stderr == *"error[config-only-lower]"*"the operator's limit is 5.25 ("* ]]
	run -2 --separate-stderr agent6 machine check --config nowhere.yaml ../old
	[[ $stderr == *"nowhere.yaml: error[config-file]"* ]]
	[ -z "$output" ]
}

@test "what an agent's commands touch is part of the report: the verify command, who agrees, paths, hosts" {
	need jq
	mkdir repo
	cp -r "$AGENT6_SRC/examples/code-fixer" repo/fixer
	cat >open.yaml <<-'END'
		providers: {one: {api_format: anthropic, base_url: "https://one.example.org"}}
		models: {worker: {provider: one, model: m}}
		sandbox: {agent_network: open, tool_network: allow, run_commands: "yes", read: [/opt]}
	END
	run -0 --separate-stderr agent6 machine check --report repo/fixer
	[[ $output == *"fix (agent)"*"verifies     sh test.sh"*"commands     its own choice, each after approval"* ]]
	run -0 --separate-stderr agent6 machine check --report --format json --config open.yaml repo/fixer
	jq -e '.[0].states[] | select(.state == "fix") | .commands == "its own choice, without approval"
		and .sets.egress == ["one.example.org:443", "any host"] and .limits.memory_mb == 2048' <<<"$output"
	# A mode that only reads runs no commands.
	run -0 --separate-stderr agent6 machine check --report --format json --config open.yaml "$AGENT6_SRC/examples/hello"
	jq -e '.[0].states[0] | has("verify") or has("commands") or .sets.egress != ["one.example.org:443"] | not' <<<"$output"
}

@test "--against: a verify command where there was none widens" {
	cp -r "$AGENT6_SRC/examples/code-fixer" with
	cp -r with without
	sed -i '/^config:/,/verify_command/d' without/machine.yaml
	run -0 --separate-stderr agent6 machine check without
	run -4 --separate-stderr agent6 machine check with --against without
	[[ $stderr == *"confinement-widened]: fix: now has a verify command: sh test.sh"* ]]
	run -0 --separate-stderr agent6 machine check without --against with
	[[ $stderr == *"confinement-narrowed]: fix: no longer has a verify command: sh test.sh"* ]]
}

@test "--report: what may resolve to private addresses, and who prints a key on the host" {
	mkdir -p "$XDG_CONFIG_HOME/agent6"
	cat >"$XDG_CONFIG_HOME/agent6/config.yaml" <<-'END'
		sandbox: {tool_network: only_explicit_states, private_hosts: ["*.corp.example", npm.lan, else.lan]}
		providers: {corp: {api_format: openai, base_url: "https://llm.corp.example/v1", token_command: [corp-login, secret-word]}}
		models: {worker: {model: m}}
	END
	sed -i 's/workspace: read/&\n    allow_network: ["git.corp.example:443", "*.lan:4873", "api.example:443"]/' ../new/machine.yaml
	sed -i 's/fetch: \(.*\)/fetch: \1/; s/kind: terminal.*/kind: agent, prompt: hi, timeout_secs: 9, output_schema: o, on: {ok: end, failed: end, budget_exhausted: end, timeout: end}}\n  end: {kind: terminal, status: ok, reason: x}/; s/^vars.*/schemas: {o: {a: str}}/' ../new/machine.yaml
	run --separate-stderr -0 agent6 machine check --report ../new
	output=$(tr -s ' \n' ' ' <<<"$output")
	echo "$output"
	[[ $output == *"private git.corp.example:443, npm.lan, else.lan may lead to this host and its networks (sandbox.private_hosts)"* ]]
	[[ $output == *"key printed by corp-login, which runs on this host"* && $output != *secret-word* ]]
}
