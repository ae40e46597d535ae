# Kills and faults, exhaustively, for a quarter of an hour; `make test` runs the same tests at a few
# random places.
crash: all
	@AGENT6_KILLS=50 tests/run --config $(CONFIG) tests/crash/kill.bats

torture: all $(out)/tests/crash/faults_test
	@TEST_TIMEOUT_SECS=7200 AGENT6_FAULTS=all AGENT6_POKES=100 tests/run --config $(CONFIG) tests/crash/faults_test.c \
		tests/live/waits.bats

.PHONY: crash torture
