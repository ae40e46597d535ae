#!/bin/bash
# One jailed /usr/bin/true in every way there is, against starting it bare (the floor: clone, exec,
# wait) and bubblewrap doing less (no seccomp, no Landlock, no limits). Ratios of medians of runs taken
# in turns; the ratio of the least times stands behind, because a busy machine shows in the one and not
# in the other. Before each is a gap, as between the commands of an agent: the resident launcher makes
# the next jail in it, and the kernel takes down what the one before had, which it begins milliseconds
# after that has ended. Without a gap the rates count.
set -eu -o pipefail
failed=0
work=$TMPDIR/ws
mkdir "$work"
cp "$AGENT6_BIN/agent6-jail" build/release/tests/bench/jail_bench "$TMPDIR"
cd "$work"
bwrap=("$(command -v bwrap)" --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin
	--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp
	--bind "$work" "$work" /usr/bin/true)
declare -A median least rate
while read -r name m l; do
	median[$name]=$m least[$name]=$l
done < <("$TMPDIR/jail_bench" turns "${AGENT6_BENCH_RUNS:-300}" 20000 "${bwrap[@]}")
while read -r name r; do
	rate[$name]=$r
done < <("$TMPDIR/jail_bench" rate "${AGENT6_BENCH_RUNS:-100}" "${bwrap[@]}")

# ratio NAME OTHER LIMIT: of the times
ratio() {
	awk -v a="${median[$1]}" -v b="${median[$2]}" -v c="${least[$1]}" -v d="${least[$2]}" -v limit="$3" \
		-v name="$1 / $2" 'BEGIN { r = a / b; printf "%-24s %6.2f  (least %.2f)  (<= %s)  %s\n", name, r, c / d,
		limit, r <= limit ? "ok" : "FAILED"; exit r > limit }' || failed=1
}

# faster NAME OTHER LIMIT: of the rates
faster() {
	awk -v a="${rate[$1]}" -v b="${rate[$2]}" -v limit="$3" -v name="$1 / $2, two workers" 'BEGIN { r = a / b
		printf "%-38s %6.2f  (>= %s)  %s\n", name, r, limit, (r < limit ? "FAILED" : "ok"); exit r < limit }' || failed=1
}

for name in floor bwrap strict hardened serve serve-hardened; do
	printf '%-16s %6d us  (least %d)  %6d a second on two workers\n' "$name" "${median[$name]}" "${least[$name]}" \
		"${rate[$name]}"
done
ratio strict floor 3.0
ratio strict bwrap 0.65
ratio serve floor 1.3
ratio serve bwrap 0.3
ratio hardened floor 2.3 # a second exec: of agent6-jail, and of the command
ratio serve-hardened floor 1.3
faster strict bwrap 1.5
faster serve strict 0.9
faster serve-hardened hardened 0.7
exit "$failed"
