# machine sign, and who verifies: check, run, inspect, configuration.
load ../kit/common

setup() {
	need ssh-keygen
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config AGENT6_STATE_HOME=$SCRATCH/state
	unset SSH_AUTH_SOCK
	ssh-keygen -q -t ed25519 -N '' -C '' -f key
	ssh-keygen -q -t ed25519 -N '' -C '' -f stranger
	echo "ada@example.org namespaces=\"agent6-bundle\" $(cat key.pub)" >allowed
	agent6 machine new flow --from tool
	agent6 machine pack flow -o flow.asm
	mkdir work
}

@test "a signature that ssh-keygen printed to nobody, or half of one, is none" {
	need_root
	local words
	for words in '' '-----BEGIN SSH SIGNATURE-----'; do
		printf '#!/bin/sh\necho "%s"\n' "$words" >keygen
		chmod 755 keygen
		# shellcheck disable=SC2016
		run -2 unshare -m sh -ec 'mount --bind keygen /usr/bin/ssh-keygen
			"$1" machine sign --key key flow.asm' _ "$AGENT6_BIN/agent6"
		[[ $output == *"ssh-keygen did not print a whole signature"* && ! -e flow.asm.sig ]]
	done
}

@test "a signed bundle is accepted and says who signed" {
	run --separate-stderr agent6 machine sign --key key flow.asm
	echo "$stderr"
	[ "$status" -eq 0 ]
	grep -q 'BEGIN SSH SIGNATURE' flow.asm.sig
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[ "$status" -eq 0 ]
	run --separate-stderr agent6 machine inspect --allowed-signers allowed flow.asm
	[[ $output == *"signed by    ada@example.org"* ]]
	cd work
	run --separate-stderr agent6 machine run --allowed-signers ../allowed ../flow.asm --quiet
	[ "$status" -eq 0 ]
}

@test "the signature is ssh-keygen's own, over the digest" {
	agent6 machine sign --key key flow.asm
	digest=$(agent6 machine inspect --json flow.asm | grep -o 'sha256:[0-9a-f]*' | head -n 1)
	printf %s "$digest" | ssh-keygen -Y verify -f allowed -I ada@example.org -n agent6-bundle -s flow.asm.sig
}

@test "no signature, a stranger's, another bundle's, another namespace's" {
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"error[bundle-signature]"*"not signed"* ]]
	agent6 machine sign --key stranger flow.asm
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"by nobody whom allowed accepts"* ]]
	agent6 machine sign --key key flow.asm
	echo "# changed" >>flow/machine.yaml
	agent6 machine pack flow -o flow.asm
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"does not vouch for this bundle"* ]]
	digest=$(agent6 machine inspect --json flow.asm | grep -o 'sha256:[0-9a-f]*' | head -n 1)
	printf %s "$digest" | ssh-keygen -q -Y sign -f key -n git >flow.asm.sig
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[ "$status" -eq 2 ]
}

@test "a pipe in the place of a key, a signature or the signers is refused, not waited for" {
	agent6 machine sign --key key flow.asm
	mkfifo pipe
	run timeout 100 "$AGENT6_BIN/agent6" machine sign --key pipe flow.asm
	[[ $status -eq 2 && $output == *"pipe is not a regular file"* ]]
	run timeout 100 "$AGENT6_BIN/agent6" machine check --allowed-signers pipe flow.asm
	[[ $status -eq 2 && $output == *"pipe is not a regular file"* ]]
	mv pipe flow.asm.sig
	run timeout 100 "$AGENT6_BIN/agent6" machine check --allowed-signers allowed flow.asm
	[[ $status -eq 2 && $output == *"flow.asm.sig is not a regular file"* ]]
}

@test "machine.require_signature refuses unsigned packed bundles" {
	agent6 config set machine.require_signature true
	cd work
	run --separate-stderr agent6 machine run ../flow.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *machine.allowed_signers* ]]
	run --separate-stderr agent6 machine check ../flow.asm
	[ "$status" -eq 2 ]
	[[ -z $output && $stderr == *"error[bundle-signature]"*machine.allowed_signers* ]]
	agent6 config set machine.allowed_signers "$SCRATCH/allowed"
	for verb in run check; do
		run --separate-stderr agent6 machine $verb ../flow.asm
		[ "$status" -eq 2 ]
		[[ $stderr == *"not signed"* ]]
	done
	run --separate-stderr agent6 machine check ../flow
	[ "$status" -eq 0 ]
	run --separate-stderr agent6 machine run ../flow --id loose --quiet
	[ "$status" -eq 0 ]
	agent6 machine sign --key ../key ../flow.asm
	run --separate-stderr agent6 machine check ../flow.asm
	[ "$status" -eq 0 ]
	run --separate-stderr agent6 machine run ../flow.asm --quiet
	[ "$status" -eq 0 ]
}

@test "a signer's restrictions are named for what they are, and so is a list that is not there" {
	agent6 machine sign --key key flow.asm
	echo "ada namespaces=\"git\" $(cat key.pub)" >allowed
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[[ $status -eq 2 && $stderr == *"does not vouch for this bundle"*namespace* ]]
	echo "ada valid-before=\"20200101\" $(cat key.pub)" >allowed
	run --separate-stderr agent6 machine check --allowed-signers allowed flow.asm
	[[ $status -eq 2 && $stderr == *"by nobody whom allowed accepts"*expired* ]]
	run --separate-stderr agent6 machine check --allowed-signers nowhere flow.asm
	[[ $status -eq 2 && $stderr == *"cannot read nowhere, which says whose signatures count"* ]]
}

@test "inspect names a signature that it could not check" {
	run --separate-stderr -0 agent6 machine inspect flow.asm
	[[ $output != *"signed by"* ]]
	agent6 machine sign --key key flow.asm
	run --separate-stderr -0 agent6 machine inspect flow.asm
	[[ $output == *"signed by    somebody; not checked, which needs --allowed-signers FILE"* ]]
}

@test "inspect believes whom the configuration names, and looks into what nobody signed" {
	agent6 config set machine.require_signature true
	run --separate-stderr -0 agent6 machine inspect --json flow.asm
	[[ $(jq -c '[.form, .signed_by]' <<<"$output") == '["packed",null]' ]]
	agent6 config set machine.allowed_signers "$SCRATCH/allowed"
	agent6 machine sign --key key flow.asm
	run --separate-stderr -0 agent6 machine inspect --json flow.asm
	[[ $(jq -r .signed_by <<<"$output") == ada@example.org ]]
	ssh-keygen -q -t ed25519 -N '' -f other
	agent6 machine sign --key other flow.asm
	run --separate-stderr -2 agent6 machine inspect --json flow.asm
	[[ -z $output && $stderr == *"by nobody whom $SCRATCH/allowed accepts"* ]]
}

@test "sign needs a key" {
	run --separate-stderr agent6 machine sign flow.asm
	[ "$status" -eq 2 ]
	run --separate-stderr agent6 machine sign --key nowhere flow.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *ssh-keygen* ]]
	[ ! -e flow.asm.sig ]
}
