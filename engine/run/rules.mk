# Kills and faults, as many as the issue asks for; `make test` runs the same tests with fewer.
crash: all
	@AGENT6_KILLS=50 tests/run --config $(CONFIG) tests/crash/kill.bats

.PHONY: crash
