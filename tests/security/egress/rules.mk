# The corpus is a program that runs wherever it is put, and an agent that makes every attempt.
egress := $(out)/tests/security/egress
comma := ,
attempts := $(addprefix tests/security/egress/,reach attempts_internet attempts_host)
$(egress)/attempt: tests/security/egress/attempt.c $(attempts:%=%.c) $(wildcard tests/security/egress/*.h)
	@mkdir -p $(@D)
	$(call say,link $@) $(CC) -std=gnu17 -O1 $(warnings) -Wno-conversion -Wno-sign-conversion -I. -o $@ $(filter %.c,$^)

$(attempts:%=$(out)/obj/%.o): CFLAGS += -Wno-conversion -Wno-sign-conversion
$(egress)/agent: $(out)/obj/tests/security/egress/agent.o $(attempts:%=$(out)/obj/%.o) $(extra.agent6-agent) $(archives)
	$(test_link) -o $@ $(filter %.o,$^) $(test_libs)


# `make teeth`: the same agent, but the environment can leave layers of its confinement out.
$(out)/teeth/agent: $(out)/obj/tests/security/egress/agent.o $(out)/obj/tests/security/egress/agent_layers.o \
		$(attempts:%=$(out)/obj/%.o) $(archives)
	$(test_link) $(patsubst %,-Wl$(comma)--wrap=self_confine_%,network landlock privileges seccomp) -o $@ \
		$(filter %.o,$^) $(test_libs)
teeth: all $(out)/teeth/agent $(egress)/attempt $(egress)/agent
# Built with the tests too, so that a new name of a function in it is found there.
test-helpers: $(egress)/attempt $(egress)/agent $(out)/teeth/agent
