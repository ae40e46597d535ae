# The stock bundles are part of the program: a copy of it alone can begin a machine.
stock_gen := $(out)/host/embed
$(stock_gen): machines/embed.c $(out)/flags
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O1 $(warnings) $(CPPFLAGS) -o $@ $<

# Directories too, so that a file taken away is noticed.
$(out)/gen/cli/bundle/stock_bundles.h: $(stock_gen) $(shell find machines -mindepth 1)
	@mkdir -p $(@D)
	@$(stock_gen) machines >$@.tmp && mv $@.tmp $@

$(out)/obj/engine/cli/bundle/stock.o: $(out)/gen/cli/bundle/stock_bundles.h
