#include "base/secret_name.h"

#include "base/cleanup.h"
#include <string.h>

bool secret_name(const char *name, size_t len)
{
	static const char *const suffixes[] = {
		"_KEY", "_SECRET", "_TOKEN", "_PASSWORD", "_CREDENTIALS"};
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		size_t n = strlen(suffixes[i]);
		if (len >= n && !memcmp(name + len - n, suffixes[i], n))
			return true;
	}
	return false;
}
