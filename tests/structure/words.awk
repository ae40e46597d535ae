# Prints two shares over C files: parameters named by one letter, and comments that open with a noun
# clause. With -v LIST=1 it first prints each such place. The letters e, i and n are idioms and do
# not count. It relies on clang-format's layout: a declaration begins in column one, and its
# continuation is indented.

# Counts the parameters of one declaration. `parts`, `count`, `i` and `name` are local.
function count_parameters(declaration, where, parts, count, i, name) {
	gsub(/\([^()]*\)\([^()]*\)/, "", declaration) # a function pointer's own parameters
	sub(/^[^(]*\(/, "", declaration)
	sub(/\)[^)]*$/, "", declaration)
	count = split(declaration, parts, ",")
	for (i = 1; i <= count; i++) {
		name = parts[i]
		gsub(/\[[^\]]*\]/, "", name)
		if (name !~ /[ *][A-Za-z_][A-Za-z0-9_]*[ \t]*$/)
			continue
		sub(/[ \t]*$/, "", name)
		sub(/.*[ *]/, "", name)
		parameters++
		if (length(name) > 1 || name ~ /^[ein]$/)
			continue
		letters++
		if (LIST)
			print where ": parameter " name
	}
}

# Judges the first words of a comment.
function judge(text) {
	if (text !~ /^(What|Whether|Where|Of|Whose|Who|That|As)[ ,]/)
		return
	clauses++
	if (LIST)
		print FILENAME ":" FNR ": comment " text
}

# Judges the comment that begins in this line, or leaves that to its next line.
function begin_comment(text) {
	comments++
	sub(/^.*\/\*[ \t]*/, "", text)
	awaits_words = text !~ /[A-Za-z]/
	if (!awaits_words)
		judge(text)
	in_comment = text !~ /\*\//
}

function percent(part, whole) {
	return whole ? 100 * part / whole : 0
}

FNR == 1 {
	declaration = ""
	in_comment = 0
}

in_comment {
	if (awaits_words && $0 ~ /[A-Za-z]/) {
		text = $0
		sub(/^[ \t*]*/, "", text)
		judge(text)
		awaits_words = 0
	}
	in_comment = $0 !~ /\*\//
	next
}

/^[ \t]*\/\*/ || /[^ \t].*\/\* / {
	begin_comment($0)
	next
}

{
	if ($0 ~ /^[A-Za-z_].*\(/ && $0 !~ /^(typedef|return|else|if|for|while|switch)/ && $0 !~ /=/)
		declaration = $0
	else if (declaration != "" && $0 ~ /^[ \t]+[^ \t]/)
		declaration = declaration " " $0
	else
		declaration = ""
	if (declaration ~ /\)[^()]*;?[ \t]*$/) {
		count_parameters(declaration, FILENAME ":" FNR)
		declaration = ""
	}
}

END {
	printf "one-letter parameters %.1f %% (%d of %d), comments that open with a noun clause %.1f %% (%d of %d)\n",
		percent(letters, parameters), letters, parameters, percent(clauses, comments), clauses, comments
}
