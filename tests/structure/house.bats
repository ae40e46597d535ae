# The shape of the tree: what the compiler and the linker cannot see.
load ../kit/common

setup() {
	cd "$AGENT6_SRC"
	OUT=${AGENT6_OUT:-$AGENT6_SRC/build/release}
}

# Tracked and new files alike, in a checkout; every file in an unpacked tree.
sources() {
	{ git ls-files -co --exclude-standard -- "$@" 2>/dev/null || find "${@%/}" -type f; } | sort -u |
		while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}

nothing() { # prints and fails on any output of CMD
	run -0 "$@"
	echo "$output"
	[[ -z $output ]]
}

@test "no directory includes upward (tests/structure/layers)" {
	mapfile -t files < <(sources jail broker schema engine | grep '\.[ch]$')
	nothing awk -f tests/structure/includes.awk tests/structure/layers "${files[@]}"
}

@test "the include check sees an upward include" {
	mkdir -p "$SCRATCH/engine/base"
	echo '#include "run/drive.h"' >"$SCRATCH/engine/base/bad.c"
	cd "$SCRATCH"
	run -0 awk -f "$AGENT6_SRC/tests/structure/includes.awk" "$AGENT6_SRC/tests/structure/layers" \
		engine/base/bad.c
	[[ $output == "engine/base/bad.c:1: engine/base may not include run/drive.h" ]]
}

@test "functions, parameters, nesting and files stay within CONTRIBUTING.md's limits" {
	# The functions of jail/musl have the signatures of another C library.
	mapfile -t files < <(sources jail broker machines schema engine tests | grep '\.[ch]$' | grep -v '^jail/musl/')
	run -0 awk -f tests/structure/measure.awk "${files[@]}"
	echo "$output" | sed 's/^/# /' >&3
	[[ ${#lines[@]} -eq 1 && ${lines[0]} =~ ^median\ ([0-9]+),\ p90\ ([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -le 12 && ${BASH_REMATCH[2]} -le 45 ]]
}

@test "the measure sees a long function, many parameters and deep nesting" {
	{
		printf 'int f(int a, int b, int c, int d, int e, int g)\n{\n'
		printf '\tif (a) {\n\t\tif (b) {\n\t\t\tif (c) {\n\t\t\t\tif (d) {\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n'
		printf '\ta++;\n%.0s' {1..80}
		printf '}\n'
	} >"$SCRATCH/f.c"
	run -0 awk -f tests/structure/measure.awk "$SCRATCH/f.c"
	[[ $output == *"f: parameters 6"* && $output == *"f: lines 88"* && $output == *"nesting 4"* ]]
}

@test "parameters have names, and comments open with a subject or a verb" {
	mapfile -t files < <(sources jail broker machines schema engine tests | grep '\.[ch]$' | grep -v '^jail/musl/')
	run -0 awk -v LIST=1 -f tests/structure/words.awk "${files[@]}"
	echo "$output"
	echo "# ${lines[-1]}" >&3
	[[ ${lines[-1]} =~ \((.*)\ of\ (.*)\),.*\((.*)\ of\ .*\)$ ]]
	[[ $((BASH_REMATCH[1] * 100)) -le $((BASH_REMATCH[2] * 3)) && ${BASH_REMATCH[3]} -eq 0 ]]
}

@test "no comment of a script opens with a noun clause" {
	mapfile -t scripts < <(sources jail broker schema engine tests tools GNUmakefile |
		grep -E '\.(sh|bash|bats|mk|py)$|^tools/|^GNUmakefile$|^tests/run$' | grep -v __pycache__)
	# shellcheck disable=SC2016
	nothing awk 'FNR == 1 { inside = 0 }
		!inside && /^[ \t]*# (What|Whether|Where|Of|Whose|Who|That|As)[ ,]/ { print FILENAME ":" FNR ": " $0 }
		{ inside = /^[ \t]*#/ }' "${scripts[@]}"
}

# Strings that open with a noun clause, or in which a sentence does.
noun_clauses() {
	grep -nE '"([^"]*(\. |\\n))?(<[^"<>]*>)*(What|Whether|Of what|Whose) [^?]*$' "$@" || true
}

@test "no message opens with a noun clause" {
	mapfile -t files < <(sources jail broker schema engine | grep -E '\.([ch]|def)$')
	nothing noun_clauses "${files[@]}"
	printf '%s\n' 'puts("What it holds:");' 'puts("It fits. Whether it");' 'puts("What is your name?");' >"$SCRATCH/f.c"
	run -0 noun_clauses "$SCRATCH/f.c"
	[[ ${#lines[@]} -eq 2 ]]
}

@test "the words check sees a one-letter parameter and a noun clause" {
	{
		printf '/*\n * What it holds.\n */\n/* Returns a sum. */\nint f(int a, struct long_name *long_name,\n'
		printf '\tvoid (*each)(int b), struct err *e);\nint size; /* Whether it fits. */\n'
	} >"$SCRATCH/f.h"
	run -0 awk -v LIST=1 -f tests/structure/words.awk "$SCRATCH/f.h"
	[[ ${lines[0]} == *"f.h:2: comment What it holds."* && ${lines[1]} == *"f.h:6: parameter a" ]]
	[[ ${lines[2]} == *"f.h:7: comment Whether it fits. */" ]]
	[[ ${lines[3]} == "one-letter parameters "*" (1 of 3), "*" (2 of 3)" ]]
}

@test "schema, contract, types, machine, plan, reduce, position, budget, the dry run, the wire formats and what the broker parses touch no file, clock or environment" {
	mapfile -t pure < <(find "$OUT"/obj/{schema,engine/{contract,types,machine,machine/analyse},broker/parse}/*.o \
		"$OUT"/obj/engine/run/plan*.o "$OUT"/obj/engine/instance/{reduce,budget,position}*.o "$OUT"/obj/engine/dry/*.o \
		"$OUT"/obj/engine/provider/wire*.o 2>/dev/null)
	[[ ${#pure[@]} -gt 10 ]]
	nothing awk -f tests/structure/purity.awk <(nm -A "$OUT"/obj/engine/base/*.o) <(nm -A "${pure[@]}")
}

@test "the purity check sees a clock behind a base function" {
	run -0 awk -f tests/structure/purity.awk \
		<(printf 'b.o: T clock_now\nb.o: U clock_gettime\n') <(printf 'p.o: U clock_now\np.o: U strlen\n')
	[[ $output == "p.o uses clock_now" ]]
}

# A header that is the first include of its own .c file has compiled on its own with every build.
opens_its_source() {
	local source=${1%.h}.c
	[[ -e $source ]] && grep -m 1 '^#include' "$source" | grep -qF "\"${1#engine/}\""
}

@test "every header compiles on its own" {
	[[ -f $OUT/flags ]]
	eval "compile=($(sed 's/ -Werror / /' "$OUT/flags"))"
	mapfile -t headers < <(sources jail broker machines schema engine tests | grep '\.h$')
	local header
	for header in "${headers[@]}"; do
		opens_its_source "$header" && continue
		echo "#include \"$header\""
		"${compile[@]}" -Werror -fsyntax-only -x c - <<<"#include \"$header\""
	done
}

needed() { # libraries that PROGRAM loads, C library and sanitizers left out
	readelf -d "$AGENT6_BIN/$1" | sed -n 's/.*(NEEDED).*\[\(lib[a-z0-9]*\).*/\1/p' |
		grep -vE '^lib(c|m|asan|ubsan|gcc_s|pthread|dl|rt|gcov)$' | sort | tr '\n' ' '
}

@test "privilege boundary: each program loads only its own libraries" {
	echo "jail: $(needed agent6-jail) broker: $(needed agent6-broker)"
	[[ $(needed agent6-jail) =~ ^(libjansson\ (libseccomp\ )?)?$ ]]
	[[ $(needed agent6-broker) =~ ^libcurl\ libjansson\ (libseccomp\ )?$ ]]
	[[ $(needed agent6) == 'libjansson libyaml ' ]]
	[[ $(needed agent6-agent) != *archive* && $(needed agent6-agent) != *yaml* ]]
}

@test "every test file is run, or has a target of its own" {
	grep -q 'tests/run tests/peers/deepce.bats' tests/rules.mk
	diff <(sources tests | grep -E '(_test\.(c|sh)|_fuzz\.c|\.bats)$' | grep -vx tests/peers/deepce.bats | sort) \
		<(tests/run --list | sort)
}

@test "tests/security/README.md names every file there, and only files that exist" {
	local page=tests/security/README.md file
	unnamed() {
		for file in $(sources tests/security | grep -vE '/(README.md|(egress|broker|injection)/.*)$'); do
			grep -qE "\`([a-z./]*/)?${file##*/}\`" "$page" || echo "$file is in no row"
		done
		for file in $(grep -oE '`[a-z_./]+\.(c|h|sh|bats|bash|py)`|`[a-z_./]+/`' "$page" | tr -d '`' | sort -u); do
			[[ -e tests/security/$file || -e tests/unit/$file || -e $file ]] || echo "there is no $file"
		done
	}
	nothing unnamed
}

@test "every fuzz target has a corpus" {
	local target name
	for target in tests/fuzz/*_fuzz.c; do
		name=${target##*/}
		[[ -n $(ls -A "tests/fuzz/corpus/${name%_fuzz.c}") ]]
	done
}

@test "no unfinished work and nobody's desk in the tree" {
	mapfile -t files < <(sources . | grep -vE '^(\./)?(tests/(golden|fuzz/corpus)/|LICENSE)')
	run grep -nIE '\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|(^|[ "(=])/wor[k]/|"resolve[d]":' "${files[@]}"
	echo "$output"
	[[ $status -eq 1 ]]
}

@test "docs/architecture.md names every directory of code, every header of engine/run and engine/agent, and only files that exist" {
	local dir file
	while read -r file; do
		grep -qF "\`$file\`" docs/architecture.md || { echo "not named: $file"; false; }
	done < <(sources engine/run engine/agent | grep -v '^engine/agent/.*/' | sed -n 's/\.h$//p' | xargs -n 1 basename)
	while read -r dir; do
		grep -q "$dir/" docs/architecture.md || { echo "not named: $dir"; false; }
	done < <(sources jail broker schema engine | grep '\.c$' | xargs -n 1 dirname | sort -u)
	while read -r file; do
		[[ -e $file ]] || { echo "no such file: $file"; false; }
	done < <(grep -oE '`(engine|schema|jail|broker|tests)/[a-z_/]*[a-z](\.[a-z]+)?`' docs/architecture.md | tr -d '`')
}

# FILE:FUNCTION in backquotes: whether FILE defines FUNCTION.
hops_missing() { # PAGE
	local hop file name
	while read -r hop; do
		file=${hop%:*} name=${hop#*:}
		grep -qE "^[a-z].*[ *]$name\\(" "$file" 2>/dev/null || echo "no such function: $hop"
	done < <(grep -oE '`[a-z_/]+\.c:[a-z_]+`' "$1" | tr -d '`')
}

@test "each hop of the steps that docs/architecture.md tells is a function of that file" {
	[[ $(grep -cE '`[a-z_/]+\.c:[a-z_]+`' docs/architecture.md) -ge 15 ]]
	nothing hops_missing docs/architecture.md
	echo '`engine/run/plan.c:plan_nothing`, `engine/run/plan.c:plan_step`' >"$SCRATCH/page.md"
	run -0 hops_missing "$SCRATCH/page.md"
	[[ $output == "no such function: engine/run/plan.c:plan_nothing" ]]
}

# Struct tags and enum tags that a header of the programs defines, and that another file defines too.
shared_tags() {
	mapfile -t files < <(sources jail broker schema engine | grep '\.[ch]$')
	awk 'match($0, /^(struct|enum|union) [a-z0-9_]+ \{/) {
			tag = $1 " " $2
			count[tag]++
			if (FILENAME ~ /\.h$/) public[tag] = 1
		}
		END { for (tag in count) if (count[tag] > 1 && tag in public) print tag }' "${files[@]}" | sort
}

shared_headers() {
	sources jail broker schema engine | grep '\.h$' | sed 's#.*/##' | sort | uniq -d
}

@test "a name has one meaning: no tag of a header and no header's name stands twice" {
	nothing shared_tags
	nothing shared_headers
}

@test "the check of names sees a tag and a header that stand twice" {
	mkdir -p "$SCRATCH"/{jail,engine/base}
	echo 'struct place {' | tee "$SCRATCH/jail/layout.h" >"$SCRATCH/engine/base/layout.h"
	cd "$SCRATCH"
	[[ $(shared_tags) == "struct place" && $(shared_headers) == layout.h ]]
}

# The names of all members in the tables of engine/contract, joined by |.
contract_members() {
	{
		printf '%s\n' t ts seq fact input_tokens output_tokens cached_tokens usd unmetered unpriced
		sed -nE 's/^\tX\([A-Z]+, (NEEDED|ALWAYS|ELSE), "([a-z0-9_]+)".*/\2/p' engine/contract/*_table.h
	} | sort -u | paste -sd'|'
}

# FILES that read such a member from a JSON object by its name.
member_readers() {
	grep -lE "json_(object_get|get_text|get_int)\([^\"]*, \"($(contract_members))\"" "$@" || true
}

@test "lines, facts, orders and tasks are read as structs: no file takes a member by its name, but for a list" {
	mapfile -t files < <(sources engine | grep '\.c$' | grep -vE '^engine/(contract|provider|rehearse)/')
	diff <(sed '/^#/d; s/ .*//' tests/structure/members | sort) <(member_readers "${files[@]}" | sort)
}

@test "the check of members sees one that is read by its name" {
	[[ $(contract_members) == *'|goto|'*'|woke_by|'* ]]
	echo 'const char *to = json_get_text(line, "goto");' >"$SCRATCH/bad.c"
	echo 'const char *to = json_get_text(line, "anything");' >"$SCRATCH/good.c"
	[[ $(member_readers "$SCRATCH/bad.c" "$SCRATCH/good.c") == "$SCRATCH/bad.c" ]]
}

@test "a page that a comment names is in the tree" {
	local page
	while read -r page; do
		[[ -e $page ]] || { echo "no such page: $page"; false; }
	done < <(sources jail broker schema engine tools | grep '\.[ch]$' |
		xargs sed -nE '/^ \*|\/\*/ s/.*[ (]([A-Za-z/-]+\.md)\b.*/\1/p' | sort -u)
}

@test "the version is written in one place" {
	local version
	version=$(sed -n 's/^VERSION = //p' GNUmakefile)
	[[ -n $version ]]
	run grep -lrF --include='*.[ch]' --include='*.mk' --include='*.bash' --include='*.bats' "\"$version\"" \
		jail broker schema engine tests
	echo "$output"
	[[ -z $output ]]
}

@test "the trusted code is no larger than its limits" {
	run tools/tcb
	echo "$output"
	[[ $status -eq 0 ]]
}
