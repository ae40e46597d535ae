# flow_setup <YAML: a machine in ../flow, run from an empty workspace; its state in $SCRATCH/state.
flow_setup() {
	cd "$SCRATCH" || return 1
	export AGENT6_STATE_HOME=$SCRATCH/state HOME=$SCRATCH
	mkdir flow work
	cat >flow/machine.yaml
	cd work || return 1
}
