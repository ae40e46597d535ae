#!/bin/sh
# file.sh LABEL FILE...: moves the files to sorted/LABEL and notes it in sorted/log.txt. A step may run
# again after a crash, so everything here may happen twice: a file that was moved is not missed, and
# the line in the log carries the step's key and is written once.
set -eu
label=$1
shift
mkdir -p "sorted/$label"
for file in "$@"; do
	[ ! -f "$file" ] || mv "$file" "sorted/$label/"
done
touch sorted/log.txt
grep -q "^$AGENT6_STEP_KEY " sorted/log.txt || echo "$AGENT6_STEP_KEY $label $*" >>sorted/log.txt
printf '{"filed":%d}\n' "$(wc -l <sorted/log.txt)"
