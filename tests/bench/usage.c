/* Runs a command and prints its peak resident KiB and its seconds of processor time, without the
 * cost of an interpreter in between. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t quiet;
	struct rusage used;
	pid_t pid;
	int status;
	if (argc < 2)
		return 2;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[1], &quiet, NULL, argv + 1, environ))
		return 1;
	if (wait4(pid, &status, 0, &used) != pid || status)
		return 1;
	printf("%ld %.4f\n", used.ru_maxrss,
		(double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	return 0;
}
