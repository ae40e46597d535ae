# Turns a page into a shell script of steps. In ```console blocks a line `$ CMD` is run, with its
# continuation lines (a trailing backslash, or `> ` lines); what follows up to the next command is
# expected in the output, `...` standing for anything. `# exit N` behind a command: that exit code.
# A block whose first line is `# file: NAME` is written to NAME.
function quote(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}
function flush_step() {
	if (command != "")
		printf "step %s %s %d <<'END_OF_EXPECTED'\n%sEND_OF_EXPECTED\n", quote(where), \
			quote(command), code, expected
	command = expected = ""
}
/^```/ {
	if (block == "") {
		block = $0
		first = 1
	} else {
		flush_step()
		if (block == "file")
			print "END_OF_FILE"
		block = ""
	}
	next
}
block != "" && first {
	first = 0
	if ($0 ~ /^# file: /) {
		name = substr($0, 9)
		printf "write_file %s %s <<'END_OF_FILE'\n", quote(FILENAME ":" FNR), quote(name)
		block = "file"
		next
	}
}
block == "file" { print; next }
block == "```console" && /^\$ / {
	flush_step()
	where = FILENAME ":" FNR
	command = substr($0, 3)
	code = 0
	if (match(command, / *# exit [0-9]+$/)) {
		code = command
		sub(/.*# exit /, "", code)
		sub(/ *# exit [0-9]+$/, "", command)
	}
	next
}
block == "```console" && (/^> / || command ~ /\\$/) && expected == "" {
	line = $0
	sub(/^> /, "", line)
	command = command "\n" line
	next
}
block == "```console" { expected = expected $0 "\n" }
