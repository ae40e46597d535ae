# The filter programs are generated from the table by a program of the build host.
host_gen := $(out)/host/seccomp-gen
$(host_gen): jail/gen/main.c jail/seccomp_table.h
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O1 $(warnings) $(CPPFLAGS) -o $@ $< -lseccomp

$(out)/gen/jail/seccomp_programs.h: $(host_gen)
	@mkdir -p $(@D)
	@$(host_gen) >$@.tmp && mv $@.tmp $@

$(out)/obj/jail/seccomp.o: $(out)/gen/jail/seccomp_programs.h
