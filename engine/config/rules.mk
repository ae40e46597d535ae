# The page of the network matrix comes from the table that decides.
$(out)/host/network_doc: tools/network_doc.c engine/config/network.c engine/config/network.h \
		engine/config/network.def $(out)/flags
	$(host_cc)
network-page: $(out)/host/network_doc
	@$(out)/host/network_doc >docs/network.md
docs: network-page
all: $(out)/host/network_doc
.PHONY: network-page
