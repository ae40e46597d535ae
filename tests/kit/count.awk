# Counts TAP files: failures with their diagnostics, skips with their reasons, one closing line.
# Variables: status (of prove), ci ("true": a skip fails). Exit 0 when nothing failed.
FNR == 1 { shown = 0; file = FILENAME; sub(/.*\//, "", file); sub(/\.tap$/, "", file) }
/^not ok/ { failed++; shown = 1; note[++notes] = file ": " $0; next }
/^1\.\.0 .*# *[Ss][Kk][Ii][Pp]/ || /^ok .*# *[Ss][Kk][Ii][Pp]/ {
	skipped++
	shown = 0
	reason = $0
	sub(/.*# *[Ss][Kk][Ii][Pp][Pp]?[Ee]?[Dd]? */, "", reason)
	if (!(file ": " reason in seen))
		order[++reasons] = file ": " reason
	seen[file ": " reason]++
	next
}
/^ok/ { passed++; shown = 0; next }
/^#/ { if (shown) note[++notes] = "    " $0 }
END {
	for (i = 1; i <= notes; i++)
		print note[i]
	for (i = 1; i <= reasons; i++)
		printf "skipped %d: %s\n", seen[order[i]], order[i]
	bad = failed > 0
	if (status != 0 && !failed)
		bad = failed = 1
	if (ci == "true" && skipped) {
		print "On CI everything must run: each skip above counts as a failure."
		failed += skipped
		skipped = 0
		bad = 1
	}
	if (passed + failed == 0) {
		print "no test ran"
		bad = failed = 1
	}
	printf "%d passed, %d failed", passed, failed
	if (skipped)
		printf ", %d skipped", skipped
	printf "\n"
	exit bad
}
