# The published schemas become tables: see schema/tools/shape_gen.c.
shape_names := machine config secrets case tools
shape_headers := $(shape_names:%=$(out)/gen/%_shape.h)

host_cc = @mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu17 -g -O1 $(warnings) -o $@ $(filter %.c,$^)

$(out)/host/shape_gen: schema/tools/shape_gen.c schema/tools/shape_keywords.c \
		schema/tools/pattern_gen.c schema/tools/shape_gen.h schema/doc.h $(out)/flags
	$(host_cc) -ljansson
$(out)/gen/%_shape.h: schema/%.schema.json $(out)/host/shape_gen
	@mkdir -p $(@D)
	@$(out)/host/shape_gen $* $< >$@
$(out)/obj/schema/shapes.o: $(shape_headers)

# The page of diagnostics comes from the table of rules; the table is read by every module that reports.
$(out)/host/rules_doc: schema/tools/rules_doc.c schema/rules.c schema/rules.h \
		$(wildcard schema/rules_*.def) $(out)/flags
	$(host_cc)
docs: $(out)/host/rules_doc
	@$(out)/host/rules_doc >docs/diagnostics.md
all: $(out)/host/rules_doc

# A page of every key for each schema that people write files of.
reference = jq -r --arg page $1 -f schema/tools/reference.jq schema/$1.schema.json
docs: reference-pages
reference-pages:
	@$(call reference,machine) >docs/machine.md
	@$(call reference,config) >docs/configuration.md
.PHONY: docs reference-pages
