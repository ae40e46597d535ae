# The report's style sheet is part of the program, one C string a line.
$(out)/gen/report/report_style.h: engine/report/report.css $(out)/flags
	@mkdir -p $(@D)
	@sed 's/[\\"]/\\&/g; s/^[[:space:]]*//; s/.*/"&\\n"/' $< >$@
$(out)/obj/engine/report/report.o: $(out)/gen/report/report_style.h
