#!/usr/bin/env bats
# The golden machines through the program itself: `agent6 machine check DIR` prints exactly
# expected.txt, and its exit status says whether the machine is accepted.

check_set() { # SET STATUS
	local dir status failed=0
	for dir in "$AGENT6_SRC/tests/golden/$1"/*/; do
		status=0
		(cd "$dir" && "$AGENT6_BIN/agent6" machine check .) >/dev/null 2>"$BATS_TEST_TMPDIR/got" || status=$?
		sed -i 's,^\./,,; s,\(chmod +x\|belongs at\) \./,\1 ,' "$BATS_TEST_TMPDIR/got"
		if ! diff -u "$dir/expected.txt" "$BATS_TEST_TMPDIR/got" || [ "$status" -ne "$2" ]; then
			echo "^ $dir: exit status $status"
			failed=1
		fi
	done
	return $failed
}

@test "every broken machine is refused with exactly its diagnostics" {
	check_set broken 2
}

@test "every good machine is accepted, with exactly its warnings and notes" {
	check_set good 0
}

@test "of two machine files nothing is said but that there are two" {
	cd "$BATS_TEST_TMPDIR"
	echo 'machine: two' >machine.yaml
	echo '{"version": 2}' >machine.json
	run "$AGENT6_BIN/agent6" machine check .
	[ "$status" -eq 2 ]
	[ "$output" = "./machine.yaml: error[bundle-machine]: there is a machine file already: machine.json; a bundle holds exactly one" ]
}
