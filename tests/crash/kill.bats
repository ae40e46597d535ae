#!/usr/bin/env bats
# kill -9 at random moments of a rehearsal, each followed by a resume, until the machine ends: the
# blackboard is that of an undisturbed run, the journal verifies, no committed step runs again.
#
#   AGENT6_KILLS=N   how many kills (default 12; `make crash` takes 50)

load ../kit/common
load ../live/machine

setup() {
	# Every execution of a script leaves its step key and the moment it began.
	cp -r "$AGENT6_SRC/examples/triage" "$SCRATCH/triage"
	sed -i '1a echo "$AGENT6_STEP_KEY $(date +%s%6N)" >>"$AGENT6_MACHINE_DATA_DIR/executions"' \
		"$SCRATCH"/triage/scripts/*.sh
}

rehearse() { # DIR
	agent6 machine rehearse --dir "$1" "$SCRATCH/triage"
}

journal_of() { # DIR
	echo "$1"/state/*/machines/triage/journal.jsonl
}

# A process group that is killed after a random part of a second, or ends before.
rehearse_killed() { # DIR
	set -m
	rehearse "$1" >"$SCRATCH/output" 2>&1 3>&- &
	local group=$!
	set +m
	sleep "0.$(printf %03d $((RANDOM % 1000)))"
	kill -9 -- "-$group" 2>/dev/null || true
	wait "$group" 2>/dev/null || true
	let_go "$1"/state/*/machines/triage
}

# Lines without the padding that a killed writer leaves, and without a torn last line.
whole_lines() { # JOURNAL
	grep -a '"}$' "$1"
}

blackboard_of() { # JOURNAL
	whole_lines "$1" | jq -r 'select(.t == "end") | .blackboard'
}

# Each committed step's last execution began before its line was written.
repeated_steps() { # DIR
	local journal data
	journal=$(journal_of "$1")
	data=$(dirname "$journal")/data
	jq -r 'select(.t == "step") | [.seq, (.ts | sub("\\.(?<f>[0-9]+)Z$"; "Z") | fromdate),
		(.ts | capture("\\.(?<f>[0-9]+)Z").f)] | "triage-\(.[0]) \(.[1])\(.[2])"' "$journal" |
		sort >"$SCRATCH/committed"
	sort "$data/executions" >"$SCRATCH/executed"
	join "$SCRATCH/committed" "$SCRATCH/executed" | awk '$3 > $2'
}

@test "kills at random moments change nothing" {
	need jq
	rehearse "$SCRATCH/calm"
	local want kills=0 wanted=${AGENT6_KILLS:-12} round=0
	want=$(blackboard_of "$(journal_of "$SCRATCH/calm")")
	[[ -n $want ]]
	[[ -z $(repeated_steps "$SCRATCH/calm") ]]
	while ((kills < wanted)); do
		round=$((round + 1))
		local dir=$SCRATCH/round$round
		# Some rounds are killed again and again, so that a resume is killed too.
		for ((again = 0; again < 4 && kills < wanted; again++)); do
			rehearse_killed "$dir"
			kills=$((kills + 1))
		done
		run rehearse "$dir"
		echo "round $round: $output"
		[[ $status -eq 0 ]]
		[[ $(blackboard_of "$(journal_of "$dir")") == "$want" ]]
		[[ -z $(repeated_steps "$dir") ]]
		[[ $(jq -r 'select(.t == "step") | .seq' "$(journal_of "$dir")" | uniq -d) == "" ]]
		AGENT6_STATE_HOME=$dir/state run bash -c 'cd "$1/workspace" && "$AGENT6_BIN/agent6" machine verify triage' _ "$dir"
		echo "$output"
		[[ $status -eq 0 ]]
	done
}
