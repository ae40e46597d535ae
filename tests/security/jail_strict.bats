# The strict jail alive: what a command can reach, what it leaves behind and how its end is told, as
# root and as an ordinary user.
load jail
load toolchains

setup() {
	jail_setup
}

# Everything that must hold for both kinds of user runs through this: $1 is jail or user_jail.
check_files() {
	run "$1" -- sh -c 'echo new >made && echo more >>made && cat made'
	[[ $status -eq 0 && $output == $'new\nmore' ]]
	[[ $(cat "$WS/made") == $'new\nmore' && $(stat -c %U "$WS/made") == "$(stat -c %U "$WS")" ]]
	echo outside >"$SCRATCH/outside"
	chmod a+r "$SCRATCH/outside"
	local path
	for path in "$SCRATCH/outside" /etc/shadow /etc/machine-id /root /home /var/log /var/lib/dpkg /sys /run /boot; do
		run "$1" -- ls -d "$path"
		[[ $status -eq 2 && $output == *"No such file"* ]]
	done
	for path in /x /usr/x /etc/x /dev/x /proc/x /usr/bin/true /etc/passwd /etc/ld.so.cache; do
		run "$1" -- sh -c "echo x >>$path"
		[[ $status -ne 0 ]]
	done
	run "$1" -- sh -c "echo x >${WS%/*}/x; echo x >../x"
	[[ ! -e $SCRATCH/x ]]
}

@test "files: the workspace is writable, nothing else is, nothing else is there (root)" {
	need_root
	check_files jail
}

@test "files: the same as an ordinary user" {
	check_files user_jail
}

check_protected() {
	mkdir -p "$WS/sub/deep/kept" "$WS/bundle"
	echo original >"$WS/sub/deep/kept/file"
	printf '#!/bin/sh\necho from the bundle\n' >"$WS/bundle/tool"
	chmod +x "$WS/bundle/tool"
	mkdir "$WS-more" # whose name comes before "$WS/", letter by letter
	run "$1" "protect=[\"$WS/.git\",\"$WS/sub/deep/kept\"]" "bundle=\"$WS/bundle\"" "read=[\"$WS-more\"]" -- sh -c '
		echo evil >.git/config; echo evil >.git/new; rm -rf .git; mv .git elsewhere; chmod 777 .git/config
		mv sub away; mv sub/deep away; rm -rf sub; echo evil >sub/deep/kept/file; ln -f made sub/deep/kept/file
		echo evil >bundle/tool; mv bundle away
		mkdir -p sub/deep/kept && echo fine >sub/deep/made
		bundle/tool'
	echo "$output"
	[[ $status -eq 0 && ${lines[-1]} == "from the bundle" ]]
	[[ $(cat "$WS/.git/config") == original && $(ls -A "$WS/.git") == config ]]
	[[ $(cat "$WS/sub/deep/kept/file") == original && $(cat "$WS/sub/deep/made") == fine ]]
	[[ $(ls -A "$WS/sub") == deep ]]
	[[ $(status .layers.pinned) -eq 2 ]]
}

@test "protected directories hold, and so do the directories above them (root)" {
	need_root
	check_protected jail
}

@test "protected directories hold for an ordinary user's jail" {
	check_protected user_jail
}

@test "a rename on the host does not free a protected directory" {
	jail timeout_secs=20 -- sh -c 'touch ready; while [ -e ready ]; do sleep 0.05; done
		echo evil >.git/config; true' &
	local jail=$!
	eventually test -e "$WS/ready"
	echo replaced >"$WS/.git/config.lock"
	mv "$WS/.git/config.lock" "$WS/.git/config"
	rm "$WS/ready"
	wait "$jail"
	[[ $(cat "$WS/.git/config") == replaced ]]
}

@test "a protected path that is missing is reported when it appears" {
	run jail "protect=[\"$WS/.hg\"]" -- mkdir .hg
	[[ $status -eq 0 && $(status '.appeared[0]') == "$WS/.hg" ]]
}

@test "hidden paths are empty" {
	mkdir "$WS/secret"
	echo key >"$WS/secret/key"
	echo key >"$WS/.env"
	run jail "hide=[\"$WS/secret\",\"$WS/.env\"]" -- sh -c 'cat .env; ls -A secret; mv secret other; cat secret/key; ls -A /'
	[[ $output != *$'\nkey'* && $output != key* && -d $WS/secret && $output != *.empty* ]]
	mkdir -p "$WS/above/secret"
	run jail "hide=[\"$WS/above/secret\"]" -- sh -c 'mv above other'
	[[ $status -ne 0 && -d $WS/above/secret ]] # or the next jail would not know it
	mkdir "$WS/secret/below" # what is protected in it is hidden with it
	run jail "hide=[\"$WS/secret\"]" "protect=[\"$WS/secret/below\"]" -- ls -A secret
	[[ $status -eq 0 && -z $output ]]
}

@test "what is hidden of the host's system directories is empty, too" {
	run jail "hide=[\"/usr/share/common-licenses\",\"/usr/bin/id\",\"/bin/id\",\"/tmp/none\",\"/etc/none\"]" -- \
		sh -c 'ls /usr/share/common-licenses; cat /usr/bin/id; ls /usr/share/perl-base | head -1; touch /tmp/none'
	echo "$output"
	[[ $status -eq 0 && -n $output && $output != *GPL* && $output != *ELF* ]]
}

answers() { # SOCAT-ADDRESS
	[[ $(socat -u "$1" -) == reached ]]
}

@test "sockets and pipes of the workspace are masked" {
	need socat
	mkdir -p "$WS/a/b"
	mkfifo "$WS/a/pipe"
	socat "UNIX-LISTEN:$WS/a/b/service,mode=777,fork" SYSTEM:"echo reached" &
	local service=$!
	# It is there before it listens.
	eventually answers "UNIX-CONNECT:$WS/a/b/service"
	run jail -- socat -u "UNIX-CONNECT:$WS/a/b/service" -
	[[ $status -ne 0 && $output != *reached* && $(status .layers.masked) -eq 2 ]]
	run jail -- sh -c 'rm -f a/b/service a/pipe; mv a c; socat -u UNIX-CONNECT:c/b/service -'
	kill "$service"
	[[ $status -ne 0 && $output != *reached* ]]
}

# Prints the search's result, whether unix sockets can be made then, and how many it found.
searched() { # RUNNER FIELDS...
	"$@" -- perl -MSocket -e 'print "made" if socket(my $s, AF_UNIX, SOCK_STREAM, 0)' >"$SCRATCH/answer" &&
		echo "$(status '.layers | "\(.scan) \(.unix_sockets) \(.masked)"')" "$(cat "$SCRATCH/answer")"
}

# A jail whose grants could not all be searched, because of $1, at $2.
refused() { # WHERE WHY RUNNER FIELDS...
	local where=$1 why=$2
	shift 2
	run "$@" -- touch ran
	echo "$output"
	[[ $status -eq 125 && $(status .stage) == layout && ! -e $WS/ran ]] &&
		[[ $(status .error) == "$where cannot be searched for sockets, pipes and repositories: $why"* ]]
}

@test "where the search for sockets ends early, because there is too much, no command begins" {
	mkdir -p "$SCRATCH/a" "$WS"/wide{1..200} "$WS/$(printf 'd/%.0s' {1..127})"
	find "$WS/d" -type d -empty -exec mkfifo {}/pipe \;
	mkfifo "$SCRATCH/a/pipe"
	run searched jail "read=[\"$SCRATCH/a\",\"$AGENT6_BIN/agent6-jail\"]"
	[[ $output == "whole open 2 made" ]]
	# The same depth in the first of two trees: the contents of the second one do not matter.
	mkdir -p "$SCRATCH/a/$(printf 'd/%.0s' {1..128})"
	refused "$SCRATCH/a/$(printf '/d%.0s' {1..128} | cut -c2-)" "it lies too deep" jail "read=[\"$SCRATCH/a\"]"
	rm -rf "$WS/d"
	(cd "$WS" && perl -e '$name = "n" x 250; mkdir $name, chdir $name for 1 .. 17; mkdir "last"')
	refused "$WS/n" "" jail || [[ $(status .error) == "$WS/nn"* && $(status .stage) == layout ]]
	rm -rf "$WS"/n* "$WS"/wide*
	(cd "$WS" && mkfifo pipe{1..1024})
	run searched jail
	[[ $output == "whole open 1024 made" ]]
	mkfifo "$WS/pipe"
	refused "$WS" "there are too many sockets and pipes" jail ||
		[[ $(status .error) == "$WS/pipe"*"there are too many sockets and pipes"* ]]
	rm "$WS"/pipe*
}

@test "where the search for sockets ends early, because of 2,000,000 entries, no command begins" {
	need_root
	mkdir "$WS/many" "$WS"/tree{1..500}
	(cd "$WS/many" && perl -e 'open my $file, ">", $_ for 1 .. 4000')
	many_times() { # LAST COMMAND...
		unshare --mount --propagation private sh -c 'for i in $(seq "$1"); do mount --bind "$0/many" "$0/tree$i" || exit; done
			shift; exec "$@"' "$WS" "$@"
	}
	run searched run_jail "many_times 60"
	[[ $output == "whole open 0 "* ]]
	run run_jail "many_times 500" -- touch ran
	[[ $status -eq 125 && $(status .error) == "$WS/"*"there are too many files"* && ! -e $WS/ran ]]
}

@test "where a directory cannot be searched for sockets, no command begins" {
	mkdir -m 0 "$WS/closed"
	refused "$WS/closed" "Permission denied" user_jail
}

@test "a directory that nobody in the jail can enter is none to be searched" {
	need_root
	mkdir "$WS/others"
	mkfifo "$WS/others/pipe"
	mkdir "$WS/through"
	mkfifo "$WS/through/pipe"
	user_jail -- true
	chown root: "$WS/others" "$WS/through"
	chmod 700 "$WS/others"
	chmod 711 "$WS/through" # names in it lead to what lies there
	run run_jail as_user -- true
	[[ $status -eq 125 && $(status .error) == "$WS/through cannot be searched"* ]]
	chmod 700 "$WS/through"
	run run_jail as_user -- true
	[[ $status -eq 0 ]]
}

@test "sockets are found where the file system does not say what its entries are" {
	need_root
	need mkfs.ext2
	truncate -s 1M "$SCRATCH/image"
	mkfs.ext2 -q -O ^filetype "$SCRATCH/image"
	mkdir -p "$WS/there"
	mount -o loop "$SCRATCH/image" "$WS/there" 2>/dev/null || skip "nothing can be mounted here"
	mkdir "$WS/there/below"
	mkfifo "$WS/there/below/pipe"
	run searched jail 'workspace={"path":"'"$WS"'","access":"read"}'
	umount "$WS/there"
	[[ $output == "whole open 1 made" ]]
}

@test "a pipe that comes and goes keeps no jail from being built" {
	while mkfifo "$WS/pipe"; do rm "$WS/pipe"; done &
	local churn=$! runs
	for ((runs = 0; runs < 60; runs++)); do
		run jail -- true
		[[ $status -eq 0 ]] || break
	done
	kill "$churn"
	echo "after $runs: $output"
	[[ $runs -eq 60 ]]
}

check_identity() {
	run "$1" -- sh -c 'id -u; cat /proc/self/uid_map; grep -E "^(Cap|NoNewPrivs|Seccomp)" /proc/self/status; id -G'
	[[ ${lines[0]} -eq 1000 && ${lines[1]} == *" 1"* ]]
	[[ $(grep -c 'Cap.*0000000000000000' <<<"$output") -eq 5 ]]
	[[ $output == *$'NoNewPrivs:\t1'* && $output == *$'Seccomp:\t2'* ]]
	[[ $(status '.layers | .capabilities and .no_new_privs and .reaper and .userns_limit') == true ]]
}

@test "no capability, no new privileges, an unused id (root)" {
	need_root
	in_groups() { run_jail "setpriv --groups=4,24" "$@"; }
	check_identity in_groups
	[[ ${lines[-1]} == 1000 ]]
	read -r _ host _ <<<"${lines[1]}"
	[[ $host -gt 1000000 && $(status .layers.uid) == mapped ]]
}

@test "no capability, no new privileges (ordinary user)" {
	check_identity user_jail
	[[ $(status .layers.uid) == same ]]
}

@test "root's workspace stays its owner's, and the files of others in it are what their modes say" {
	need_root
	local owner
	for owner in 0:0 3000:61235 65535:65535 70000:70001; do
		rm -f "$WS/made"
		echo x | tee "$WS/low" "$WS/high" >/dev/null
		chmod 666 "$WS/low" "$WS/high"
		chown -R "$owner" "$WS"
		chown 1:1 "$WS/low"
		chown 65000:65000 "$WS/high"
		run jail -- sh -c 'touch made; echo x >>low && echo x >>high && rm low high && chmod 600 made'
		echo "$owner: $output"
		[[ $status -eq 0 && $(stat -c %u:%g "$WS/made") == "$owner" ]]
	done
}

@test "a user's group stays the user's" {
	need_root
	ensure_user
	chown -R "$TEST_USER:" "$WS"
	in_another_group() { setpriv --reuid="$TEST_USER" --regid=61235 --clear-groups "$@"; }
	local profile
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		run run_jail in_another_group "profile=\"$profile\"" -- touch "$profile"
		[[ $status -eq 0 && $(stat -c %U:%g "$WS/$profile") == "$TEST_USER:61235" ]]
	done
}

@test "a grant may have another owner than the workspace" {
	need_root
	ensure_user
	mkdir "$SCRATCH/data" "$SCRATCH/group"
	chown "$TEST_USER:" "$SCRATCH/data"
	chown 0:61235 "$SCRATCH/group"
	run jail "write=[\"$SCRATCH/data\",\"$SCRATCH/group\"]" -- touch made "$SCRATCH/data/made" "$SCRATCH/group/made"
	[[ $status -eq 0 && $(stat -c %u:%g "$WS/made") == 0:0 && $(stat -c %U "$SCRATCH/data/made") == "$TEST_USER" ]]
	[[ $(stat -c %u:%g "$SCRATCH/group/made") == 0:61235 ]]
}

@test "root of a namespace is an ordinary user to the host, or refused" {
	need_root
	local profile jail=(unshare --user --map-root-user "$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7)
	run jail -- true
	give_user "$WS"
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		policy "profile=\"$profile\"" -- touch "made-$profile" >"$SCRATCH/policy.json"
		run "${jail[@]}" 7>"$SCRATCH/status"
		[[ $status -eq 125 && $output == *"allow_root_jail"* && $(status .layers.uid) == root ]]
		run as_user "${jail[@]}" 7>"$SCRATCH/status"
		[[ $status -eq 0 && $(status .layers.uid) == same && $(stat -c %U "$WS/made-$profile") == "$TEST_USER" ]]
	done
}

@test "where a file system cannot map ids, root's command is refused, or root by the operator's word" {
	need_root
	mkdir "$SCRATCH/ram"
	run jail "read=[\"$SCRATCH/ram\"]" -- true
	[[ $status -eq 0 && $(status .layers.idmap) == true ]]
	on_ramfs() { # FIELDS... -- CMD...: with one at $SCRATCH/ram
		policy "$@" >"$SCRATCH/policy.json"
		run unshare --mount --propagation private sh -c 'mount -t ramfs none "$1" && echo it is there >"$1/file" &&
			exec "$2" --policy "$3" --status-fd 7' sh "$SCRATCH/ram" "$AGENT6_BIN/agent6-jail" "$SCRATCH/policy.json" \
			7>"$SCRATCH/status"
	}
	# A read-only tree may keep its ids.
	on_ramfs "read=[\"$SCRATCH/ram\"]" -- cat "$SCRATCH/ram/file"
	[[ $status -eq 0 && $output == "it is there" && $(status .layers.uid) == mapped ]]
	on_ramfs "write=[\"$SCRATCH/ram\"]" -- touch "$WS/made"
	[[ $status -eq 125 && ! -e $WS/made && $(status '"\(.stage) \(.layers.idmap)"') == "grants false" ]]
	[[ $output == *"cannot map ids"*"allow_root_jail"* ]]
	on_ramfs "write=[\"$SCRATCH/ram\"]" allow_root_jail=true -- sh -c 'touch "$0/made" "$1/made"; stat -c %u "$0/made"' \
		"$SCRATCH/ram" "$WS"
	[[ $status -eq 0 && -e $WS/made && $(status '"\(.layers.uid) \(.layers.idmap)"') == "root false" ]]
}

@test "a read grant is read-only, and what lies in it runs and is mapped as on the host" {
	make_toolchain "$SCRATCH/chain"
	with_both use_toolchain
	run jail "read=[\"$SCRATCH/chain\"]" -- sh -c "echo x >>$SCRATCH/chain/bin/tool; rm $SCRATCH/chain/bin/tool"
	[[ $status -ne 0 && $(wc -l <"$SCRATCH/chain/bin/tool") -eq 2 ]]
}

@test "what the host mounts noexec does not run (root)" {
	need_root
	mkdir "$SCRATCH/ram"
	mount -t tmpfs -o noexec,mode=755 none "$SCRATCH/ram"
	cp /bin/true "$SCRATCH/ram"
	local who
	for who in jail user_jail; do
		run $who "read=[\"$SCRATCH/ram\"]" -- "$SCRATCH/ram/true"
		[[ $status -eq 126 && $output == *"Permission denied"* ]]
	done
	umount "$SCRATCH/ram"
}

@test "a grant that is not there is refused, not passed over" {
	run jail "read=[\"$SCRATCH/absent\"]" -- true
	[[ $status -eq 125 && $output == *"cannot open $SCRATCH/absent"* ]]
	run user_jail "write=[\"$SCRATCH/absent\"]" -- true
	[[ $status -eq 125 && $output == *"cannot open $SCRATCH/absent"* ]]
}

@test "of the host's own files in /etc a granted one is the host's" {
	run jail 'read=["/etc/passwd"]' -- cat /etc/passwd
	[[ $status -eq 0 && $output == "$(cat /etc/passwd)" ]]
}

@test "where two fields name one path, the stricter holds" {
	mkdir "$WS/both"
	echo key >"$WS/both/file"
	printf '#!/bin/sh\necho ran\n' >"$WS/both/tool"
	chmod 755 "$WS/both/tool"
	run jail "write=[\"$WS/both\"]" "protect=[\"$WS/both\"]" -- sh -c 'cat both/file; echo x >both/file; mv both other'
	[[ $output == key* && $(cat "$WS/both/file") == key ]]
	run jail "write=[\"$WS/both\"]" "protect=[\"$WS/both\"]" "hide=[\"$WS/both\"]" -- ls -A both
	[[ $status -eq 0 && -z $output ]]
	run jail "read=[\"$WS/both\"]" "bundle=\"$WS/both\"" -- "$WS/both/tool" # but for running what is the bundle's
	[[ $status -eq 0 && $output == ran ]]
}

@test "a protected path that cannot be looked at is refused" {
	mkdir -m 0 "$WS/closed"
	give_user "$WS/closed"
	run user_jail "protect=[\"$WS/closed/kept\"]" -- true
	[[ $status -eq 125 && $output == *"cannot examine $WS/closed/kept"* ]]
}

@test "more places than there is room for are refused" {
	local many deep=d
	mkdir -p "$WS/$(printf 'd/%.0s' {1..20})"{1..220}
	many=$(printf "\"$WS/$(printf 'd/%.0s' {1..20})%d\"," {1..220})
	run jail "protect=[${many%,}]" -- true
	[[ $status -eq 125 && $output == *"too many paths to mount"* ]]
	rm -rf "$WS/d"
	deep=$(printf 'd/%.0s' {1..1500})
	mkdir -p "$WS/$deep"
	run jail "protect=[\"$WS/${deep%/}\"]" -- true
	rm -rf "$WS/d"
	[[ $status -eq 125 && $output == *"it lies too deep"* ]]
}

@test "the workspace can be read-only or absent" {
	run jail "workspace={\"path\":\"$WS\",\"access\":\"read\"}" -- sh -c 'cat .git/config; touch made'
	[[ $status -eq 1 && $output == original* && ! -e $WS/made ]]
	run jail "workspace={\"path\":\"$WS\",\"access\":\"none\"}" 'cwd="/tmp"' -- ls "$WS"
	[[ $status -eq 2 ]]
}

@test "a writable place inside a protected one, and a read-only mount below the workspace" {
	mkdir -p "$WS/.agent6/state/data"
	run jail "protect=[\"$WS/.agent6\"]" "write=[\"$WS/.agent6/state/data\"]" -- sh -c \
		'echo x >.agent6/state/data/made; touch .agent6/made .agent6/state/made; mv .agent6/state .agent6/s'
	[[ -e $WS/.agent6/state/data/made && $(find "$WS/.agent6" -name made | wc -l) -eq 1 ]]
}

# Prints the mounts whose options in /proc/self/mountinfo are wrong. A mount below another one at the same
# path, which comes later, cannot be reached.
odd_mounts() {
	awk -v ws="$WS" '
	{options[$5] = "," $6 ","}
	END {
		for (path in options) {
			device = path ~ /^\/dev\/(null|zero|full|random|urandom)$/
			writable = device || path ~ /^(\/tmp|\/dev\/shm)$/ || path == ws || path == ws "/below"
			# The root and the covers are empty, so nothing can run there.
			programs = path !~ /^\/(dev|proc)(\/|$)/ && path !~ /^\/$|\/(hidden|pipe)$/
			if (options[path] !~ /,nosuid,/ || (!device && options[path] !~ /,nodev,/) ||
				(programs == (options[path] ~ /,noexec,/)) || (!writable && options[path] !~ /,ro,/))
				print path, options[path]
		}
		if (NR < 12)
			print NR " mounts"
	}'
}

# Needs root, to mount; ordinary users find such mounts on any host.
@test "every mount is nosuid and nodev, what is below it too, and only in /dev and /proc is there no exec" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	mkdir "$WS/below" "$WS/.git/below" "$SCRATCH/grant" && mkdir "$SCRATCH/grant/below"
	mount -t tmpfs -o mode=777 none "$WS/below"
	mount -t tmpfs -o mode=777 none "$WS/.git/below"
	mount -t tmpfs -o mode=777 none "$SCRATCH/grant/below"
	mkdir "$WS/hidden"
	mkfifo "$WS/pipe"
	chmod 777 "$WS" "$WS/.git"
	mknod -m 666 "$WS/zero" c 1 5
	mknod -m 666 "$WS/below/zero" c 1 5
	local who
	for who in jail user_jail; do
		run $who "read=[\"$SCRATCH/grant\"]" "hide=[\"$WS/hidden\"]" -- cat /proc/self/mountinfo
		[[ $status -eq 0 && $output == *" $SCRATCH/grant/below "* && $output == *" $WS/.git/below "* ]]
		[[ $output == *" $WS/hidden "* && $output == *" $WS/pipe "* ]]
		[[ -z $(odd_mounts <<<"$output") ]]
		run $who "read=[\"$SCRATCH/grant\"]" -- sh -c "touch below/made; touch .git/below/made
			touch $SCRATCH/grant/below/made; head -c 1 zero; head -c 1 below/zero"
		[[ $(grep -c 'Read-only' <<<"$output") -eq 2 && $(grep -c 'Permission denied' <<<"$output") -eq 2 ]]
		[[ -e $WS/below/made && ! -e $WS/.git/below/made && ! -e $SCRATCH/grant/below/made ]]
		rm "$WS/below/made"
	done
	umount "$WS/below" "$WS/.git/below" "$SCRATCH/grant/below"
}

@test "the jail's own host name resolves" {
	run jail -- sh -c 'getent hosts "$(uname -n)"'
	[[ $status -eq 0 && $output == 127.0.0.1* ]]
	run user_jail 'network="host"' -- sh -c 'getent hosts "$(uname -n)"'
	[[ $status -eq 0 && $output == 127.0.0.1* ]]
}

@test "the environment is the policy's" {
	SECRET_KEY=leak LD_PRELOAD_X=leak run jail 'env={"LANG":"C","MINE":"yes"}' -- env
	[[ $output != *leak* && $output == *MINE=yes* && $output == *LANG=C* && $output == *HOME=/tmp/home* ]]
	run jail -- sh -c 'cat /proc/1/environ /proc/1/maps; ls /proc/1/fd /proc/1/root'
	[[ $status -ne 0 && $output != *PATH* && $(grep -c 'Permission denied' <<<"$output") -eq 4 ]]
}

@test "no descriptor but three is inherited" {
	run jail -- sh -c 'ls /proc/self/fd' 5<"$WS" 6<>"$SCRATCH/outside" 9</
	[[ $output == $'0\n1\n2\n3' ]]
}

@test "the policy is closed before its command begins, on standard input too" {
	local profile way
	give_user "$WS"
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		policy "profile=\"$profile\"" -- perl -e 'seek STDIN, 0, 0; print <STDIN>; chmod 0666, *STDIN; print "end"' \
			>"$SCRATCH/policy.json"
		chmod 600 "$SCRATCH/policy.json"
		give_user "$SCRATCH/policy.json"
		for way in "" "--policy-fd 0"; do
			# shellcheck disable=SC2086 # words
			run -0 as_user "$AGENT6_BIN/agent6-jail" $way <"$SCRATCH/policy.json"
			[[ $output == end && $(stat -c %a "$SCRATCH/policy.json") == 600 ]]
		done
	done
}

@test "a directory for a standard descriptor is refused" {
	local profile fd
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		policy "profile=\"$profile\"" 'allow_root_jail=true' -- touch made >"$SCRATCH/policy.json"
		for fd in 0 1 2; do
			run -125 bash -c "exec \"\$0\" --policy \"\$1\" $fd</" "$AGENT6_BIN/agent6-jail" "$SCRATCH/policy.json"
			[[ $fd -eq 2 || $output == *"descriptors: descriptor $fd is a directory"* ]]
		done
	done
	[[ ! -e $WS/made ]]
}

@test "a standard descriptor that is closed and cannot be filled ends the launcher" {
	need_root
	local resident
	policy -- true >"$SCRATCH/policy.json"
	for resident in "" "serve --socket-fd 0"; do
		# shellcheck disable=SC2086 # words
		run unshare --mount sh -c 'mount -t tmpfs none /dev && exec timeout 100 "$@" >&-' sh \
			"$AGENT6_BIN/agent6-jail" $resident --policy "$SCRATCH/policy.json"
		[[ $status -eq 125 && $output == *"cannot fill descriptor 1"* ]]
	done
}

@test "no descriptor is the way to the program" {
	local at
	at=$(printf '/proc/self/fd/%d:/proc/self/fd/%d/usr/bin:' {3..40}{,})
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		run -127 user_jail "profile=\"$profile\"" "env={\"PATH\":\"$at\"}" -- true 6<"$WS" 9</usr/bin
		[[ $output == *"No such file or directory" ]]
	done
}

@test "exit statuses: the command's, 124, 125, 126, 127, 128+n" {
	run jail -- sh -c 'exit 7'
	[[ $status -eq 7 && $(status '"\(.exit) \(.signal) \(.timed_out)"') == "7 null false" ]]
	run jail -- sh -c 'exit 125'
	[[ $status -eq 125 && $(status '"\(.exit) \(.stage)"') == "125 null" ]]
	run jail -- sh -c 'kill -TERM $$'
	[[ $status -eq 143 && $(status '"\(.exit) \(.signal)"') == "null 15" ]]
	run jail timeout_secs=1 -- sleep 20
	[[ $status -eq 124 && $(status '"\(.exit) \(.timed_out) \(.wall_ms >= 1000)"') == "null true true" ]]
	run -127 jail -- .git/config/not-below-a-file
	[[ $(status .exit) -eq 127 ]]
	run -127 jail -- /nonexistent
	[[ $status -eq 127 && $(status '"\(.exit) \(.errno) \(.stage)"') == "127 2 null" ]]
	run -127 jail -- nonexistent
	[[ $status -eq 127 && $output == "agent6-jail: cannot run nonexistent: No such file or directory" ]]
	run -127 jail -- $'no\nsuch\e[31m'
	[[ $output == 'agent6-jail: cannot run no?such?[31m: No such file or directory' ]]
	(umask 022 && echo '#!/nonexistent/sh' >"$WS/orphan" && chmod 755 "$WS/orphan")
	run jail -- ./orphan
	[[ $status -eq 127 && $output == "agent6-jail: cannot run ./orphan, whose interpreter is not there: No such file or directory" ]]
	run jail -- "a$(printf 'é%.0s' {1..600})"
	[[ $status -eq 126 && $(status .exit) == 126 ]]
	run jail -- ./.git/config
	[[ $status -eq 126 ]]
	run jail 'cwd="/nowhere"' -- true
	[[ $status -eq 125 && $(status '"\(.stage) \(.errno)"') == "cwd 2" ]]
}

@test "an orphan that ends is reaped, and is not the command's end" {
	run jail -- sh -c '(sh -c "exit 7" & echo $! >orphan); while kill -0 "$(cat orphan)" 2>/dev/null; do sleep 0.05; done; echo on; exit 3'
	[[ $status -eq 3 && $output == on && $(status .exit) -eq 3 ]]
}

@test "a jail whose first process is killed, as for want of memory, has been killed, and its command with it" {
	local marker=$((BASHPID + 10000000)) jail launcher
	jail -- sh -c "touch ready; exec sleep $marker" &
	jail=$!
	eventually test -e "$WS/ready"
	launcher=$(pgrep -P "$jail" agent6-jail) || launcher=$jail
	pkill -KILL -P "$launcher"
	wait "$jail" && status=0 || status=$?
	[[ $status -eq 137 && $(status '"\(.exit) \(.signal) \(.timed_out) \(.max_rss_kib > 0)"') == "137 null false true" ]]
	run pgrep -f "sleep $marker"
	[[ $status -eq 1 ]]
}

@test "a script without a first line is the shell's; one that nobody may execute runs nothing" {
	printf 'echo "$1 by a shell"\n' >"$WS/script"
	chmod 755 "$WS/script"
	run jail -- ./script read
	[[ $status -eq 0 && $output == "read by a shell" ]]
	# One that PATH finds is that one, not another of its name that lies where the command starts.
	mkdir "$WS/bin"
	cp "$WS/script" "$WS/bin/bare"
	printf 'echo decoy\n' >"$WS/bare"
	chmod 755 "$WS/bare"
	run jail "env={\"PATH\":\"/nowhere:$WS/script:$WS/bin:/usr/bin\"}" -- bare read
	[[ $status -eq 0 && $output == "read by a shell" ]]
	run jail "env={\"PATH\":\":/usr/bin\"}" -- bare
	[[ $status -eq 0 && $output == decoy ]]
	# A file that may not be executed is skipped, and is the reason if there is nothing else.
	chmod 644 "$WS/bin/bare"
	run jail "env={\"PATH\":\"$(printf '/a%.0s' {1..3000}):$WS/bin:$WS\"}" -- bare
	[[ $status -eq 0 && $output == decoy ]]
	run jail "env={\"PATH\":\"$WS/bin:/nowhere\"}" -- bare
	[[ $status -eq 126 && $output == *"cannot run bare: Permission denied"* ]]
	chmod 644 "$WS/script"
	run jail -- ./script read
	[[ $status -eq 126 && $output == *"cannot run ./script: Permission denied"* ]]
}

@test "nothing outlives the command, its time or its launcher" {
	local marker=$((BASHPID + 10000000))
	run jail -- sh -c "(setsid sleep $marker &) ; (setsid sh -c 'trap \"\" TERM HUP; sleep $marker' &) ; exit 3"
	[[ $status -eq 3 ]]
	run jail timeout_secs=1 -- sh -c "(setsid sleep $marker &) ; trap '' TERM; sleep $marker"
	[[ $status -eq 124 ]]
	run pgrep -f "sleep $marker"
	[[ $status -eq 1 ]]
	jail -- sh -c "touch ready; (setsid sleep $marker &); sleep $marker" &
	local jail=$!
	eventually test -e "$WS/ready"
	pkill -KILL -P "$jail" agent6-jail || kill -KILL "$jail"
	wait "$jail" || true
	none() { ! pgrep -f "sleep $marker"; }
	eventually none # nobody is left to wait for it
}

@test "a signal to the launcher, or the end of who started it, ends what the command left, and first (root)" {
	need_root
	check_lifeline jail
}

@test "the same as an ordinary user" {
	check_lifeline user_jail
}

# Numbers signals like the kernel: C libraries keep 32 to 34, and children of glibc's posix_spawn ignore two of these.
ignoring_all() {
	local rt_sigaction=134
	[[ $(uname -m) != x86_64 ]] || rt_sigaction=13
	env --block-signal perl -e '$call = 0 + shift; $ignore = pack("Q4", 1); syscall($call, $_, $ignore, 0, 8) for 1 .. 64; exec @ARGV' $rt_sigaction "$@"
}

@test "a signal that the caller blocks or ignores ends the launcher all the same, and reaches the command" {
	local how
	run ignoring_all grep -E '^Sig(Blk|Ign)' /proc/self/status
	[[ $output == *SigIgn:?fffffffff* ]]
	run_jail ignoring_all -- grep -E '^Sig(Blk|Ign)' /proc/self/status >"$SCRATCH/signals"
	[[ $(grep -c ':.0\{16\}$' "$SCRATCH/signals") -eq 2 ]]
	for how in --block-signal --ignore-signal; do
		rm -f "$WS/ready"
		run_jail "env $how=TERM" -- sh -c 'touch ready; sleep 90' &
		local jail=$!
		eventually test -e "$WS/ready"
		pkill -TERM -P "$jail" agent6-jail || kill -TERM "$jail"
		wait "$jail" && status=0 || status=$?
		[[ $status -eq 143 ]]
	done
}

@test "the command leads a session of its own on hardened, too" {
	need_hardened
	run user_jail 'profile="hardened"' -- awk '{print $1 == $5, $1 == $6}' /proc/self/stat
	[[ $output == "1 1" ]]
}

@test "the command leads a session of its own, and the reaper keeps nothing but its end of the pipe" {
	run user_jail -- awk '{print $1 == $5, $1 == $6}' /proc/self/stat
	[[ $output == "1 1" ]]
	need_root # it cannot be inspected, by its own user neither
	chown root: "$WS"
	jail -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.05; done' 3<"$WS" 8>"$SCRATCH/held" &
	local jail=$! launcher reaper
	eventually test -e "$WS/ready"
	launcher=$(pgrep -P "$jail" agent6-jail) || launcher=$jail
	reaper=$(pgrep -P "$launcher")
	run ls -l "/proc/$reaper/fd"
	touch "$WS/go"
	wait "$jail"
	[[ $(grep -c -- '->' <<<"$output") -eq 1 && $output == *" 0 -> socket:"* ]]
}

@test "limits: processes, files, memory, file size, temporary space" {
	run jail 'limits={"processes":20}' -- sh -c 'i=0; while [ $i -lt 60 ]; do sleep 90 & i=$((i+1)); done; jobs | wc -l'
	[[ $output == *[Ff]ork* || $output == *"Resource temporarily"* ]]
	run jail 'limits={"open_files":32}' -- sh -c 'ulimit -n; ulimit -c'
	[[ ${lines[0]} -eq 32 ]]
	run jail 'limits={"file_mb":1}' -- sh -c 'head -c 3000000 /dev/zero >big; ls -l big | cut -d" " -f5'
	[[ $(stat -c %s "$WS/big") -le 1048576 ]]
	run jail 'limits={"tmp_mb":1}' -- sh -c 'head -c 3000000 /dev/zero >/tmp/big; head -c 3000000 /dev/zero >/dev/shm/big'
	[[ $output == *"No space left"* ]]
	run jail 'limits={"tmp_mb":1}' -- sh -c 'i=0; while [ $i -lt 2000 ]; do : >/tmp/$i || exit; i=$((i+1)); done'
	[[ $status -ne 0 && $output == *"No space left"* ]]
	run jail 'limits={"memory_mb":64}' -- perl -e '$x = "a" x (200 * 1024 * 1024); print "had it\n"'
	[[ $status -ne 0 && $output != *"had it"* ]]
}

@test "limits: each is the policy's, or the caller's where that is lower (of files, half of it), and cannot be raised" {
	local who
	give_user "$WS"
	for who in env as_user; do
		run run_jail "$who prlimit --nofile=99:99" \
			'limits={"cpu_secs":100,"file_mb":2,"open_files":640,"processes":30}' -- \
			sed -nE '/data|resident|address|msgq|locks|timeout/d; s/  +/ /gp' /proc/self/limits
		[[ $status -eq 0 && $(sed 's/ [A-Za-z]* *$//' <<<"$output") == "Limit Soft Limit Hard Limit
Max cpu time 100 101
Max file size 2097152 2097152
Max stack size 8388608 67108864
Max core file size 1 1
Max processes 30 30
Max open files 49 49
Max locked memory 65536 65536
Max pending signals 4096 4096
Max nice priority 0 0
Max realtime priority 0 0" ]]
	done
}

@test "out of memory, the host ends what is jailed first; hardened not its launcher" {
	local how own
	give_user "$WS"
	for how in strict hardened; do
		[[ $how == strict ]] || need_hardened
		user_jail "profile=\"$how\"" -- sh -c 'cat /proc/self/oom_score_adj; echo 0 >/proc/self/oom_score_adj
			touch ready; while [ -e ready ]; do sleep 0.05; done' >"$SCRATCH/score" &
		local jail=$!
		eventually test -e "$WS/ready"
		pgrep -P "$jail" agent6-jail >"$SCRATCH/launcher" || echo "$jail" >"$SCRATCH/launcher"
		run cat "/proc/$(<"$SCRATCH/launcher")/oom_score_adj"
		rm "$WS/ready"
		wait "$jail"
		own=$(</proc/self/oom_score_adj)
		[[ $how == hardened ]] || own=1000 # it shares PID 1's memory, and so its score
		[[ $(<"$SCRATCH/score") == 1000 && $output == "$own" ]]
	done
}

@test "require: met, not met, unknown" {
	run jail 'require={"landlock":1,"reaper":true,"network":"none"}' -- true
	[[ $status -eq 0 ]]
	run jail 'require={"landlock":99}' -- touch made
	[[ $status -eq 125 && $output == *"requires landlock 99"* && ! -e $WS/made ]]
	run jail 'require={"magic":true}' -- touch made
	[[ $status -eq 125 && $output == *magic* && ! -e $WS/made ]]
}

find_port() { # PID: sets `port` to where it listens
	port=$(ss -Hltnp | sed -n "s/.*127.0.0.1:\([0-9]*\) .*pid=$1,.*/\1/p")
	[[ -n $port ]]
}

@test "offline: no route, loopback works, host services are not there" {
	need socat
	socat TCP-LISTEN:0,bind=127.0.0.1,fork,reuseaddr SYSTEM:"echo reached" &
	local service=$! port=
	eventually find_port "$service"
	run socat -u "TCP:127.0.0.1:$port" -
	[[ $output == reached ]]
	run jail -- socat -u "TCP:127.0.0.1:$port" -
	[[ $status -ne 0 && $output == *refused* ]]
	run jail 'network="host"' -- socat -u "TCP:127.0.0.1:$port" -
	[[ $status -eq 0 && $output == reached && $(status .layers.network) == host ]]
	kill "$service"
	run jail -- socat -u TCP:192.0.2.1:80 -
	[[ $output == *unreachable* ]]
	run jail -- sh -c 'socat -u OPEN:/etc/hosts TCP-LISTEN:7777,bind=127.0.0.1 &
		socat -u TCP:127.0.0.1:7777,retry=600,interval=0.1 -'
	[[ $output == *localhost* ]]
}

with_both() { # CHECK: for both kinds of user
	[[ $(id -u) -ne 0 ]] || "$1" jail
	"$1" user_jail
}

@test "toolchains work inside: gcc, make, git, perl" {
	need_in_usr gcc make git perl
	with_both build_c
}

@test "toolchains work inside: python3 with multiprocessing" {
	need_in_usr python3
	with_both run_python
}

@test "toolchains work inside: node with npm test" {
	need_in_usr node npm
	with_both run_npm
}

@test "toolchains work inside: keytool, javac, java and mvn" {
	need_in_usr keytool
	with_both run_java
}

@test "toolchains work inside: cargo builds, runs and tests a crate" {
	need_in_usr cargo
	with_both build_crate
}

@test "a cgroup bounds all of the jail together, and goes with it (root)" {
	need_root
	need_cgroup memory
	need_cgroup processes
	# If each has a group of its own, limits that were not asked for stay and are reported.
	run jail 'require={"processes":"cgroup"}' -- true
	[[ -e /sys/fs/cgroup/cgroup.controllers || $(status .layers.memory) == watch ]]
	run jail 'require={"memory":"cgroup"}' 'limits={"memory_mb":64}' -- perl -e 'fork; fork; $x = "a" x (40 * 1024 * 1024); sleep 1; print "had it\n"'
	[[ $(grep -c "had it" <<<"$output") -lt 4 ]]
	local group
	for group in $(find /sys/fs/cgroup -name "agent6-jail-*" -newer "$SCRATCH/policy.json"); do
		eventually test ! -e "$group" # a test beside this one has some, too
	done
}

@test "a cgroup has the policy's limits, and one that a killed launcher left goes with the next jail (root)" {
	need_root
	need_cgroup memory
	need_cgroup processes
	local required='require={"memory":"cgroup","processes":"cgroup"}' marker=$((BASHPID + 10000000)) jail launcher groups
	jail "$required" 'limits={"memory_mb":64,"processes":20}' -- \
		sh -c "touch ready; while [ $marker -gt 0 -a ! -e go ]; do sleep 0.05; done" &
	jail=$!
	eventually test -e "$WS/ready"
	launcher=$(pgrep -P "$jail" agent6-jail) || launcher=$jail
	mapfile -t groups < <(find /sys/fs/cgroup -name "agent6-jail-$launcher")
	run cat "${groups[@]/%//memory.max}" "${groups[@]/%//memory.limit_in_bytes}"
	[[ $output == *67108864* ]]
	run cat "${groups[@]/%//pids.max}"
	[[ $'\n'$output$'\n' == *$'\n20\n'* ]]
	run cat "${groups[@]/%//cgroup.procs}"
	[[ $(grep -cx "$(pgrep -f "$marker")" <<<"$output") -eq ${#groups[@]} ]]
	touch "$WS/go"
	wait "$jail"
	[[ ! -d ${groups[0]} && ! -d ${groups[-1]} ]]
	local coming=${groups[0]%/*}/agent6-jail-$BASHPID # of one that has nobody in it yet
	mkdir "$coming"
	jail "$required" -- true
	rmdir "$coming"
	jail "$required" -- sh -c "touch again; exec sleep $marker" &
	jail=$!
	eventually test -e "$WS/again"
	launcher=$(pgrep -P "$jail" agent6-jail) || launcher=$jail
	mapfile -t groups < <(find /sys/fs/cgroup -name "agent6-jail-$launcher")
	[[ -d ${groups[0]} ]]
	kill -KILL "$launcher"
	wait "$jail" || true
	for _ in $(seq 100); do # its last process is on its way, and the kernel lets go of the group after that
		jail "$required" -- true
		[[ -d ${groups[0]} || -d ${groups[-1]} ]] || break
	done
	[[ ! -d ${groups[0]} && ! -d ${groups[-1]} ]]
}

@test "a cgroup that is required and cannot be had is refused by name, and nothing runs" {
	local layer
	local -A less=([memory]=watch [processes]=rlimit)
	for layer in memory processes; do
		run user_jail "require={\"$layer\":\"cgroup\"}" -- touch made
		if [[ $status -eq 0 ]]; then # delegated to every user here
			[[ $(status ".layers.$layer") == cgroup ]]
			continue
		fi
		[[ $status -eq 125 && $(status .stage) == require && ! -e $WS/made ]]
		[[ $output == *"the policy requires $layer \"cgroup\", and this host gives \"${less[$layer]}\""* ]]
	done
}

@test "a memory limit for each process without a cgroup" {
	run user_jail 'limits={"memory_mb":64}' -- perl -e '$x = "a" x (200 * 1024 * 1024); print "had it\n"'
	[[ $status -ne 0 && $output != *"had it"* ]]
}

@test "a list of hosts: the listener inside is handed out, and nothing else leaves" {
	need perl
	cat >"$SCRATCH/broker.pl" <<-'END'
		use IO::Socket; use Socket;
		socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, 0) or die;
		$^F = 1023;
		open(my $jails, "+>&", $theirs) or die;
		printf STDERR "fd %d\n", fileno $jails;
		my ($bin, $policy) = @ARGV;
		open(my $f, "<", $policy); local $/; my $text = <$f>;
		$text =~ s/PROXY_FD/fileno $jails/e;
		open(my $p, ">", $policy); print $p $text; close $p;
		my $pid = fork // die;
		exec $bin, "--policy", $policy unless $pid;
		close $jails; close $theirs;
		print "got\n" if sysread($ours, my $byte, 1) == 1;
		waitpid $pid, 0; exit $? >> 8;
	END
	policy 'network={"proxy_fd":7777}' -- sh -c 'echo "$HTTPS_PROXY $ALL_PROXY"; cat /proc/net/tcp | wc -l' |
		sed 's/7777/PROXY_FD/' >"$SCRATCH/policy.json"
	run perl "$SCRATCH/broker.pl" "$AGENT6_BIN/agent6-jail" "$SCRATCH/policy.json"
	echo "$output"
	[[ $status -eq 0 && $output == *"http://127.0.0.1:"*" http://127.0.0.1:"* && $output == *got* ]]
}
