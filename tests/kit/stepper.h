/*
 * A program taken through its system calls one by one, of which one fails, is cut short, or is the
 * program's last. By ptrace; x86-64 only. Its children go untouched.
 */
#ifndef TESTS_KIT_STEPPER_H
#define TESTS_KIT_STEPPER_H
#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#define STEPPER_FAULTS(X)                                                                          \
	X(KILL_BEFORE, "kill before", 0)                                                           \
	X(KILL_AFTER, "kill after", 0)                                                             \
	X(FAIL_EAGAIN, "EAGAIN", EAGAIN)                                                           \
	X(FAIL_ENOSPC, "ENOSPC", ENOSPC)                                                           \
	X(FAIL_EIO, "EIO", EIO)                                                                    \
	X(FAIL_EINTR, "EINTR", EINTR)                                                              \
	X(FAIL_EDQUOT, "EDQUOT", EDQUOT)                                                           \
	X(FAIL_EMFILE, "EMFILE", EMFILE)                                                           \
	X(SHORT_WRITE, "a short write", 0)

#define X(fault, says, error) fault,
enum stepper_fault { STEPPER_FAULTS(X) STEPPER_FAULT_COUNT };
#undef X

/* A program that is only counted; the last call that counts, whatever its number. */
enum { STEPPER_NEVER = -1, STEPPER_AT_LAST = -2 };

struct stepper {
	pid_t pid; /* a child that called stepper_traced */
	enum stepper_fault fault;
	int at; /* at which of the calls that count, from 0 */
	/* The first and, where it is set, the last call that may count. */
	bool (*first)(pid_t pid, const struct user_regs_struct *r);
	bool (*last)(pid_t pid, const struct user_regs_struct *r);
};

struct stepped {
	int calls;    /* that count */
	int status;   /* as waitpid tells it */
	bool reached; /* the fault was injected */
	long nr;      /* into this call */
};

const char *stepper_says(enum stepper_fault fault);
/* In the child: stops until stepper_run goes on with it. */
void stepper_traced(void);
/* To the end of `stepper->pid`. Which calls count: of a kill each, of an error those that can fail
 * so, standard output and error apart, of a short write those of more than a byte. */
struct stepped stepper_run(const struct stepper *stepper);
/* The beginning of a text that a call was given, at most `bytes` - 1 of it. */
void stepper_peek(pid_t pid, unsigned long long at, char *text, size_t bytes);
#endif
