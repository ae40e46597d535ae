/*
 * Gives memory back before a long wait: a host may have hundreds of machines that wait for months.
 */
#ifndef RUN_RELEASE_MEMORY_H
#define RUN_RELEASE_MEMORY_H

/* Returns free heap to the system and unmaps the program text, which comes back from the page cache
 * on use. Changes nothing that anyone could observe but the resident size. */
void release_memory(void);
#endif
