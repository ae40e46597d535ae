#!/bin/sh
# What leaves a jailed tool whose allow_network is a list: in network and mount namespaces of its
# own, so that public addresses and names can be played on loopback.
set -eu
src=${AGENT6_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
for program in python3 openssl ip unshare curl git; do
	command -v $program >/dev/null || {
		echo "1..0 # SKIP $program is not installed (make deps)"
		exit 0
	}
done
map=$([ "$(id -u)" -eq 0 ] || echo --map-root-user)
unshare $map --mount --net true 2>/dev/null || {
	echo "1..0 # SKIP this host allows no namespaces"
	exit 0
}
exec unshare $map --mount --net "$src/tests/security/broker/stage" \
	python3 -B "$src/tests/security/egress/list.py"
