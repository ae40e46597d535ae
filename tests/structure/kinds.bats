# State kinds: each is a row of the tables that tell kinds apart, and one that lacks a row, or an
# entry of a row, does not compile.
load ../kit/common

# The tables outside engine/machine: the file, and how a row is called there.
TABLES="
engine/instance/reduce.c   reducer_NAME
engine/instance/position.c effect_NAME
engine/confine/refusals.c  demands_NAME
engine/dry/facts.c         make_NAME
engine/run/plan.c          planner_NAME
engine/run/drive_loop.c    drive_NAME
engine/report/exposure.c   expose_NAME"

setup() {
	cd "$AGENT6_SRC"
	OUT=${AGENT6_OUT:-$AGENT6_SRC/build/release}
	[[ -f $OUT/flags ]]
	eval "compile=($(cat "$OUT/flags"))"
}

# Makes the compiler find a state.h whose list of kinds has `map` in it.
add_map() {
	mkdir -p "$SCRATCH/sixth/machine"
	sed 's/X(TERMINAL, terminal)/& X(MAP, map)/' engine/machine/state.h >"$SCRATCH/sixth/machine/state.h"
	grep -q 'X(MAP, map)' "$SCRATCH/sixth/machine/state.h"
	compile=("${compile[0]}" "-I$SCRATCH/sixth" "${compile[@]:1}")
}

check() { # FILE: reads it as a compiler does, warnings being errors
	"${compile[@]}" -fsyntax-only -x c "$1"
}

@test "a sixth kind does not compile while a table has no row for it" {
	add_map
	local file row
	while read -r file row; do
		[[ -n $file ]] || continue
		row=${row/NAME/map}
		run check "$file"
		echo "$file: $output"
		[[ $status -ne 0 && $output == *"$row"*undeclared* ]]
	done <<<"$TABLES"
}

@test "nor does a row that lacks an entry" {
	local file row text entries fewer type i
	add_map
	# Names in braces: `drive_tool = {take_work, live_tool, tool_not_kept}`.
	while read -r file row; do
		[[ -n $file ]] || continue
		text=$(tr '\n\t' '  ' <"$file" | grep -oE "\b${row/NAME/tool} = \{[^}]*\}" | head -n 1)
		IFS=, read -ra entries <<<"$(sed 's/.*{//; s/}//' <<<"$text")"
		type=$(grep -oE "struct [a-z_]+ ${row/NAME/agent} =" "$file" | awk '{ print $2 }')
		sixth() { # ENTRIES: the file with a row of these for the sixth kind, in front of the table
			sed "0,/^#define X(NAME, name) \[KIND_##NAME\]/s//static const struct $type ${row/NAME/map} = {$1};\n&/" "$file"
		}
		sixth "$(IFS=,; echo "${entries[*]}")" >"$SCRATCH/whole.c"
		check "$SCRATCH/whole.c"
		for ((i = 0; ${#entries[@]} > 1 && i < ${#entries[@]}; i++)); do
			fewer=("${entries[@]:0:i}" "${entries[@]:i+1}")
			sixth "$(IFS=,; echo "${fewer[*]}")" >"$SCRATCH/fewer.c"
			run check "$SCRATCH/fewer.c"
			echo "$file without ${entries[i]}: $output"
			[[ $status -ne 0 ]]
		done
	done <<<"$TABLES"
}

@test "the row of a kind in engine/machine is whole, too" {
	add_map
	local from to line
	sed 's/kind_tool = {/kind_map = {/; s/"tool",/"map",/' engine/machine/kind_tool.c >"$SCRATCH/kind_map.c"
	check "$SCRATCH/kind_map.c"
	from=$(grep -n 'kind_map = {' "$SCRATCH/kind_map.c" | cut -d: -f1)
	to=$(wc -l <"$SCRATCH/kind_map.c")
	[[ $((to - from)) -gt 10 ]]
	for ((line = from + 1; line < to; line++)); do
		sed "${line}d" "$SCRATCH/kind_map.c" >"$SCRATCH/fewer.c"
		run check "$SCRATCH/fewer.c"
		echo "without line $line: $output"
		[[ $status -ne 0 ]]
	done
}

@test "a kind without a file of its own does not link" {
	[[ $OUT == */release ]] || skip "one build is enough"
	local libs
	libs=$(sed -n 's/^libs.agent6 *= *//p' GNUmakefile)
	mapfile -t archives < <(ls "$OUT"/lib/{engine,schema}*.a | grep -vE 'provider|agent(-tools)?\.a')
	"${compile[@]}" -c -o "$SCRATCH/five.o" engine/machine/kind.c
	add_map
	"${compile[@]}" -c -o "$SCRATCH/six.o" engine/machine/kind.c
	sed 's/kind_tool = {/kind_map = {/' engine/machine/kind_tool.c >"$SCRATCH/kind_map.c"
	"${compile[@]}" -c -o "$SCRATCH/map.o" "$SCRATCH/kind_map.c"
	link() { # OBJECT...: the program, with these in place of what its archives have
		# shellcheck disable=SC2086 # a list of words
		gcc -pie -o "$SCRATCH/agent6" "$OUT/obj/engine/cli/main.o" "$@" \
			-Wl,--start-group "${archives[@]}" -Wl,--end-group $libs 2>&1
	}
	run -0 link "$SCRATCH/five.o"
	run link "$SCRATCH/six.o"
	[[ $status -ne 0 && $output == *kind_map* ]]
	run -0 link "$SCRATCH/six.o" "$SCRATCH/map.o"
}

@test "only the list of kinds, their tables and who makes a state up name a kind" {
	local named
	named=$(grep -rlwE 'KIND_(AGENT|TOOL|WAIT|BRANCH|TERMINAL|COUNT)' engine schema jail broker | sort)
	diff <(sort <<-'LIST'
		engine/machine/state.h
		engine/machine/kind.c
		engine/machine/read_states.c
		engine/instance/reduce.c
		engine/instance/position.c
		engine/confine/refusals.c
		engine/dry/facts.c
		engine/run/plan.c
		engine/run/drive_loop.c
		engine/report/exposure.c
		engine/confine/confine.c
		engine/run/profile.c
		engine/cli/jail.c
	LIST
	) <(echo "$named")
	# A condition on one kind treats a new kind like the rest, and nobody notices.
	run ! grep -rnE 'KIND_(AGENT|TOOL|WAIT|BRANCH|TERMINAL)\b[^;]*\?' engine --include='*.c' --exclude=kind.c
}

@test "the published schema has defaults for the kinds that take some, with the outcomes of each" {
	need jq
	local kind schema=schema/machine.schema.json
	mapfile -t kinds < <(grep -l TRAIT_DEFAULTS engine/machine/kind_*.c | sed 's,.*kind_\(.*\)\.c,\1,' | sort)
	[[ ${#kinds[@]} -gt 1 && "${kinds[*]}" == "$(jq -r '.properties.defaults.properties | keys | join(" ")' $schema)" ]]
	for kind in "${kinds[@]}"; do
		diff <(jq ".properties.defaults.properties.$kind.properties.on.properties | keys" $schema) \
			<(jq "[\"\$defs\"] as [\$d] | .[\$d].$kind.properties.on.properties | keys" $schema)
	done
}
