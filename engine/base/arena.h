/*
 * Arenas: memory that is released together, such as the parsed document and the machine built from
 * it.
 *
 * Allocations are zeroed, aligned for pointers, int64_t and double, and released only by
 * arena_done. Texts are packed without alignment. Running out of memory ends the process with a
 * message: every input that reaches an arena has a size limit.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stddef.h>

struct arena {
	struct arena_block *blocks;
	size_t used_bytes; /* handed out so far */
};

#define AUTO_ARENA __attribute__((cleanup(arena_done))) struct arena

void arena_init(struct arena *arena);
void arena_done(struct arena *arena);
void *arena_alloc(struct arena *arena, size_t bytes);
/* Allocates `count` zeroed elements; the product is checked. */
void *arena_array(struct arena *arena, size_t count, size_t bytes_each);
/* Makes a NUL-terminated copy of `len` bytes. */
char *arena_copy(struct arena *arena, const char *text, size_t len);
#endif
