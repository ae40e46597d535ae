#!/bin/bash
# Benchmarks of what the engine promises: one line each, `name  measured  limit`; exits 1 when one
# does not hold.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
root=$PWD
bin=$PWD/build/bin
bench=$PWD/build/release/tests/bench/journal_bench
launch_bench=$PWD/build/release/tests/bench/launch_bench
scratch=$(mktemp -d "${TMPDIR:-/tmp}/agent6-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export AGENT6_ALLOW_ROOT=1 AGENT6_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config
mkdir -p "$scratch/ws" "$scratch/rate"
failed=0

# report NAME MEASURED OPERATOR LIMIT UNIT
report() {
	local verdict=ok
	awk -v a="$2" -v b="$4" "BEGIN { exit !(a $3 b) }" || { verdict=FAILED && failed=1; }
	printf '%-52s %12s %s  (%s %s)  %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}

# A machine NAME from stdin, and where its instance lives.
machine() {
	mkdir -p "$scratch/$1"
	{ printf 'machine: %s\nversion: 1\n' "$1" && cat; } >"$scratch/$1/machine.yaml"
}
instance() { echo "$scratch"/state/*/machines/"$1"; }

# Peak resident KiB and seconds of processor time of a command.
${CC:-gcc} -O2 -D_GNU_SOURCE -o "$scratch/usage" "$root/tests/bench/usage.c"
measure() {
	"$scratch/usage" "$@" 2>/dev/null
}

# --- durable transitions -----------------------------------------------------------------------
read -r ours plain < <("$bench" rate "$scratch/rate")
echo "durable transitions: $ours/s, plain append and fdatasync: $plain/s"
report 'transitions over a plain append+fdatasync loop' "$(awk -v a="$ours" -v b="$plain" 'BEGIN { printf "%.2f", a / b }')" '>=' 1.25 x

# --- tool states -------------------------------------------------------------------------------
machine tools <<'END'
initial: a
budget: {max_transitions: 500}
states:
  a: {kind: tool, command: [/usr/bin/true], timeout_secs: 60, on: {ok: b, nonzero: end, timeout: end}}
  b: {kind: tool, command: [/usr/bin/true], timeout_secs: 60, on: {ok: a, nonzero: end, timeout: end}}
  end: {kind: terminal, status: failed, reason: end}
END
cp "$bin/agent6-jail" "$launch_bench" "$scratch/"
cd "$scratch/ws"
read -r bare alone through < <("$scratch/launch_bench")
from=$(date +%s%N)
"$bin/agent6" machine run --quiet "$scratch/tools" 2>/dev/null || [[ $? -eq 3 ]]
steps=$((500 * 1000000000 / ($(date +%s%N) - from)))
cd "$root"
echo "/usr/bin/true: bare $bare/s, in a jail each $alone/s, through one launcher $through/s; tool transitions: $steps/s"
report 'commands through a launcher over a jail started each' "$(awk -v a="$through" -v b="$alone" 'BEGIN { printf "%.2f", a / b }')" '>=' 1.2 x
report 'tool transitions over a command through it, then append+fdatasync' \
	"$(awk -v a="$steps" -v b="$through" -v c="$plain" 'BEGIN { printf "%.2f", a * (1 / b + 1 / c) }')" '>=' 0.5 x

# --- replay ------------------------------------------------------------------------------------
machine long <<'END'
initial: start
budget: {max_transitions: 4000000}
states:
  start: {kind: wait, on: {signal: a}}
  a: {kind: tool, command: ["true"], timeout_secs: 5, on: {ok: b, nonzero: end, timeout: end}}
  b: {kind: branch, when: [{else: true, goto: a}]}
  end: {kind: terminal, status: failed, reason: end}
END
sed -i 's/^initial: start/initial: a/; /^  start:/d' "$scratch/long/machine.yaml"
cd "$scratch/ws"
# One start installs the bundle and its digest; its journal is then replaced by the long one.
"$bin/agent6" machine run --quiet "$scratch/long" 2>/dev/null &
runner=$!
for _ in $(seq 100); do
	sleep 0.05
	grep -q '"t":"step"' "$(instance long)/journal.jsonl" 2>/dev/null && break
done
{ kill -TERM "$runner" && wait "$runner"; } || true
digest=$(head -n 1 "$(instance long)/journal.jsonl" | sed 's/.*"bundle":"\([^"]*\)".*/\1/')
rm -f "$(instance long)/snapshot.json"
seconds=()
for steps in 250000 1000000; do
	"$bench" long "$digest" "$(instance long)" "$steps"
	read -r kib secs < <(measure "$bin/agent6" machine replay long --quiet)
	seconds+=("$secs")
	echo "replay of $steps steps: $secs s, peak $kib KiB"
done
report 'peak memory of a replay of 1,000,000 steps' "$((kib / 1024))" '<' 16 MiB
report 'time of 1,000,000 steps over that of 250,000' "$(awk -v a="${seconds[1]}" -v b="${seconds[0]}" 'BEGIN { printf "%.2f", a / b }')" '<' 5 x

# --- a report ----------------------------------------------------------------------------------
"$bench" long "$digest" "$(instance long)" 10000
"$bin/agent6" machine report long -o "$scratch/page.html"
opened=$(for _ in 1 2 3; do python3 "$root/tests/cli/browser.py" "$scratch/page.html" --size | jq .opened_secs; done | sort -n | head -n 1)
report 'opening the report of 10,000 steps in a browser' "$opened" '<' 2 s

# --- a wait ------------------------------------------------------------------------------------
machine parked <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, every_secs: 3600, on: {tick: end, signal: end}}
  end: {kind: terminal, status: ok, reason: end}
END
"$bin/agent6" machine run --quiet "$scratch/parked" 2>/dev/null &
runner=$!
sleep 1
report 'resident memory of the supervisor in a wait' "$(awk '/^VmRSS/ { print int($2 / 1024 + 0.999) }' "/proc/$runner/status")" '<=' 4 MiB
{ kill -TERM "$runner" && wait "$runner"; } || true

# --- a list ------------------------------------------------------------------------------------
# Whole instances, half of them ended and half waiting, with something on their blackboards.
mkdir -p "$scratch/filled/scripts"
cat >"$scratch/filled/scripts/fill" <<'END'
#!/bin/sh
printf '{"n": %d, "text": "%0*d"}' $(($1 + 1)) 10000 7
END
chmod +x "$scratch/filled/scripts/fill"
machine filled <<'END'
initial: fill
budget: {max_transitions: 99}
schemas: {out: {n: int, text: str}}
vars: {code: {n: {type: int, default: 0}, text: {type: str, default: ""}}}
states:
  fill:
    kind: tool
    command: [scripts/fill, "{{ n }}"]
    timeout_secs: 60
    output_schema: out
    capture: {set: {n: "{{ result.n }}", text: "{{ result.text }}"}}
    on: {ok: more, nonzero: bad, timeout: bad}
  more: {kind: branch, when: [{if: n < 10, goto: fill}, {else: true, goto: park}]}
  park: {kind: wait, every_secs: 1, on: {tick: end, signal: end}}
  end: {kind: terminal, status: ok, reason: end}
  bad: {kind: terminal, status: failed, reason: bad}
END
"$bin/agent6" machine run --quiet "$scratch/filled" --exit-on-wait
cp -a "$(instance filled)" "$scratch/waiting"
"$bin/agent6" machine run --quiet "$scratch/filled"
mv "$(instance filled)" "$scratch/ended"
python3 - "$scratch" "$(dirname "$(instance parked)")" <<'END'
import os, shutil, sys
for i in range(5000):
    for kind in "ended", "waiting":
        shutil.copytree(f"{sys.argv[1]}/{kind}", f"{sys.argv[2]}/{kind}{i}",
            copy_function=os.link, ignore=shutil.ignore_patterns("states"))
END
"$bin/agent6" machine list >/dev/null
read -r _ secs < <(for _ in 1 2 3 4 5; do measure "$bin/agent6" machine list; done | sort -k 2n | sed -n 3p)
report 'list of 10,000 instances' "$(awk -v s="$secs" 'BEGIN { print s * 1000 }')" '<' 200 ms

exit "$failed"
