#!/bin/sh
# write.sh VERDICT SUMMARY POINT... writes review.md.
set -eu
verdict=$1 summary=$2
shift 2
{
	printf '# Review: %s\n\n%s\n' "$verdict" "$summary"
	[ $# -eq 0 ] || printf '\n'
	[ $# -eq 0 ] || printf -- '- %s\n' "$@"
} >review.md
printf '{"lines":%d}\n' "$(wc -l <review.md)"
