# deepce, a script that looks for ways out of a container, is let loose in the jail: it may find the
# system's own programs and nothing else. Outside it finds root, capabilities and files.
load ../security/jail

DEEPCE=$AGENT6_SRC/build/deepce/deepce.sh

setup() {
	jail_setup
	cp "$DEEPCE" "$WS/look"
	chmod a+rx "$WS/look"
}

# It looks closer where it takes the place for a container. Without capsh, which names what is blocked
# too, it shows the raw sets.
FOUND_BY='env={"container":"lxc","PATH":"/usr/bin:/bin"}'

# look RUN FIELDS...: "TITLE: ANSWER" lines in $SCRATCH/found.
look() {
	local run=$1
	shift
	"$run" "$FOUND_BY" timeout_secs=60 "$@" -- sh ./look --no-network --no-colors --quiet >"$SCRATCH/output" 2>&1
	sed 's/\[+\]/\n&/g' "$SCRATCH/output" | sed -n 's/^\[+\] \(.*[^ .]\) *\.\.\.* *\(.*\)$/\1: \2/p' >"$SCRATCH/found"
	cat "$SCRATCH/found"
	grep -q "^Inside Container: Yes" "$SCRATCH/found"
}

found() { # TITLE: ANSWER
	grep -qxF "$1" "$SCRATCH/found" || { echo "missing: $1"; false; }
}

# Checks the findings that hold in both profiles.
nothing_to_use() {
	local answer
	for answer in "Docker sock mounted: No" \
		"Interesting environment variables: No" "Interesting files in root: No" \
		"Passwords in common files: No" "Hashes in shadow file: Not readable" "Home directories: " "SSHD Service: No"; do
		found "$answer"
	done
	[[ $(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0000000000000000$' "$SCRATCH/output") -eq 4 ]]
	run ! grep -E '^Privileged Mode: Yes|^User: root|Passwordless' "$SCRATCH/found"
	# Any other "Yes" must be examined.
	run grep -E ': Yes' "$SCRATCH/found"
	for answer in "${lines[@]}"; do
		[[ $answer =~ ^(Inside Container|Container tools|Useful tools installed|Other mounts|Any common entrypoint files): ]] ||
			{ echo "unexpected: $answer"; return 1; }
	done
}

strict_too() {
	nothing_to_use
	grep -q '^CapBnd:.0000000000000000$' "$SCRATCH/output"
	found "Container ID: jail"
	found "Container IP: Could not find IP"
	found "DNS Server(s): Could not find DNS Servers"
	found "Host IP: Could not find Host IP"
	[[ $(sed -n 's/^Possible host usernames: *//p' "$SCRATCH/found") == "" ]]
	run ! grep -E ' /(home|root|run|var|boot|sys|mnt|media)[ /]' "$SCRATCH/output" # among the mounts
}

@test "deepce outside, as root: what there is to find (root)" {
	need_root
	container=lxc timeout 60 sh "$WS/look" --no-network --no-colors --quiet \
		</dev/null >"$SCRATCH/output" 2>&1
	grep -q '^\[+\] Dangerous Capabilities .. Yes' "$SCRATCH/output"
	grep -q '^\[+\] User .*root' "$SCRATCH/output"
}

@test "deepce in the strict jail (root)" {
	need_root
	look jail
	strict_too
}

@test "deepce in the strict jail (ordinary user)" {
	look user_jail
	strict_too
}

@test "deepce in the hardened jail" {
	give_user "$WS"
	look user_jail 'profile="hardened"'
	nothing_to_use
}
