#!/bin/bash
# Measures the cost of a check against libyaml alone, and how it grows.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
failed=0

# report NAME MEASURED OPERATOR LIMIT UNIT
report() {
	local verdict=ok
	awk -v a="$2" -v b="$4" "BEGIN { exit !(a $3 b) }" || { verdict=FAILED && failed=1; }
	printf '%-52s %12s %s  (%s %s)  %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}

# A machine of N tool states of about 250 bytes each.
large_machine() {
	printf 'machine: large\nversion: 1\ninitial: s0\nbudget: {max_transitions: 9}\n'
	printf 'vars: {code: {x: {type: int, default: 0}}}\nstates:\n'
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "  s%d:\n    kind: tool\n" \
		"    description: a description of about eighty characters, as an author would write for this one\n" \
		"    command: [\"echo\", \"{{ x }}\", \"%d\"]\n    timeout_secs: 30\n    on:\n      ok: s%d\n" \
		"      nonzero: end\n      timeout: end\n", i, i, i + 1 }'
	printf '  s%d: {kind: terminal, status: ok, reason: done}\n' "$1"
	printf '  end: {kind: terminal, status: failed, reason: failed}\n'
}

# The same with states small enough for 100,000 of them in 8 MiB.
many_states() {
	printf 'machine: many\nversion: 1\ninitial: s0\nbudget: {max_transitions: 9}\nstates:\n'
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "  s%d: {kind: wait, on: {signal: s%d}}\n", i, i + 1 }'
	printf '  s%d: {kind: terminal, status: ok, reason: done}\n' "$1"
}

# A record of N fields, each declared, given and read.
many_fields() {
	printf 'machine: many\nversion: 1\ninitial: s\nbudget: {max_transitions: 9}\nschemas:\n  rec:\n'
	seq -f '    f%.0f: int' "$1"
	printf 'vars:\n  code:\n    r:\n      type: rec\n      default:\n'
	seq -f '        f%.0f: 1' "$1"
	printf 'states:\n  s:\n    kind: tool\n    on: {ok: end, nonzero: end, timeout: end}\n    timeout_secs: 9\n    command:\n      - echo\n'
	seq -f '      - "{{ r.f%.0f }}"' "$1"
	printf '  end: {kind: terminal, status: ok, reason: done}\n'
}

# The least of five runs, and the peak memory.
least() {
	for _ in 1 2 3 4 5; do "$TMPDIR/usage" "$@"; done | sort -k 2n | head -n 1
}

# pair MINE OTHER FILE: KiB and seconds of the first, then of the second; the least of 15 runs each, taken
# in turns, so that a busy moment does not hit only one of the two.
pair() {
	# shellcheck disable=SC2086 # a command's words
	for _ in {1..15}; do
		"$TMPDIR/usage" $1 "$3" | sed 's/^/1 /'
		"$TMPDIR/usage" $2 "$3" | sed 's/^/2 /'
	done | sort -k 1n,1 -k 3n,3 | awk '!seen[$1]++ { printf "%s %s ", $2, $3 } END { print "" }'
}

${CC:-gcc} -O2 -D_GNU_SOURCE -o "$TMPDIR/usage" "$here/usage.c"
${CC:-gcc} -O2 -o "$TMPDIR/yaml_events" "$here/yaml_events.c" -lyaml
large_machine 10000 >"$TMPDIR/large.asm.yaml"
bytes=$(stat -c %s "$TMPDIR/large.asm.yaml")
read -r kib secs _ alone < <(pair "$AGENT6_BIN/agent6 machine check" "$TMPDIR/yaml_events" "$TMPDIR/large.asm.yaml")
echo "check of 10,000 states ($bytes bytes): $secs s, libyaml alone $alone s, peak $kib KiB"
report 'check of 10,000 states over libyaml alone' "$(awk -v a="$secs" -v b="$alone" 'BEGIN { printf "%.2f", a / b }')" '<=' 2 x
report 'its peak memory over the input' "$(awk -v a="$kib" -v b="$bytes" 'BEGIN { printf "%.1f", a * 1024 / b }')" '<' 12 x

# growth WHAT SIZE...: what a check costs at each size, and the last over the one before; tools: against
# themselves.
growth() {
	local what=$1 size against times=()
	for size in "${@:2}"; do
		against=()
		[[ $what != tools ]] || against=(--against "$TMPDIR/$what.$size.asm.yaml")
		read -r kib secs < <(least "$AGENT6_BIN/agent6" machine check "${against[@]}" "$TMPDIR/$what.$size.asm.yaml")
		times+=("$secs")
		echo "check of $size $what: $secs s, peak $kib KiB"
	done
	report "time of $size $what over that of ${*: -2:1}" "$(awk -v a="${times[-1]}" -v b="${times[-2]}" 'BEGIN { printf "%.1f", a / b }')" '<' 14 x
}
for size in 100 1000 10000 100000; do many_states "$size" >"$TMPDIR/states.$size.asm.yaml"; done
for size in 100 1000 10000; do many_fields "$size" >"$TMPDIR/fields.$size.asm.yaml"; done
for size in 1000 10000; do large_machine "$size" >"$TMPDIR/tools.$size.asm.yaml"; done
growth states 100 1000 10000 100000
growth fields 100 1000 10000
growth tools 1000 10000
exit "$failed"
