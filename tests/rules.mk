# Tests. Every tests/{unit,golden,security}/*_test.c is a TAP program linked with all modules; every
# tests/fuzz/NAME_fuzz.c is a fuzz target, built twice: as a replay of its corpus (by `make test`,
# always under the sanitizers) and as a libFuzzer binary (CC=clang CONFIG=fuzz).
#
#   make test                 everything          make test T=tests/cli/run.bats     one file
#   make test-programs        build them only     make fuzz SECS=600                 fuzz each target
#   make test-bare            the README's two commands in a fresh Debian tree (root)
#   make test-toolchains      a table of the large toolchains installed here, tried in a jail
#   make test-kernels         Debian's kernels from 5.10 on, booted in qemu (root) KERNELS="6.1" T=FILE

test_sources := $(wildcard tests/unit/*_test.c tests/golden/*_test.c tests/crash/*_test.c tests/security/*_test.c)
test_programs := $(patsubst %.c,$(out)/%,$(test_sources))
bench_programs := $(patsubst %.c,$(out)/%,$(wildcard tests/bench/*_bench.c))
fuzz_sources := $(wildcard tests/fuzz/*_fuzz.c)
fuzz_replays := $(patsubst tests/fuzz/%.c,$(out)/tests/fuzz/%,$(fuzz_sources))
fuzzers := $(patsubst tests/fuzz/%_fuzz.c,$(out)/fuzz/%,$(fuzz_sources))

# One group: the order between the archives does not matter to a test.
archives := $(call lib,$(modules))
test_libs = -Wl,--start-group $(archives) -Wl,--end-group \
	-ljansson -lyaml -larchive -lcurl -lseccomp -lm
kit := $(patsubst %.c,$(out)/obj/%.o,$(filter-out %/fuzz_replay.c %/no_leak_check.c,$(wildcard tests/kit/*.c)))
test_link = $(call say,link $@) mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS)

$(test_programs): $(out)/tests/%: $(out)/obj/tests/%.o $(kit) $(archives)
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
$(bench_programs): $(out)/tests/%: $(out)/obj/tests/%.o $(archives)
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
$(fuzz_replays): $(out)/tests/fuzz/%: $(out)/obj/tests/fuzz/%.o $(out)/obj/tests/kit/fuzz_replay.o \
		$(kit) $(archives)
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
$(fuzzers): $(out)/fuzz/%: $(out)/obj/tests/fuzz/%_fuzz.o $(archives)
	$(test_link) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(test_libs)

test-programs: all test-helpers $(test_programs)
	@:
# Programs that a test of tests/security lets loose. A rule of the test's own would not make a missing one
# again once the test exists.
test-helpers:
	@:
fuzz-replays: $(fuzz_replays)
	@:
bench: $(bench_programs)
fuzzers: $(fuzzers)
	@:

test: deps
	@$(parallel) test-programs
	@$(parallel) CONFIG=asan fuzz-replays
	@tests/peers/install
	@tests/run --config $(CONFIG) $(T)

SECS ?= 60
fuzz:
	@$(parallel) CC=clang CONFIG=fuzz fuzzers
	@tests/fuzz/run $(SECS) $(T)

test-bare:
	@tools/deps bare
	@tests/bare/run
test-kernels:
	@tools/deps bare kernels
	@tests/kernels/run $(T)

# Kills and faults, exhaustively, for a quarter of an hour; `make test` runs the same tests at a few
# random places.
crash: all
	@AGENT6_KILLS=50 tests/run --config $(CONFIG) tests/crash/kill.bats
torture: all $(out)/tests/crash/faults_test $(out)/tests/crash/verbs_test
	@TEST_TIMEOUT_SECS=7200 AGENT6_FAULTS=all AGENT6_POKES=100 tests/run --config $(CONFIG) tests/crash/*_test.c \
		tests/live/waits.bats

# Large toolchains, those that this machine has, in a jail: a table of what works.
test-toolchains: all
	@tests/toolchains/run

# Needs GitHub, which `make test` does not.
deepce: all
	@tests/peers/fetch-deepce
	@tests/run tests/peers/deepce.bats

.PHONY: test test-programs test-helpers fuzz-replays fuzzers fuzz test-bare test-kernels test-toolchains crash torture deepce
