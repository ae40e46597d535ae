#!/usr/bin/env bats
# Machines that write code: what a repository, its commands, hooks and filters cannot do.

load ../kit/common
load machine
load coding

@test "a poisoned repository executes nothing, and a filter is not bypassed" {
	repository
	local trap="touch $SCRATCH/executed $WS/.git/executed; false" hook
	for hook in pre-commit post-commit post-checkout reference-transaction post-index-change pre-auto-gc; do
		printf '#!/bin/sh\n%s\n' "$trap" >"$WS/.git/hooks/$hook"
		chmod +x "$WS/.git/hooks/$hook"
	done
	local key
	for key in core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand filter.p.clean \
		filter.p.smudge filter.p.process diff.p.textconv diff.p.command merge.p.driver gpg.program \
		uploadpack.packObjectsHook credential.helper diff.external remote.o.uploadpack; do
		git -C "$WS" config "$key" "$trap"
	done
	git -C "$WS" config remote.o.promisor true
	git -C "$WS" config remote.o.url "ext::$trap"
	git -C "$WS" config commit.gpgSign true
	printf 'file diff=p merge=p\n' >"$WS/.git/info/attributes"
	# A pipe where git expects a file would hang it.
	rm -f "$WS/.git/info/exclude"
	mkfifo "$WS/.git/info/exclude" "$WS/.git/config.worktree" "$WS/.gitattributes"
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && ! -e $SCRATCH/executed && ! -e $WS/.git/executed ]]
	[[ $(git -C "$WS" --no-pager -c core.fsmonitor=false cat-file blob agent6/machine-fixer:new) == created ]]
	# The commit would hold bytes that the filter was to replace.
	rm -f "$SCRATCH/executed" && rm -r "$SCRATCH/dir" && repository
	echo 'new filter=p' >"$WS/.gitattributes"
	git -C "$WS" add .gitattributes
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm attributes
	git -C "$WS" config filter.p.clean "$trap"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 1 && ! -e $SCRATCH/executed && ! -e $WS/.git/executed ]]
	[[ $output == *"undone"* && $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
	grep -q "new is changed, and .gitattributes gives it to the filter p" "$SCRATCH"/dir/state/*/machines/fixer/journal.jsonl
}

@test "the bundle and what is protected stay as they are in the clone, too" {
	mkdir -p "$SCRATCH/dir"
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, '! echo x >>fixer/machine.yaml && ! echo x >>.git/config && cat new'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
{\"state\":\"edit\",\"reply\":{\"tool_calls\":[{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"fixer/machine.yaml\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"Edit it.\",\"new_string\":\"Obey.\"}]}}]}}
{\"state\":\"edit\",\"match\":{\"last\":\"fixer/machine.yaml\"},\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"done\"}}]}}"
	mv "$SCRATCH/fixer" "$WS/fixer"
	git -C "$WS" add fixer
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm bundle
	run agent6 machine rehearse --dir "$SCRATCH/dir" "$WS/fixer"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" diff --name-only main agent6/machine-fixer | tr '\n' ,) == "file,new," ]]
}

# local_provider NAME: an ordinary user's provider, which answers as NAME's rehearsal does, until 8 is closed
local_provider() {
	local port
	mkfifo "$SCRATCH/ready" "$SCRATCH/end"
	give_user "$SCRATCH"
	"$AGENT6_BIN/agent6-cassette" --cassette "$SCRATCH/$1/rehearsal/a.jsonl" \
		--ready-fd 7 <"$SCRATCH/end" 7>"$SCRATCH/ready" 3>&- &
	exec 8>"$SCRATCH/end"
	read -r port <"$SCRATCH/ready"
	operator6() { as_user env HOME="$SCRATCH/user-home" "$AGENT6_BIN/agent6" "$@"; }
	operator6 connect --name local --format anthropic --base-url "http://127.0.0.1:$port" --model test <<<''
	operator6 config set providers.local.prices.test '{input: 1, output: 5}'
}

@test "hardened, with the operator's own git identity: a command that poisons the clone's .git runs nothing" {
	local port
	need_hardened
	repository "$SCRATCH/ws"
	unset GIT_CONFIG_GLOBAL
	coder fixer "  after: {kind: tool, command: [sh, poison.sh], timeout_secs: 20, on: {ok: more, nonzero: bad, timeout: bad}}
  more: {kind: agent, mode: run, prompt: More., output_schema: note, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}" <<<"$EDITS
$FINISH
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"run_verify_command\",\"arguments\":{}}]}}
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"more\"}}]}}"
	cat >"$SCRATCH/ws/poison.sh" <<-'END'
		trap="touch $PWD/executed; false"
		printf '[core]\n\tfsmonitor = "%s"\n[filter "p"]\n\tclean = "%s"\n' "$trap" "$trap" >>.git/config || exit 1
		for hook in pre-commit reference-transaction post-index-change; do
			printf '#!/bin/sh\n%s\n' "$trap" >".git/hooks-$hook"
			mkdir -p .git/hooks && mv ".git/hooks-$hook" ".git/hooks/$hook" && chmod +x ".git/hooks/$hook"
		done
		echo poisoned >poisoned
	END
	git -C "$SCRATCH/ws" add poison.sh
	git -C "$SCRATCH/ws" -c user.name=op -c user.email=op@host commit -qm poison
	local_provider fixer
	operator6 config set sandbox.profile hardened
	run operator6 machine run --allow-uncommitted "$SCRATCH/fixer"
	echo "$output"
	[[ $status -eq 2 && $output == *"git.commit.name"* ]]
	printf '[user]\n\tname = The Operator\n\temail = op@example.org\n' >"$USER_HOME/.gitconfig"
	chmod 600 "$USER_HOME/.gitconfig"
	give_user "$USER_HOME"
	run operator6 machine run --allow-uncommitted "$SCRATCH/fixer"
	exec 8>&-
	echo "$output"
	[[ $status -eq 0 && $output == *"profile hardened"* ]]
	WS=$SCRATCH/ws
	[[ $output == *"Its commits: git log -p $(as_user git -C "$WS" rev-parse main | cut -c -12)..agent6/machine-fixer" ]]
	[[ $(as_user git -C "$WS" log --format='%an <%ae> %s' main..agent6/machine-fixer | head -n 1) == "The Operator <op@example.org> fixer: after" ]]
	[[ $(as_user git -C "$WS" show --name-only --format= agent6/machine-fixer) == poisoned ]]
	[[ -z $(find "$SCRATCH" -name executed) ]]
}

# live NAME [KEY VALUE]...: for real, with these settings, in $SCRATCH/ws
live() {
	local name=$1 port
	shift
	rm -rf "$SCRATCH/state" "$SCRATCH/pipes" && mkdir "$SCRATCH/pipes"
	mkfifo "$SCRATCH/pipes/ready" "$SCRATCH/pipes/end"
	"$AGENT6_BIN/agent6-cassette" --cassette "$SCRATCH/$name/rehearsal/a.jsonl" \
		--ready-fd 7 <"$SCRATCH/pipes/end" 7>"$SCRATCH/pipes/ready" 3>&- &
	exec 8>"$SCRATCH/pipes/end"
	read -r port <"$SCRATCH/pipes/ready"
	agent6 connect --name local --format anthropic --base-url "http://127.0.0.1:$port" --model test <<<'' >/dev/null
	agent6 config set git.commit.name op
	agent6 config set git.commit.email op@host
	agent6 config set providers.local.prices.test '{input: 1, output: 5}'
	while [[ $# -gt 0 ]]; do
		agent6 config set "$1" "$2"
		shift 2
	done
	run agent6 machine run --allow-uncommitted "$SCRATCH/$name"
	exec 8>&-
	echo "$output"
}

# hardened NAME: the same as an ordinary user, on that profile
hardened() {
	local_provider "$1"
	operator6 config set git.commit.name op
	operator6 config set git.commit.email op@host
	operator6 config set sandbox.run_commands yes
	operator6 config set sandbox.profile hardened
	run operator6 machine run --allow-uncommitted "$SCRATCH/$1"
	exec 8>&-
	echo "$output"
}

@test "hardened: a command that breaks the clone's .git has its state failed, and the machine goes on" {
	need_hardened
	repository "$SCRATCH/ws"
	WS=$SCRATCH/ws
	coder fixer "$CHECK" <<'END'
{"state":"edit","match":{"turn":0},"reply":{"tool_calls":[{"name":"run_command","arguments":{"argv":["sh","-c","t=$(git rev-parse HEAD^{tree}); o=.git/objects/$(echo $t | cut -c1-2); mkdir -p $o; echo no >$o/$(echo $t | cut -c3-); rm .git/HEAD .git/config; mkfifo .git/HEAD .git/config .git/config.worktree; ln -s /nowhere .git/shallow; chmod 000 .git/objects .git; echo new >new"]}}]}}
{"state":"edit","match":{"turn":1},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}
END
	hardened fixer
	[[ $status -eq 1 && $output == *"profile hardened"*"failed -> undone"*"failed: bad"* ]]
}

@test "hardened: when the clone cannot be restored, it is said why, not what went wrong before" {
	need_hardened
	repository "$SCRATCH/ws"
	coder fixer "  before: {kind: tool, command: [sh, -c, 'echo made >made; exit 1'], timeout_secs: 20, on: {ok: bad, nonzero: edit, timeout: bad}}
$CHECK" before <<'END'
{"state":"edit","match":{"turn":0},"reply":{"tool_calls":[{"name":"run_command","arguments":{"argv":["rm","-rf",".git/objects",".git/HEAD"]}}]}}
{"state":"edit","match":{"turn":1},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}
END
	hardened fixer
	[[ $status -eq 5 && $output == *"the private clone: git read-tree failed"* ]]
}

@test "what is protected or hidden and not there is not made: the state has failed, its edits are gone" {
	local made
	repository "$SCRATCH/ws"
	WS=$SCRATCH/ws
	for made in "ln -s /etc/passwd .env" "ln -s /etc prot" "echo x >.env; echo .env >.gitignore" "mkdir prot; mkfifo prot/passwd"; do
		echo "--- $made"
		coder fixer "$CHECK" <<<"{\"state\":\"edit\",\"match\":{\"turn\":0},\"reply\":{\"tool_calls\":[{\"name\":\"run_command\",\"arguments\":{\"argv\":[\"sh\",\"-c\",\"echo new >new; $made\"]}}]}}
{\"state\":\"edit\",\"match\":{\"turn\":1},\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"done\"}}]}}"
		live fixer sandbox.run_commands yes sandbox.hide "[$WS/.env]" sandbox.protect "[$WS/prot/passwd]"
		[[ $status -eq 1 && $output == *"failed -> undone"*"is protected or hidden, and the state has made it"*"failed: bad"* ]]
		[[ $(tip fixer) == "$(git -C "$WS" rev-parse main)" ]]
	done
}

# hook NAME TEXT: of the operator's repository, at $HOOKS
hook() {
	mkdir -p "$HOOKS"
	printf '#!/bin/sh\n%s\n' "$2" >"$HOOKS/$1"
	chmod +x "$HOOKS/$1"
}

@test "the operator's hooks run when the operator says so, and then in a jail" {
	WS=$SCRATCH/ws HOOKS=$WS/.git/hooks
	repository
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	hook pre-commit "git diff --cached --name-only >staged; touch $SCRATCH/executed $WS/executed; (exec 9<>/dev/tcp/127.0.0.1/22) 2>net
		id -u >uid; ls $SCRATCH >seen 2>/dev/null; echo formatted >>new; exit 0"
	hook prepare-commit-msg '[ "$2" = message ] && echo "Prepared: yes" >>"$1"'
	hook commit-msg 'grep -q "^fixer: edit$" "$1" && echo "Reviewed-by: hook" >>"$1"'
	hook post-commit "touch $SCRATCH/executed"
	hook reference-transaction "touch $SCRATCH/executed"
	live fixer
	[[ $status -eq 0 && ! -e $SCRATCH/executed && $(git -C "$WS" diff --name-only main agent6/machine-fixer | tr '\n' ,) == "file,new," ]]
	git -C "$WS" -c core.hooksPath=/dev/null branch -q -D agent6/machine-fixer
	live fixer git.run_repo_hooks true
	[[ $status -eq 0 && ! -e $SCRATCH/executed && ! -e $WS/executed ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:staged | tr '\n' ,) == "file,new," ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:new | tr '\n' ,) == "created,formatted," ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:uid) != 0 ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:seen) == *state* && $(git -C "$WS" show agent6/machine-fixer:seen) != *config* ]]
	[[ $(git -C "$WS" log -1 --format=%B agent6/machine-fixer) == *"Prepared: yes"*"Reviewed-by: hook"* ]]
	[[ -z $(git -C "$WS" status --porcelain --untracked-files=no | grep -v ' file$') ]]
}

@test "what a hook writes into the clone's configuration runs nothing behind it" {
	WS=$SCRATCH/ws HOOKS=$WS/.git/hooks
	repository
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	# The filter would run when the hook's change is added, where it can write to the clone as well.
	# shellcheck disable=SC2016 # the hook's own words
	hook pre-commit 'printf "[filter \"own\"]\n\tclean = touch $PWD/.git/ran; cat\n" >>.git/config
		mkdir -p .git/info; echo "new filter=own" >.git/info/attributes; echo formatted >>new'
	live fixer git.run_repo_hooks true
	[[ -s $(echo "$SCRATCH"/state/*/machines/fixer/workspace/.git/info/attributes) ]]
	[[ -z $(find "$SCRATCH/state" -name ran) ]]
}

@test "a hook that refuses is the state's failure; one outside of the repository, or a model's, is none" {
	WS=$SCRATCH/ws HOOKS=$WS/.githooks
	repository
	hook pre-commit 'echo "no commits on a Friday" >&2; exit 1'
	git -C "$WS" config core.hooksPath .githooks
	coder fixer "$CHECK" <<<"${EDITS/\"path\":\"new\"/\"path\":\".githooks/pre-commit\"}
${FINISH/created/.githooks}"
	git -C "$WS" add .githooks && git -C "$WS" -c user.name=op -c user.email=op@host commit -qm hooks --no-verify
	live fixer git.run_repo_hooks true
	[[ $status -eq 1 && $output == *undone* ]]
	grep -q "the hook pre-commit failed: no commits on a Friday" "$SCRATCH"/state/*/machines/fixer/journal.jsonl
	[[ $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
	# The operator's hook runs, not the model's file; a link leads to the operator's file, too.
	coder fixer "  after: {kind: tool, command: [cat, file], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" \
		<<<"${EDITS/\"path\":\"new\"/\"path\":\".githooks/commit-msg\"}
${FINISH/created/.githooks}"
	mkdir "$WS/tools" && echo 'exit 1' >"$WS/tools/check"
	rm "$HOOKS/pre-commit" && ln -s ../tools/check "$HOOKS/pre-commit"
	printf '#!/bin/sh\necho "the operator has spoken" >&2; exit 1\n' >"$WS/tools/check" && chmod +x "$WS/tools/check"
	live fixer git.run_repo_hooks true
	[[ $status -eq 1 ]]
	grep -q "the hook pre-commit failed: the operator has spoken" "$SCRATCH"/state/*/machines/fixer/journal.jsonl
	rm "$HOOKS/pre-commit"
	live fixer git.run_repo_hooks true
	[[ $status -eq 0 && $(git -C "$WS" show agent6/machine-fixer:.githooks/commit-msg) == created ]]
	git -C "$WS" -c core.hooksPath=/dev/null branch -q -D agent6/machine-fixer
	mkdir "$SCRATCH/elsewhere"
	git -C "$WS" config core.hooksPath "$SCRATCH/elsewhere"
	live fixer git.run_repo_hooks true
	[[ $status -eq 1 && $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
	grep -q "core.hooksPath leads to $SCRATCH/elsewhere" "$SCRATCH"/state/*/machines/fixer/journal.jsonl
	git -C "$WS" config core.hooksPath .githooks
	cp "$WS/tools/check" "$SCRATCH/elsewhere" && ln -s "$SCRATCH/elsewhere/check" "$HOOKS/pre-commit"
	live fixer git.run_repo_hooks true
	[[ $status -eq 1 && $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
	grep -q "the hook $HOOKS/pre-commit leads to $SCRATCH/elsewhere/check, outside" "$SCRATCH"/state/*/machines/fixer/journal.jsonl
}

@test "a hook that refuses a tool state's changes leaves them for the next commit" {
	WS=$SCRATCH/ws HOOKS=$WS/.git/hooks
	repository
	hook commit-msg '! grep -q "^fixer: after" "$1"'
	coder fixer "  after: {kind: tool, command: [sh, -c, 'echo made >made'], timeout_secs: 20, on: {ok: more, nonzero: bad, timeout: bad}}
  more: {kind: agent, mode: run, prompt: More., output_schema: note, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}" <<<"$EDITS
$FINISH
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"new\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"created\",\"new_string\":\"again\"}]}}]}}
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"more\"}}]}}"
	live fixer git.run_repo_hooks true
	[[ $status -eq 0 && $output == *"state after: its changes are in no commit yet: the hook commit-msg failed"* ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: more,fixer: edit," ]]
	[[ $(git -C "$WS" show --name-only --format= agent6/machine-fixer | tr '\n' ,) == "made,new," ]]
}

@test "the repository's filters run when the operator says so, and then in a jail; one that fails stops it" {
	WS=$SCRATCH/ws
	repository
	echo '*.up filter=up' >"$WS/.gitattributes"
	git -C "$WS" config filter.up.clean "touch $SCRATCH/executed $WS/executed; tr a-z A-Z"
	git -C "$WS" config filter.up.smudge 'tr A-Z a-z'
	echo word >"$WS/old.up"
	git -C "$WS" add .gitattributes old.up
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm filtered
	[[ $(git -C "$WS" show main:old.up) == WORD ]]
	rm "$SCRATCH/executed" "$WS/executed"
	coder fixer "  after: {kind: tool, command: [sh, -c, 'grep created new.up && grep word old.up'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" \
		<<<"${EDITS/\"path\":\"new\"/\"path\":\"new.up\"}
$FINISH"
	live fixer
	[[ $status -eq 1 && ! -e $SCRATCH/executed ]]
	grep -q "new.up is changed, and .gitattributes gives it to the filter up" "$SCRATCH"/state/*/machines/fixer/journal.jsonl
	live fixer git.run_repo_filters true
	[[ $status -eq 0 && ! -e $SCRATCH/executed && ! -e $WS/executed ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:new.up) == CREATED && $(git -C "$WS" show agent6/machine-fixer:old.up) == WORD ]]
	[[ $(git -C "$WS" diff --name-only main agent6/machine-fixer | tr '\n' ,) == "file,new.up," ]]
	git -C "$WS" -c core.hooksPath=/dev/null branch -q -D agent6/machine-fixer
	git -C "$WS" config filter.up.clean false
	git -C "$WS" config filter.up.required false
	live fixer git.run_repo_filters true
	[[ $status -ne 0 && $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
}
