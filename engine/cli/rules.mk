# The report's style sheet is part of the program, one C string a line.
$(out)/gen/cli/report_style.h: engine/cli/report.css $(out)/flags
	@mkdir -p $(@D)
	@sed 's/[\\"]/\\&/g; s/^[[:space:]]*//; s/.*/"&\\n"/' $< >$@
$(out)/obj/engine/cli/report.o: $(out)/gen/cli/report_style.h
