# Running agent6-jail from bats: `load jail`, then
#
#   policy [FIELDS...] -- CMD...   a policy as JSON on stdout; FIELDS replace defaults: 'key=JSON'
#   jail [FIELDS...] -- CMD...     runs CMD in a jail; the status line lands in $SCRATCH/status
#   user_jail ...                  the same as an ordinary user
#   status JQ                      asks the status line
#   need_cgroup LAYER              skips where the jail of root gets no cgroup for "memory" or "processes"
#   check_lifeline JAIL            what is left of a command when a signal ends its launcher, or its caller dies
#   nothing_left                   none of agent6's directories is left in /tmp since jail_setup
#
# The workspace is $WS ($SCRATCH/ws), made by jail_setup, which both kinds of user can write.
load ../kit/common

jail_setup() {
	need jq
	WS=$SCRATCH/ws
	mkdir -p "$WS/.git"
	echo original >"$WS/.git/config"
	give_user "$SCRATCH"
	[[ $(id -u) -ne 0 ]] || chown -R root: "$WS"
	ours_in_tmp >"$SCRATCH/before"
}

ours_in_tmp() {
	# One may go while it is looked at.
	find /tmp -maxdepth 1 \( -name 'agent6-check-*' -o -name 'agent6-jail-*' \) 2>/dev/null || true
}

# A test that runs beside this one has some of its own for a moment.
nothing_left() {
	local dir
	for dir in $(ours_in_tmp | grep -vxFf "$SCRATCH/before"); do
		eventually test ! -e "$dir" || return
	done
}

policy() {
	local fields=() assign='.'
	while [[ $1 != -- ]]; do
		fields+=(--argjson "f${#fields[@]}" "${1#*=}")
		assign+=" | .${1%%=*} = \$f$((${#fields[@]} - 3))"
		shift
	done
	shift
	jq -nc --arg ws "$WS" "${fields[@]}" '{version: 1, profile: "strict", argv: $ARGS.positional, cwd: $ws,
		workspace: {path: $ws, access: "write"}, protect: ["\($ws)/.git"], timeout_secs: 100} | '"$assign" \
		--args -- "$@"
}

# The command stands in a file: jq takes words that begin with a dash for its own.
run_jail() {
	local launch=$1
	shift
	policy "$@" >"$SCRATCH/policy.json" || return 99
	chmod a+r "$SCRATCH/policy.json"
	$launch "$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7 7>"$SCRATCH/status" </dev/null
}

jail() {
	run_jail env "$@"
}

user_jail() {
	[[ $(id -u) -ne 0 ]] || chown -R "$TEST_USER:" "$WS"
	run_jail as_user "$@"
}

status() {
	jq -r "$1" "$SCRATCH/status"
}

# Skips where root may not make a cgroup; anything else than that refusal is a failure.
need_cgroup() {
	run jail "require={\"$1\":\"cgroup\"}" -- true
	[[ $status -eq 125 && $(status .stage) == require ]] && skip "no cgroup can be made here"
	[[ $status -eq 0 && $(status ".layers.$1") == cgroup ]]
}

# With daemons, one of which ignores what can be ignored. Sets `jail` and `launcher`.
begin_daemons() { # JAIL MARKER
	rm -f "$WS/up"
	"$1" -- sh -c "(setsid sleep $2 &); (setsid sh -c 'trap \"\" TERM HUP INT USR1; sleep $2; sleep $2' &)
		touch up; sleep $2" 3>&- &
	jail=$!
	eventually test -e "$WS/up"
	launcher=$(pgrep -P "$jail" agent6-jail) || launcher=$jail
}

check_lifeline() { # JAIL
	local marker=$((BASHPID + 10000000)) number code jail launcher
	for number in 1 2 3 10 15 40; do
		begin_daemons "$1" "$marker"
		kill "-$number" "$launcher"
		wait "$jail" && code=0 || code=$?
		run ! pgrep -f "sleep $marker"
		[[ $code -eq $((128 + number)) ]]
		[[ $(status '"\(.exit) \(.signal) \(.stage) \(.error)"') == "null 9 wait signal $number asked the launcher to end" ]]
	done
	nothing_left
	begin_daemons "$1" "$marker"
	[[ $launcher -ne $jail ]]
	kill -STOP "$launcher" # it looks again when its caller has died
	kill -KILL "$jail"
	wait "$jail" || true
	none() { ! pgrep -f "sleep $marker"; }
	eventually none
	nothing_left
}
