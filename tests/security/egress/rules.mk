# The corpus is a program that runs wherever it is put, and an agent that makes every attempt.
egress := $(out)/tests/security/egress
$(egress)/attempt: tests/security/egress/attempt.c tests/security/egress/attempts.c tests/security/egress/attempts.h
	@mkdir -p $(@D)
	$(call say,link $@) $(CC) -std=gnu17 -O1 $(warnings) -Wno-conversion -Wno-sign-conversion -I. -o $@ $(filter %.c,$^)

$(out)/obj/tests/security/egress/attempts.o: CFLAGS += -Wno-conversion -Wno-sign-conversion
$(egress)/agent: $(addprefix $(out)/obj/tests/security/egress/,agent.o attempts.o) $(extra.agent6-agent) $(archives)
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)

test-programs: $(egress)/attempt $(egress)/agent
