bench: $(out)/tests/bench/broker_bench
$(out)/tests/bench/broker_bench: $(out)/obj/tests/bench/broker_bench.o $(call lib,$(modules))
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)
