#include "provider/authorities.h"

#include <curl/curl.h>
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

/* Reports whether a name is HHHHHHHH.N, as c_rehash names an authority. */
static bool is_hashed(const char *name)
{
	return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] >= '0' &&
	       name[9] <= '9';
}

static bool has_hashed(const char *path)
{
	bool found = false;
	DIR *dir = opendir(path);
	for (const struct dirent *d; dir && !found && (d = readdir(dir));)
		found = is_hashed(d->d_name);
	if (dir)
		closedir(dir);
	return found;
}

const char *authorities_directory(void)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	/* Other libraries read a whole directory at once, which costs as much as the file. */
	bool by_name = v->ssl_version && !strncmp(v->ssl_version, "OpenSSL/", 8);
	return by_name && v->capath && has_hashed(v->capath) ? v->capath : NULL;
}

const char *authorities_file(void)
{
	return curl_version_info(CURLVERSION_NOW)->cainfo;
}
