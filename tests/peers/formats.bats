# Cassettes and jail policies have the published shape (schema/*.schema.json): an independent validator
# reads the ones that exist, and takes and refuses the same as the programs.
load ../kit/common

setup() {
	MODULES=$AGENT6_SRC/build/peers/node_modules
	[[ -e $MODULES/ajv ]] || skip "ajv is not installed: it needs node 20 and npm"
}

# verdicts SCHEMA <LINES: a line of 0 or 1 for each
verdicts() {
	node "$AGENT6_SRC/tests/peers/ajv_verdicts.mjs" "$MODULES" "$AGENT6_SRC/schema/$1.schema.json"
}

all_valid() { # SCHEMA FILE
	verdicts "$1" <"$2" >"$SCRATCH/verdicts"
	paste -d' ' "$SCRATCH/verdicts" "$2" | grep -v '^1' || true
	[[ -s $SCRATCH/verdicts ]] && ! grep -q 0 "$SCRATCH/verdicts"
}

none_valid() { # SCHEMA <LINES
	verdicts "$1" >"$SCRATCH/verdicts"
	[[ -s $SCRATCH/verdicts ]] && ! grep -q 1 "$SCRATCH/verdicts"
}

@test "cassettes" {
	local file
	while read -r file; do
		all_valid cassette "$file"
	done < <(find "$AGENT6_SRC/examples" -path '*/rehearsal/*' -name '*.jsonl' -not -path '*/workspace/*')
	none_valid cassette <<-'JSON'
		{"reply":{}}
		{"state":"s"}
		{"state":"s","reply":{},"extra":1}
		{"state":"s","reply":{"tool_calls":[{"name":"x"}]}}
		{"state":"s","reply":{"delay_ms":600001}}
		{"state":"s","poke":{"message":"x","data":1}}
		{"state":"s","poke":{"message":1}}
		{"state":"s","poke":{},"reply":{}}
		{"state":"s","poke":{},"match":{}}
	JSON
}

@test "jail policies: agent6-jail and the schema take and refuse the same" {
	local base='{"version":1,"profile":"strict","argv":["/bin/true"],"cwd":"'$SCRATCH'","workspace":{"path":"'$SCRATCH'","access":"read"},"timeout_secs":9}'
	local changes=(. '.network = "none"' '.limits = {memory_mb: 512}' '.env = {A: "b"}'
		'.hide = ["'"$SCRATCH"'/x"]' '.hostname = "h-1.x"' '.require = {}'
		'.version = 2' '.profile = "none"' '.argv = []' '.argv = [1]' 'del(.cwd)' '.cwd = "x"'
		'.extra = 1' '.workspace.access = "rw"' 'del(.workspace.path)' '.workspace.more = 1'
		'.timeout_secs = 0' '.timeout_secs = "9"' '.network = "all"' '.network = {proxy_fd: 2}'
		'.network = {fd: 3}' '.env = {"A b": "c"}' '.env = {A: 1}' '.read = "x"' '.read = ["x"]'
		'.limits = {memory: 1}' '.limits = {memory_mb: 0}' '.hostname = "a b"' '.hostname = ""'
		'.require = []' '.allow_root_jail = 1' '.protect = [1]')
	local change theirs
	for change in "${changes[@]}"; do
		jq -c "$change" <<<"$base"
	done >"$SCRATCH/policies"
	verdicts policy <"$SCRATCH/policies" >"$SCRATCH/verdicts"
	[[ $(wc -l <"$SCRATCH/verdicts") -eq ${#changes[@]} ]]
	while read -r theirs change; do
		echo "$change" >"$SCRATCH/policy"
		# A policy that is taken may still fail later, and says at which stage.
		run "$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy" --status-fd 3 3>"$SCRATCH/status"
		echo "$change: schema $theirs, jail $status $output $(cat "$SCRATCH/status")"
		if [[ $theirs == 1 ]]; then
			! grep -q '"stage":"policy"' "$SCRATCH/status"
		else
			[[ $status -eq 125 ]] && grep -q '"stage":"policy"' "$SCRATCH/status"
		fi
	done < <(paste -d' ' "$SCRATCH/verdicts" "$SCRATCH/policies")
}
