# Measures C files laid out by clang-format: functions open and close with a brace in column one.
# Parameters do not count a closing error value or `...`.
# Prints what is over the limits of CONTRIBUTING.md, and on the last line "median M, p90 P, functions N".
function strip(line) {
	gsub(/\\./, "", line)
	gsub(/"[^"]*"|'[^']*'/, "", line)
	gsub(/\/\*.*\*\/|\/\/.*/, "", line)
	return line
}
function over(what, got, limit) {
	printf "%s:%d: %s: %s %d, at most %d\n", FILENAME, start, name, what, got, limit
}
function parameters(text, n, depth, i, c) {
	sub(/^[^(]*\(/, "", text)
	sub(/,[ \t]*(struct (err|fault) \*[a-z]*|\.\.\.)\)/, ")", text)
	if (text ~ /^void\)/ || text ~ /^\)/)
		return 0
	n = 1
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(")
			depth++
		else if (c == ")" && depth-- == 0)
			break
		else if (c == "," && depth == 0)
			n++
	}
	return n
}
FNR == 1 { signature = ""; inside = 0; comment = 0 }
{
	lines[FILENAME] = FNR
	if (!inside && $0 ~ /^[A-Za-z_].*[^;]$/ && $0 !~ /[=:]$/)
		signature = $0
	else if (!inside && $0 ~ /^[\t ]/ && signature != "")
		signature = signature " " $0
	else if (!inside && $0 != "{")
		signature = ""
}
!inside && $0 == "{" && signature ~ /\(/ {
	inside = 1
	start = FNR
	depth = deepest = 0
	name = signature
	sub(/^.*PRINTF\([0-9, ]*\)[ \t]*/, "", name)
	held = name
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (parameters(held) > 5)
		over("parameters", parameters(held), 5)
	next
}
inside && $0 == "}" {
	length_of[++functions] = FNR - start - 1
	if (FNR - start - 1 > 80)
		over("lines", FNR - start - 1, 80)
	if (deepest > 3)
		over("levels of nesting", deepest, 3)
	inside = 0
	signature = ""
	next
}
inside {
	line = strip($0)
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "{" && ++depth > deepest)
			deepest = depth
		else if (c == "}")
			depth--
	}
}
END {
	for (file in lines) {
		if (file ~ /_table\.h$/)
			continue # one row per system call, key, ...
		limit = file ~ /\.h$/ ? 250 : 600
		if (lines[file] > limit)
			printf "%s: lines %d, at most %d\n", file, lines[file], limit
	}
	for (i = 2; i <= functions; i++)
		for (j = i; j > 1 && length_of[j - 1] > length_of[j]; j--) {
			swap = length_of[j]
			length_of[j] = length_of[j - 1]
			length_of[j - 1] = swap
		}
	printf "median %d, p90 %d, functions %d\n", length_of[int((functions + 1) / 2)], \
		length_of[int(functions * 0.9 + 0.5)], functions
}
