# "pty": pseudo-terminals of the jail's own, and nothing of the host's terminals. By default none.
load jail

setup() {
	jail_setup
}

teardown() {
	[[ -z ${HOST_PTY_PID-} ]] || kill "$HOST_PTY_PID"
}

# A terminal of the host that is nobody's session: $HOST_PTY, until the test ends.
host_pty() {
	need perl
	perl -e 'use POSIX; open(my $m, "+<", "/dev/ptmx") or die; my $n = pack("i", 0);
		ioctl($m, 0x40045431, $n) or die; ioctl($m, 0x80045430, $n) or die;
		my $path = "/dev/pts/" . unpack("i", $n); chmod 0666, $path; print "$path\n"; close STDOUT; sleep 1000' >"$SCRATCH/host_pty" 3>&- &
	HOST_PTY_PID=$!
	eventually test -s "$SCRATCH/host_pty"
	HOST_PTY=$(<"$SCRATCH/host_pty")
}

@test "by default there are none" {
	run jail -- sh -c 'ls /dev/ptmx /dev/pts /dev/tty 2>&1 | grep -c "No such file"'
	[[ $output == 3 ]]
	run jail -- script -qec true /dev/null
	[[ $status -ne 0 ]]
}

use_terminals() { # RUN
	run "$1" pty=true -- script -qec 'tty && stty size && echo to the terminal >/dev/tty && ls /dev/pts' /dev/null
	echo "$output"
	[[ $status -eq 0 && $output == *"/dev/pts/0"*"to the terminal"*"0"*ptmx* ]]
	run "$1" pty=true -- perl -e 'open(my $t, "<", "/dev/tty") and print "one without a session\n"'
	[[ $status -eq 0 && -z $output ]]
}

@test "script has a terminal of its own, as root and as an ordinary user" {
	[[ $(id -u) -ne 0 ]] || use_terminals jail
	use_terminals user_jail
}

@test "expect talks to a program through it" {
	need expect
	run user_jail pty=true -- expect -c 'spawn sh -c {read x </dev/tty; echo got $x}; send "hello\r"
		expect "got hello" {puts understood} timeout {exit 1}'
	[[ $status -eq 0 && $output == *understood* ]]
}

@test "pexpect talks to programs through it, waits for a prompt and sees their end" {
	# The one of the system: a jail shows no other python3 that may come first on the path.
	/usr/bin/python3 -c 'import pexpect' 2>/dev/null || need python3-pexpect
	local who
	for who in jail user_jail; do
		[[ $who == user_jail || $(id -u) -eq 0 ]] || continue
		run "$who" pty=true -- /usr/bin/python3 -c '
import pexpect
child = pexpect.spawn("/bin/sh", ["-c", "stty -echo; read x </dev/tty; echo got $x"], timeout=60)
child.sendline("hello")
child.expect("got hello")
python = pexpect.spawn("/usr/bin/python3 -q", timeout=60, dimensions=(24, 80))
for line, answer in ("6 * 7", "42"), ("import os; os.get_terminal_size()", "columns=80, lines=24"):
    python.expect_exact(">>> ")
    python.sendline(line)
    python.expect_exact(answer)
python.expect_exact(">>> ")
python.sendeof()
python.expect(pexpect.EOF)
python.close()
print("understood", python.exitstatus)'
		echo "$output"
		[[ $status -eq 0 && $output == "understood 0" ]]
	done
}

@test "a terminal of its own takes no keystrokes from a program, nor another line discipline" {
	# TIOCSTI, with bit 32 too; TIOCLINUX, TIOCCONS, TIOCSETD, TIOCEXCL: at both ends.
	run jail pty=true -- perl -e '
		$SIG{HUP} = "IGNORE"; # it becomes the own terminal, which goes with this program
		my ($unlocked, $n) = (pack("i", 0), pack("i", 0));
		open(my $m, "+<", "/dev/ptmx") or die "no master: $!";
		ioctl($m, 0x40045431, $unlocked) && ioctl($m, 0x80045430, $n) or die "not a master: $!";
		open(my $s, "+<", "/dev/pts/" . unpack("i", $n)) or die "no slave: $!";
		for my $fd ($m, $s) {
			for my $call (0x5412, 0x100005412, 0x541c, 0x541d, 0x5423, 0x540c) {
				my $what = pack("i", 1);
				my $got = syscall(16, fileno($fd), $call, $what);
				printf "%x let through\n", $call if $got >= 0 || !$!{EPERM};
			}
		}'
	echo "$output"
	[[ $status -eq 0 && -z $output ]]
}

@test "terminals of the host and of other jails are not there" {
	host_pty
	local who
	for who in jail user_jail; do
		run "$who" pty=true -- sh -c 'ls -A /dev/pts; cat "$0" </dev/null; echo x >"$0"' "$HOST_PTY"
		[[ ${lines[0]} == ptmx && $output == *"$HOST_PTY"*"$HOST_PTY"* && $output != *$'\nx' ]]
		run "$who" pty=true -- sh -c 'for d in tty0 tty1 console ttyS0 vcs; do [ ! -e /dev/$d ] || echo "$d"; done'
		[[ $status -eq 0 && -z $output ]]
	done
	jail pty=true -- perl -e 'open(my $m, "+<", "/dev/ptmx") or die; open(my $r, ">", "ready"); close $r
		; select undef, undef, undef, 0.05 while -e "ready"' &
	local holder=$!
	eventually test -e "$WS/ready"
	run env "$AGENT6_BIN/agent6-jail" --policy <(policy pty=true -- ls -A /dev/pts)
	rm "$WS/ready"
	wait "$holder"
	[[ $status -eq 0 && $output == ptmx ]]
}

@test "a terminal of the host cannot be made the session's own" {
	host_pty
	local fd
	for fd in 0 1 2; do
		run -125 bash -c "exec \"\$0\" --policy \"\$1\" $fd<>\"\$2\"" "$AGENT6_BIN/agent6-jail" \
			<(policy pty=true -- touch made) "$HOST_PTY"
		[[ ! -e $WS/made ]]
	done
	# Open for writing only it is taken by nobody.
	run bash -c 'exec "$0" --policy "$1" 2>"$2"' "$AGENT6_BIN/agent6-jail" <(policy pty=true -- perl -e '
		print syscall(16, 2, 0x540e, 0) >= 0 ? "taken" : $!{EPERM} ? "refused" : "$!"') "$HOST_PTY"
	[[ $status -eq 0 && $output == refused ]]
	# Without terminals of its own a command may not even ask, as before.
	run bash -c 'exec "$0" --policy "$1" <>"$2"' "$AGENT6_BIN/agent6-jail" <(policy -- perl -e '
		print syscall(16, 0, 0x540e, 0) >= 0 ? "taken" : $!{EPERM} ? "refused" : "$!"') "$HOST_PTY"
	[[ $status -eq 0 && $output == refused ]]
}

@test "the host's terminals cannot be used up" {
	run jail pty=true -- perl -e 'my @all; while (open(my $m, "+<", "/dev/ptmx")) { push @all, $m } print scalar @all'
	[[ $status -eq 0 && $output -le 64 && $output -gt 0 ]]
}

@test "hardened has none of its own, and refuses" {
	need_hardened
	run user_jail 'profile="hardened"' pty=true -- touch made
	[[ $status -eq 125 && $output == *'"pty" needs strict'* && ! -e $WS/made ]]
}
