/*
 * Linked into the confined programs under the address sanitizer: its leak check traces the process
 * at exit, and these have made that impossible by then.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
