# Pages that are generated say what they are generated from, and no rule goes untested.
load ../kit/common

setup() {
	DOC=${AGENT6_OUT:-$AGENT6_SRC/build/release}/host/rules_doc
	[[ -x $DOC ]] || skip "the build tool is not built"
}

@test "docs/diagnostics.md is what make docs writes" {
	"$DOC" >"$SCRATCH/diagnostics.md"
	diff "$AGENT6_SRC/docs/diagnostics.md" "$SCRATCH/diagnostics.md" ||
		{ echo "run: make docs"; return 1; }
}

@test "every rule is named by a test that expects it" {
	local id name missing=
	while read -r id; do
		name=RULE_$(tr a-z- A-Z_ <<<"$id")
		grep -rqE -- "(^|[^a-z-])$id([^a-z-]|\$)|\b$name\b" "$AGENT6_SRC"/tests/{golden,unit,cli} ||
			missing+=" $id"
	done < <("$DOC" --ids)
	echo "without a test:$missing"
	[[ -z $missing ]]
}

@test "docs/autorun.md is what make docs writes" {
	"${DOC%/*}/autorun_doc" >"$SCRATCH/autorun.md"
	diff "$AGENT6_SRC/docs/autorun.md" "$SCRATCH/autorun.md" ||
		{ echo "run: make docs"; return 1; }
}

@test "docs/network.md is what make docs writes" {
	"${DOC%/*}/network_doc" >"$SCRATCH/network.md"
	diff "$AGENT6_SRC/docs/network.md" "$SCRATCH/network.md" ||
		{ echo "run: make docs"; return 1; }
}

@test "docs/confinement.md lists what the table of /etc has" {
	"${DOC%/*}/etc_doc" >"$SCRATCH/etc.md"
	sed -n '/^<!-- etc_table.h/,/^<!-- end/{//!p}' "$AGENT6_SRC/docs/confinement.md" |
		diff - "$SCRATCH/etc.md" || { echo "run: make docs"; return 1; }
}

@test "docs/machine.md and docs/configuration.md are what make docs writes, and name every key" {
	need jq
	local page schema key
	cd "$AGENT6_SRC"
	while read -r page schema; do
		jq -r --arg page "$schema" -f schema/tools/reference.jq "schema/$schema.schema.json" >"$SCRATCH/$page"
		diff "docs/$page" "$SCRATCH/$page" || { echo "run: make docs"; return 1; }
		while read -r key; do
			grep -q "[.\`]$key[.\`\[]" "docs/$page" || { echo "$page does not name $key"; return 1; }
		done < <(jq -r '[.. | objects | .properties? // empty | to_entries[] | select(.value.not == null) | .key]
			| unique[] | select(. != "kind")' "schema/$schema.schema.json")
	done <<<$'machine.md machine\nconfiguration.md config'
}
