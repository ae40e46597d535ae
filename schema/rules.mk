# The published schemas become tables: see schema/tools/shape_gen.c.
shape_names := machine config secrets
shape_headers := $(shape_names:%=$(out)/gen/%_shape.h)

$(out)/host/shape_gen: $(wildcard schema/tools/*.c schema/tools/*.h) schema/doc.h $(out)/flags
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) -std=gnu17 -g -O1 $(warnings) -o $@ $(filter %.c,$^) -ljansson
$(out)/gen/%_shape.h: schema/%.schema.json $(out)/host/shape_gen
	@mkdir -p $(@D)
	@$(out)/host/shape_gen $* $< >$@
$(out)/obj/schema/shapes.o: $(shape_headers)
