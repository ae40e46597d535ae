bench: $(out)/tests/bench/broker_bench
$(out)/tests/bench/broker_bench: $(out)/obj/tests/bench/broker_bench.o $(call lib,$(modules))
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)

$(out)/tests/security/egress_agent_test: $(out)/obj/tests/security/attacks/decoy.o
