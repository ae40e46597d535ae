#!/bin/bash
# The broker, live: in a network and mount namespace of its own, with its own loopback, names and
# resolver, so that "public" addresses can be played and nothing leaves the machine.
set -eu
here=${AGENT6_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/security/broker
for program in python3 openssl ip unshare; do
	command -v $program >/dev/null || {
		echo "1..0 # SKIP $program is not installed (make deps)"
		exit 0
	}
done
own=(--mount --net)
[[ $(id -u) -eq 0 ]] || own+=(--map-root-user)
unshare "${own[@]}" true 2>/dev/null || {
	echo "1..0 # SKIP this host allows no namespaces"
	exit 0
}
exec unshare "${own[@]}" "$here/stage" python3 -B "$here/live.py"
