# machine report: one page, from disk, that nothing in a run can break out of.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export AGENT6_STATE_HOME=$SCRATCH/state HOME=$SCRATCH
	mkdir flow work
	cat >flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		description: '<b>bold</b> & "quoted"'
		initial: say
		budget: {max_transitions: 20}
		vars:
		  code:
		    n: {type: int, default: 3}
		    text: {type: json, default: null}
		states:
		  say:
		    kind: tool
		    command: [printf, '%s', '"</pre><script>alert(1)</script><img src=//evil.test/x>\u001b[31m"']
		    timeout_secs: 10
		    capture: {stdout_json: text}
		    on: {ok: decide, nonzero: bad, timeout: bad}
		  decide:
		    kind: branch
		    when:
		      - {if: "n < 2 and n > 0", goto: bad}
		      - {else: true, goto: done}
		  done: {kind: terminal, status: ok, reason: "said {{ text | json }}"}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	cd work || return
}

@test "the page holds what happened, escaped, and refers to nothing" {
	agent6 machine run ../flow --quiet
	run --separate-stderr agent6 machine report flow -o page.html
	echo "$stderr"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	grep -q '&lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot;' page.html
	grep -q '&lt;script&gt;alert(1)' page.html
	run ! grep -qE '<script|<img|<link|<iframe|<[^>]* (src|href)="[^#]|url\(h|@import' page.html
	run ! grep -q $'\033' page.html
	grep -qF "default-src 'none'" page.html
	grep -q 'class="edge taken"' page.html
	grep -q 'say: ok → decide, taken 1 times' page.html
	grep -q 'Nothing left the machine' page.html
	grep -q 'workspace    reads and writes' page.html
}

# Every tag that is opened is closed, in order.
balanced() {
	grep -oE '</?[a-z0-9]+[^>]*>' "$1" | awk '
		/^<!|^<meta|\/>$/ { next }
		/^<\// { t = substr($0, 3); sub(/>.*/, "", t); if (stack[n] != t) { print "at " NR ": " t; bad = 1; exit }; n--; next }
		{ t = substr($0, 2); sub(/[ >].*/, "", t); stack[++n] = t }
		END { exit bad || n != 0 }'
}

@test "tags are balanced, also over many steps" {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: a
		budget: {max_transitions: 500}
		vars: {code: {n: {type: int, default: 1}}}
		states:
		  a: {kind: branch, when: [{if: "n == 0", goto: done}, {else: true, goto: b}]}
		  b: {kind: branch, when: [{else: true, goto: a}]}
		  done: {kind: terminal, status: ok, reason: x}
	END
	run agent6 machine run ../flow --quiet
	[ "$status" -eq 3 ]
	agent6 machine report flow -o page.html
	balanced page.html
	[ "$(grep -c '<details>' page.html)" -eq 500 ]
}

@test "a run that waits has a report too; a path is needed" {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: pause
		budget: {max_transitions: 5}
		vars: {}
		states:
		  pause: {kind: wait, on: {signal: done}}
		  done: {kind: terminal, status: ok, reason: x}
	END
	agent6 machine run ../flow --exit-on-wait --quiet
	agent6 machine report flow -o page.html
	grep -q 'None yet' page.html
	balanced page.html
	run --separate-stderr agent6 machine report flow
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 machine report flow -o nowhere/page.html
	[ "$status" -ne 0 ]
	[[ $stderr == *nowhere* ]]
}
