# The build itself: it rebuilds what changed and nothing else, installs a tree that works, and asks
# for packages politely.
load ../kit/common

# A copy of what the build needs to make one small archive.
copy_tree() {
	mkdir -p "$SCRATCH/src"
	cd "$AGENT6_SRC" || return
	cp -r --parents GNUmakefile engine/base "$SCRATCH/src"
	cd "$SCRATCH/src" || return
	lib=build/debug/lib/engine-base.a
	unset MAKEFLAGS MAKELEVEL
}

rebuilt() { # CMD...: what make compiles, sorted
	"$@" | sed -n 's/^  cc   //p' | sort | tr '\n' ' '
}

@test "make rebuilds what a header, a source, a flag or a removed file touches, and nothing else" {
	copy_tree
	run -0 make -j2 CONFIG=debug "$lib"
	run -0 make -q CONFIG=debug "$lib"
	sleep 0.1
	touch engine/base/suggest.h
	[[ $(rebuilt make CONFIG=debug "$lib") == "engine/base/suggest.c " ]]
	run -0 make -q CONFIG=debug "$lib"
	[[ $(rebuilt make -j2 CONFIG=debug EXTRA_CFLAGS=-DOTHER "$lib" | wc -w) -eq $(ls engine/base/*.c | wc -l) ]]
	make -j2 CONFIG=debug "$lib" >/dev/null
	sleep 0.1
	rm engine/base/suggest.c
	make CONFIG=debug "$lib" >/dev/null
	[[ $(ar t "$lib") != *suggest.o* ]]
}

@test "an unknown CONFIG is refused with the list" {
	copy_tree
	run -2 make CONFIG=fast
	[[ $output == *"CONFIG=fast is not one of: release debug asan cov fuzz"* ]]
}

@test "an installed tree works by itself" {
	local root=$SCRATCH/root
	PREFIX=/usr DESTDIR=$root "$AGENT6_SRC/tools/install" "$AGENT6_BIN"
	[[ $(ls "$root/usr/bin") == agent6 ]]
	[[ $(ls "$root/usr/libexec/agent6") == $'agent6-agent\nagent6-broker\nagent6-cassette\nagent6-jail' ]]
	cp -r "$root/usr/share/doc/agent6/examples/hello" "$SCRATCH/hello"
	cd "$SCRATCH"
	run -0 "$root/usr/bin/agent6" machine rehearse hello
	[[ $output == *"ok: "* ]]
	[[ -s $root/usr/share/man/man1/agent6.1 ]]
	bash -n "$root/usr/share/bash-completion/completions/agent6"
}

@test "install says when no shell finds what it installed, and its units do" {
	local unit=$SCRATCH/opt/share/doc/agent6/examples/systemd/agent6@.service
	PREFIX=$SCRATCH/opt run -0 "$AGENT6_SRC/tools/install" "$AGENT6_BIN"
	[[ $output == *"$SCRATCH/opt/bin is not on your PATH"*"export PATH=$SCRATCH/opt/bin:"* ]]
	grep -qx "Environment=PATH=$SCRATCH/opt/bin:/usr/local/bin:/usr/bin:/bin" "$unit"
	PATH=$SCRATCH/opt/bin:$PATH PREFIX=$SCRATCH/opt run -0 "$AGENT6_SRC/tools/install" "$AGENT6_BIN"
	[[ -z $output ]]
	DESTDIR=$SCRATCH/staged PREFIX=/opt/agent6 run -0 "$AGENT6_SRC/tools/install" "$AGENT6_BIN" # a package's
	[[ -z $output ]]
}

@test "root's first command leaves nothing that the owner's make trips over" {
	need_root
	copy_tree
	cp -r "$AGENT6_SRC/tools" .
	printf '#!/bin/sh\n:\n' >tools/deps
	# shellcheck disable=SC2016 # expanded there
	printf '#!/bin/sh\nmkdir -p build/shown && echo "$(id -un) $HOME" >build/shown/who\n' >tools/quickstart
	mkdir -p "$USER_HOME"
	give_user . "$USER_HOME"
	run make quickstart CONFIG=debug "parallel=\$(MAKE) $lib CONFIG=debug #"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ -z $(find . -user root) && -s $lib ]]
	[[ $(<build/shown/who) == "$TEST_USER "* ]]
	touch engine/base/suggest.h
	as_user make CONFIG=debug "$lib"
	make CC=gcc CONFIG=asan deps # root alone, another configuration
	[[ -z $(find . -user root) ]]
}

# Stand-ins for the system's tools: nothing is installed, and what is asked of apt is written down.
fake_system() { # UID
	mkdir -p "$SCRATCH/bin" "$SCRATCH/tree"
	cp -r "$AGENT6_SRC/tools" "$SCRATCH/tree"
	printf '#!/bin/sh\necho %s\n' "$1" >"$SCRATCH/bin/id"
	printf '#!/bin/sh\nexit 1\n' >"$SCRATCH/bin/dpkg-query"
	# shellcheck disable=SC2016 # expanded in the stand-in
	printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$SCRATCH" >"$SCRATCH/bin/apt-get"
	printf '#!/bin/sh\necho "  Candidate: 18.0"\n' >"$SCRATCH/bin/apt-cache"
	printf '#!/bin/sh\n[ "$1" = --compare-versions ] && [ "${2%%%%.*}" -ge "${4%%%%.*}" ]\n' >"$SCRATCH/bin/dpkg"
	printf '#!/bin/sh\necho v18.0\n' >"$SCRATCH/bin/node"
	chmod +x "$SCRATCH"/bin/*
	for tool in bash dirname sed grep mkdir env tail; do
		ln -s "$(command -v $tool)" "$SCRATCH/bin/$tool"
	done
}
deps() {
	env -i PATH="$SCRATCH/bin" bash "$SCRATCH/tree/tools/deps" "$@"
}

@test "make deps says what it installs, as root, and leaves out peers that are too old" {
	fake_system 0
	run -0 deps
	[[ $output == *"deps: installing with apt-get:"*"libjansson-dev"*"JSON"* && $output != *npm* ]]
	[[ $(tail -n 1 "$SCRATCH/asked") == *"install -y --no-install-recommends"*libseccomp-dev* ]]
	[[ $(<"$SCRATCH/asked") != *nodejs* && $(<"$SCRATCH/asked") != *debootstrap* ]]
}

@test "make deps without root and without sudo says what root has to run" {
	fake_system 1000
	run -1 deps
	[[ $output == *"there is no sudo"*"apt-get install"*libjansson-dev* && ! -e $SCRATCH/asked ]]
}

@test "make deps uses sudo when it is not root" {
	fake_system 1000
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho sudo >>%s/asked\nexec "$@"\n' "$SCRATCH" >"$SCRATCH/bin/sudo"
	chmod +x "$SCRATCH/bin/sudo"
	run -0 deps build
	[[ $output == *"(with sudo)"* && $(head -n 1 "$SCRATCH/asked") == sudo ]]
}

@test "make deps is silent when nothing is missing" {
	fake_system 0
	printf '#!/bin/sh\necho installed\n' >"$SCRATCH/bin/dpkg-query"
	run -0 deps build run test bench bare check
	[[ -z $output && ! -e $SCRATCH/asked ]]
}

@test "tests/run builds what it runs, and runs nothing that could not be built" {
	mkdir -p "$SCRATCH/src/tests/unit" "$SCRATCH/src/build/release/tests/unit"
	cd "$SCRATCH/src"
	cp -r "$AGENT6_SRC/tests/run" "$AGENT6_SRC/tests/kit" tests/
	touch tests/unit/a_test.c
	program=build/release/tests/unit/a_test
	printf '#!/bin/sh\necho ok 1 - stale; echo 1..1\n' >$program
	chmod +x $program
	unset MAKEFLAGS MAKELEVEL
	printf '.PHONY: all %s\nall %s:\n\t@false\n' $program $program >GNUmakefile
	run -2 tests/run tests/unit/a_test.c
	[[ $output == *"the build failed; nothing was run"* && $output != *passed* ]]
	printf '.PHONY: all %s\nall %s:\n\t@sed -i s/stale/fresh/ %s\n' $program $program $program >GNUmakefile
	run -0 tests/run tests/unit/a_test.c
	[[ $output == *"2 passed, 0 failed"* ]]
	grep -q fresh build/release/tap/*a_test.tap
}

@test "tests/run builds the programs that a test of tests/security lets loose" {
	local helpers kind
	mkdir -p "$SCRATCH/src/tests/security" "$SCRATCH/src/build/release"
	cd "$SCRATCH/src"
	cp -r "$AGENT6_SRC/tests/run" "$AGENT6_SRC/tests/kit" tests/
	mkdir build/release/tests && ln -s ../../../tests/security build/release/tests/security
	unset MAKEFLAGS MAKELEVEL
	printf '.PHONY: all test-helpers\nall:\n\t@:\ntest-helpers:\n\t@echo helped >built\n' >GNUmakefile
	for kind in .sh .c; do
		printf '#!/bin/sh\necho "ok 1 - $(cat built)"; echo 1..1\n' >"tests/security/a_test${kind%.c}"
		chmod +x "tests/security/a_test${kind%.c}"
		run -0 tests/run "tests/security/a_test$kind"
		grep -q helped build/release/tap/*a_test*.tap
		rm built
	done
	cd "$AGENT6_SRC"
	helpers=$(make -nB CONFIG="$AGENT6_CONFIG" test-helpers)
	for program in egress/attempt egress/agent attacks/attack; do
		[[ $helpers == *"/tests/security/$program "* ]]
	done
}

@test "a test file that hangs is ended, and what it was at is told" {
	mkdir "$SCRATCH/tap"
	printf 'echo ok 1 - before\nsleep 7654\necho 1..1\n' >"$SCRATCH/hangs.sh"
	TEST_TIMEOUT_SECS=1 TAP_DIR=$SCRATCH/tap run -124 "$AGENT6_SRC/tests/kit/run-one" "$SCRATCH/hangs.sh"
	[[ $output == "ok 1 - before"*"# not at its end after 1 s"*" sleep 7654" ]]
	grep -rq '^not ok 9999 - .*hangs.sh ran to its end (exit status 124)' "$SCRATCH/tap"
}

@test "a test file that leaves a mount behind fails, and the mount goes with it" {
	need_root
	unshare --mount true 2>/dev/null || skip "this host gives nobody mounts of their own"
	mkdir "$SCRATCH/tap" "$SCRATCH/at"
	printf 'mount -t tmpfs none %s/at\necho ok 1\necho 1..1\n' "$SCRATCH" >"$SCRATCH/leaves.sh"
	TAP_DIR=$SCRATCH/tap run -1 "$AGENT6_SRC/tests/kit/run-one" "$SCRATCH/leaves.sh"
	[[ $output == *$'ok 1\n1..1\nnot ok 9998 - no mount is left behind' ]]
	run ! mountpoint -q "$SCRATCH/at"
}
