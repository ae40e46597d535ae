#!/bin/sh
# Runs "$@", keeps what it prints in check.log, and says whether it passed.
set -u
passed=true
"$@" >check.log 2>&1 || passed=false
printf '{"passed":%s,"lines":%d}\n' "$passed" "$(wc -l <check.log)"
