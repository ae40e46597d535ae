/*
 * The table of programs: names, level, the options that change it, and who looks at the rest. A
 * program that is not here is `write`.
 *
 * A row's options are tokens. `-x`, `--long` and `-word` keep the level; a trailing = says that a
 * value follows; `*` is every other option, and without it an option that is not listed is
 * destructive. A mark in front raises the level: w: write, d: destructive, p: privileged,
 * n: network. R: and B: lower it to read_only and build. c: the value is code, f: a file of code,
 * o: a file that is written, P: a file or directory of the workspace. A marked token without a dash
 * matches any word. `+`: options end at the first operand. `~`: `--` does not end them. skip1: one
 * operand stands before what runs.
 *
 * A program with verbs has several rows. The first one, whose verbs are "", reads the options before
 * the verb and gives the level without one; the others are tried in their order, and the last one
 * takes every verb.
 */
#ifndef POLICY_PROGRAMS_TABLE_H
#define POLICY_PROGRAMS_TABLE_H
#include "agent/policy/judge.h"

#define NPM  "npm"
#define YARN "yarn pnpm"
#define NPM_DANGERS                                                                                \
	"--text --no --no-* d:--script-shell d:--node-options d:--shell d:--git= d:--editor "      \
	"d:--viewer d:--browser d:--onload-script d:--node-gyp d:--python d:--init-module "        \
	"d:*--globalconfig* d:*--config.* d:*script-shell* d:*yarnPath* d:*yarn-path* "
#define GIT_SHOWS                                                                                  \
	"--text --exclude* d:--ext-diff d:--textconv d:--show-signature d:*%G* d:*%+G* d:*%-G* "   \
	"d:*%_G* d:*%(signature* d:--output d:--upload-pack d:--receive-pack d:ext::* "

static const struct rule programs[] = {
	/* --- programs without an option that matters ------------------------------------- */
	{"ls cat head tail grep egrep fgrep wc stat which pwd echo uname df du ps top printenv id "
	 "whoami cmp comm cut tr nl tac rev fold fmt join paste column expand unexpand realpath "
	 "readlink basename dirname jq od hexdump hd strings sha1sum sha224sum sha256sum sha384sum "
	 "sha512sum md5sum b2sum cksum sum true false seq sleep nproc uptime free lscpu lsblk lsof "
	 "pgrep getconf locale tty arch groups users who w vmstat readelf addr2line tsort factor "
	 "expr bc cal zgrep look more tput numfmt pr tokei shellcheck pstree yes whereis col "
	 "uuidgen "
	 "netstat dpkg-query cd : shopt shift return exit break continue type umask ulimit pushd "
	 "popd dirs times fg bg disown suspend logout caller unalias",
		NULL, LEVEL_READ_ONLY, "*", NULL},
	{"mkdir touch nano code mktemp mkfifo csplit", NULL, LEVEL_WRITE, "*", NULL},
	{"strip", NULL, LEVEL_WRITE, "d:-plugin d:--plugin d:@* *", NULL},
	{"cp mv ln install", NULL, LEVEL_WRITE, "o:-t= o:--target-directory= *", run_copy},
	{"ldd", NULL, LEVEL_WRITE, "*", NULL},
	{"alias enable rmdir", NULL, LEVEL_DESTRUCTIVE, "*", NULL},
	{"rm unlink", NULL, LEVEL_DESTRUCTIVE, "*", run_remove},
	{"shred truncate", NULL, LEVEL_DESTRUCTIVE, "*", run_written},
	{"chmod chown chgrp chattr setfacl", NULL, LEVEL_DESTRUCTIVE, "*", run_recursive},
	{"dd", NULL, LEVEL_READ_ONLY, "*", run_dd},
	{"tee", NULL, LEVEL_READ_ONLY, "*", run_written},
	{"kill pkill killall", NULL, LEVEL_DESTRUCTIVE, "R:-l R:--list *", NULL},
	{"mkfs mke2fs mkswap fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard shutdown "
	 "reboot "
	 "halt poweroff telinit",
		NULL, LEVEL_DENIED, "*", NULL},
	{"init", "", LEVEL_PRIVILEGED, "*", NULL},
	{"init", "0 6", LEVEL_DENIED, "*", NULL},
	{"init", "*", LEVEL_PRIVILEGED, "*", NULL},
	{"mount", "", LEVEL_READ_ONLY, "+", NULL},
	{"mount", "*", LEVEL_PRIVILEGED, "*", NULL},
	{"umount insmod modprobe rmmod iptables nft sysctl useradd usermod passwd visudo setcap "
	 "service "
	 "apt-get dnf yum zypper pacman apk snap ip6tables ufw newgrp ifconfig adduser userdel "
	 "groupadd groupdel groupmod chpasswd setenforce swapon swapoff mknod kexec pivot_root "
	 "capsh "
	 "bwrap systemd-nspawn update-alternatives docker-compose nerdctl timedatectl loginctl "
	 "machinectl bpftool cryptsetup nixos-rebuild losetup",
		NULL, LEVEL_PRIVILEGED, "*", NULL},

	/* --- programs that read -------------------------------------------------------------- */
	{"file", NULL, LEVEL_READ_ONLY, "w:-C w:--compile -e= -F= -f= -m= -P= *", NULL},
	{"yq", NULL, LEVEL_READ_ONLY,
		"w:-i w:--inplace w:-s w:--split-exp d:--security-enable-system-operator *", NULL},
	{"getent", NULL, LEVEL_READ_ONLY, "n:*hosts* *", NULL},
	{"nm size objdump ranlib", NULL, LEVEL_READ_ONLY, "d:-plugin d:--plugin d:@* *", NULL},
	{"ar ld as", NULL, LEVEL_BUILD, "d:-plugin d:--plugin d:@* *", NULL},
	{"shuf", NULL, LEVEL_READ_ONLY, "o:-o= o:--output= -i= -n= *", NULL},
	{"cloc", NULL, LEVEL_READ_ONLY, "d:--extract-with *", NULL},
	{"xmllint", NULL, LEVEL_READ_ONLY, "o:--output= w:--shell n:*://* *", NULL},
	{"ss", NULL, LEVEL_READ_ONLY, "d:-K d:--kill w:-D w:--diag -A= -F= -f= *", NULL},
	{"journalctl", NULL, LEVEL_READ_ONLY,
		"w:--cursor-file p:--vacuum-size p:--vacuum-time p:--vacuum-files p:--rotate "
		"p:--flush "
		"p:--sync p:--relinquish-var p:--smart-relinquish-var p:--setup-keys "
		"p:--update-catalog *",
		NULL},
	{"dmesg", NULL, LEVEL_READ_ONLY,
		"p:-C p:-c p:-D p:-E p:-n p:--clear p:--read-clear p:--console* -F= -f= -l= -s= *",
		NULL},
	{"less", NULL, LEVEL_READ_ONLY,
		"d:--lesskey* d:-k d:+* o:-o= o:-O= o:--log-file= o:--LOG-FILE= -b= -D= -h= -j= "
		"-P= "
		"-p= -t= -T= -x= -y= -z= *",
		NULL},
	{"man", NULL, LEVEL_READ_ONLY,
		"d:--pager d:-P d:-H d:--html d:-C d:--config-file -E= -e= -L= -M= -m= -p= -R= -r= "
		"-S= "
		"-s= *",
		NULL},
	{"rg", NULL, LEVEL_READ_ONLY, "d:--pre d:--hostname-bin *", NULL},
	{"fd fdfind", NULL, LEVEL_READ_ONLY, "d:-x d:-X d:--exec d:--exec-batch *", NULL},
	{"ag", NULL, LEVEL_READ_ONLY, "d:--pager *", NULL},
	{"tree", NULL, LEVEL_READ_ONLY, "d:-o -H= -I= -L= -P= -T= *", NULL},
	{"diff", NULL, LEVEL_READ_ONLY, "d:--diff-program *", NULL},
	{"diffstat", NULL, LEVEL_READ_ONLY, "o:-o= -D= -e= -f= -n= -N= -p= -r= -S= -w= *", NULL},
	{"pkg-config pkgconf", NULL, LEVEL_READ_ONLY, "o:--log-file= *", NULL},
	{"date", NULL, LEVEL_READ_ONLY,
		"p:-s p:--set p:[!-+]* -d= --date= -f= --file= -r= --reference= *", NULL},
	{"uniq", NULL, LEVEL_READ_ONLY, "-f= -s= -w= --skip-fields= --skip-chars= --check-chars= *",
		run_second_file},
	{"xxd", NULL, LEVEL_READ_ONLY, "-c= -l= -o= -g= -R= -s= *", run_decoder},
	{"test [ [[ let unset read getopts wait", NULL, LEVEL_READ_ONLY, "*", run_names},
	{"set", NULL, LEVEL_READ_ONLY, "*", run_set},
	{"hash", NULL, LEVEL_READ_ONLY, "d:-p *", run_names},
	{"mapfile readarray complete compgen", NULL, LEVEL_READ_ONLY, "d:-C d:-F *", run_names},
	{"bind jobs", NULL, LEVEL_READ_ONLY, "d:-x *", run_names},
	{"fc history", NULL, LEVEL_READ_ONLY, "d:-e d:-s w:-w w:-a *", run_names},
	{"printf", NULL, LEVEL_READ_ONLY, "-v= *", run_names},
	{"export declare typeset local readonly", NULL, LEVEL_READ_ONLY, "*", run_names},
	{"sort", NULL, LEVEL_READ_ONLY, "o:-o= o:--output= d:--compress-program -k= -S= -t= -T= *",
		NULL},
	{"split", NULL, LEVEL_WRITE, "d:--filter *", NULL},
	{"base64 base32 basenc", NULL, LEVEL_READ_ONLY, "-w= *", run_decoder},
	{"gunzip zcat gzip xz xzcat unxz bzip2 bunzip2 bzcat zstd zstdcat unzstd", NULL,
		LEVEL_READ_ONLY,
		"d:--rm o:-o= w:--output-dir-flat w:--output-dir-mirror w:--trace w:--train* -D= "
		"-M= "
		"-T= -B= -S= *",
		run_decoder},
	{"openssl", NULL, LEVEL_READ_ONLY,
		"d:engine d:-engine* d:-provider* d:-config d:-load d:*engine:* d:*pkcs11:* w:-out "
		"w:-keyout w:-outdir w:-writerand w:-CAcreateserial w:-msg w:-signerout "
		"w:-certsout "
		"w:-sess_out w:-gendelta w:ca w:rehash n:s_client n:s_server n:s_time n:ocsp n:cmp "
		"n:*http:* *",
		run_decoder},
	{"tar", NULL, LEVEL_READ_ONLY,
		"d:--checkpoint-action d:--to-command d:--use-compress-program d:--info-script "
		"d:--new-volume-script d:--rsh-command d:--rmt-command d:--index-file "
		"d:--absolute-names d:--remove-files d:--recursive-unlink d:--delete d:-I d:-F "
		"d:-P "
		"n:[a-z@]*:* n:--file=*:* *",
		run_tar},
	{"zip 7z cpio", NULL, LEVEL_WRITE,
		"d:-m d:--move d:-d d:--delete d:-sdel d:d d:-*TT* d:--unzip-command d:-I "
		"d:--rsh-command -b= -n= -t= -x= -i= *",
		run_written},
	{"unzip", NULL, LEVEL_WRITE, "R:-l R:-Z R:-p R:-c R:-t R:-v R:-z -d= -x= -P= -O= -I= *",
		NULL},
	{"ip", "", LEVEL_READ_ONLY,
		"+ -4 -6 -a -br -brief -d -o -s -j -p -c -f= -family= p:-b* p:-n", NULL},
	{"ip", "*", LEVEL_READ_ONLY, "p:-b* *", run_ip},
	{"dpkg", NULL, LEVEL_PRIVILEGED,
		"R:-l R:-L R:-s R:-S R:--list R:--listfiles R:--status R:--search "
		"R:--print-architecture",
		NULL},
	{"apt apt-cache", "", LEVEL_READ_ONLY, "+", NULL},
	{"apt apt-cache", "list show search policy depends rdepends", LEVEL_READ_ONLY,
		"p:-o p:-c p:--option p:--config-file *", NULL},
	{"apt apt-cache", "*", LEVEL_PRIVILEGED, "*", NULL},
	{"crontab", NULL, LEVEL_DESTRUCTIVE, "R:-l", run_input},
	{"hostname", NULL, LEVEL_READ_ONLY,
		"-a -d -f -i -I -s -A -y p:-F p:--file p:-b p:--boot p:[!-]*", NULL},

	/* --- programs that run others -------------------------------------------------------- */
	{"nice", NULL, LEVEL_READ_ONLY, "+ -n= --adjustment= -[0-9]*", run_rest},
	{"ionice", NULL, LEVEL_READ_ONLY,
		"+ -t -c= -n= -p= -P= -u= --ignore --class= --classdata=", run_rest},
	{"chrt", NULL, LEVEL_READ_ONLY,
		"+ skip1 -a -b -d -e -f -i -m -o w:-p -r -R -v -T= -P= -D= --sched-runtime= "
		"--sched-period= "
		"--sched-deadline= --all-tasks --batch --deadline --fifo --idle --other --rr",
		run_rest},
	{"taskset", NULL, LEVEL_READ_ONLY, "+ skip1 -a -p -c --all-tasks --pid --cpu-list",
		run_rest},
	{"nohup eatmydata catchsegv builtin linux64", NULL, LEVEL_READ_ONLY, "+", run_rest},
	{"chronic unbuffer", NULL, LEVEL_READ_ONLY, "+ -e -v -p", run_rest},
	{"setsid", NULL, LEVEL_READ_ONLY, "+ -c -f -w --ctty --fork --wait", run_rest},
	{"stdbuf", NULL, LEVEL_READ_ONLY, "+ -i= -o= -e= --input= --output= --error=", run_rest},
	{"timeout", NULL, LEVEL_READ_ONLY,
		"+ skip1 -f -p -v -k= -s= --preserve-status --foreground --verbose --kill-after= "
		"--signal=",
		run_rest},
	{"time", NULL, LEVEL_READ_ONLY, "+ -a -p -q -v -f= --format= o:-o= o:--output=", run_rest},
	{"watch", NULL, LEVEL_READ_ONLY,
		"+ -b -c -C -d -e -g -p -r -t -w -x -n= -q= -s= --beep --color --differences "
		"--errexit "
		"--no-title --exec --interval=",
		run_strings},
	{"flock", NULL, LEVEL_READ_ONLY,
		"+ skip1 -s -x -e -u -n -o -F -w= -E= --shared --exclusive --unlock --nonblock "
		"--nb "
		"--close --no-fork --verbose --wait= --timeout= --conflict-exit-code= c:-c= "
		"c:--command=",
		run_rest},
	{"prlimit", NULL, LEVEL_READ_ONLY,
		"+ --core --data --nice --fsize --nofile --stack --cpu --nproc --as --noheadings "
		"--raw "
		"--verbose -p= --pid= --output=",
		run_rest},
	{"setarch", NULL, LEVEL_READ_ONLY,
		"+ skip1 -B -F -I -L -R -S -T -X -Z -3 -v --addr-no-randomize", run_rest},
	{"strace", NULL, LEVEL_READ_ONLY,
		"+ -A -C -c -d -f -F -h -i -k -n -q -r -t -tt -T -v -x -y -z -Z -a= -b= -e= -I= "
		"-p= -P= "
		"-s= -S= -u= -U= -X= d:-E= o:-o= o:--output= d:--env= --trace= --follow-forks "
		"--string-limit= --summary",
		run_rest},
	{"ltrace", NULL, LEVEL_READ_ONLY,
		"+ -b -c -C -f -i -L -r -S -t -T -a= -A= -e= -l= -n= -p= -s= -u= -x= o:-o= "
		"o:--output= "
		"w:-F= w:--config=",
		run_rest},
	{"valgrind", NULL, LEVEL_READ_ONLY,
		"+ -q -v --tool= --leak-check= --show-leak-kinds= --track-origins= "
		"--error-exitcode= "
		"--num-callers= --suppressions= --trace-children= --track-fds= --quiet --verbose "
		"o:--log-file= o:--xml-file= n:--log-socket",
		run_rest},
	{"perf", NULL, LEVEL_READ_ONLY, "+ skip1", run_rest},
	{"xvfb-run", NULL, LEVEL_READ_ONLY,
		"+ -a -l -e= -f= -n= -p= -s= -w= --auto-servernum --error-file= --auth-file= "
		"--server-num= --server-args= --wait=",
		run_rest},
	{"fakeroot", NULL, LEVEL_READ_ONLY,
		"+ -u -i= w:-s= -b= --unknown-is-real d:-l= d:--lib= d:-f= d:--faked=", run_rest},
	{"dbus-run-session faketime", NULL, LEVEL_READ_ONLY, "+", run_rest},
	{"ccache", NULL, LEVEL_READ_ONLY,
		"+ -s -x -V -h --show-stats --show-config w:-C w:-c w:-F w:-M w:-z w:--clear "
		"w:--cleanup "
		"w:--zero-stats",
		run_rest},
	{"rlwrap", NULL, LEVEL_READ_ONLY,
		"+ -a -c -i -r -R -n -N -f= -b= -C= -D= -H= -s= o:-l= o:--logfile=", run_rest},
	{"command", NULL, LEVEL_READ_ONLY, "+ -p -v -V", run_rest},
	{"exec", NULL, LEVEL_READ_ONLY, "+ -c -l -a=", run_rest},
	{"parallel", NULL, LEVEL_READ_ONLY,
		"+ -0 -k -m -q -r -u -v -X -t -x -j= -a= -I= -N= -L= -n= -s= -P= -E= -d= -C= -w= "
		"--keep-order --no-notice --will-cite --bar --eta --progress --dry-run --null "
		"--group "
		"--line-buffer --lb --tag --jobs= --colsep= --arg-file= --delimiter= --retries= "
		"--timeout= --tagstring= --halt= --delay= w:--joblog= w:--results= n:-S= "
		"n:--sshlogin= "
		"n:--sshloginfile= n:--slf=",
		run_parallel},
	{"env", NULL, LEVEL_READ_ONLY,
		"+ -i -0 -v -u= -C= -a= c:-S= c:--split-string= --ignore-environment --null "
		"--debug "
		"--unset= --chdir= --argv0=",
		run_env},
	{"xargs", NULL, LEVEL_READ_ONLY,
		"+ -0 -e -i -l -o -p -r -t -x -a= -d= -E= -I= -L= -n= -P= -s= --null --eof "
		"--replace "
		"--interactive --no-run-if-empty --verbose --exit --arg-file= --delimiter= "
		"--max-lines= "
		"--max-args= --max-procs= --max-chars=",
		run_xargs},
	{"find", NULL, LEVEL_READ_ONLY, "*", run_find},
	{"busybox toybox", NULL, LEVEL_READ_ONLY, "+", run_rest},
	{"sh bash dash zsh ksh fish ash rbash mksh lksh yash posh csh tcsh", NULL, LEVEL_READ_ONLY,
		"+ *", run_shell},
	{"eval", NULL, LEVEL_READ_ONLY, "+ *", run_eval},
	{"source .", NULL, LEVEL_READ_ONLY, "+ *", run_source},
	{"trap", NULL, LEVEL_READ_ONLY, "+ *", run_trap},
	{"at batch", NULL, LEVEL_DESTRUCTIVE, "*", run_input},
	{"script", NULL, LEVEL_WRITE,
		"-q -e -a -f -E= -I= -O= -B= -m= -T= -o= c:-c= c:--command= ~", run_script},
	{"sg su", NULL, LEVEL_PRIVILEGED, "-g= -G= -u= -s= -w= -T= -l c:-c= c:--command= *",
		run_script},
	{"tmux screen hyperfine concurrently", NULL, LEVEL_WRITE, "*", run_strings},
	{"sudo", NULL, LEVEL_PRIVILEGED,
		"+ -A -b -B -E -e -H -i -K -k -l -n -P -S -s -V -v -C= -D= -g= -h= -p= -r= -R= -t= "
		"-U= "
		"-u= --user= --group= --preserve-env --non-interactive --stdin --login --set-home",
		run_env},
	{"doas", NULL, LEVEL_PRIVILEGED, "+ -n -s -L -a= -C= -u=", run_env},
	{"pkexec run0", NULL, LEVEL_PRIVILEGED, "+ -u= --user= --disable-internal-agent --keep-cwd",
		run_env},
	{"runuser", NULL, LEVEL_PRIVILEGED,
		"+ -m -p -f -l -P -u= -w= -g= -G= -s= --user= --group= c:-c= --", run_env},
	{"setpriv chroot nsenter unshare systemd-run start-stop-daemon", NULL, LEVEL_PRIVILEGED,
		"+", run_rest},
	{"ld-linux-x86-64.so.2 ld.so ssh-agent dbus-launch numactl sshpass ifne systemd-inhibit "
	 "systemd-cat entr tini dumb-init gosu daemonize cross-env linux32 i386 i686 x86_64 "
	 "uname26 "
	 "and or not begin noglob nocorrect",
		NULL, LEVEL_WRITE, "+", run_rest},

	/* --- programs that are given code ---------------------------------------------------- */
	{"sed", NULL, LEVEL_READ_ONLY,
		"-n -E -r -s -u -z -l= --line-length= --quiet --silent --regexp-extended --posix "
		"--debug "
		"--null-data --separate --unbuffered --expression= w:-i* w:--in-place* w:--i* "
		"c:-e= "
		"c:--expression= f:-f= f:--file=",
		run_sed},
	{"awk gawk mawk nawk", NULL, LEVEL_READ_ONLY,
		"-v= -F= --assign= --field-separator= d:--debug* d:-D* c:-e= c:--source= w:-o* "
		"w:--pretty-print* w:-p* "
		"w:--profile* w:-d* w:--dump-variables* w:-i= w:--include= f:-f= f:--file= f:-E= "
		"f:--exec= -n -P -S -b -c",
		run_awk},
	{"python pypy", NULL, LEVEL_READ_ONLY,
		"+ -B -d -E -i -I -O -P -q -R -s -S -u -v -x -W= -X= -V m:-m= C:-c=", run_python},
	{"perl", NULL, LEVEL_READ_ONLY,
		"+ -a -c -f -l -n -p -s -S -t -T -u -U -w -W -X -0 -7 w:-i w:-i.* -I= -M[A-Z]* "
		"-m[A-Z]* -F= -C* -V* c:-e= "
		"c:-E=",
		run_code},
	{"ruby", NULL, LEVEL_READ_ONLY,
		"+ -a -c -d -l -n -p -s -S -v -w -0 -7 w:-i w:-i.* -C= -E= -I= -r= -F= -K* -T* -W* "
		"c:-e=",
		run_code},
	{"node nodejs", NULL, LEVEL_READ_ONLY,
		"+ -r= -C= -i -c c:-e= c:-p= c:--eval= c:--print= -pe --check --test --no-test "
		"--no-warnings "
		"--require= --import= --input-type= --experimental-*",
		run_code},
	{"php", NULL, LEVEL_READ_ONLY,
		"+ -a -n -q -s -v -w -l -c= -d= -f= -F= -S= -z= -t= c:-r= c:-B= c:-R= c:-E=",
		run_code},
	{"lua luajit", NULL, LEVEL_READ_ONLY, "+ -E -i -v -l= c:-e=", run_code},
	{"expect", NULL, LEVEL_READ_ONLY, "+ -d -D -n -N -i -b -f= C:-c=", run_code},
	{"gnuplot Rscript osascript", NULL, LEVEL_READ_ONLY, "+ c:-e= -p --vanilla --slave",
		run_code},
	{"julia", NULL, LEVEL_READ_ONLY, "+ c:-e= c:-E= --project*", run_code},
	{"R octave guile tclsh", NULL, LEVEL_READ_ONLY, "+ c:-e= c:-c= c:--eval= -f= --test",
		run_code},
	{"m4 dc", NULL, LEVEL_READ_ONLY, "+ c:-e= c:--expression= -f= -D* -U* -I*", run_code},
	{"ed", NULL, LEVEL_WRITE, "*", run_code},
	{"ex vim vi nvim emacs view vimdiff rvim rview gvim vim.basic vim.tiny vim.nox", NULL,
		LEVEL_WRITE, "d:+* d:-c d:-S d:--cmd d:-s d:--eval d:-e d:-E d:-es n:*://* *",
		run_input},
	{"sqlite3", NULL, LEVEL_WRITE, "*", run_statement},
	{"psql mysql mariadb", NULL, LEVEL_NETWORK, "d:--pager d:--plugin-dir d:--init-command *",
		run_statement},
	{"gdb", NULL, LEVEL_WRITE,
		"d:-command* d:-x* -batch -q -quiet -nx -p= -c= -args --args --batch --quiet "
		"c:-ex= c:--ex= c:-eval-command= "
		"c:--eval-command=",
		run_gdb},
	{"lldb", NULL, LEVEL_WRITE, "-b -p= -n= -f= -c=", run_gdb},
	{"make gmake ninja scons", NULL, LEVEL_BUILD,
		"P:-f= P:-C= P:--file= P:--makefile= P:--directory= -j= -I= -l= -o= -W= d:-E= "
		"d:--eval *",
		run_make},
	{"cmake", NULL, LEVEL_BUILD,
		"-S= -B= -G= -D* -U* -j= --build= --target= --config= --install= w:-P* w:-E* *",
		run_executed},

	/* --- compilers and tests ------------------------------------------------------------- */
	{"gcc g++ cc c++ clang clang++ cpp", NULL, LEVEL_BUILD,
		"d:-wrapper d:-fplugin d:-fplugin=* d:-fpass-plugin* d:-plugin d:*,-plugin* "
		"d:*,--plugin* d:*,@* d:@* "
		"d:-specs* d:-B* d:--prefix d:--config d:-load d:--ld-path d:-fuse-ld=[/.]* *",
		NULL},
	{"rustc", NULL, LEVEL_BUILD, "d:*linker=* d:@* *", NULL},
	{"javac", NULL, LEVEL_BUILD, "d:*-J-* *", NULL},
	{"ghc", NULL, LEVEL_BUILD, "d:-e d:*-pgm* d:*-fplugin* d:@* *", NULL},
	{"pytest", NULL, LEVEL_BUILD, "d:*--basetemp* *", NULL},
	{"tox nox", NULL, LEVEL_BUILD, "d:-x d:--override d:exec d:devenv *", NULL},
	{"pylint", NULL, LEVEL_BUILD, "d:--init-hook *", NULL},
	{"mypy", NULL, LEVEL_BUILD, "d:--python-executable *", NULL},
	{"meson", NULL, LEVEL_BUILD, "d:devenv d:foreach d:--wrapper d:--gdb-path *", NULL},
	{"bazel", NULL, LEVEL_BUILD,
		"d:*--run_under* d:*--workspace_status_command* d:*--shell_executable* *", NULL},
	{"mvn", NULL, LEVEL_BUILD,
		"d:*exec:* d:*-Dexec.* d:*exec-maven* d:*antrun:* d:*groovy* d:*-Dmaven.ext* "
		"n:deploy "
		"n:site-deploy n:*:deploy* n:*release:* n:*wagon:* n:*scm:* w:*versions:* *",
		NULL},
	{"gradle", NULL, LEVEL_BUILD,
		"n:publish n:*:publish* n:*publishAll* n:uploadArchives n:closeAndRelease w:-I "
		"w:--init-script *",
		NULL},
	{"rake", NULL, LEVEL_BUILD,
		"d:-e d:-p d:-E d:--execute d:--execute-print d:--execute-continue d:*db:drop* "
		"d:*db:reset* d:*db:purge* d:*:reset* d:*:truncate* d:*schema:load* *",
		NULL},
	{"just", NULL, LEVEL_BUILD,
		"d:-c d:--command d:--shell d:--shell-arg d:--chooser d:-e d:--edit w:-f "
		"w:--justfile "
		"w:--init w:--fmt *",
		NULL},
	{"prove", NULL, LEVEL_BUILD, "d:-e d:--exec -a= -I= -j= -M= -P= *", NULL},
	{"ctest", NULL, LEVEL_BUILD, "w:-S w:-SP w:--script w:--build-and-test *", NULL},
	{"phpunit", NULL, LEVEL_BUILD, "w:--bootstrap w:--prepend w:--printer *", NULL},
	{"clang-tidy golangci-lint", NULL, LEVEL_BUILD,
		"d:-load* d:*-fplugin=* w:*-fix* w:--export-fixes w:fmt w:custom *", NULL},
	{"rollup", NULL, LEVEL_BUILD, "d:-p d:--plugin d:--configPlugin *", NULL},
	{"actionlint", NULL, LEVEL_BUILD, "d:*-shellcheck* d:*-pyflakes* *", NULL},
	{"cppcheck", NULL, LEVEL_BUILD, "d:*--addon-python* d:*--clang* d:--exename *", NULL},
	{"turbo", NULL, LEVEL_BUILD, "n:login n:link n:logout *", NULL},
	{"rubocop", NULL, LEVEL_BUILD,
		"w:*--auto* w:-a w:-A w:-x w:-o w:--out w:--fix-layout w:--regenerate* w:-r "
		"w:--require "
		"w:--plugin w:--init w:--start-server w:--server *",
		NULL},
	{"gofmt", NULL, LEVEL_BUILD, "w:-w -r= *", NULL},
	{"eslint", NULL, LEVEL_BUILD,
		"w:--fix* o:-o= o:--output-file= w:*--cache-location* w:*--cache-file* *", NULL},
	{"vite webpack staticcheck luacheck yamllint hadolint actionlint pyright cpack tsc flake8 "
	 "jest mocha "
	 "vitest swiftc bats rspec",
		NULL, LEVEL_BUILD, "*", NULL},
	{"patch", NULL, LEVEL_WRITE,
		"-s -f -N -R --silent B:--dry-run o:-o= o:--output= -i= -d= -p= --input= *", NULL},
	{"clang-format", NULL, LEVEL_WRITE, "B:-n B:--dry-run w:-i w:--i w:@* *", NULL},
	{"black isort", NULL, LEVEL_WRITE,
		"-q --quiet -v --verbose B:--check B:--check-only B:--diff B:-c --config= *", NULL},
	{"prettier", NULL, LEVEL_WRITE,
		"--cache B:--check B:-c B:-l B:--list-different w:--write w:-w --cache "
		"w:--cache-location w:--cache-file *",
		NULL},
	{"ruff", "", LEVEL_BUILD, "+ -q -v", NULL},
	{"ruff", "format", LEVEL_WRITE, "-q -v --quiet B:--check B:--diff w:@* *", NULL},
	{"ruff", "*", LEVEL_BUILD,
		"w:*--fix* w:--add-noqa o:-o= o:--output-file= --output-format= w:@* *", NULL},

	/* --- tools with verbs ---------------------------------------------------------------- */
	{"git", "", LEVEL_READ_ONLY,
		"+ --no-pager --paginate -p --bare --no-replace-objects --literal-pathspecs "
		"--no-optional-locks -c= -C= --git-dir= --work-tree= --namespace= --config-env= "
		"--exec-path",
		run_git},
	{"git",
		"status log diff show rev-parse ls-files blame annotate describe shortlog ls-tree "
		"rev-list name-rev merge-base for-each-ref show-ref show-branch var version "
		"whatchanged "
		"count-objects check-ignore check-attr diff-tree diff-index diff-files cherry "
		"range-diff",
		LEVEL_READ_ONLY, GIT_SHOWS "*", NULL},
	{"git", "cat-file", LEVEL_READ_ONLY, GIT_SHOWS "d:--filters *", NULL},
	{"git", "grep", LEVEL_READ_ONLY,
		GIT_SHOWS "d:-O d:--open-files-in-pager -A= -B= -C= -e= -f= -m= *", NULL},
	{"git", "help", LEVEL_READ_ONLY, "d:-w d:--web d:-i d:--info *", NULL},
	{"git", "fsck", LEVEL_READ_ONLY, "w:--lost-found *", NULL},
	{"git", "reflog", LEVEL_READ_ONLY, GIT_SHOWS "d:expire d:delete d:drop *", NULL},
	{"git", "branch", LEVEL_READ_ONLY,
		"--list --all --remotes --show-current --sort= --format= --color* --no-color "
		"--column* "
		"--merged --no-merged --contains= --no-contains= --points-at= --verbose -a -r -v "
		"-vv "
		"-l w:-u= w:--set-upstream-to w:--unset-upstream w:--edit-description w:--copy "
		"w:--move "
		"w:-m w:-c",
		run_git},
	{"git", "tag", LEVEL_READ_ONLY,
		"-l --list -n* --contains= --no-contains= --merged --no-merged --points-at= "
		"--sort= "
		"--format= --column* d:-f d:--force d:-d d:--delete w:-a w:-s w:-m= w:-F= w:-u= *",
		run_git},
	{"git", "remote", LEVEL_READ_ONLY,
		"-v --verbose get-url n:update n:show n:prune n:-f w:add w:remove w:rm w:rename "
		"w:set-* *",
		run_git},
	{"git", "stash", LEVEL_WRITE, "R:list R:show d:drop d:clear *", NULL},
	{"git", "config", LEVEL_READ_ONLY,
		"--get --get-all --get-regexp --list -l --global --local --system --worktree "
		"--show-origin "
		"--show-scope --name-only -z --null --includes --default= -f= -t= --file= --type= "
		"w:--unset* "
		"w:--add w:--replace-all w:--rename-section w:--remove-section w:set w:unset "
		"d:edit",
		run_git},
	{"git", "symbolic-ref", LEVEL_READ_ONLY, "w:-d w:--delete *", run_git},
	{"git", "worktree", LEVEL_WRITE, "R:list d:remove *", NULL},
	{"git", "notes", LEVEL_WRITE, "R:list R:show *", NULL},
	{"git", "sparse-checkout", LEVEL_WRITE, "R:list *", NULL},
	{"git", "bundle", LEVEL_WRITE, "R:verify *", NULL},
	{"git", "bisect", LEVEL_WRITE, "R:log d:run *", NULL},
	{"git", "submodule", LEVEL_NETWORK, "R:status d:foreach *", run_git},
	{"git", "clean", LEVEL_DESTRUCTIVE,
		"R:-n R:-nd R:-ndx R:-nfd R:--dry-run d:--no-dry-run d:-e *", NULL},
	{"git", "apply", LEVEL_WRITE,
		"R:--check R:--stat R:--numstat R:--summary w:--apply w:--no-* "
		"w:--build-fake-ancestor "
		"d:--unsafe-paths *",
		NULL},
	{"git", "checkout", LEVEL_WRITE,
		"~ d:. d:-- d:-f d:--force d:--ours d:--theirs d:--pathspec-from-file d:-B -b= -t "
		"-q "
		"--track --quiet --detach --orphan",
		run_git},
	{"git", "switch", LEVEL_WRITE,
		"d:-f d:--force d:--discard-changes d:-C d:--force-create -c= -q -t *", NULL},
	{"git", "commit", LEVEL_WRITE, "d:--amend -m= -F= -C= -c= -t= *", NULL},
	{"git", "gc", LEVEL_WRITE, "d:--prune *", NULL},
	{"git", "maintenance", LEVEL_WRITE, "d:start d:register *", NULL},
	{"git", "difftool", LEVEL_WRITE, "d:-x d:--extcmd -t= *", NULL},
	{"git", "archive", LEVEL_WRITE, "d:--exec n:--remote *", NULL},
	{"git", "init", LEVEL_WRITE, "d:--template *", NULL},
	{"git", "clone", LEVEL_WRITE,
		"d:-u= d:--upload-pack= d:--template= d:-c= d:--config= d:ext::* --branch= --depth= "
		"--origin= "
		"--reference= --jobs= -b= -o= -j= *",
		run_git},
	{"git", "push", LEVEL_NETWORK,
		"-o= d:-f d:--force d:--force-with-lease d:--mirror d:-d d:--delete d:--prune "
		"d:--exec "
		"d:--receive-pack d:ext::* d:+* d::?* *",
		run_git},
	{"git",
		"fetch pull ls-remote send-email svn lfs daemon send-pack fetch-pack request-pull "
		"p4 "
		"imap-send remote-http* remote-ftp* http-fetch http-push",
		LEVEL_NETWORK, "d:--upload-pack d:--receive-pack d:ext::* *", run_git},
	{"git",
		"rm reset restore rebase filter-branch filter-repo prune read-tree update-ref "
		"replace "
		"checkout-index remote-ext remote-fd",
		LEVEL_DESTRUCTIVE, "*", NULL},
	{"git", "*", LEVEL_WRITE, GIT_SHOWS "*", NULL},

	{"cargo", "", LEVEL_BUILD,
		"+ -q -v --quiet --verbose --offline --locked --frozen --list --color= --explain= "
		"-C= -Z= "
		"d:--config=",
		NULL},
	{"cargo", "publish login owner yank search install fetch", LEVEL_NETWORK, "*", NULL},
	{"cargo", "clean", LEVEL_DESTRUCTIVE, "*", NULL},
	{"cargo", "fmt", LEVEL_WRITE,
		"~ --all -q --quiet B:--check d:--config* w:--print-config w:--emit *", NULL},
	{"cargo", "add remove rm uninstall vendor new init fix", LEVEL_WRITE, "*", NULL},
	{"cargo", "metadata tree", LEVEL_READ_ONLY, "*", NULL},
	{"cargo", "*", LEVEL_BUILD, "~ d:*linker=* d:--config *", NULL},

	{"go", "", LEVEL_BUILD, "+ -C=", NULL},
	{"go", "get", LEVEL_NETWORK, "*", NULL},
	{"go", "clean", LEVEL_DESTRUCTIVE, "*", NULL},
	{"go", "fmt generate fix work telemetry", LEVEL_WRITE, "*", NULL},
	{"go", "mod", LEVEL_WRITE, "B:graph B:why B:verify *", NULL},
	{"go", "env", LEVEL_READ_ONLY, "d:-w d:-u *", NULL},
	{"go", "list version doc", LEVEL_READ_ONLY, "*", NULL},
	{"go", "run install", LEVEL_BUILD, "n:*@* d:-exec d:-toolexec d:-overlay *", NULL},
	{"go", "*", LEVEL_BUILD,
		"d:-exec d:-toolexec d:-overlay d:-vettool d:*-extld[^f]* d:*-extldflags*-[^s]* "
		"d:*-extldflags*-sp* d:*-extldflags*@* *",
		NULL},

	{NPM, "", LEVEL_BUILD,
		"+ -s -q -d -g -l -L -p -f -y --silent --quiet --verbose --no-audit --no-fund "
		"--offline "
		"--prefer-offline --global --json --long --parseable --yes --force --if-present "
		"--workspaces --include-workspace-root --ignore-scripts -w= -C= --prefix= "
		"--registry= "
		"--workspace= --loglevel= --userconfig= --cache= --tag=",
		NULL},
	{NPM, "install ci update rebuild i test t run build start add", LEVEL_BUILD,
		NPM_DANGERS "*", NULL},
	{NPM, "exec x", LEVEL_NETWORK, "+ -y --yes --no c:-c= c:--call= --package=", run_executed},
	{NPM, "outdated info show publish login adduser dlx create unpublish audit view search",
		LEVEL_NETWORK, NPM_DANGERS "*", NULL},
	{NPM, "ls list ll la explain why root prefix bin query help", LEVEL_READ_ONLY,
		NPM_DANGERS "*", NULL},
	{NPM, "*", LEVEL_WRITE, NPM_DANGERS "*", NULL},
	{YARN, "", LEVEL_BUILD,
		"+ -s -v -r -w -g --silent --verbose --offline --json --frozen-lockfile "
		"--recursive "
		"--ignore-scripts --parallel --if-present -C= -F= --dir= --cwd= --filter= "
		"--registry= "
		"--loglevel=",
		NULL},
	{YARN, "ls list why root bin", LEVEL_READ_ONLY, NPM_DANGERS "*", NULL},
	{YARN,
		"outdated info publish login logout x dlx create audit npm view search owner tag "
		"team",
		LEVEL_NETWORK, NPM_DANGERS "*", NULL},
	{YARN,
		"remove rm uninstall un link ln unlink init version pack cache config c set get "
		"plugin "
		"import policies patch patch-commit patch-remove global node env setup store "
		"deploy prune "
		"self-update autoclean unplug server workspace workspaces constraints stage "
		"upgrade-interactive generate-lock-entry check dedupe pkg approve-builds runtime "
		"completion help",
		LEVEL_WRITE, NPM_DANGERS "*", NULL},
	{YARN, "install add update up", LEVEL_BUILD, NPM_DANGERS "*", NULL},
	{YARN, "exec", LEVEL_BUILD, "+ --silent --recursive -r d:-c= d:--shell-mode", run_executed},
	{YARN, "*", LEVEL_BUILD, NPM_DANGERS "+ *", run_executed},
	{"npx bunx uvx", NULL, LEVEL_NETWORK,
		"+ B:--no-install B:--no -y -q --yes --quiet --package= -p= c:-c= c:--call= "
		"--prefix= "
		"--from= --with= --python=",
		run_executed},
	{"bun deno", "", LEVEL_WRITE, "+ --silent n:*://*", run_input},
	{"bun deno", "install i ci test build add a update check lint bench task cache doc info",
		LEVEL_BUILD, "n:*://* *", NULL},
	{"bun deno", "x create c publish outdated audit upgrade", LEVEL_NETWORK, "+ *",
		run_executed},
	{"bun deno", "run", LEVEL_BUILD, "+ --silent n:*://* w:*[-./:]*", run_executed},
	{"bun deno", "exec", LEVEL_WRITE, "*", run_strings},
	{"bun deno", "eval", LEVEL_WRITE, "-p --print -e", run_code},
	{"bun deno", "*", LEVEL_WRITE, "n:*://* *", NULL},
	{"pip pipx", "", LEVEL_WRITE,
		"+ -q -v -h --quiet --verbose --isolated --no-input --no-color --no-cache-dir "
		"--disable-pip-version-check --timeout= --proxy= --cert= --retries= --cache-dir= "
		"o:--log= "
		"w:--python=",
		NULL},
	{"pip pipx", "list show freeze check inspect help", LEVEL_READ_ONLY,
		"w:--python o:--log= *", NULL},
	{"pip pipx", "install wheel sync lock build tree export", LEVEL_BUILD,
		"n:*://* d:-i d:--index-url d:--extra-index-url w:--python *", NULL},
	{"pip pipx", "index publish download run tool", LEVEL_NETWORK, "*", NULL},
	{"pip pipx", "uninstall", LEVEL_DESTRUCTIVE, "*", NULL},
	{"pip pipx", "*", LEVEL_WRITE, "*", NULL},
	{"uv", "", LEVEL_WRITE,
		"+ -q -v -n --quiet --verbose --offline --no-cache --no-config --no-progress "
		"--directory= "
		"--project= --cache-dir= --color=",
		NULL},
	{"uv", "run", LEVEL_BUILD,
		"+ --frozen --locked --no-sync --isolated --offline --all-extras --no-dev --dev "
		"--exact "
		"--active --with= --extra= --group= --python= -p= --package= --directory= "
		"--project=",
		run_executed},
	{"uv", "pip", LEVEL_READ_ONLY, "+ *", run_pip},
	{"uv", "sync lock build tree export", LEVEL_BUILD,
		"n:*://* d:-i d:--index-url d:--extra-index-url *", NULL},
	{"uv", "publish tool", LEVEL_NETWORK, "*", NULL},
	{"uv", "*", LEVEL_WRITE, "*", NULL},
	{"poetry pipenv bundle conda", "", LEVEL_WRITE,
		"+ -q -n -v -h --quiet --no-interaction --verbose -C= -P= --directory=", NULL},
	{"poetry pipenv bundle conda", "run exec", LEVEL_BUILD,
		"+ -n= -p= -C= --name= --prefix= --no-capture-output --live-stream", run_executed},
	{"poetry pipenv bundle conda", "install update lock build sync show list info check graph",
		LEVEL_BUILD, "*", NULL},
	{"poetry pipenv bundle conda", "publish outdated search", LEVEL_NETWORK, "*", NULL},
	{"poetry pipenv bundle conda", "*", LEVEL_WRITE, "*", NULL},
	{"dotnet", "", LEVEL_BUILD, "+ -d --info --version --list-sdks --list-runtimes", NULL},
	{"dotnet", "build test run restore publish clean msbuild pack watch vstest list",
		LEVEL_BUILD, "*", NULL},
	{"dotnet", "nuget tool workload", LEVEL_NETWORK, "*", NULL},
	{"dotnet", "*", LEVEL_WRITE, "d:drop *", NULL},
	{"terraform tofu", "", LEVEL_READ_ONLY, "+ -chdir=", NULL},
	{"terraform tofu", "version help", LEVEL_READ_ONLY, "*", NULL},
	{"terraform tofu", "validate", LEVEL_BUILD, "*", NULL},
	{"terraform tofu", "fmt", LEVEL_WRITE, "*", NULL},
	{"terraform tofu", "plan init show output providers", LEVEL_NETWORK, "d:-destroy *", NULL},
	{"terraform tofu", "*", LEVEL_NETWORK, "*", run_change},
	{"docker podman", "", LEVEL_READ_ONLY,
		"+ -D --debug --tls --remote n:-c= n:-H= -l= --log-level= n:--config= n:--context= "
		"n:--host= n:--url= "
		"n:--connection=",
		NULL},
	{"docker podman", "ps images logs inspect", LEVEL_WRITE, "*", NULL},
	{"docker podman", "version", LEVEL_READ_ONLY, "*", NULL},
	{"docker podman", "push pull login", LEVEL_NETWORK, "*", NULL},
	{"docker podman", "*", LEVEL_PRIVILEGED, "*", NULL},
	{"systemctl", "", LEVEL_READ_ONLY,
		"+ -q -a -l -T -r -f -i -n= -o= -p= -P= -s= -t= --user --system --no-pager --quiet "
		"--all "
		"--full --failed --plain --no-legend --type= --property= --state= --lines= "
		"--output= n:-H= "
		"n:--host= p:-M= p:--machine=",
		NULL},
	{"systemctl", "reboot poweroff halt kexec soft-reboot rescue emergency", LEVEL_DENIED, "*",
		NULL},
	{"systemctl", "status show list-units is-active is-enabled cat list-timers",
		LEVEL_READ_ONLY, "n:-H n:--host p:-M p:--machine *", NULL},
	{"systemctl", "*", LEVEL_PRIVILEGED, "n:-H n:--host *", NULL},
	{"hostnamectl", "", LEVEL_READ_ONLY, "+ --static --transient --pretty", NULL},
	{"hostnamectl", "status", LEVEL_READ_ONLY, "*", NULL},
	{"hostnamectl", "*", LEVEL_PRIVILEGED, "*", NULL},

	/* --- the network --------------------------------------------------------------------- */
	{"curl", NULL, LEVEL_NETWORK,
		"o:-o= o:--output= o:--output-dir= o:-c= o:--cookie-jar= o:-D= o:--dump-header= "
		"o:--trace= "
		"o:--trace-ascii= o:--stderr= o:--libcurl= o:--etag-save= o:--hsts= o:--alt-svc= "
		"d:-F= "
		"d:--form= d:--form-string d:-T= d:--upload-file d:-K= d:--config d:--unix-socket "
		"d:--abstract-unix-socket d:-x= d:--proxy d:--socks5* d:--socks4* d:--preproxy "
		"d:--variable "
		"d:--engine d:-Q= d:--quote d:file://* d:@* d:*=@* d:*DELETE* d:*%output* --data* "
		"-d= -H= "
		"-X= -A= -b= -C= -e= -E= -h= -m= -P= -r= -t= -u= -U= -w= -y= -Y= -z= *",
		run_network},
	{"wget wget2", NULL, LEVEL_NETWORK,
		"o:-O= o:--output-document= o:-P= o:--directory-prefix= o:-o= o:--output-file= "
		"o:-a= "
		"o:--append-output= o:--save-cookies= o:--warc-file= o:--hsts-file= "
		"o:--rejected-log= "
		"d:--post-file d:--body-file d:-i= d:--input-file d:-e= d:--execute "
		"d:--use-askpass "
		"d:--config d:--load-cookies d:*DELETE* -U= -Q= -t= -T= -w= -l= *",
		run_network},
	{"ssh scp sftp", NULL, LEVEL_NETWORK,
		"d:*[pP]roxy[cC]ommand* d:*[lL]ocal[cC]ommand* d:*[kK]nown[hH]osts[cC]ommand* "
		"d:*Provider* "
		"d:-o* d:-F= d:-E= d:-S= *",
		run_network},
	{"rsync", NULL, LEVEL_WRITE,
		"d:-e= d:--rsh d:--rsync-path d:--del* d:--remove-source-files n:*:* -f= -B= -T= "
		"-M= *",
		run_network},
	{"dropdb dropuser", NULL, LEVEL_DESTRUCTIVE, "*", run_network},
	{"kubectl", NULL, LEVEL_NETWORK,
		"d:delete d:drain d:exec d:edit d:replace d:undo d:cp d:debug d:--force d:--prune "
		"d:plugin *",
		run_network},
	{"helm", NULL, LEVEL_NETWORK,
		"d:uninstall d:delete d:del d:un d:rollback d:--post-renderer d:plugin *",
		run_network},
	{"aws", NULL, LEVEL_NETWORK,
		"d:rm d:rb d:mv d:--delete d:*delete-* d:*terminate-* d:*remove-* d:*deregister-* "
		"d:*purge-* "
		"d:*revoke-* d:*disable-* d:*destroy-* d:*reset-* d:*stop-* *",
		run_network},
	{"gcloud az gsutil bq", NULL, LEVEL_NETWORK,
		"d:delete d:remove d:destroy d:purge d:reset d:stop d:rm d:rb d:mv d:ssh d:-d *",
		run_network},
	{"gh glab", NULL, LEVEL_NETWORK,
		"d:delete d:*DELETE* d:merge d:close d:archive d:alias d:extension d:transfer "
		"d:rename "
		"d:remove *",
		run_network},
	{"redis-cli", NULL, LEVEL_NETWORK,
		"d:[fF][lL][uU][sS][hH]* d:[dD][eE][lL] d:unlink d:UNLINK d:shutdown d:SHUTDOWN "
		"d:config "
		"d:CONFIG d:eval d:EVAL d:script d:SCRIPT d:debug d:DEBUG d:rename d:RENAME "
		"d:--eval *",
		run_network},
	{"mongosh", NULL, LEVEL_NETWORK,
		"d:*drop* d:*delete* d:*remove* d:*shutdown* d:*require(* *", run_network},
	{"nc ncat netcat nmap ftp telnet socat dig host nslookup ping ping6 traceroute tracepath "
	 "mtr "
	 "whois twine lynx w3m links aria2c axel httpie http xh svn hg rclone mosh mail sendmail "
	 "ssh-copy-id ssh-keyscan tftp yt-dlp ansible ansible-playbook vault pulumi skopeo flyctl "
	 "vercel "
	 "netlify wrangler firebase doctl argocd eksctl oc ngrok cloudflared pg_dump pg_restore "
	 "createdb "
	 "mysqldump",
		NULL, LEVEL_NETWORK,
		"d:-e d:--exec d:-c d:--sh-exec d:*[eE][xX][eE][cC]:* d:*[sS]ystem:* *",
		run_network},
};
#endif
