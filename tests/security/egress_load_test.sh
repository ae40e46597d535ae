#!/bin/sh
# The broker under load, and each process of a run killed.
exec "$(dirname "$0")/egress/play" load.py root
