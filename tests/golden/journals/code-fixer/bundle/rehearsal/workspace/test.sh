# Run as `sh test.sh`; says which ratio is wrong.
. ./gears.sh

expect() {
	got=$(ratio "$1" "$2")
	[ "$got" = "$3" ] || {
		echo "ratio $1 $2: expected $3, got $got"
		exit 1
	}
}

expect 40 20 200
expect 20 40 50
echo "all ratios right"
