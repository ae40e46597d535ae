#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 8, BLOCK_BYTES = 64 << 10, LARGE_BYTES = 1 << 20, MAPPED_BYTES = 4 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	size_t mapped_bytes; /* 0: the block is from calloc */
	_Alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){0};
}

void arena_done(struct arena *arena)
{
	for (struct arena_block *b = arena->blocks, *next; b; b = next) {
		next = b->next;
		if (b->mapped_bytes)
			munmap(b, b->mapped_bytes);
		else
			free(b);
	}
	*arena = (struct arena){0};
}

/* Maps a large block, on huge pages if the system has them: a page fault for every 4 KiB would cost
 * more than the work done there. Such pages are whole, so later pieces use the rest of the last
 * one. */
static struct arena_block *block_map(size_t bytes)
{
	size_t whole = (sizeof(struct arena_block) + bytes - 1) / MAPPED_BYTES + 1;
	size_t mapped = whole * MAPPED_BYTES;
	void *p = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, mapped, MADV_HUGEPAGE);
	struct arena_block *b = p;
	b->mapped_bytes = mapped;
	b->size = mapped - sizeof(*b);
	return b;
}

static struct arena_block *block_new(const struct arena *arena, size_t bytes)
{
	struct arena_block *b = NULL;
	if (bytes > SIZE_MAX / 2)
		return NULL;
	if (bytes >= LARGE_BYTES || (bytes <= BLOCK_BYTES / 4 && arena->used_bytes >= LARGE_BYTES))
		return block_map(bytes);
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	b = calloc(1, sizeof(*b) + size);
	if (b)
		b->size = size;
	return b;
}

static struct arena_block *arena_grow(struct arena *arena, size_t bytes)
{
	struct arena_block *b = block_new(arena, bytes);
	if (!b) {
		fputs("agent6: out of memory\n", stderr);
		abort();
	}
	/* Keep the block with more room as the current one. */
	if (arena->blocks && b->size - bytes < arena->blocks->size - arena->blocks->used) {
		b->next = arena->blocks->next;
		arena->blocks->next = b;
	} else {
		b->next = arena->blocks;
		arena->blocks = b;
	}
	return b;
}

/* Takes `bytes` from the current block. `align` is a power of two, at most ALIGN; blocks begin
 * aligned. */
static void *take(struct arena *arena, size_t bytes, size_t align)
{
	struct arena_block *b = arena->blocks;
	size_t start = b ? (b->used + align - 1) & ~(align - 1) : 0;
	if (!b || start > b->size || b->size - start < bytes) {
		b = arena_grow(arena, bytes);
		start = b->used;
	}
	arena->used_bytes += start + bytes - b->used;
	b->used = start + bytes;
	return b->bytes + start;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	return take(arena, bytes, ALIGN);
}

void *arena_array(struct arena *arena, size_t count, size_t bytes_each)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, bytes_each, &bytes))
		bytes = SIZE_MAX;
	return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *text, size_t len)
{
	char *copy = take(arena, len + 1, 1);
	if (len)
		memcpy(copy, text, len);
	return copy;
}
