bench: $(out)/tests/bench/broker_bench
$(out)/tests/bench/broker_bench: $(out)/obj/tests/bench/broker_bench.o $(call lib,engine/base)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ljansson -lm

$(out)/tests/security/egress_agent_test: $(out)/obj/tests/security/attacks/decoy.o
