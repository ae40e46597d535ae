# Tests. Every tests/{unit,golden,security}/*_test.c is a TAP program linked with all modules; every
# tests/fuzz/NAME_fuzz.c is a fuzz target, built twice: as a replay of its corpus (any CONFIG, run
# under the sanitizers by `make test`) and as a libFuzzer binary (CC=clang CONFIG=fuzz).
#
#   make test                 everything          make test T=tests/cli/run.bats     one file
#   make test-programs        build them only     make CC=clang CONFIG=fuzz fuzzers

test_sources := $(wildcard tests/unit/*_test.c tests/golden/*_test.c tests/security/*_test.c)
test_programs := $(patsubst %.c,$(out)/%,$(test_sources))
fuzz_sources := $(wildcard tests/fuzz/*_fuzz.c)
fuzz_replays := $(patsubst tests/fuzz/%.c,$(out)/tests/fuzz/%,$(fuzz_sources))
fuzzers := $(patsubst tests/fuzz/%_fuzz.c,$(out)/fuzz/%,$(fuzz_sources))

test_libs = -Wl,--start-group $(call lib,$(modules)) -Wl,--end-group \
	-ljansson -lyaml -larchive -lcurl -lseccomp -lm
test_link = @mkdir -p $(@D); $(CC) $(CFLAGS) $(LDFLAGS)

$(test_programs): $(out)/tests/%: $(out)/obj/tests/%.o $(out)/obj/tests/kit/tap.o $(call lib,$(modules))
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
$(fuzz_replays): $(out)/tests/fuzz/%: $(out)/obj/tests/fuzz/%.o $(out)/obj/tests/kit/fuzz_replay.o \
		$(out)/obj/tests/kit/tap.o $(call lib,$(modules))
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
$(fuzzers): $(out)/fuzz/%: $(out)/obj/tests/fuzz/%_fuzz.o $(call lib,$(modules))
	$(test_link) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(test_libs)

test-programs: all $(test_programs) $(fuzz_replays)
fuzzers: $(fuzzers)

test: test-programs
	@tests/run --config $(CONFIG) $(T)

.PHONY: test test-programs fuzzers
