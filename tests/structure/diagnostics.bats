# docs/diagnostics.md is generated from the table of rules, and no rule goes untested.
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

@test "docs/network.md is what make docs writes" {
	"${DOC%/*}/network_doc" >"$SCRATCH/network.md"
	diff "$AGENT6_SRC/docs/network.md" "$SCRATCH/network.md" ||
		{ echo "run: make docs"; return 1; }
}
