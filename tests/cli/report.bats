# machine report: one page, from disk, that nothing in a run can break out of.
load ../kit/common
load flow

setup() {
	flow_setup <<-'END'
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
	grep -q 'ok → decide' page.html
	grep -q 'Nothing left the machine' page.html
	grep -q '<dt>workspace</dt><dd>reads and writes' page.html
	grep -qE '<h3>In force around tools</h3>.*no new privileges' page.html
	grep -q '<h3>changed: text</h3>.*<del>null</del><ins>&quot;&lt;/pre&gt;' page.html
}

@test "what is allowed is said to follow the settings of the moment, not those of the run" {
	agent6 machine run ../flow --quiet
	mkdir -p "$SCRATCH/.config/agent6" "$SCRATCH/shared"
	printf 'sandbox: {read: [%s/shared]}\n' "$SCRATCH" >"$SCRATCH/.config/agent6/config.yaml"
	agent6 machine report flow -o page.html
	grep -q "$SCRATCH/shared" page.html # which no step could read
	grep -q "<h3>Allowed by today's settings</h3>.*may have had others" page.html
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
	[ "$(grep -c '<div class="row">' page.html)" -eq 500 ]
}

@test "the picture counts each of a branch's conditions by itself, wherever it leads" {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: a
		budget: {max_transitions: 9}
		schemas: {r: {n: int}}
		vars: {code: {n: {type: int, default: 0}}}
		states:
		  a:
		    kind: branch
		    when:
		      - {if: n == 0, goto: b}
		      - {if: n == 1, goto: b}
		      - {else: true, goto: done}
		  b:
		    kind: tool
		    command: [echo, '{"n": 2}']
		    timeout_secs: 9
		    output_schema: r
		    capture: {set: {n: "{{ result.n }}"}}
		    on: {ok: a, nonzero: done, timeout: a}
		  done: {kind: terminal, status: ok, reason: x}
	END
	agent6 machine run ../flow --quiet
	agent6 machine report flow -o page.html
	ports=$(sed -n '/<svg/,/<\/svg>/{s/<title>[^<]*<\/title>//g; s/<[^>]*>/ /g; p}' page.html | tr -s ' ')
	[[ $ports == *" n == 0 ×1 n == 1 else ×1 "*" ok, timeout ×1 nonzero "* ]]
}

@test "a run that was killed before its first line has a report" {
	agent6 machine run ../flow --quiet
	journal=$(echo "$SCRATCH"/state/*/machines/flow/journal.jsonl)
	: >"$journal"
	rm -f "${journal%/*}/snapshot.json"
	agent6 machine report flow -o page.html
	grep -q 'not ended' page.html
	balanced page.html
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
	agent6 machine report flow -o - | cmp - page.html
	[ ! -e - ]
	run -2 bash -c "'$AGENT6_BIN/agent6' machine report flow -o - >/dev/full"
	run --separate-stderr agent6 machine report flow
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 machine report flow -o nowhere/page.html
	[ "$status" -eq 2 ]
	[[ $stderr == *nowhere* ]]
	run --separate-stderr bash -c "ulimit -f 1; exec '$AGENT6_BIN/agent6' machine report flow -o small.html"
	[[ $status -eq 2 && $stderr == "agent6: cannot write small.html: File too large" ]]
	[ "$(find . -name '*.tmp' -o -name 'small*')" = "" ]
}

# A run with everything that a page has to show: long names, a retry, failures, notices,
# large output, a wait.
eventful() {
	local long=a_state_with_a_name_that_goes_on_and_on_until_sixty_four_chars_x
	cat >../flow/machine.yaml <<-END
		machine: flow
		version: 1
		description: A machine with a description that is longer than what fits on one line of a telephone.
		initial: $long
		budget: {max_transitions: 60}
		schemas: {r: {n: int, list: "list[str]"}}
		vars:
		  operator: {who: {type: str, value: Ada}}
		  code:
		    n: {type: int, default: 0}
		    list: {type: "list[str]", default: [one, two, three, four, five, six, seven]}
		states:
		  $long:
		    kind: tool
		    notify: {message: "begins: ünïcödé and $long$long", level: warn}
		    command: [scripts/count.sh]
		    timeout_secs: 10
		    retry: {on: [nonzero], max: 1, backoff_secs: 0}
		    output_schema: r
		    capture: {set: {n: "{{ result.n }}", list: "{{ result.list }}"}}
		    on: {ok: decide, nonzero: decide, timeout: bad}
		  decide:
		    kind: branch
		    when:
		      - {if: "n > 5", goto: show}
		      - {if: "n > 100 and n < 200 and len(list) > 4 or n == 77777", goto: bad}
		      - {else: true, goto: pause}
		  pause: {kind: wait, until: '2001-01-01', on: {tick: fails, signal: fails}}
		  fails:
		    kind: tool
		    command: ["false"]
		    timeout_secs: 10
		    on: {ok: bad, nonzero: $long, timeout: bad}
		  show: {kind: tool, command: [seq, "5000"], timeout_secs: 10, on: {ok: bad, nonzero: bad, timeout: bad}}
		  bad: {kind: terminal, status: failed, notify: {message: It went wrong, level: error}, reason: "the last state failed for {{ who }}"}
	END
	mkdir -p ../flow/scripts
	cat >../flow/scripts/count.sh <<-'END'
		#!/bin/sh
		echo words on standard error >&2
		cd "$AGENT6_MACHINE_DATA_DIR" && n=$(($(cat n 2>/dev/null || echo 0) + 1)) && echo $n >n
		[ $((n % 3)) -ne 1 ] || exit 7
		echo "{\"n\": $n, \"list\": [\"one\",\"two\",\"new $n\",\"four\",\"five\",\"six\",\"seven\"]}"
	END
	chmod +x ../flow/scripts/count.sh
	run agent6 machine run ../flow --quiet
	echo "$output"
	[ "$status" -eq 1 ]
	agent6 machine report flow -o page.html
}

browser() { # PAGE [OPTION...]: what it found, in found.json
	need chromium python3 jq
	timeout 100 python3 "$AGENT6_SRC/tests/cli/browser.py" "$@" >found.json
}

seen_well() { # PAGE
	browser "$1"
	jq .views found.json
	[ "$(jq '.views | length' found.json)" -eq 8 ]
	jq -e 'all(.views[]; .texts > 200 and .wide == 0 and (.faint + .outside + .overlap + .sideways == []))' found.json
}

@test "in a browser, wide and narrow, light and dark: nothing overlaps or leaves the screen, all can be read" {
	eventful
	balanced page.html
	# The widest that a run's quarters become.
	sed -i '/lane axis/s/<i>[^<]*</<i>59 min 59 s</g' page.html
	seen_well page.html
}

@test "in a browser: what models cost has room, in every width, whatever it was" {
	agent6 machine rehearse --dir "$SCRATCH/kept" "$AGENT6_SRC/examples/code-fixer" >/dev/null
	cd "$SCRATCH/kept/workspace"
	AGENT6_STATE_HOME=$SCRATCH/kept/state agent6 machine report code-fixer -o page.html
	grep -q '>208<' page.html
	sed -i 's/>5,060</>12,345,678</g; s/>208</>12,345,678</g; s/>\$0.0061</>$1234.56</g' page.html
	[ "$(grep -o '12,345,678' page.html | wc -l)" -ge 2 ]
	seen_well page.html
}

@test "in a browser: a machine of 200 states is no page of 20,000 pixels, and on paper nothing is hidden" {
	{
		printf 'machine: flow\nversion: 1\ninitial: s0\nbudget: {max_transitions: 500}\nstates:\n'
		for i in $(seq 0 198); do
			echo "  s$i: {kind: branch, when: [{else: true, goto: s$((i + 1))}]}"
		done
		echo '  s199: {kind: terminal, status: ok, reason: x}'
	} >../flow/machine.yaml
	agent6 machine run ../flow --quiet
	agent6 machine report flow -o page.html
	browser page.html --open 0
	jq '.views | map_values(.tall)' found.json
	# The rest of the page is the list of steps.
	jq -e '.views["1280 light"].tall < 200 * 32 + 3500 and .views["390 light"].tall < 200 * 55 + 4500' found.json
	jq -e '.cut_on_paper == 0' found.json
}

@test "a failed run says first what went wrong last, and leads there" {
	eventful
	grep -q '<p class="why">Last to go wrong: <a href="#step-[0-9]*-1">step [0-9]*, show</a>' page.html ||
		grep -o '<p class="why">.*' page.html
	at=$(grep -o 'href="#step-[^"]*"' page.html | tr -d '#' | sed s/href/id/)
	[ "$(grep -c "<details $at>" page.html)" -eq 1 ]
}

@test "in a browser: from disk, nothing is asked of the network, and nothing is complained about" {
	eventful
	browser page.html
	jq '.requests, .complaints' found.json
	jq -e --arg page "file://$PWD/page.html" '.requests == [$page] and .complaints == []' found.json
}

@test "in a browser: the tab key reaches everything in order, what it reached is marked, enter opens a step" {
	eventful
	browser page.html
	jq .keyboard found.json
	jq -e '.keyboard | .expected > 20 and .order == [range(.expected)] and .unmarked == [] and .unseen == []' found.json
	jq -e .enter_toggles found.json
}

@test "in a browser: on paper every step is open" {
	eventful
	browser page.html --open 0
	[ "$(jq .on_paper found.json)" -eq "$(grep -c '<details' page.html)" ]
}

@test "in a browser: what a page holds for a step is bounded" {
	eventful
	browser page.html --size
	jq -e --argjson steps "$(grep -cE '<details|class="row"' page.html)" '.nodes < 600 + 30 * $steps' found.json
	[ "$(stat -c %s page.html)" -lt 100000 ]
}

@test "the browser's eye sees a page that overlaps, overflows, fades, hides its focus and asks the network" {
	cat >bad.html <<-'END'
		<!DOCTYPE html><style>body{color:#000;background:#fff}a:focus{outline:none}</style>
		<p style="color:#999">faint</p><p style="width:3000px">wide</p>
		<p style="position:absolute;top:0;margin:0">on</p><p style="position:absolute;top:2px;margin:0">top</p>
		<a href="#x">link</a><img src="http://127.0.0.1:9/x.png">
	END
	browser bad.html
	cat found.json
	jq -e '.views["1280 light"] | .wide > 0 and (.faint | any(startswith("faint"))) and (.overlap | length > 0) and (.outside | length > 0)' found.json
	jq -e '.keyboard.unmarked == [0] and (.requests | length) == 2 and (.enter_toggles | not)' found.json
}

@test "what a model was told, said and called is on the page, escaped, finished or not" {
	cd "$SCRATCH"
	cp -r "$AGENT6_SRC/examples/hello" hello
	cat >hello/rehearsal/hello.jsonl <<-'END'
		{"state":"greet","reply":{"text":"I <b>look</b>.","tool_calls":[{"name":"read_file","arguments":{"path":"note.txt"}}]}}
		{"state":"greet","reply":{"tool_calls":[{"name":"read_file","arguments":{"path":"none.txt"}}]}}
		{"state":"greet","reply":{"tool_calls":[{"name":"finish_run","arguments":{"name":"Ada","text":"Hi."}}]}}
	END
	agent6 machine rehearse hello --dir kept --quiet
	cd kept/workspace
	AGENT6_STATE_HOME=$SCRATCH/kept/state agent6 machine report hello -o page.html
	tr '\n' ' ' <page.html >line
	grep -q '<h3>told the model</h3><pre>[^<]*note.txt' line
	grep -q '<h3>the model said</h3><pre>I &lt;b&gt;look&lt;/b&gt;.</pre><h3>it called read_file</h3>' line
	grep -q '<h3>read_file gave</h3><pre>[^<]*Ada' line
	grep -q '<h3>read_file was refused</h3><pre>[^<]*none.txt' line
	balanced page.html

	cd "$SCRATCH"
	sed -i '3s/"reply":{/&"delay_ms":60000,/' hello/rehearsal/hello.jsonl
	"$AGENT6_BIN/agent6" machine rehearse hello --dir live --quiet 3>&- &
	refused() { grep none.txt live/state/*/machines/hello/states/1-greet/transcript.jsonl; }
	eventually refused
	cd live/workspace
	AGENT6_STATE_HOME=$SCRATCH/live/state agent6 machine report hello -o page.html
	kill -TERM $! && sleep 0.3 && kill -TERM $!
	wait $! || true
	tr '\n' ' ' <page.html >line
	grep -q '<span>not finished</span>.*<h3>it called read_file</h3>' line
	balanced page.html
	truncate -s 257M "$SCRATCH"/live/state/*/machines/hello/states/1-greet/transcript.jsonl
	AGENT6_STATE_HOME=$SCRATCH/live/state agent6 machine report hello -o page.html
	grep -q 'what was said is not shown: .*transcript.jsonl' page.html
}
