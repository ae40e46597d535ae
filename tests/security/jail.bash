# Running agent6-jail from bats: `load jail`, then
#
#   policy [FIELDS...] -- CMD...   a policy as JSON on stdout; FIELDS replace defaults: 'key=JSON'
#   jail [FIELDS...] -- CMD...     runs CMD in a jail; the status line lands in $SCRATCH/status
#   user_jail ...                  the same as an ordinary user
#   status JQ                      asks the status line
#   need_cgroup LAYER              skips where the jail of root gets no cgroup for "memory" or "processes"
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
