/*
 * Gives memory back before a long wait: a host may have hundreds of machines that wait for months.
 */
#ifndef RUN_SHRINK_H
#define RUN_SHRINK_H

/* Returns free heap to the system and unmaps the program text, which comes back from the page cache
 * on use. Changes nothing that anyone could observe but the resident size. */
void shrink(void);
#endif
