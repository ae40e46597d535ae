#!/bin/sh
# collect.sh FOLDER: the notes below it, oldest name first, as JSON.
set -eu
count=0
names=
for file in "$1"/*.md; do
	[ -f "$file" ] || continue
	case $file in
	*[!A-Za-z0-9_./-]*) continue ;; # needs no quoting in JSON, or is not a note of ours
	esac
	names="$names${names:+,}\"$file\""
	count=$((count + 1))
done
printf '{"files":[%s],"count":%d}\n' "$names" "$count"
