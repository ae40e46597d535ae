# ratio TEETH_DRIVEN TEETH_DRIVING: the gear ratio in hundredths, rounded down.
ratio() {
	echo $(($2 * 100 / $1))
}
