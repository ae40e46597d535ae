/* Reads the events of a file with libyaml alone: a check is measured against this. */
#include <stdio.h>
#include <yaml.h>

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
	yaml_parser_t parser;
	yaml_event_t event;
	int type = YAML_NO_EVENT;
	if (!file || !yaml_parser_initialize(&parser))
		return 1;
	yaml_parser_set_input_file(&parser, file);
	while (type != YAML_STREAM_END_EVENT) {
		if (!yaml_parser_parse(&parser, &event))
			return 1;
		type = event.type;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return 0;
}
