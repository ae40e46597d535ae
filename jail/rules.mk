# The filter programs are generated from the table by a program of the build host.
host_gen := $(out)/host/seccomp-gen
$(host_gen): jail/gen/main.c jail/seccomp_table.h jail/seccomp.h
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O1 $(warnings) $(CPPFLAGS) -o $@ $< -lseccomp

$(out)/gen/jail/seccomp_programs.h: $(host_gen)
	@mkdir -p $(@D)
	@$(host_gen) >$@.tmp && mv $@.tmp $@

$(out)/obj/jail/seccomp.o $(out)/obj/tests/unit/jail_seccomp_test.o: $(out)/gen/jail/seccomp_programs.h

# The part of docs/confinement.md that lists what of the host's /etc a jail shows.
$(out)/host/etc_doc: tools/etc_doc.c engine/base/etc_table.h $(out)/flags
	$(host_cc)
etc-part: $(out)/host/etc_doc
	@$< >$<.md
	@sed -i -e '/^<!-- etc_table.h/,/^<!-- end/{//!d}' -e '/^<!-- etc_table.h/r $<.md' docs/confinement.md
docs: etc-part
all: $(out)/host/etc_doc
.PHONY: etc-part

# The release jail with musl for its C library. glibc begins by asking the processor about its caches,
# which traps in a virtual machine: of a jailed /usr/bin/true that is a twelfth.
ifneq ($(musl),)
musl_base    := beneath buf caps clock err fdpass fields io json landlock num path tree utf8 vcs
musl_objects := $(patsubst %.c,$(out)/musl/%.o,$(wildcard jail/*.c jail/musl/*.c) $(musl_base:%=engine/base/%.c))
# Its header files' own macros convert; the code is warned about where it is built with glibc.
musl_headers := -nostdinc -isystem $(musl:/usr/lib/%=/usr/include/%) -idirafter /usr/include \
	-idirafter /usr/include/$(subst -musl,-gnu,$(notdir $(musl)))
$(musl_objects): $(out)/musl/%.o: %.c $(out)/flags
	@mkdir -p $(@D)
	$(call say,cc   $< (musl)) $(CC) $(CPPFLAGS) $(musl_headers) $(CFLAGS) -Wno-conversion -Wno-sign-conversion \
		-Wno-sign-compare -MMD -MP -c -o $@ $<
$(out)/musl/jail/seccomp.o: $(out)/gen/jail/seccomp_programs.h
# The directories: a program forgets a removed file.
$(bin)/agent6-jail: $(musl_objects) jail jail/musl
	@mkdir -p $(@D)
	$(call say,link $@) $(CC) $(CFLAGS) -nostdlib $(link.agent6-jail) -o $@ $(musl)/rcrt1.o $(musl)/crti.o \
		$(filter %.o,$^) -l:libjansson.a $(musl)/libc.a -lgcc $(musl)/crtn.o || \
		{ echo "make MUSL= builds it with the system's C library instead" >&2; exit 1; }
-include $(musl_objects:.o=.d)
endif

# The attack corpus is one static program, so that it runs wherever it is put.
attack := $(out)/tests/security/attacks/attack
$(attack): $(wildcard tests/security/attacks/[!d]*.c) tests/security/attacks/attack.h
	@mkdir -p $(@D)
	$(call say,link $@) $(CC) -std=gnu17 -O1 $(warnings) -Wno-conversion -Wno-sign-conversion $(CPPFLAGS) \
		-static -o $@ $(filter %.c,$^)

decoy := $(patsubst %.c,$(out)/obj/%.o,$(wildcard tests/security/attacks/decoy*.c))
$(patsubst %,$(out)/tests/security/jail_%_test,attacks faults ioctls oracle): $(decoy)
test-helpers: $(attack)

# `make teeth`: the same jail, compiled so that the environment can leave layers out, and one program
# without the seccomp table and one without each group of it. Never installed, never linked into anything.
teeth_groups := table $(shell awk '/define SECCOMP_GROUPS/ {on = 1} /^$$/ {on = 0} on && /, "/ {print substr($$1, 3, length($$1) - 3)}' \
	jail/seccomp_table.h)
teeth := $(out)/teeth/agent6-jail $(teeth_groups:%=$(out)/teeth/without-%)
teeth_build = $(CC) $(filter-out -Werror,$(CFLAGS)) -I$(@D)/$(@F).gen $(CPPFLAGS) -include tests/security/leave_out.h $(LDFLAGS) -o $@ \
	$(filter %.c,$^) -ljansson -lm
teeth_sources := $(wildcard jail/*.c) $(filter-out engine/base/%main.c,$(wildcard engine/base/*.c))
$(teeth): $(out)/teeth/%: $(host_gen) $(teeth_sources) $(wildcard jail/*.h) tests/security/leave_out.h
	@mkdir -p $@.gen/jail
	@$(host_gen) $(patsubst without-%,%,$*) >$@.gen/jail/seccomp_programs.h
	$(call say,link $@) $(teeth_build)

# The archives' relay.o is not taken, because no_relay.o defines all that it does.
$(out)/teeth/agent6: $(out)/obj/engine/cli/main.o $(out)/obj/tests/security/no_relay.o $(call lib,$(filter $(modules),$(mods.agent6)))
	$(call say,link $@) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs.agent6)

teeth: all $(teeth) $(out)/teeth/agent6 $(attack) $(out)/tests/security/jail_attacks_test
	@tests/security/teeth $(out)
.PHONY: teeth
