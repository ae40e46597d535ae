#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = _Alignof(max_align_t) };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

void arena_done(struct arena *a)
{
	for (struct arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena){0};
}

static struct arena_block *arena_grow(struct arena *a, size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct arena_block *b = NULL;
	if (size <= SIZE_MAX - sizeof(*b))
		b = calloc(1, sizeof(*b) + size);
	if (!b) {
		fputs("agent6: out of memory\n", stderr);
		abort();
	}
	b->size = size;
	/* A large block goes behind the current one, which may still have room. */
	if (a->blocks && bytes > BLOCK_BYTES / 4) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t need = bytes > SIZE_MAX - ALIGN ? SIZE_MAX : (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct arena_block *b = a->blocks;
	if (!b || b->size - b->used < need)
		b = arena_grow(a, need);
	void *p = b->bytes + b->used;
	b->used += need;
	a->used_bytes += need;
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t bytes_each)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, bytes_each, &bytes))
		bytes = SIZE_MAX;
	return arena_alloc(a, bytes);
}

char *arena_copy(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_alloc(a, len + 1);
	if (len)
		memcpy(copy, text, len);
	return copy;
}
