# Reads `nm -A` of the base objects, then of the pure ones. An object of base is impure when it calls
# the outside world, and so is everything it defines; prints each pure object's use of either.
BEGIN {
	split("open open64 openat openat64 fopen fopen64 fdopen opendir read pread write pwrite stat " \
		"lstat fstat fstatat access unlink rename mkdir socket connect send recv fork vfork " \
		"execve execvpe posix_spawn clock_gettime gettimeofday time getenv secure_getenv setenv " \
		"getrandom rand random arc4random syscall getpid getuid nanosleep poll printf puts", list)
	for (i in list)
		outside[list[i]] = 1
}
FNR == 1 { pass++ }
{
	object = $1
	sub(/:[0-9a-f]*$/, "", object)
	kind = $(NF - 1)
	symbol = $NF
	sub(/@.*/, "", symbol)
	sub(/^__(isoc99_)?/, "", symbol)
	sub(/_chk$/, "", symbol)
}
pass == 1 && kind == "U" && symbol in outside { impure[object] = 1 }
pass == 1 && kind == "T" { home[symbol] = object }
pass == 2 && kind == "U" && (symbol in outside || (symbol in home && home[symbol] in impure)) {
	sub(/.*\/obj\//, "", object)
	print object " uses " symbol
}
