# The kit that every bats file loads: `load ../kit/common`.
#
#   $SCRATCH          an empty directory of this test, removed afterwards; every user may pass into it
#   agent6 ARGS       the program under test ($AGENT6_BIN: the directory of all programs)
#   as_user CMD...    runs CMD as an ordinary user whose HOME is $USER_HOME; files given to it must be
#                     readable, see give_user
#   give_user PATH... makes PATH (in $SCRATCH) belong to that user
#   eventually CMD... waits until CMD succeeds, at most a hundred seconds: the machine may be busy
#   need CMD...       skips with a reason when a program is missing; on CI that fails the run
#   need_hardened      skips where the kernel has not what the hardened profile stands on
#   need_root         the same for a test that only root can run
bats_require_minimum_version 1.5.0

: "${AGENT6_SRC:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${AGENT6_BIN:=$AGENT6_SRC/build/bin}"
export AGENT6_SRC AGENT6_BIN AGENT6_ALLOW_ROOT=${AGENT6_ALLOW_ROOT-1}
TEST_USER=agent6-test

SCRATCH=${BATS_TEST_TMPDIR-}
if [[ -n $SCRATCH ]]; then
	SCRATCH=$SCRATCH/s
	mkdir -p "$SCRATCH"
	# bats makes its directories private; an ordinary user has to pass through them.
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" 2>/dev/null
	USER_HOME=$SCRATCH/user-home
fi

agent6() {
	"$AGENT6_BIN/agent6" "$@"
}

ensure_user() {
	[[ $(id -u) -eq 0 ]] || return 0
	# Tests run side by side: the second to make it would give it another number. Its group comes last.
	# shellcheck disable=SC2016 # expanded inside
	getent group "$TEST_USER" >/dev/null ||
		flock /etc/passwd sh -c 'id "$0" >/dev/null 2>&1 ||
			useradd --system --no-create-home --home-dir /nonexistent --shell /bin/sh "$0"' "$TEST_USER"
}

as_user() {
	ensure_user || return 1
	local who=()
	if [[ $(id -u) -eq 0 ]]; then
		who=(setpriv "--reuid=$TEST_USER" "--regid=$TEST_USER" --clear-groups --inh-caps=-all)
	fi
	[[ -d $USER_HOME ]] || { mkdir -p "$USER_HOME/tmp" && give_user "$USER_HOME"; }
	"${who[@]}" env -u AGENT6_ALLOW_ROOT -u XDG_STATE_HOME -u XDG_CONFIG_HOME HOME="$USER_HOME" \
		TMPDIR="$USER_HOME/tmp" USER="$TEST_USER" LOGNAME="$TEST_USER" "$@"
}

give_user() {
	ensure_user || return 1
	[[ $(id -u) -ne 0 ]] || chown -R "$TEST_USER:" "$@"
}

eventually() {
	local tries
	for ((tries = 0; tries < 2000; tries++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "never: $*"
	return 1
}

# A traced program cannot trace itself, as the sanitizers' leak check would.
strace() {
	ASAN_OPTIONS=detect_leaks=0 command strace "$@"
}

need() {
	local cmd
	for cmd in "$@"; do
		command -v "$cmd" >/dev/null || skip "$cmd is not installed (make deps)"
	done
}

can_harden() {
	need jq
	[[ $(agent6 check sandbox --json | jq .landlock_abi) -ge 3 ]]
}

need_hardened() {
	can_harden || skip "hardened needs Landlock ABI 3"
}

need_root() {
	[[ $(id -u) -eq 0 ]] || skip "only root can set this up"
}
