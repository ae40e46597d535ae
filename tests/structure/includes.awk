# Reads the table `layers`, then sources; prints each include that the table does not allow.
FILENAME ~ /layers$/ {
	if ($1 !~ /^#/ && NF) {
		known[$1] = 1
		for (i = 1; i <= NF; i++)
			may[$1, $i] = 1
	}
	next
}
FNR == 1 {
	dir = FILENAME
	sub(/\/[^\/]*$/, "", dir)
	if (!(dir in known))
		print FILENAME ": its directory is not in tests/structure/layers"
}
/^#include "/ {
	split($0, part, "\"")
	target = part[2]
	if (target !~ /\//)
		next # generated below build/, or beside the file
	sub(/\/[^\/]*$/, "", target)
	if (!(target in known) && ("engine/" target) in known)
		target = "engine/" target
	if (!((dir, target) in may))
		printf "%s:%d: %s may not include %s\n", FILENAME, FNR, dir, part[2]
}
