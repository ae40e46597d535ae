#!/bin/sh
# write.sh HEADLINE POINT...: digest.md, replaced whole, so that a second run of the step changes nothing.
set -eu
headline=$1
shift
{
	printf '# %s\n\n' "$headline"
	[ $# -eq 0 ] || printf -- '- %s\n' "$@"
} >digest.md.new
mv digest.md.new digest.md
printf '{"lines":%d}\n' "$(wc -l <digest.md)"
