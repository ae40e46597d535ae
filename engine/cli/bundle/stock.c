#include "cli/bundle/stock.h"

#include "base/cleanup.h"
#include "cli/bundle/stock_bundles.h"
#include <string.h>

const char stock_details[] = "TEMPLATE is a bundle of any form, or the name of one that comes with "
			     "the program:\n" STOCK_DETAILS "\n\n"
			     "The new bundle is a whole copy under its own name, yours to change.";

const char stock_lister[] = "echo" STOCK_NAMES " | tr \" \" \"\\n\"";

const struct stock *stock_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(stock_bundles); i++)
		if (!strcmp(stock_bundles[i].name, name))
			return &stock_bundles[i];
	return NULL;
}
