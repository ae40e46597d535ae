/*
 * Gives memory back before a long wait: a host may have hundreds of machines that wait for months.
 */
#ifndef RUN_RELEASE_MEMORY_H
#define RUN_RELEASE_MEMORY_H

/* Returns free heap to the system and drops the pages of the program text; the kernel loads them
 * again when they are used. Changes nothing but the resident size. */
void release_memory(void);
#endif
