# config show, get, set; check config; connect.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config XDG_STATE_HOME=$SCRATCH/xdg-state
	unset AGENT6_STATE_HOME
	mkdir work
	cd work || return
	file=$SCRATCH/config/agent6/config.yaml
}

@test "show: every key, its value and the layer that set it" {
	run --separate-stderr agent6 config show
	[ "$status" -eq 0 ]
	[[ $output == *"sandbox.profile"*"default"* ]]
	agent6 config set sandbox.profile strict
	run --separate-stderr agent6 config show
	grep -qE '^sandbox.profile +"strict" +global$' <<<"$output"
	need jq
	agent6 config show --json | jq -e '."sandbox.profile" == {value: "strict", layer: "global"}'
	agent6 config get sandbox.profile --json | jq -e '. == {value: "strict", layer: "global"}'
	agent6 config get --json agent.max_iterations | jq -e '.layer == "default" and (.value | type) == "number"'
}

@test "show: every key of the schema with its default, those never honoured too" {
	need jq
	# Keys with fixed names: a name of the user's own choice lies below additionalProperties.
	jq -S '[paths(type == "object" and (has("type") or has("enum") or has("$ref"))
			and (has("properties") | not))
		as $p | select($p | index("additionalProperties") == null and index("items") == null)
		| {key: ($p | map(select(. != "properties")) | join(".")), value: getpath($p).default}]
		| map(select(.key | test("^(providers|sandbox.secrets|models|\\$defs|agent6)") | not))
		| from_entries' "$AGENT6_SRC/schema/config.schema.json" >published
	agent6 config show --json | jq -S 'with_entries(select(.key | test("^(models|agent6)") | not)
		| .value |= .value)' >shown
	diff published shown
	[ "$(jq length shown)" -gt 40 ]

	agent6 config set git.allow_push true
	[ "$(agent6 config get git.allow_push)" = false ]
	run agent6 config show
	grep -qE '^git.allow_push +false +default$' <<<"$output"
}

@test "null takes back what an earlier layer set; a forgotten value does not" {
	agent6 config set budget.max_usd 5
	agent6 config set sandbox.upstream_proxy socks5://proxy:1080
	echo 'budget: {max_usd: null}' >later.yaml
	[ "$(agent6 config get budget.max_usd)" = 5.0 ]
	[ "$(agent6 config get --config later.yaml budget.max_usd)" = null ]
	run agent6 config show --config later.yaml
	grep -qE '^budget.max_usd +- +--config$' <<<"$output"
	grep -qE '^sandbox.upstream_proxy .*global$' <<<"$output"
	printf 'budget:\n  max_usd:\n' >later.yaml
	run agent6 config get --config later.yaml budget.max_usd
	[[ $status -eq 2 && $output == *"is empty"*"write \`null\`"* ]]
	echo 'agent: {max_iterations: null}' >later.yaml
	run agent6 config get --config later.yaml agent.max_iterations
	[[ $status -eq 2 && $output == *"and it is null"* ]]
	agent6 config set sandbox.upstream_proxy null
	[ "$(agent6 config get sandbox.upstream_proxy)" = null ]
}

@test "a limit that a machine would raise is named in full" {
	local limit
	for limit in 1234567 9007199254740992; do # the second is a double like the one above it
		agent6 config set budget.max_input_tokens $limit
		cat >greedy.asm.json <<-END
			{"machine": "greedy", "version": 1, "initial": "done", "budget": {"max_transitions": 3},
			 "config": {"budget": {"max_input_tokens": $((limit + 1))}},
			 "states": {"done": {"kind": "terminal", "status": "ok", "reason": "fine"}}}
		END
		run agent6 machine check greedy.asm.json
		[[ $status -eq 2 && $output == *"the operator's limit is $limit (global)"* ]]
	done
}

@test "in a home directory, where nothing can be started, settings and trail are shown, and machines checked" {
	local verb
	cd "$SCRATCH" || return
	cat >at-home.asm.yaml <<-'END'
		machine: home
		version: 1
		initial: done
		budget: {max_transitions: 3}
		config: {agent: {max_iterations: 5}}
		states:
		  done: {kind: terminal, status: ok, reason: fine}
	END
	for verb in "config show" "config get sandbox.profile" audit "machine check at-home.asm.yaml" \
		"machine check --report at-home.asm.yaml"; do
		# shellcheck disable=SC2086
		run agent6 $verb
		echo "$verb: $status $output"
		[ "$status" -eq 0 ]
	done
	for verb in "machine run at-home.asm.yaml" "jail -- true" "check config"; do
		# shellcheck disable=SC2086
		run agent6 $verb
		echo "$verb: $status $output"
		[[ $status -eq 2 && $output == *"state directory"*"lies in the workspace"* ]]
	done
	echo 'agent6: {state_dir: /x/}' >slash.yaml
	run -2 agent6 check config --config slash.yaml
	[[ $output == *"must be a plain absolute path, without"*"trailing slashes"* ]]
	mkdir -p "$XDG_STATE_HOME/agent6/below"
	cd "$XDG_STATE_HOME/agent6/below" || return
	run agent6 check config
	[[ $status -eq 2 && $output == *"the workspace"*"lies in the state directory"* ]]
}

@test "get: a value, or the nearest key" {
	run --separate-stderr agent6 config get agent.max_iterations
	[ "$output" = 50 ]
	run --separate-stderr agent6 config get agent.max_iteration
	[ "$status" -eq 2 ]
	[[ $stderr == *"did you mean 'agent.max_iterations'"* ]]
}

@test "set: makes the file 0600, keeps comments, replaces, inserts, nests" {
	agent6 config set sandbox.profile strict
	[ "$(stat -c %a "$file")" = 600 ]
	[ "$(stat -c %a "$SCRATCH/config/agent6")" = 700 ]
	cat >"$file" <<-'END'
		# mine
		sandbox:
		  profile: strict # because
		  limits: {memory_mb: 512}
		  read:
		    - /srv
	END
	agent6 config set sandbox.profile auto
	agent6 config set sandbox.limits.cpu_secs 20
	agent6 config set agent.max_iterations 7
	agent6 config set sandbox.run_commands no
	diff "$file" - <<-'END'
		# mine
		agent:
		  max_iterations: 7
		sandbox:
		  run_commands: no
		  profile: auto # because
		  limits: {cpu_secs: 20, memory_mb: 512}
		  read:
		    - /srv
	END
	[ "$(agent6 config get sandbox.limits.cpu_secs)" = 20 ]
	run --separate-stderr agent6 config set sandbox.read '[/opt]'
	[ "$status" -eq 2 ]
	[[ $stderr == *"change it by hand"* ]]
}

@test "set: a file that says nothing yet keeps what it has" {
	local text
	mkdir -p "$SCRATCH/config/agent6"
	for text in '' '# mine\n' '# mine\r\n\r\n' '\xef\xbb\xbf' '# mine\n---\n# more'; do
		printf '%b' "$text" >"$file"
		agent6 config set agent.max_iterations 7
		[ "$(agent6 config get agent.max_iterations)" = 7 ]
		cmp -n "$(printf '%b' "$text" | wc -c)" "$file" <(printf '%b' "$text")
	done
}

@test "set and connect: a link stays one, and beside a configuration of another syntax none is made" {
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/dotfiles"
	echo 'agent: {max_iterations: 3}' >"$SCRATCH/dotfiles/agent6"
	ln -s "$SCRATCH/dotfiles/agent6" "$file"
	agent6 config set agent.max_iterations 4
	[[ -L $file && $(<"$SCRATCH/dotfiles/agent6") == *"max_iterations: 4"* ]]
	rm "$file"
	printf '[agent]\nmax_iterations = 3\n' >"${file%.yaml}.toml"
	run --separate-stderr agent6 config set agent.max_iterations 4
	[[ $status -eq 2 && $stderr == *"config.toml: change it by hand"* ]]
	run --separate-stderr agent6 connect --name a --format openai --base-url http://127.0.0.1:1 --model x <<<''
	[[ $status -eq 2 && $stderr == *"config.toml: change it by hand"* && ! -e $file ]]
	agent6 check config
}

@test "set: a group whose keys are all comments, or one that is empty, gets its first key" {
	mkdir -p "${file%/*}"
	filled() { # BEFORE KEY VALUE AFTER
		printf "$1" >"$file"
		agent6 config set "$2" "$3"
		diff <(printf "$4") "$file"
	}
	filled 'agent:\n  # max_iterations: 5\n' agent.max_iterations 9 'agent: {max_iterations: 9}\n  # max_iterations: 5\n'
	filled 'budget: # later' budget.max_usd 2 'budget: {max_usd: 2} # later\n'
	filled 'git: {commit: }\n' git.commit.name Ada 'git: {commit:  {name: Ada}}\n'
	filled 'approval:' approval.default step 'approval: {default: step}\n'
}

@test "set: of many at once none is lost, the first ones included" {
	local key
	rm -rf "${file%/*}"
	for key in memory_mb cpu_secs processes open_files file_mb tmp_mb output_kb; do
		agent6 config set "sandbox.limits.$key" 99 3>&- &
	done
	wait
	[[ $(agent6 config show | grep -c '^sandbox.limits.* 99 *global$') -eq 7 ]]
}

@test "set: what would not be valid is refused and not written" {
	agent6 config set sandbox.profile strict
	cp "$file" before
	run --separate-stderr agent6 config set sandbox.profile none
	[ "$status" -eq 2 ]
	[[ $stderr == *"would not be valid"* ]]
	run --separate-stderr agent6 config set sandbox.profil strict
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 config set sandbox.profile $'strict\nagent: x'
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 config set sandbox.profile '{'
	[ "$status" -eq 2 ]
	cmp "$file" before
	printf 'sandbox:\n  profile: "strict\n' >"$file"
	run -2 --separate-stderr agent6 config set sandbox.profile auto
	[[ $stderr == *"$file:2:12: this quote is never closed; mend it by hand first" ]]
}

@test "set: a value of which YAML takes only a part is refused" {
	agent6 config set git.commit.name 'Ann, B'
	cp "$file" before
	for value in 'A # x' "'A' # x" ' A' 'A ' '|'; do
		run -2 --separate-stderr agent6 config set git.commit.name "$value"
		[[ $stderr == *"takes only a part of \`$value\`"*"needs quotes of its own: \"'$value'\"" ]]
	done
	cmp "$file" before
	agent6 config set git.commit.name "'A # x'"
	[ "$(agent6 config get git.commit.name)" = 'A # x' ]
	agent6 config set sandbox.read '[/opt, "/srv"]'
	echo 'git: {commit: {name: A}}' >"$file"
	run -2 agent6 config set git.commit.name 'B, email: c@d'
	[ "$(<"$file")" = 'git: {commit: {name: A}}' ]
}

@test "check config: 0, or 2 with file, line and column" {
	run --separate-stderr agent6 check config
	[ "$status" -eq 0 ]
	[[ $output == *"is valid"*"no provider is configured"* ]]
	[ "$(agent6 check config --json)" = '[]' ]
	mkdir -p "$SCRATCH/config/agent6"
	printf 'sandbox:\n  profil: strict\n' >"$file"
	run --separate-stderr agent6 check config
	[ "$status" -eq 2 ]
	[[ $stderr == *"config.yaml:2:3: error["*"profile"* ]]
	need jq
	run --separate-stderr agent6 check config --json
	[ "$status" -eq 2 ]
	jq -e '.[0] | .line == 2 and .column == 3 and .severity == "error"' <<<"$output"
}

@test "check config and a run warn of a key in the clear and of what others may write" {
	mkdir -p "$SCRATCH/config/agent6"
	echo 'providers: {far: {api_format: openai, base_url: "http://api.example.com"}}' >"$file"
	chmod 666 "$file"
	cp -r "$AGENT6_SRC/examples/hello" ../hello
	for verb in 'check config' 'machine run --allow-uncommitted ../hello'; do
		read -ra words <<<"$verb"
		run --separate-stderr agent6 "${words[@]}"
		echo "$stderr"
		[[ $stderr == *"config.yaml:1:49: warning[config-cleartext]: "*"help: write https://"* ]]
		[[ $stderr == *"config.yaml: warning[config-writable]: its mode is 0666"*"help: chmod go-w $file"* ]]
	done
	run --separate-stderr agent6 machine list
	[[ $stderr != *warning* ]]
	chmod 600 "$file"
	sed -i s/http:/https:/ "$file"
	run --separate-stderr agent6 check config
	[[ -z $stderr ]]
	chmod 777 "${file%/*}"
	run --separate-stderr agent6 check config
	[[ $stderr == *"agent6: warning[config-writable]: its mode is 0777"*"help: chmod go-w ${file%/*}" ]]
}

@test "a configuration file of another user is warned of; of root, or of who called sudo, it is not" {
	need_root
	mkdir -p "$SCRATCH/config/agent6"
	echo 'agent: {max_iterations: 9}' >"$file"
	chown 12345 "$file"
	run -0 --separate-stderr agent6 check config
	[[ $stderr == *"config.yaml: warning[config-writable]: it belongs to user 12345"*"help: chown"*"$file"* ]]
	run -0 --separate-stderr env SUDO_UID=12345 "$AGENT6_BIN/agent6" check config
	[[ $stderr != *warning* ]]
	chown 0 "$file"
	run -0 --separate-stderr agent6 check config
	[[ $stderr != *warning* ]]
}

@test "hiding a directory that no jail shows is said to hide nothing, with what to name instead" {
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/given/part"
	local path
	for path in /etc / "$SCRATCH"; do
		echo "sandbox: {hide: [$path], read: [$SCRATCH/given]}" >"$file"
		run -0 --separate-stderr agent6 check config
		[[ $stderr == *"warning[config-hides-nothing]: commands do not see \`$path\` itself, but /"*"name what is to be hidden: /"* ]]
	done
	for path in /etc/ssl/certs /usr /srv/none "$SCRATCH/given" "$SCRATCH/given/part"; do
		echo "sandbox: {hide: [$path], read: [$SCRATCH/given]}" >"$file"
		run -0 --separate-stderr agent6 check config
		[[ -z $stderr ]]
	done
}

@test "check config names the provider whose key cannot be read; the configuration is valid all the same" {
	mkdir -p "$SCRATCH/config/agent6"
	echo 'providers: {one: {api_format: openai, base_url: "https://a.example/v1", api_key_env: ONE_KEY}}' >"$file"
	secrets=$SCRATCH/config/agent6/secrets.yaml
	run -0 --separate-stderr agent6 check config
	[[ $output == *"no key for the provider one: set ONE_KEY, or"* ]]
	(umask 077 && echo 'providers: {one: *a}' >"$secrets")
	run -0 --separate-stderr agent6 check config
	[[ $output == *"secrets.yaml is not understood at line 1, column 18 [yaml-anchor]; it holds \`providers: {NAME: KEY}\`" ]]
	ONE_KEY=k run -0 --separate-stderr agent6 check config
	[[ $output != *ONE_KEY* && $output != *secrets.yaml* ]]
	echo 'providers: {one: secret-of-one}' >"$secrets"
	run -0 --separate-stderr agent6 check config
	[[ $output != *secret* ]]
	chmod 644 "$secrets"
	run -0 --separate-stderr agent6 check config
	[[ $output == *"its mode is 0644 and must be 0600"* ]]
}

@test "check config names what it is to use and is not there; the configuration is valid all the same" {
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/data"
	echo "{sandbox: {read: [$SCRATCH/data, $SCRATCH/gone]}, machine: {notify: {on_event: [no-such-program]}}}" >"$file"
	run -0 --separate-stderr agent6 check config
	echo "$output"
	[[ $output == *"sandbox.read: $SCRATCH/gone: No such file or directory; no command runs without it"*"machine.notify.on_event: there is no program no-such-program"* ]]
	[[ $output != *"$SCRATCH/data"* ]]
	mkdir "$SCRATCH/gone"
	echo "{sandbox: {read: [$SCRATCH/gone]}, machine: {notify: {on_event: [cat]}}}" >"$file"
	run -0 --separate-stderr agent6 check config
	[[ $output != *sandbox.read* && $output != *on_event* ]]
}

@test "the last part of a key is answered with every key that ends in it" {
	run -2 agent6 config set max_usd 5
	[[ $output == *"there is no setting 'max_usd'; did you mean 'budget.max_usd'?" ]]
	run -2 agent6 config get max_usd
	[[ $output == *"there is no setting 'max_usd'; did you mean 'budget.max_usd'?" ]]
	run -2 agent6 config get max_output_tokens
	[[ $output == *"did you mean 'agent.max_output_tokens' or 'budget.max_output_tokens'?" ]]
	run -2 agent6 config set timeout_secs 5
	[[ $output == *"did you mean 'approval.timeout_secs' or 'providers.NAME.timeout_secs'?" ]]
	[ ! -s "$file" ]
}

@test "a limit that the configuration takes is one that a jail's policy takes" {
	need jq
	jq -en --slurpfile config "$AGENT6_SRC/schema/config.schema.json" --slurpfile policy "$AGENT6_SRC/schema/policy.schema.json" '
		($config[0].properties.sandbox.properties.limits.properties | del(.output_kb)) as $taken
		| $policy[0].properties.limits.properties as $known
		| ($taken | keys) == ($known | keys) and all($taken | keys[]; $taken[.].maximum <= $known[.].maximum)'
	local list most
	most=$(jq .properties.read.maxItems "$AGENT6_SRC/schema/policy.schema.json")
	for list in read write protect hide; do
		agent6 config set sandbox.$list "[$(seq -s , -f /usr/%.0f "$most")]"
		run agent6 config set sandbox.$list "[$(seq -s , -f /usr/%.0f $((most + 1)))]"
		[[ $status -eq 2 && $output == *"$most"* ]]
	done
}

@test "a link to a file that is not there is no missing configuration" {
	mkdir -p "$SCRATCH/config/agent6"
	ln -s "$SCRATCH/unmounted/config.yaml" "$file"
	run -2 --separate-stderr agent6 config get sandbox.run_commands
	[[ $stderr == *"config.yaml: error[config-file]: cannot open "*"No such file"* ]]
}

@test "check config: a directory that cannot be looked into is one error" {
	mkdir -p "$SCRATCH/shut"
	chmod 700 "$SCRATCH/shut"
	need_root # who then becomes somebody else
	cd / || return
	run --separate-stderr as_user env XDG_CONFIG_HOME="$SCRATCH/shut" "$AGENT6_BIN/agent6" check config
	echo "$stderr"
	[[ $status -eq 2 && $stderr == *"config.yaml: error[config-file]: cannot open "*"Permission denied"* ]]
	[[ $(wc -l <<<"$stderr") -eq 1 ]]
}

@test "check config: what leads and limits egress is refused at its place, with the rule and the fix" {
	mkdir -p "$SCRATCH/config/agent6"
	printf 'sandbox:\n  max_egress_bytes: -1\n' >"$file"
	run --separate-stderr agent6 check config
	[ "$status" -eq 2 ]
	[[ $stderr == *"config.yaml:2:21: error[out-of-range]: "*"must be an integer, 0 or more"* ]]
	printf '%s\n' 'sandbox:' '  agent_network: local' '  allow_urls: [a.example, "d e"]' \
		'  upstream_proxy: https://proxy:443' >"$file"
	run --separate-stderr agent6 check config
	[ "$status" -eq 2 ]
	[[ $stderr == *"config.yaml:3:15: error[config-network]: "*"agent_network: providers"* ]]
	[[ $stderr == *"config.yaml:3:27: error[config-url]: "*"write HOST, HOST:PORT or https://HOST[:PORT]"* ]]
	[[ $stderr == *"config.yaml:4:19: error[config-url]: "*"write http://PROXY:PORT or socks5h://PROXY:PORT"* ]]
}

@test "connect: writes the provider, the role, and the key where nobody else reads it" {
	run --separate-stderr agent6 connect --name house --format openai --base-url http://127.0.0.1:8080/v1 \
		--model small <<<'sk-very"secret'
	[ "$status" -eq 0 ]
	[[ $output$stderr != *secret* ]]
	[ "$(agent6 config get models.worker.model)" = small ]
	[ "$(agent6 config get providers.house.base_url)" = http://127.0.0.1:8080/v1 ]
	[ "$(stat -c %a "$SCRATCH/config/agent6/secrets.yaml")" = 600 ]
	grep -qF 'house: "sk-very\"secret"' "$SCRATCH/config/agent6/secrets.yaml"
	run grep -r secret "$file"
	[ -z "$output" ]
	run --separate-stderr agent6 check config
	[ "$status" -eq 0 ]
	[[ $output != *"no provider"* ]]
}

@test "connect: a key that no header carries is refused, one that would leave in the clear is warned of" {
	run --separate-stderr agent6 connect --name odd --format openai --base-url https://api.example.com --model x <<<$'sk-\x01'
	[[ $status -eq 2 && $stderr == *"the key for the provider odd holds a byte outside printable ASCII"* ]]
	[[ ! -e $file && ! -e $SCRATCH/config/agent6/secrets.yaml ]]
	run --separate-stderr agent6 connect --name far --format openai --base-url http://api.example.com --model x <<<sk-1
	[[ $status -eq 0 && $stderr == *"agent6: the key of"*far*"api.example.com unencrypted"*"write https://"* ]]
}

@test "connect: a token of thousands of bytes is a key, a longer line is said to be too long" {
	local token
	token=$(head -c 3000 /dev/zero | tr '\0' k)
	run --separate-stderr agent6 connect --name big --format openai --base-url https://api.example.com --model x <<<"$token$token"
	[[ $status -eq 2 && $stderr == *"an answer has at most 4094 bytes"*"nothing was stored"* && ! -e $file ]]
	agent6 connect --name big --format openai --base-url https://api.example.com --model x <<<"$token"
	grep -q "$token" "$SCRATCH/config/agent6/secrets.yaml"
}

@test "a key pasted into the file is not shown again, whatever is wrong with it" {
	local token=sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789 plain=0badc0ffee9zz
	mkdir -p "${file%/*}"
	cat >"$file" <<-END
		providers:
		  one: {api_format: openai, base_url: "https://a.example/v1", api_key: $plain}
		  two: {api_format: openai, base_url: "https://b.example/v1", api_key_env: $token}
	END
	run agent6 check config
	[ "$status" -eq 2 ]
	[[ $output == *"error[refused-key]"*"api_key: ***"*"api_key_env: VARIABLE"*"REDACTED"*"environment variable that holds the key"* ]]
	[[ ${output,,} != *"$plain"* && ${output//_/-} != *sk-ant-* ]]
	run agent6 check config --json
	[[ $output == *refused-key*REDACTED* && $output != *sk?ant* ]]
}

@test "connect: asks, with defaults; a nonsense address is refused" {
	run --separate-stderr agent6 connect <<<$'\n\n\nclaude\n\n'
	[ "$status" -eq 0 ]
	[[ $stderr == *"Name of the provider [anthropic]"* ]]
	[ "$(agent6 config get providers.anthropic.base_url)" = https://api.anthropic.com ]
	[ ! -e "$SCRATCH/config/agent6/secrets.yaml" ]
	[[ $output == *"config set providers.anthropic.api_key_env VARIABLE"* ]]
	run --separate-stderr agent6 connect --name near --format openai --base-url http://127.0.0.1:1/v1 --model x <<<''
	[ "$status" -eq 0 ]
	[ "$(agent6 config get providers.near.auth)" = none ]
	eval "$(tail -n 1 <<<"$output")"
	run --separate-stderr agent6 check config
	[ "$status" -eq 0 ]
	grep -qF 'prices: {"*": {input: 0, output: 0}}' "$file"
	run --separate-stderr agent6 connect --name b --format openai --base-url nonsense --model x <<<''
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 connect </dev/null
	[ "$status" -eq 2 ]
}

@test "connect: a person who answers nonsense is told at once and asked again" {
	need script
	# Text typed ahead is not taken for the key: the answers end there.
	run env TERM=dumb script -qec "'$AGENT6_BIN/agent6' connect" /dev/null \
		<<<$'My House\nhouse\nopnai\nopenai\nlocalhost:1\nhttp://127.0.0.1:1/v1\n\nm\n'
	[ "$status" -eq 2 ]
	[[ $output == *"one word without dots"*"anthropic or openai"*"begins with http://"*"a model is needed"*"Model for"*"API key"* ]]
}

@test "a setting of words that is given something else is told the words" {
	local value
	for value in true on; do
		echo "sandbox: {run_commands: $value}" >"$SCRATCH/words.yaml"
		run agent6 check config --config "$SCRATCH/words.yaml"
		echo "$output"
		[[ $status -eq 2 && $output == *'help: use one of `no`, `ask`, `yes`'* ]]
	done
}

@test "a problem of a file that --config names, too, is told once" {
	mkdir -p "$(dirname "$file")"
	echo 'sandbox: {hide: [/etc, /etc], nokey: 1}' >"$file"
	ln -s "$file" link.yaml
	local named
	for named in "$file" ../config/agent6/config.yaml link.yaml; do
		run -2 agent6 check config --config "$named"
		echo "$output"
		[[ $(grep -c 'stands twice' <<<"$output") -eq 1 && $(grep -c 'unknown key .nokey.' <<<"$output") -eq 1 ]]
		[[ $output == *"$named:1:"* ]]
	done
	echo 'sandbox: {profile: strict}' >"$file"
	run -0 agent6 config show --config link.yaml
	[[ $output =~ sandbox.profile\ +'"strict"' ]]
}

@test "a file full of providers is answered as soon as any other" {
	mkdir -p "$(dirname "$file")"
	{
		echo 'providers:'
		seq -f '  p%.0f: {api_format: openai, base_url: "http://127.0.0.1:1/v1", auth: none}' 60000
	} >"$file"
	ulimit -t 8
	run -0 agent6 check config
	[[ $output == "the configuration is valid"* ]]
}
