#include "base/vcs.h"

#include "base/cleanup.h"
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	enum vcs_part part;
} parts[] = {{".git", VCS_NAME}, {".hg", VCS_NAME}, {".jj", VCS_NAME}, {"HEAD", VCS_HEAD},
	{"objects", VCS_OBJECTS}, {"refs", VCS_REFS}, {"commondir", VCS_COMMONDIR}};

enum { LONGEST = sizeof("commondir") };

/* Reports whether the first `len` bytes of `name` spell all of `known`. */
static bool is_alike(const char *name, size_t len, const char *known)
{
	char plain[LONGEST];
	size_t kept = 0;
	for (size_t i = 0; i < len && kept < LONGEST; i++)
		if ((unsigned char)name[i] < 0x80)
			plain[kept++] = name[i];
	return kept == strlen(known) && !strncasecmp(plain, known, kept);
}

static unsigned part_of(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (is_alike(name, len, parts[i].name))
			return parts[i].part;
	return 0;
}

unsigned vcs_part(const char *name)
{
	/* The first letter decides about most names. */
	return (unsigned char)*name >= 0x80 || strchr(".hHoOrRcC", *name)
		       ? part_of(name, strlen(name))
		       : 0;
}

bool vcs_is_git_dir(unsigned found)
{
	const unsigned whole = VCS_OBJECTS | VCS_REFS;
	return (found & VCS_HEAD) && ((found & VCS_COMMONDIR) || (found & whole) == whole);
}

bool vcs_in_path(const char *path)
{
	for (size_t len; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (part_of(path, len) & VCS_NAME)
			return true;
	}
	return false;
}
