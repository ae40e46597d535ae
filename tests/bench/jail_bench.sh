#!/bin/bash
# One jailed /usr/bin/true: against starting it bare (the floor) and bubblewrap doing less.
set -eu -o pipefail
work=$TMPDIR/work
mkdir "$work"
policy() { # PROFILE
	jq -n --arg work "$work" --arg profile "$1" '{version: 1, profile: $profile, argv: ["/usr/bin/true"],
		cwd: $work, workspace: {path: $work, access: "write"}, timeout_secs: 60}' >"$TMPDIR/$1.json"
}
policy strict
policy hardened
hyperfine --shell=none --warmup 20 --runs 300 --export-json "$TMPDIR/result.json" \
	--command-name floor '/usr/bin/true' \
	--command-name bwrap "bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp \
		--bind $work $work /usr/bin/true" \
	--command-name strict "$AGENT6_BIN/agent6-jail --policy $TMPDIR/strict.json" \
	--command-name hardened "$AGENT6_BIN/agent6-jail --policy $TMPDIR/hardened.json" >/dev/null 2>&1
jq -r '(.results | map({(.command): .median * 1e6}) | add) as $t | $t | to_entries[]
	| "\(.key)\t\(.value | round) us\t\(.value / $t.floor * 100 | round / 100)x floor\t\(.value / $t.bwrap * 100 | round / 100)x bwrap"' \
	"$TMPDIR/result.json"
