# The host's /etc inside a jail: the tables of engine/base/etc_table.h, and nothing else.
load jail

setup() {
	jail_setup
	DOC=${AGENT6_OUT:-$AGENT6_SRC/build/release}/host/etc_doc
}

is_within() { # PATH DIR
	[[ $1 == "$2" || $1 == "$2"/* ]]
}

@test "nothing that is withheld lies in what is shown, nor around it" {
	local shown withheld
	while read -r shown; do
		while read -r withheld; do
			is_within "$shown" "$withheld" || is_within "$withheld" "$shown" || continue
			echo "$shown and $withheld"
			return 1
		done < <("$DOC" withheld)
	done < <("$DOC" shown)
}

# Those of the paths on stdin that are root's and that everybody may read.
for_everybody() {
	local path
	while read -r path; do
		[[ ! -e $path || -z $(find "$path" -maxdepth 0 -user 0 -perm -o=r) ]] || echo "$path"
	done
}

@test "what is shown is there as the host has it, what is withheld is not, and nothing else is" {
	local path
	"$DOC" shown | for_everybody >"$WS/shown"
	[[ $(wc -l <"$WS/shown") -gt 5 ]]
	"$DOC" withheld >"$WS/withheld"
	# shellcheck disable=SC2016 # expanded inside
	run user_jail -- sh -c 'while read -r path; do ls "$path" >/dev/null; done <shown
		while read -r path; do [ ! -e "$path" ] || echo "there: $path"; done <withheld
		grep -v "^/etc/[^/]*/" shown | sed "s,/etc/,," >known
		sed -n "s,^/etc/\([^/]*\)/.*,\1,p" shown >>known
		printf "passwd\ngroup\nhosts\nnsswitch.conf\n" >>known
		ls -A /etc | grep -vxFf known | sed "s/^/unknown: /"'
	[[ $status -le 1 && -z $output ]]
	while read -r path; do
		[[ ! -f $path ]] || cat "$path"
	done <"$WS/shown" | sha256sum >"$WS/sum"
	run user_jail -- sh -c 'while read -r path; do [ ! -f "$path" ] || cat "$path"; done <shown | sha256sum'
	[[ $output == "$(<"$WS/sum")" ]]
}

@test "hardened: what is withheld cannot be read" {
	need_hardened
	"$DOC" withheld >"$WS/withheld"
	run user_jail 'profile="hardened"' -- sh -c 'while read -r path; do ls "$path"/ >&3 || cat "$path"; done <withheld 3>&1 2>&-'
	[[ -z $output ]]
}

@test "what belongs to a user, or is not for everybody, is passed over (root)" {
	need_root
	mkdir "$SCRATCH/etc"
	echo key >"$SCRATCH/etc/key"
	chmod -R a+rX "$SCRATCH/etc"
	on_etc() {
		unshare -m sh -ec 'mount --bind "$0" /etc/alternatives && exec "$@"' "$SCRATCH/etc" "$@"
	}
	local who
	ensure_user
	for who in env "setpriv --reuid=$TEST_USER --regid=$TEST_USER --clear-groups --inh-caps=-all"; do
		[[ $who == env ]] || give_user "$WS"
		run run_jail "on_etc $who" -- cat /etc/alternatives/key
		[[ $status -eq 0 && $output == key ]]
	done
	chmod o-r "$SCRATCH/etc"
	run run_jail "on_etc env" -- ls /etc/alternatives
	[[ $status -eq 2 && $output == *"No such file"* ]]
	chmod o+r "$SCRATCH/etc"
	chown "$TEST_USER" "$SCRATCH/etc"
	run run_jail "on_etc env" -- ls /etc/alternatives
	[[ $status -eq 2 && $output == *"No such file"* ]]
}

@test "programs find what they read: fontconfig, Chromium, Python" {
	local path found=0
	for path in /etc/fonts/fonts.conf /etc/chromium.d /etc/python3 /etc/ld.so.conf; do
		[[ ! -e $path ]] || { found=1 && user_jail -- test -e "$path"; }
	done
	[[ $found -eq 1 ]] || skip "none of them is installed"
}
