# One real toolchain each, for tests that loaded jail.bash: CHECK RUN, where RUN is `jail`, `user_jail` or
# a function that calls one of them.

build_c() {
	rm -rf "${WS:?}"/*
	run "$1" -- sh -ec '
		printf "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n" >a.c
		printf "a: a.c\n\tgcc -o a a.c\n" >Makefile
		make -s && ./a
		git init -q repo && cd repo && git config user.email a@example.com && git config user.name a
		echo 1 >f && git add f && git commit -qm one && git log --format=%s
		perl -e "print \"perl\\n\""'
	echo "$output"
	[[ $status -eq 0 && $output == $'built\none\nperl' ]]
}

run_python() {
	run "$1" -- /usr/bin/python3 -c '
import multiprocessing, os, socket, tempfile
with multiprocessing.Pool(2) as pool: print(sum(pool.map(abs, range(5))))
with multiprocessing.Manager() as manager: print(manager.list([1, 2]))
with tempfile.NamedTemporaryFile() as f: print(f.name.startswith(os.environ.get("TMPDIR", "/tmp/")))'
	echo "$output"
	[[ $status -eq 0 && $output == $'10\n[1, 2]\nTrue' ]]
}

run_npm() {
	rm -rf "${WS:?}"/*
	echo '{"name":"a","version":"1.0.0","scripts":{"test":"node -e \"console.log(6*7)\""}}' >"$WS/package.json"
	chmod a+r "$WS/package.json"
	run "$1" -- npm test --silent
	echo "$output"
	[[ $status -eq 0 && $output == 42 ]]
}

build_crate() {
	rm -rf "${WS:?}"/*
	run "$1" -- sh -ec '
		cargo new --quiet --vcs none tiny && cd tiny
		printf "\n#[test]\nfn adds() { assert_eq!(6 * 7, 42); }\n" >>src/main.rs
		cargo run --quiet --offline && cargo test --quiet --offline'
	echo "$output"
	[[ $status -eq 0 && ${lines[0]} == "Hello, world!" && $output == *"test result: ok. 1 passed"* ]]
}

# Debian's Java and Maven have links in /usr that lead to /etc. The runtime, which has keytool, is a
# third of the JDK to install; what compiles is tried where it is there.
run_java() {
	rm -rf "${WS:?}"/*
	echo 'public class A { public static void main(String[] a) { System.out.println(6 * 7); } }' >"$WS/A.java"
	chmod a+r "$WS/A.java"
	run "$1" -- sh -ec '
		keytool -genkeypair -alias a -dname CN=a -keyalg EC -keystore keys -storepass changeit
		test -s keys
		if command -v javac; then javac A.java && test "$(java A)" = 42; fi
		if command -v mvn; then mvn --version; fi'
	echo "$output"
	[[ $status -eq 0 ]]
}

# Makes a toolchain like those of rustup, nvm or conda in a home directory: programs, a script that names an
# interpreter beside it, a library that is loaded, a module that is compiled.
make_toolchain() { # DIR
	need_in_usr gcc
	mkdir -p "$1/bin" "$1/lib"
	printf 'int answer(void) { return 42; }\n' | gcc -shared -fPIC -x c -o "$1/lib/libanswer.so" -
	printf '#include <stdio.h>\nint answer(void);\nint main(void) { return printf("%%d\\n", answer()) < 0; }\n' |
		gcc -x c -o "$1/bin/answer" - -x none "$1/lib/libanswer.so"
	cp /bin/sh "$1/bin/sh"
	printf '#!%s/bin/sh\necho ran\n' "$1" >"$1/bin/tool"
	chmod -R a+rX "$1"
	chmod a+x "$1/bin/tool"
	CHAIN=$1
}

use_toolchain() {
	# shellcheck disable=SC2016 # expanded inside
	run "$1" "read=[\"$CHAIN\"]" -- sh -c '"$0/bin/tool" && "$0/bin/answer" && PATH=$0/bin && tool' "$CHAIN"
	echo "$output"
	[[ $status -eq 0 && $output == $'ran\n42\nran' ]]
}

need_in_usr() { # a jail without grants has nothing else
	local cmd
	for cmd in "$@"; do
		[[ -x /usr/bin/$cmd ]] || skip "no /usr/bin/$cmd (make deps)"
	done
}
