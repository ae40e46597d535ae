#!/bin/sh
# The egress of a jailed tool whose allow_network is a list.
exec "$(dirname "$0")/egress/play" list.py
