#!/bin/sh
# Prints the oldest conversation of the inbox as {"thread": [FILES], "waiting": N}. Files are named
# NUMBER-SOMETHING.txt; those with the same number belong together.
set -eu
thread='' number='' waiting=0
for file in inbox/*.txt; do
	[ -f "$file" ] || continue
	case $file in
	*[!A-Za-z0-9._/-]*)
		echo "scan: left alone, odd name: $file" >&2
		continue
		;;
	esac
	waiting=$((waiting + 1))
	id=${file#inbox/}
	id=${id%%-*}
	[ -n "$number" ] || number=$id
	[ "$id" = "$number" ] || continue
	thread="$thread${thread:+,}\"$file\""
done
printf '{"thread":[%s],"waiting":%d}\n' "$thread" "$waiting"
