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
# An ordinary user becomes root to set the stage, and herself again to play on it.
map= back=
if [ "$(id -u)" -ne 0 ]; then
	map=--map-root-user
	back="unshare --user --map-user=$(id -u) --map-group=$(id -g)"
fi
unshare $map --mount --net true 2>/dev/null || {
	echo "1..0 # SKIP this host allows no namespaces"
	exit 0
}
exec unshare $map --mount --net "$src/tests/security/broker/stage" \
	$back python3 -B "$src/tests/security/egress/list.py"
