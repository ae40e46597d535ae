#!/bin/bash
# One jailed /usr/bin/true: alone (strict, hardened) and through the resident launcher, against
# starting it bare (the floor) and bubblewrap doing less (no seccomp, no Landlock, no limits). Then how
# many a second two workers make. Medians; the least of the runs stands beside them, because a busy
# machine shows in the one and not in the other.
set -eu -o pipefail
work=$TMPDIR/work
mkdir "$work"
policy() { # PROFILE
	jq -n --arg work "$work" --arg profile "$1" '{version: 1, profile: $profile, argv: ["/usr/bin/true"],
		cwd: $work, workspace: {path: $work, access: "write"}, timeout_secs: 60, allow_root_jail: true}' \
		>"$TMPDIR/$1.json"
}
policy strict
policy hardened
bwrap="bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib
	--symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp --bind $work $work /usr/bin/true"
bwrap=${bwrap//[$'\n\t']/ }
strict="$AGENT6_BIN/agent6-jail --policy $TMPDIR/strict.json"
hyperfine --shell=none --warmup 20 --runs 300 --export-json "$TMPDIR/result.json" \
	--command-name floor /usr/bin/true --command-name bwrap "$bwrap" --command-name strict "$strict" \
	--command-name hardened "$AGENT6_BIN/agent6-jail --policy $TMPDIR/hardened.json" >/dev/null 2>&1

make -s build/release/tests/security/jail_serve_test >&2
read -r median least < <(build/release/tests/security/jail_serve_test bench 300)
jq -r --argjson median "$median" --argjson least "$least" '
	[.results[] | {name: .command, median: (.median * 1e6), least: (.min * 1e6)}]
	+ [{name: "serve", median: $median, least: $least}]
	| (map({(.name): .median}) | add) as $m | (map({(.name): .least}) | add) as $l
	| .[] | "\(.name)\t\(.median | round) us (least \(.least | round))"
	+ "\t\(.median / $m.floor * 100 | round / 100)x floor (\(.least / $l.floor * 100 | round / 100))"
	+ "\t\(.median / $m.bwrap * 100 | round / 100)x bwrap (\(.least / $l.bwrap * 100 | round / 100))"' "$TMPDIR/result.json"

per_second() { # NAME CMD: two workers, 300 each
	local from to
	from=$(date +%s%N)
	for _ in 1 2; do
		for _ in $(seq 300); do $2; done &
	done
	wait
	to=$(date +%s%N)
	printf '%s\t%d a second on 2 workers\n' "$1" $((600 * 1000000000 / (to - from)))
}
per_second bwrap "$bwrap"
per_second strict "$strict"
