/*
 * A 32-bit system call of a 64-bit process, which another table of numbers answers: int(2), 0x80.
 *
 * Some kernels leave those calls out, and some virtual machines do not pass the interrupt on. There
 * whoever makes one ends by SIGSEGV, confined or not.
 */
#ifndef KIT_FOREIGN_H
#define KIT_FOREIGN_H
#ifdef __x86_64__
#include "tests/kit/tap.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* getpid. */
static int foreign_call(void)
{
	long result;
	signal(SIGSEGV, SIG_DFL); /* sanitizers have a handler */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
	return 0;
}

/* The signal that is to end a confined process that makes one: SIGSYS, unless another one ends any
 * that does. */
static int foreign_end(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(foreign_call());
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		return SIGSYS;
	diag("this host has no 32-bit calls (signal %d)", WTERMSIG(status));
	return WTERMSIG(status);
}
#endif
#endif
