#!/bin/bash
# The broker beside direct TCP and socat, on loopback.
set -eu -o pipefail
exec "$(dirname "$0")/../../build/release/tests/bench/broker_bench" "$AGENT6_BIN/agent6-broker" "$TMPDIR"
