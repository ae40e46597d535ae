# The page of autorun files comes from the table that a run is compared with.
$(out)/host/autorun_doc: tools/autorun_doc.c engine/run/autorun.c engine/run/autorun.h \
		engine/run/autorun.def $(out)/flags
	$(host_cc)
autorun-page: $(out)/host/autorun_doc
	@$(out)/host/autorun_doc >docs/autorun.md
docs: autorun-page
all: $(out)/host/autorun_doc
.PHONY: autorun-page
