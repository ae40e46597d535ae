#include "bundle/libarchive.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBARCHIVE_FILE "libarchive.so.13" /* the file of every version 3 */
_Static_assert(ARCHIVE_VERSION_NUMBER / 1000000 == 3, "another file holds what archive.h declares");

struct libarchive libarchive;

#define X(name) {"archive_" #name, offsetof(struct libarchive, name)},
static const struct {
	const char *name;
	size_t at;
} calls[] = {LIBARCHIVE_CALLS(X)};
#undef X

int libarchive_load(struct err *e)
{
	struct libarchive found;
	void *library = dlopen(LIBARCHIVE_FILE, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < ARRAY_LEN(calls); i++) {
		void *call = dlsym(library, calls[i].name);
		if (!call)
			library = NULL;
		memcpy((char *)&found + calls[i].at, &call, sizeof(call));
	}
	if (!library)
		return err_set(e,
			"packed bundles need libarchive, which cannot be loaded: %s; install it, "
			"or use the bundle's directory",
			dlerror());
	libarchive = found;
	return 0;
}
