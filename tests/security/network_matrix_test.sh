#!/bin/sh
# Every row of the network matrix, started, with every attempt of the corpus made in it.
exec "$(dirname "$0")/egress/play" matrix.py
